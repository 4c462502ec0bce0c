import Foundation
import HeadroomClient
import HeadroomGate
import HeadroomHTTP
import HeadroomModel

/// The budget manager when there is room: calls admitted and ended in process, and slots over HTTP.
enum GateBenchmark {
    private static let connections = 16
    private static let tenants = 100

    static func run(smoke: Bool) throws {
        try admit(calls: smoke ? 10_000 : 2_000_000, waiting: 0)
        try admit(calls: smoke ? 1_000 : 200_000, waiting: 10_000)
        try serve(seconds: smoke ? 0.2 : 3)
    }

    /// One thread that takes and settles slots, with so many callers of a pool's other tenant waiting in vain.
    private static func admit(calls: Int, waiting: Int) throws {
        let manager = try manager()
        let names = (0..<tenants).map { TenantID(unchecked: "t\($0)") }
        let pool = try manager.pool("pool")
        for _ in 0..<waiting {
            _ = pool.begin(Call(tenant: "spent", pool: "pool", inputTokens: 10), isAwaited: false)
        }
        let clock = ContinuousClock()
        for ends in [false, true] {
            let start = clock.now
            for index in 0..<calls {
                let slot = try manager.tryAdmit(Call(tenant: names[index % tenants], pool: "pool", inputTokens: 10))
                if ends {
                    slot.finish(.outcome(.ok, inputTokens: 10, outputTokens: 5))
                } else {
                    slot.giveBack()
                }
            }
            let elapsed = (clock.now - start) / .seconds(1)
            print(
                "\(Int(Double(calls) / elapsed)) tryAdmit and \(ends ? "finish, reported" : "giveBack") a second, "
                    + "\(waiting) waiting")
        }
    }

    /// The gate in this process, the load in another.
    private static func serve(seconds: Double) throws {
        let gate = Gate(
            try manager(), defaults: GateDefaults(), boot: "bench",
            time: .anchored(atMillisecondsSince1970: 1_793_000_000_000))
        let address = try gate.start(ListenAddress(host: "127.0.0.1", port: 0))
        let slot = #"{"tenant":"t1","pool":"pool","tokens":10,"request":"r-1","max_wait_ms":1000}"#
        let text = String(repeating: "What is the weather like in the city by the sea? ", count: 20)
        let chat =
            #"{"model":"m","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"\#(text)"}]}"#
        for (what, head, body) in [
            ("slots", "POST /v1/slots HTTP/1.1", slot),
            (
                "checks of a chat of 1 KB",
                "POST /check/v1/chat/completions HTTP/1.1\r\nx-headroom-tenant: t1\r\nx-headroom-pool: pool", chat
            ),
        ] {
            let before = ownProcessorSeconds()
            let numbers = try LoadProcess.numbers(
                [
                    PollBenchmark.clientArgument, "\(address.port)", "\(connections)", "\(seconds)", "200",
                    "\(head)\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                ], count: 4)
            let cpu = (ownProcessorSeconds() - before) / numbers[0] * 1_000_000
            print(
                "\(Int(numbers[0] / numbers[1])) \(what) a second taken and ended over HTTP, p50 \(numbers[3]) ms, "
                    + "p99 \(numbers[2]) ms, \(Int(cpu)) µs of processor each, \(connections) connections")
        }
    }

    private static func manager() throws -> BudgetManager {
        let manager = try BudgetManager(
            BudgetManager.Settings(gateway: "bench", addresses: [URL(fileURLWithPath: "/").http]))
        let rich = Rates(rpm: 1e9, tpm: 1e12)
        var entries = (0..<tenants).map {
            TenantAllocation(tenant: TenantID(unchecked: "t\($0)"), assured: rich * 0.009)
        }
        entries.append(
            TenantAllocation(tenant: "spent", assured: Rates(rpm: 0, tpm: 0), ceiling: Rates(rpm: 0, tpm: 0)))
        let pool = PoolAllocation(
            pool: "pool", capacity: rich, nominal: rich, budget: rich, tenants: entries.sorted { $0.tenant < $1.tenant }
        )
        manager.load(
            Snapshot(
                version: SnapshotVersion(epoch: 1, generation: 1), issuedAt: Timestamp(milliseconds: 0),
                leaseSeconds: 1e6, policy: "bench@0", pools: [pool]),
            leaseUntil: Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000) + 1_000_000_000))
        return manager
    }
}

extension URL {
    /// An address that is never asked: nothing runs the manager.
    fileprivate var http: URL { URL(string: "http://127.0.0.1:1") ?? self }
}
