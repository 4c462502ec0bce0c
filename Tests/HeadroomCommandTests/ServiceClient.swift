import Foundation
import Glibc
import HeadroomJSON
import Testing

/// Talks to a service on loopback, one connection a request.
struct ServiceClient: Sendable {
    let port: UInt16
    /// The port speaks TLS; the certificate is not looked at.
    var isSecure = false

    struct Reply: Sendable {
        let status: Int
        /// Names in lower case.
        let headers: [String: String]
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        /// Null when it is no JSON.
        var json: JSONNode { (try? JSONNode.parse(body)) ?? JSONNode(.null) }
    }

    enum Failure: Error {
        case noConnection
        case garbled(String)
    }

    func get(_ target: String, headers: [String] = []) async throws -> Reply {
        try await call("GET", target, headers: headers)
    }

    /// Lines of telemetry.
    func post(_ lines: [String], headers: [String] = []) async throws -> Reply {
        try await call(
            "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"] + headers,
            body: Array(lines.joined(separator: "\n").utf8))
    }

    /// Says what a pool's provider grants.
    func pin(_ pool: String, _ rates: String, headers: [String] = []) async throws {
        let reply = try await call(
            "PUT", "/v1/pools/\(pool)/capacity", headers: headers + ["Content-Type: application/json"],
            body: Array(#"{"capacity":\#(rates),"reason":"half is gone","expires_in_seconds":600}"#.utf8))
        #expect(reply.status < 300, "\(reply.text)")
    }

    func call(_ method: String, _ target: String, headers: [String] = [], body: [UInt8] = []) async throws -> Reply {
        var head = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + headers
        if !body.isEmpty || method == "POST" { head.append("Content-Length: \(body.count)") }
        let request = Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        return try await blocking { Result { try Self.read(try self.exchange(request)) } }.get()
    }

    /// Asks again and again until `isTrue`; the last answer.
    ///
    /// - Parameter work: done before each time, with its number.
    func poll(
        _ target: String, headers: [String] = [], doing work: (Int) async throws -> Void = { _ in },
        until isTrue: @Sendable (Reply) -> Bool
    ) async throws -> Reply {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(HeadroomProgram.patienceSeconds)
        var count = 0
        while true {
            count += 1
            try await work(count)
            let reply = try await get(target, headers: headers)
            if isTrue(reply) || clock.now > end { return reply }
        }
    }

    /// The value of a sample of `/metrics`, named with its labels as they are written there.
    func metric(_ sample: String) async throws -> Double? {
        let text = try await get("/metrics").text
        let line = text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
        return line.flatMap { Double($0.dropFirst(sample.count + 1)) }
    }

    /// A socket to the service.
    func connected() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: Int(HeadroomProgram.patienceSeconds), tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &target.sin_addr)
        let code = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw Failure.noConnection
        }
        return descriptor
    }

    private func exchange(_ request: [UInt8]) throws -> [UInt8] {
        let descriptor = try connected()
        defer { close(descriptor) }
        if isSecure {
            let stream = try TLSStream(descriptor)
            stream.send(request)
            var answer: [UInt8] = []
            while case let part = stream.receive(), !part.isEmpty { answer += part }
            return answer
        }
        var sent = 0
        while sent < request.count {
            let count = unsafe request.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress! + sent, request.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { return answer }
            answer += buffer[..<count]
        }
    }

    private static func read(_ answer: [UInt8]) throws -> Reply {
        guard let end = answer.indices.first(where: { answer[$0...].starts(with: Array("\r\n\r\n".utf8)) }) else {
            throw Failure.garbled(String(decoding: answer.prefix(200), as: UTF8.self))
        }
        let lines = String(decoding: answer[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, let status = Int(words[1]) else { throw Failure.garbled(String(lines[0])) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        return Reply(status: status, headers: headers, body: Array(answer[(end + 4)...]))
    }
}
