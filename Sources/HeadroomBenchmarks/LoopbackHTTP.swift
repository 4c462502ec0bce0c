import Glibc

/// The few steps that a benchmark takes with a server on this machine before the load begins.
enum LoopbackHTTP {
    enum Fault: Error { case socket }

    /// One that nobody listens on just now.
    static func freePort() throws(Fault) -> UInt16 {
        let socket = unsafe try open(port: 0) { socket, address, size in unsafe bind(socket, address, size) }
        defer { close(socket) }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(socket, $0, &size) }
        }
        guard code == 0 else { throw .socket }
        return UInt16(bigEndian: address.sin_port)
    }

    /// The answer's head and what comes with it in the first kilobytes.
    static func get(_ port: UInt16, _ target: String, headers: String) throws(Fault) -> String {
        let socket = try connect(port)
        defer { close(socket) }
        let request = Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(headers)\r\n".utf8)
        guard unsafe send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { throw .socket }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw .socket }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// `name` in lower case.
    static func header(_ name: String, of answer: String) -> String? {
        let line = answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name + ":") }
        return line.map { String($0.dropFirst(name.count + 1).drop { $0 == " " }) }
    }

    /// - Parameter isImmediate: small writes go at once (`TCP_NODELAY`).
    static func connect(_ port: UInt16, isImmediate: Bool = false) throws(Fault) -> Int32 {
        let socket = unsafe try open(port: port) { socket, address, size in
            unsafe Glibc.connect(socket, address, size)
        }
        if isImmediate {
            var yes: Int32 = 1
            unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        return socket
    }

    private static func open(
        port: UInt16, _ step: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws(Fault) -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe step(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(socket)
            throw .socket
        }
        return socket
    }
}
