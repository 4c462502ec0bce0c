import Glibc
import HeadroomModel

/// Where a connection comes from: an IPv4 address, or the network of 64 bits that an IPv6 address belongs to (one
/// subscriber has that many addresses).
package struct ClientAddress: Hashable, Sendable {
    private let family: UInt16
    private let bits: UInt64

    static let unknown = ClientAddress(family: 0, bits: 0)

    private init(family: UInt16, bits: UInt64) {
        self.family = family
        self.bits = bits
    }

    /// An IPv4 address as a number.
    package init(ipv4 number: UInt32) {
        self.init(family: UInt16(AF_INET), bits: UInt64(number))
    }

    /// `address` points to an address of the family that it names, as the sockets API gives it.
    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self = .unknown
            return
        }
        let family = unsafe address.pointee.sa_family
        let bytes = unsafe UnsafeRawPointer(address)
        switch Int32(family) {
        case AF_INET:
            let number = unsafe bytes.loadUnaligned(
                fromByteOffset: MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) ?? 4, as: UInt32.self)
            self.init(family: family, bits: UInt64(number))
        case AF_INET6:
            let network = unsafe bytes.loadUnaligned(
                fromByteOffset: MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) ?? 8, as: UInt64.self)
            self.init(family: family, bits: network)
        default: self = .unknown
        }
    }
}

extension AddressRange {
    /// The whole address, as the sockets API gives it; `nil` for one that is no IP address.
    init?(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else { return nil }
        let isIPv6 = unsafe Int32(address.pointee.sa_family) == AF_INET6
        let size = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            unsafe getnameinfo(
                address, socklen_t(size), &text, socklen_t(text.count), nil, 0, Int32(NI_NUMERICHOST)) == 0
        else { return nil }
        self.init(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
