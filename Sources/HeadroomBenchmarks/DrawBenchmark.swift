import Foundation
import HeadroomEnforcement
import HeadroomHTTP
import HeadroomModel
import HeadroomWire
import Synchronization

/// Draws a second of 1,000 gateways on one core, and how long an answer takes.
///
/// First without a network: a body is read, the ledger of 200 tenants answers, the answer is written. Then over HTTP, to a
/// server of one thread, from a client process that plays the gateways over 64 connections, each with one draw on its way.
/// There is less than is asked for: three tenants wait at each gateway.
enum DrawBenchmark {
    static let clientArgument = "--draw-client"
    static let gateways = 1000
    static let tenants = 200
    private static let connections = 64

    static func run(smoke: Bool) throws {
        try runLedger(draws: smoke ? 2000 : 200_000)
        let server = try startServer()
        defer { server.stop() }
        for round in 1...(smoke ? 1 : 3) {
            let before = ownProcessorSeconds()
            let numbers = try LoadProcess.numbers(
                [clientArgument, "\(server.port)", "\(connections)", smoke ? "0.2" : "3", "\(round)"], count: 4)
            let cpu = (ownProcessorSeconds() - before) / numbers[0] * 1e6
            print(
                "HTTP round \(round): \(Int(numbers[0] / numbers[1])) draws/s, median \(Int(numbers[2])) µs, "
                    + "p99 \(Int(numbers[3])) µs, \(Int(cpu)) µs of processor a draw")
        }
    }

    private static func runLedger(draws: Int) throws {
        let start = Timestamp(milliseconds: 1_793_000_000_000)
        var ledger = ledger(at: start)
        var bodies = (0..<gateways).map { DrawBody(gateway: $0) }
        var times: [Double] = []
        times.reserveCapacity(draws)
        var bytes = 0
        let clock = ContinuousClock()
        let begin = clock.now
        for draw in 0..<draws {
            // Each of them asks ten times a second.
            let now = start.adding(seconds: Double(draw) / Double(gateways) / 10)
            let gateway = draw % gateways
            bodies[gateway].advance()
            let body = bodies[gateway].bytes
            let began = clock.now
            bytes += try ledger.draw(DrawRequest.decode(body), at: now).encoded().count
            times.append(began.duration(to: clock.now) / .microseconds(1))
        }
        let seconds = begin.duration(to: clock.now) / .seconds(1)
        times.sort()
        print(
            "no network: \(Int(Double(draws) / seconds)) draws/s, median \(Int(times[draws / 2])) µs, "
                + "p99 \(Int(times[draws * 99 / 100])) µs, \(bytes / draws) bytes an answer")
    }

    private final class Float: Sendable {
        let ledger: Mutex<FloatLedger>
        init(at now: Timestamp) { ledger = Mutex(DrawBenchmark.ledger(at: now)) }
    }

    /// With a float that 1,000 gateways draw from, each of which has acknowledged a snapshot.
    private static func startServer() throws -> BenchmarkServer {
        let server = try BenchmarkServer(gateways: ["gw.*"]) { time in
            let float = Float(at: time.now())
            return DrawIntake { request, now throws(DrawRefusal) in
                try float.ledger.withLock { ledger throws(DrawRefusal) in try ledger.draw(request, at: now) }
            }
        }
        let whole = Snapshot(
            version: SnapshotVersion(epoch: 1, generation: 1), issuedAt: server.time.now(), leaseSeconds: 600,
            policy: "default@0", pools: [pool])
        server.board.publish(
            Publication(whole: whole, parts: (0..<gateways).map { (gateway: name(of: $0), snapshot: whole) }))
        for gateway in 0..<gateways {
            let target = "/v1/allocations?gateway=\(name(of: gateway))&applied=1.1&boot=b1"
            _ = try LoopbackHTTP.get(
                server.port, target, headers: "Authorization: Bearer secret\r\nConnection: close\r\n")
        }
        return server
    }

    static func ledger(at now: Timestamp) -> FloatLedger {
        let pool = pool
        var ledger = FloatLedger(pool: pool.pool, epoch: 1, at: now)
        let part = pool.budget * (1 / Double(gateways))
        ledger.follow(pool, budgets: (0..<gateways).map { (name(of: $0), part) }, at: now)
        return ledger
    }

    static var pool: PoolAllocation {
        let rates = Rates(rpm: 300_000, tpm: 300_000_000)
        return PoolAllocation(
            pool: "openai:gpt-4o", capacity: rates, nominal: rates, budget: rates,
            tenants: (0..<tenants).map { number in
                TenantAllocation(
                    tenant: tenant(number), assured: Rates(rpm: 1000, tpm: 1_000_000),
                    floor: number % 10 == 0 ? Rates(rpm: 600, tpm: 600_000) : .none,
                    ceiling: Rates(rpm: 100_000, tpm: 100_000_000), weight: Double(1 + number % 4))
            })
    }

    static func name(of gateway: Int) -> GatewayID { GatewayID(unchecked: "gw.\(gateway)") }

    static func tenant(_ number: Int) -> TenantID {
        let digits = String(number)
        return TenantID(unchecked: "tenant-" + String(repeating: "0", count: 3 - digits.count) + digits)
    }
}

/// The body of one gateway's draws: ten digits in it count them, and with them what was returned, used and spent.
struct DrawBody {
    private(set) var bytes: [UInt8]
    private var places: [Int] = []
    private var count: Int

    private static let first = 1_000_000_000
    static let pool: PoolID = "openai:gpt-4o"

    /// - Parameter run: Ascends with each client process, so that it goes on where the last one ended.
    init(gateway: Int, run: Int = 0) {
        count = DrawBody.first + run * 10_000_000
        let tenants = (0..<5).map { DrawBenchmark.tenant((gateway * 7 + $0 * 41) % DrawBenchmark.tenants) }
        let spent = tenants.map { #""\#($0)":{"requests":##########,"tokens":##########000}"# }
        let head = #"{"tokens":1000,"criticality":"interactive","waited_ms":250,"patience_ms":8000}"#
        let batch = #"{"tokens":3000,"criticality":"batch","waited_ms":900}"#
        let waiting = tenants.prefix(3).map { #""\#($0)":[\#(head),\#(head),\#(batch)]"# }
        let text =
            #"{"gateway":"\#(DrawBenchmark.name(of: gateway))","boot":"b1","sequence":##########,"pool":"\#(DrawBody.pool)","#
            + #""epoch":1,"totals":{"returned":{"requests":##########,"tokens":##########000},"#
            + #""granted_used":{"requests":##########,"tokens":##########000},"spent":{\#(spent.joined(separator: ","))}},"#
            + #""waiting":{\#(waiting.joined(separator: ","))}}"#
        bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "#") {
                places.append(index)
                index += 9
            }
            index += 1
        }
        write()
    }

    mutating func advance() {
        count += 1
        write()
    }

    private mutating func write() {
        let digits = Array(String(count).utf8)
        for place in places { bytes.replaceSubrange(place..<place + digits.count, with: digits) }
    }
}
