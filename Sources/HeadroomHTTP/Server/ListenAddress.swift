/// `HOST:PORT` to listen on: an IPv4 address, an IPv6 address in brackets, or `localhost`; or the path of a Unix socket.
package struct ListenAddress: Equatable, Sendable, CustomStringConvertible {
    /// Without brackets.
    package let host: String
    /// 0: any free port.
    package let port: UInt16
    /// Of a Unix socket; it has neither host nor port.
    package let path: String?

    package static let standard = ListenAddress(host: "127.0.0.1", port: 8420)

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
        path = nil
    }

    package init(path: String) {
        host = ""
        port = 0
        self.path = path
    }

    package init(parsing text: String) throws(HTTPError) {
        let wanted = "an address is HOST:PORT, for example 127.0.0.1:8420 or [::1]:8420"
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw HTTPError(.badAddress, "\"\(text)\" has no port from 0 to 65535; \(wanted)")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw HTTPError(.badAddress, "\"\(text)\" needs brackets around its IPv6 address; \(wanted)")
        }
        guard !host.isEmpty else { throw HTTPError(.badAddress, "\"\(text)\" has no host; \(wanted)") }
        self.init(host: host, port: port)
    }

    /// True when only this machine can reach it.
    package var isLoopback: Bool {
        path != nil || host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    package var description: String {
        if let path { return path }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
