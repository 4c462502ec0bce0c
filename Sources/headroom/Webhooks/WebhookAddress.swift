import Foundation
import Glibc

/// One address of a receiver, with its port: what the policy is asked about is what is connected to.
struct WebhookAddress: Sendable {
    /// Without the port.
    let text: String
    let family: Int32
    private let bytes: [UInt8]

    /// Those of `host`, or the address that it is, without doubles and in the resolver's order. Blocks for seconds.
    static func all(of host: String, port: UInt16) -> [WebhookAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, "\(port)", &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [WebhookAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe WebhookAddress(entry.pointee), !found.contains(where: { $0.text == address.text }) {
                found.append(address)
            }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    /// `nil` where it has no text, as no IP address.
    private init?(_ entry: addrinfo) {
        guard let address = unsafe entry.ai_addr else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = unsafe getnameinfo(
            address, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        guard code == 0 else { return nil }
        self.text = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        family = unsafe entry.ai_family
        bytes = unsafe Array(UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            // The sockets API takes every family's address through a pointer to the generic one; `sockaddr_storage`
            // of the resolver has these bytes.
            var storage = sockaddr_storage()
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyMemory(from: buffer) }
            return unsafe withUnsafePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe body($0, socklen_t(bytes.count))
                }
            }
        }
    }
}
