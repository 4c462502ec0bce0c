import Glibc

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
