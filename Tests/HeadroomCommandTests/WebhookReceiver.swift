import Foundation
import Glibc
import Synchronization

/// An HTTP server on a free port of loopback that notes what is posted to it.
final class WebhookReceiver: Sendable {
    struct Message: Sendable {
        let path: String
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]
    }

    let port: UInt16
    private let socket: Int32
    private let messages = Mutex<[Message]>([])
    /// The heads of its next answers; then `204 No Content`.
    private let answers: Mutex<[String]>
    /// The body of its answer, where there is one: then `200 OK`.
    private let reply: (@Sendable (Message) -> [UInt8])?

    struct Failure: Error {}

    init(answering answers: [String] = [], reply: (@Sendable (Message) -> [UInt8])? = nil) throws {
        self.reply = reply
        self.answers = Mutex(answers)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = socket
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

    /// What has come so far.
    var received: [Message] { messages.withLock { $0 } }

    func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

    private func serve() {
        while true {
            let connection = accept(socket, nil, nil)
            guard connection >= 0 else { break }
            let message = read(connection)
            if let message { messages.withLock { $0.append(message) } }
            let body = message.flatMap { reply?($0) }
            let none = body == nil ? "204 No Content" : "200 OK"
            let answer = answers.withLock { $0.isEmpty ? none : $0.removeFirst() }
            let head = "HTTP/1.1 \(answer)\r\nContent-Length: \(body?.count ?? 0)\r\nConnection: close\r\n\r\n"
            let bytes = Array(head.utf8) + (body ?? [])
            _ = unsafe bytes.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            close(connection)
        }
        close(socket)
    }

    private func read(_ connection: Int32) -> Message? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let head = bytes.firstRange(of: end) {
                let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let headers = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1).map(String.init) }
                let named = Dictionary(
                    headers.filter { $0.count == 2 }.map {
                        ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces))
                    },
                    uniquingKeysWith: { $1 })
                let body = bytes[head.upperBound...]
                let length = named["content-length"].flatMap { Int($0) } ?? 0
                if body.count >= length {
                    return Message(
                        path: lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? "", headers: named,
                        body: Array(body.prefix(length)))
                }
            }
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }
}
