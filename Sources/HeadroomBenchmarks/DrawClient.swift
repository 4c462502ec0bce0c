import Foundation

/// Plays the gateways of ``DrawBenchmark``, from one thread: each connection draws for its gateways in turn, one draw at a
/// time.
struct DrawClient {
    private var connections: [Connection] = []
    private let seconds: Double
    private var microseconds: [Double] = []

    private struct Connection {
        let socket: Int32
        var gateways: [DrawBody]
        var next = 0
        var sentAt: ContinuousClock.Instant
    }

    enum Fault: Error {
        case usage, connection
        case answer(String)
    }

    /// Prints the draws, the seconds that they took, and the median and the 99th percentile of the microseconds of one. The
    /// exit code.
    static func main(_ arguments: [String]) -> Int32 {
        LoadProcess.exitCode(of: "draw client") {
            var client = try DrawClient(arguments)
            let elapsed = try client.run()
            let times = client.microseconds.sorted()
            print("\(times.count) \(elapsed) \(times[times.count / 2]) \(times[times.count * 99 / 100])")
        }
    }

    private init(_ arguments: [String]) throws {
        guard arguments.count == 4, let port = UInt16(arguments[0]), let count = Int(arguments[1]),
            let seconds = Double(arguments[2]), let run = Int(arguments[3])
        else { throw Fault.usage }
        self.seconds = seconds
        for index in 0..<count {
            let socket = try LoopbackHTTP.connect(port, isImmediate: true)
            let gateways = stride(from: index, to: DrawBenchmark.gateways, by: count).map {
                DrawBody(gateway: $0, run: run)
            }
            connections.append(Connection(socket: socket, gateways: gateways, sentAt: .now))
        }
    }

    private mutating func run() throws -> Double {
        var waiting = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        for index in connections.indices { try send(index) }
        while ContinuousClock.now < end {
            unsafe poll(&waiting, nfds_t(waiting.count), 100)
            for index in waiting.indices where waiting[index].revents != 0 {
                // An answer is far smaller than a packet on loopback: it comes whole.
                let count = unsafe recv(waiting[index].fd, &buffer, buffer.count, 0)
                guard count > 0 else { throw Fault.connection }
                guard buffer.starts(with: Array("HTTP/1.1 200 ".utf8)) else {
                    throw Fault.answer(String(decoding: buffer.prefix(min(count, 600)), as: UTF8.self))
                }
                microseconds.append(connections[index].sentAt.duration(to: .now) / .microseconds(1))
                try send(index)
            }
        }
        for connection in connections { close(connection.socket) }
        return start.duration(to: .now) / .seconds(1)
    }

    private mutating func send(_ index: Int) throws {
        let gateway = connections[index].next
        connections[index].next = (gateway + 1) % connections[index].gateways.count
        connections[index].gateways[gateway].advance()
        let body = connections[index].gateways[gateway].bytes
        let head =
            "POST /v1/draw HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        let request = Array(head.utf8) + body
        connections[index].sentAt = .now
        guard unsafe Glibc.send(connections[index].socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count
        else { throw Fault.connection }
    }
}
