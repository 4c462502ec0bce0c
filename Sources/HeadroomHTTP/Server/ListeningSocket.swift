import Glibc

/// A socket that listens, made here and not by the HTTP library, so that a port in use is distinguished from other faults
/// and port 0 can be asked for its number.
///
/// It has its port from the beginning and refuses connections until ``listen()``: a service finds its port taken before it
/// touches a file, and lets nobody wait while it starts. A Unix socket listens at once, since one that refuses counts as
/// abandoned.
package struct ListeningSocket: Sendable {
    let descriptor: Int32
    /// With the real port.
    package let address: ListenAddress

    /// Connections that the kernel holds while the server is busy; it cuts this to its own limit.
    private static let backlog: Int32 = 4096

    package init(_ wanted: ListenAddress) throws(HTTPError) {
        if let path = wanted.path {
            self = try Self.unix(path, wanted)
            return
        }
        let isIPv6 = wanted.host.contains(":")
        var storage = try Self.socketAddress(wanted, isIPv6: isIPv6)
        let descriptor = socket(
            isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0
        )
        guard descriptor >= 0 else { throw Self.failure(errno, wanted) }
        // A restarted service takes its port back at once, whatever connections of the old one linger.
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var size = socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        let fault = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            // The sockets API takes every family's address through a pointer to the generic one.
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                guard unsafe bind(descriptor, address, size) == 0,
                    unsafe getsockname(descriptor, address, &size) == 0
                else { return errno }
                return 0
            }
        }
        guard fault == 0 else {
            close(descriptor)
            throw Self.failure(fault, wanted)
        }
        self.descriptor = descriptor
        // The port is at the same place in the addresses of both families.
        let port = unsafe withUnsafeBytes(of: storage) { unsafe $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        address = ListenAddress(host: wanted.host, port: UInt16(bigEndian: port))
    }

    /// Two that start at once may both have the port so far; the second one gets no further.
    func listen() throws(HTTPError) {
        guard Glibc.listen(descriptor, Self.backlog) == 0 else {
            let fault = errno
            close(descriptor)
            throw Self.failure(fault, address)
        }
    }

    private static func socketAddress(_ wanted: ListenAddress, isIPv6: Bool) throws(HTTPError) -> sockaddr_storage {
        var storage = sockaddr_storage()
        let host = wanted.host == "localhost" ? "127.0.0.1" : wanted.host
        let isValid = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
            if isIPv6 {
                var address = sockaddr_in6()
                address.sin6_family = sa_family_t(AF_INET6)
                address.sin6_port = wanted.port.bigEndian
                guard unsafe inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return false }
                unsafe bytes.storeBytes(of: address, as: sockaddr_in6.self)
            } else {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = wanted.port.bigEndian
                guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else { return false }
                unsafe bytes.storeBytes(of: address, as: sockaddr_in.self)
            }
            return true
        }
        guard isValid else {
            throw HTTPError(
                .badAddress, "\"\(wanted.host)\" is no address; give an IP address, or localhost, not a host name")
        }
        return storage
    }

    /// Takes the place of a socket that a process left behind, never of one that somebody listens on.
    private static func unix(_ path: String, _ wanted: ListenAddress) throws(HTTPError) -> ListeningSocket {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isLongEnough = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isLongEnough, !bytes.isEmpty else {
            throw HTTPError(.badAddress, "\"\(path)\" is no path of a Unix socket; one has 1 to 107 bytes")
        }
        let descriptor = try unixSocket(wanted)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let fault = unsafe withUnsafePointer(to: &address) { pointer in
            // The sockets API takes every family's address through a pointer to the generic one.
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> Int32 in
                if unsafe bind(descriptor, address, size) != 0 {
                    guard errno == EADDRINUSE, unsafe isAbandoned(address, size, wanted) else { return errno }
                    guard unsafe unlink(path) == 0, unsafe bind(descriptor, address, size) == 0 else { return errno }
                }
                guard unsafe chmod(path, 0o660) == 0, Glibc.listen(descriptor, Self.backlog) == 0 else { return errno }
                return 0
            }
        }
        guard fault == 0 else {
            close(descriptor)
            throw Self.failure(fault, wanted)
        }
        return ListeningSocket(descriptor: descriptor, address: wanted)
    }

    private static func unixSocket(_ wanted: ListenAddress) throws(HTTPError) -> Int32 {
        let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, flags, 0)
        guard descriptor >= 0 else { throw failure(errno, wanted) }
        return descriptor
    }

    /// Nobody answers there.
    private static func isAbandoned(
        _ address: UnsafePointer<sockaddr>, _ size: socklen_t, _ wanted: ListenAddress
    ) -> Bool {
        guard let probe = try? unixSocket(wanted) else { return false }
        defer {
            let code = errno
            close(probe)
            errno = code
        }
        let isRefused = unsafe connect(probe, address, size) != 0 && errno == ECONNREFUSED
        if !isRefused { errno = EADDRINUSE }
        return isRefused
    }

    private init(descriptor: Int32, address: ListenAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    private static func failure(_ code: Int32, _ wanted: ListenAddress) -> HTTPError {
        switch code {
        case EADDRINUSE:
            HTTPError(
                .addressInUse, "\(wanted) is in use: another program listens there; stop it or choose another port")
        case EADDRNOTAVAIL:
            HTTPError(.addressUnavailable, "\(wanted.host) is not an address of this machine")
        case EACCES:
            HTTPError(.cannotListen, "not allowed to listen on \(wanted); ports below 1024 need a privilege")
        default:
            HTTPError(.cannotListen, "cannot listen on \(wanted): \(unsafe String(cString: strerror(code)))")
        }
    }
}
