import Foundation
import Glibc
import Synchronization

/// An HTTP server on a free port of loopback that answers each request as the test says, or never.
final class ScriptedServer: Sendable {
    private let descriptor: Int32
    let port: UInt16
    private let answers: Mutex<[String]>
    private let targets = Mutex<[String]>([])
    /// Connections whose requests are never answered; closed with the server.
    private let hung = Mutex<[Int32]>([])

    struct Failure: Error {}

    /// - Parameter answers: the statuses of its answers, the last one again and again; without any it never answers.
    init(answers: [String] = []) throws {
        self.answers = Mutex(answers)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let code = unsafe bind(descriptor, pointer, size) | listen(descriptor, 16)
                return unsafe code | getsockname(descriptor, pointer, &size)
            }
        }
        guard code == 0 else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in serve() }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }

    /// Of the requests so far, path and query.
    var asked: [String] { targets.withLock { $0 } }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    private func serve() {
        while true {
            let connection = accept(descriptor, nil, nil)
            guard connection >= 0 else { break }
            if let target = readTarget(of: connection) { targets.withLock { $0.append(target) } }
            let status = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
            guard let status else {
                hung.withLock { $0.append(connection) }
                continue
            }
            let bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}".utf8)
            _ = unsafe bytes.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            close(connection)
        }
        for connection in hung.withLock({ $0 }) { close(connection) }
        close(descriptor)
    }

    /// Of a request without a body.
    private func readTarget(of connection: Int32) -> String? {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !text.contains("\r\n\r\n") {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text.split(separator: " ").dropFirst().first.map(String.init)
    }
}
