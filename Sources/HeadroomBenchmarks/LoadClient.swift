import Foundation

/// Sends one request over and over on some connections, from one thread, and counts the answers.
///
/// It runs in a process of its own, so that its time is not the server's. It waits with `poll`, which Swift's `Glibc`
/// has and `epoll` it has not; for tens of connections the two cost the same.
struct LoadClient {
    private let port: UInt16
    private let connections: Int
    private let seconds: Double
    private let request: [UInt8]
    /// How every answer has to begin.
    private let prefix: [UInt8]
    private var answers = 0
    /// Of each answer, in microseconds.
    private var latencies: [Int32] = []

    private struct Connection {
        var sentAt = ContinuousClock.now
        var received = 0
        /// Of the answer that is coming in; 0 until its head has been read.
        var expected = 0
        /// The slot that the gate gave is being ended: its answer is not counted.
        var isEnding = false
    }

    enum Fault: Error, CustomStringConvertible {
        case usage
        case connection(String)
        case answer(String)

        var description: String {
            switch self {
            case .usage: "usage: PORT CONNECTIONS SECONDS STATUS REQUEST"
            case .connection(let call): "\(call) failed: \(unsafe String(cString: strerror(errno)))"
            case .answer(let head): "an answer that was not wanted: \(head)"
            }
        }
    }

    /// Prints the answers, the seconds that they took, and the 99th and the 50th percentile of their latency in
    /// milliseconds. The exit code.
    static func main(_ arguments: [String]) -> Int32 {
        LoadProcess.exitCode(of: "load client") {
            var client = try LoadClient(arguments)
            let elapsed = try client.run()
            print(
                "\(client.answers) \(elapsed) \(client.milliseconds(percentile: 99)) \(client.milliseconds(percentile: 50))"
            )
        }
    }

    private func milliseconds(percentile: Int) -> Double {
        let sorted = latencies.sorted()
        return sorted.isEmpty ? 0 : Double(sorted[(sorted.count - 1) * percentile / 100]) / 1000
    }

    private init(_ arguments: [String]) throws(Fault) {
        guard arguments.count == 5, let port = UInt16(arguments[0]), let connections = Int(arguments[1]),
            let seconds = Double(arguments[2]), let status = Int(arguments[3])
        else { throw .usage }
        self.port = port
        self.connections = connections
        self.seconds = seconds
        request = Array(arguments[4].utf8)
        prefix = Array("HTTP/1.1 \(status) ".utf8)
    }

    /// The seconds that it took; ``answers`` is counted meanwhile.
    private mutating func run() throws(Fault) -> Double {
        var waiting: [pollfd] = []
        for _ in 0..<connections { waiting.append(pollfd(fd: try connect(), events: Int16(POLLIN), revents: 0)) }
        var states = [Connection](repeating: Connection(), count: connections)
        // Answers are far smaller than this; one read takes all of one.
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + .seconds(seconds)
        for index in waiting.indices {
            states[index].sentAt = clock.now
            try send(waiting[index].fd, request)
        }
        while clock.now < end {
            unsafe poll(&waiting, nfds_t(connections), 100)
            for index in waiting.indices where waiting[index].revents != 0 {
                if try receive(waiting[index].fd, &states[index], &buffer) {
                    let now = clock.now
                    if states[index].isEnding {
                        states[index].isEnding = false
                        states[index].sentAt = now
                        try send(waiting[index].fd, request)
                        continue
                    }
                    answers += 1
                    let (seconds, attoseconds) = (now - states[index].sentAt).components
                    latencies.append(Int32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
                    states[index].sentAt = now
                    states[index].isEnding = takesSlots
                    try send(waiting[index].fd, takesSlots ? ending(buffer) : request)
                }
            }
        }
        for connection in waiting { close(connection.fd) }
        let elapsed = (clock.now - start).components
        return Double(elapsed.seconds) + Double(elapsed.attoseconds) * 1e-18
    }

    /// A slot that nobody ends is kept for ten minutes, and a pool for a limited number of them.
    private var takesSlots: Bool {
        ["POST /v1/slots ", "POST /check"].contains { request.starts(with: Array($0.utf8)) }
    }

    /// The request that ends the slot of this answer.
    private func ending(_ answer: [UInt8]) throws(Fault) -> [UInt8] {
        let marker = Array("\"slot\":\"".utf8)
        guard let start = answer.firstRange(of: marker)?.upperBound else { throw .answer("no slot") }
        let name = String(decoding: answer[start...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        let body = #"{"outcome":"ok","input_tokens":10,"output_tokens":5}"#
        return Array(
            "POST /v1/slots/\(name)/done HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                .utf8)
    }

    /// Each answer has a length of its own.
    private var isChanging: Bool { request.starts(with: Array("POST".utf8)) }

    private func connect() throws(Fault) -> Int32 {
        let socket: Int32
        do { socket = try LoopbackHTTP.connect(port) } catch { throw .connection("connect") }
        var yes: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        return socket
    }

    private func send(_ socket: Int32, _ request: [UInt8]) throws(Fault) {
        // A request is far smaller than a socket's buffer: it goes whole.
        guard unsafe Glibc.send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw .connection("send")
        }
    }

    /// True when the answer is complete.
    private func receive(_ socket: Int32, _ connection: inout Connection, _ buffer: inout [UInt8]) throws(Fault) -> Bool
    {
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw .connection("recv") }
        if connection.received == 0 {
            guard buffer.starts(with: prefix) else {
                throw .answer(String(decoding: buffer.prefix(min(count, 200)), as: UTF8.self))
            }
            // All answers to polls are alike, so the length of a connection's first holds for the rest.
            if connection.expected == 0 { connection.expected = try length(buffer.prefix(count)) }
        }
        connection.received += count
        guard connection.received >= connection.expected else { return false }
        connection.received = 0
        if isChanging { connection.expected = 0 }
        return true
    }

    private func length(_ answer: ArraySlice<UInt8>) throws(Fault) -> Int {
        let text = String(decoding: answer, as: UTF8.self)
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let empty = lines.firstIndex(of: "") else { throw .answer(text) }
        let head = lines[..<empty].reduce(2) { $0 + $1.utf8.count + 2 }
        if prefix == Array("HTTP/1.1 304 ".utf8) { return head }
        let name = "content-length:"
        let header = lines[..<empty].first { $0.lowercased().hasPrefix(name) }
        guard let header, let body = Int(header.dropFirst(name.count).drop { $0 == " " }) else { throw .answer(text) }
        return head + body
    }
}
