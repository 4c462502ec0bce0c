import Foundation
import Glibc
import HeadroomHTTP

/// One connection to a server under test, byte by byte. What blocks runs on a thread of its own, so that the
/// tasks that the server waits for keep theirs.
final class RawClient: Sendable {
    private let descriptor: Int32

    struct Reply {
        var status = 0
        /// Names in lower case.
        var headers: [String: String] = [:]
        var body: [UInt8] = []

        var text: String { String(decoding: body, as: UTF8.self) }
    }

    enum Failure: Error {
        case closed, timedOut
        case garbled(String)
    }

    init(_ address: ListenAddress) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = address.port.bigEndian
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &target.sin_addr)
        // A test that waits in vain fails, and does not hang.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let code = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure.closed }
    }

    deinit { close(descriptor) }

    /// A whole request.
    func send(
        _ method: String, _ target: String, headers: [String] = [], body: [UInt8] = []
    ) async {
        var lines = ["\(method) \(target) HTTP/1.1"] + headers
        if !headers.contains(where: { $0.hasPrefix("Host:") }) { lines.insert("Host: 127.0.0.1", at: 1) }
        if !body.isEmpty || method == "POST" { lines.append("Content-Length: \(body.count)") }
        await send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
    }

    func send(_ bytes: [UInt8]) async {
        await blocking { self.write(bytes) }
    }

    func call(_ method: String, _ target: String, headers: [String] = [], body: [UInt8] = []) async throws -> Reply {
        await send(method, target, headers: headers, body: body)
        return try await receive(hasBody: method != "HEAD")
    }

    func get(_ target: String, headers: [String] = []) async throws -> Reply {
        try await call("GET", target, headers: headers)
    }

    func receive(hasBody: Bool = true) async throws -> Reply {
        try await blocking { Result { try self.read(hasBody: hasBody) } }.get()
    }

    /// True once the server has closed the connection, without another byte.
    func isClosedByServer() async -> Bool {
        await blocking {
            var byte: UInt8 = 0
            return unsafe recv(self.descriptor, &byte, 1, 0) == 0 || errno == ECONNRESET
        }
    }

    /// True while the server has not sent a byte that was not read yet.
    var isSilent: Bool {
        var byte: UInt8 = 0
        return unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) < 0
    }

    /// Sends `byte` again and again, each time after a wait for the server to close the connection; the number sent.
    func drip(_ byte: UInt8, everyMilliseconds period: Int, atMost most: Int) async -> Int {
        await blocking {
            var patience = timeval(tv_sec: 0, tv_usec: period * 1000)
            unsafe setsockopt(
                self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            var buffer: UInt8 = 0
            for count in 0..<most {
                if unsafe recv(self.descriptor, &buffer, 1, 0) == 0 || errno == ECONNRESET { return count }
                self.write([byte])
            }
            return most
        }
    }

    private func write(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Glibc.send(
                    descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            sent += count
        }
    }

    private func read(hasBody: Bool) throws -> Reply {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) { head += try readBytes(1) }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else {
            throw Failure.garbled(String(decoding: head, as: UTF8.self))
        }
        // An interim answer is followed by the real one.
        if status == 100 { return try read(hasBody: hasBody) }
        var reply = Reply(status: status)
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            reply.headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        if hasBody, status != 304, let count = Int(reply.headers["content-length"] ?? "0") {
            while reply.body.count < count { reply.body += try readBytes(count - reply.body.count) }
        }
        return reply
    }

    private func readBytes(_ most: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = unsafe recv(descriptor, &bytes, most, 0)
        if count == 0 || (count < 0 && errno == ECONNRESET) { throw Failure.closed }
        guard count > 0 else { throw Failure.timedOut }
        return Array(bytes.prefix(count))
    }
}

/// Runs what may block off the cooperative threads.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}

/// Waits for a fact that another thread brings about. A test that passes depends on no clock: the 20 s only bound one that
/// fails.
func eventually(_ isTrue: () -> Bool) async -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(20)
    while clock.now < end {
        if isTrue() { return true }
        await Task.yield()
    }
    return false
}
