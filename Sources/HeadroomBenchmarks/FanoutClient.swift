import Foundation

/// Plays the waiting clients of ``FanoutBenchmark``, from one thread: each has a connection, and waits there for the next
/// publication.
///
/// It prints `ready` when all of them wait. After each publication it prints two instants in nanoseconds, those at which half
/// of them and the last had it whole, and the bytes that each was sent.
struct FanoutClient {
    enum Kind: String { case delta, snapshot, etcd }

    private let kind: Kind
    private let port: UInt16
    private let rounds: Int
    private var connections: [Connection] = []
    private let poll: EventPoll
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Of the answers of this round, which differ in nothing; `nil` before the first has come.
    private var answerBytes: Int?
    /// The newest that was answered with, as `1.17`.
    private var version = ""
    private var variant = ""
    /// The last part of a tag, which differs from gateway to gateway.
    private var variants: [String: String] = [:]

    private struct Connection {
        let socket: Int32
        /// Of the answer that is coming in.
        var received = 0
        var frames = GRPC.Incoming()
    }

    enum Fault: Error, CustomStringConvertible {
        case usage, silence
        case connection(String)
        case answer(String)

        var description: String {
            switch self {
            case .usage: "usage: PORT CONNECTIONS ROUNDS delta|snapshot|etcd"
            case .silence: "nothing came for a minute"
            case .connection(let call): "\(call) failed: \(unsafe String(cString: strerror(errno)))"
            case .answer(let head): "an answer that was not wanted: \(head)"
            }
        }
    }

    /// The exit code.
    static func main(_ arguments: [String]) -> Int32 {
        LoadProcess.exitCode(of: "fan-out client") {
            var client = try FanoutClient(arguments)
            try client.run()
        }
    }

    private init(_ arguments: [String]) throws {
        guard arguments.count == 4, let port = UInt16(arguments[0]), let count = Int(arguments[1]),
            let rounds = Int(arguments[2]), let kind = Kind(rawValue: arguments[3])
        else { throw Fault.usage }
        self.kind = kind
        self.port = port
        self.rounds = rounds
        poll = try EventPoll()
        for number in 0..<count {
            guard let socket = try? LoopbackHTTP.connect(port, isImmediate: true) else {
                throw Fault.connection("connect")
            }
            try poll.add(socket, as: number)
            connections.append(Connection(socket: socket))
            // One by one, so that no queue of new connections overflows.
            try send(kind == .etcd ? EtcdSubject.watch : first(of: number), to: number)
            try finishRound(waiting: 1)
            variants[FanoutBenchmark.gateway(of: number)] = variant
        }
    }

    private mutating func run() throws {
        for _ in 0..<rounds {
            if kind != .etcd {
                for number in connections.indices { try send(next(of: number), to: number) }
            }
            say("ready")
            let times = try finishRound(waiting: connections.count)
            say("\(times[times.count / 2]) \(times[times.count - 1]) \(answerBytes ?? 0)")
        }
        for connection in connections { close(connection.socket) }
    }

    /// Tells that the process takes part, and is answered at once.
    private func first(of number: Int) -> [UInt8] { get(number, "applied=1.1", "") }

    private func next(of number: Int) -> [UInt8] {
        let tag = "\"\(version).\(variants[FanoutBenchmark.gateway(of: number)] ?? "")\""
        switch kind {
        case .delta: return get(number, "applied=\(version)&since=\(version)&wait=60", "")
        case .snapshot, .etcd: return get(number, "applied=\(version)&wait=60", "If-None-Match: \(tag)\r\n")
        }
    }

    private func get(_ number: Int, _ query: String, _ header: String) -> [UInt8] {
        let gateway = FanoutBenchmark.gateway(of: number)
        return Array(
            ("GET /v1/allocations?gateway=\(gateway)&member=m\(number)&\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "Authorization: Bearer secret\r\n\(header)\r\n").utf8)
    }

    /// The instants at which answers were complete, ascending, until `waiting` of them are.
    @discardableResult
    private mutating func finishRound(waiting: Int) throws(Fault) -> [Int64] {
        var times: [Int64] = []
        times.reserveCapacity(waiting)
        if kind != .etcd { answerBytes = nil }
        while times.count < waiting {
            let readable = poll.readable(withinMilliseconds: 60_000)
            if readable.isEmpty { throw .silence }
            for number in readable where try receive(number) { times.append(monotonicNanoseconds()) }
        }
        return times
    }

    /// True when an answer, or a watcher's event, is complete.
    private mutating func receive(_ number: Int) throws(Fault) -> Bool {
        let count = unsafe recv(connections[number].socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw .connection("recv") }
        if kind == .etcd {
            let (messages, reply) = connections[number].frames.take(buffer[..<count])
            if !reply.isEmpty { try send(reply, to: number) }
            answerBytes = count
            return messages > 0
        }
        let size: Int
        if let answerBytes { size = answerBytes } else { size = try readHead(count) }
        answerBytes = size
        connections[number].received += count
        guard connections[number].received >= size else { return false }
        connections[number].received = 0
        return true
    }

    /// The size of the round's answers, of which the first begins in the buffer.
    private mutating func readHead(_ count: Int) throws(Fault) -> Int {
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard text.hasPrefix("HTTP/1.1 200 "), let end = text.firstRange(of: "\r\n\r\n")?.upperBound,
            let body = LoopbackHTTP.header("content-length", of: text).flatMap({ Int($0) }),
            let tag = LoopbackHTTP.header("etag", of: text)
        else { throw .answer(String(text.prefix(400))) }
        // `"1.17.0a1b2c3d"`, in its quotation marks.
        let parts = tag.filter { $0 != "\"" }.split(separator: ".")
        version = parts.prefix(2).joined(separator: ".")
        variant = String(parts.last ?? "")
        return text.utf8.distance(from: text.startIndex, to: end) + body
    }

    private func send(_ bytes: [UInt8], to number: Int) throws(Fault) {
        // A request is far smaller than a socket's buffer: it goes whole.
        guard unsafe Glibc.send(connections[number].socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        else { throw .connection("send") }
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
