import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomWire

/// From a publication to the last of many long polls that wait for it, beside etcd's watchers.
///
/// The polls are those of processes that share one gateway's name, or as many names as it takes. Headroom's server has as many
/// threads as the service by default, and runs in this process; the clients are one thread of another. etcd's watchers have
/// one connection each, and get a value as large as the delta; their time begins where the put is sent, and so contains its
/// commit.
enum FanoutBenchmark {
    static let clientArgument = "--fanout-client"

    private static let deltaBytes = 1024
    private static let snapshotBytes = 20 << 10
    /// Most that are kept under one name.
    private static let membersOfOneName = 4096

    static func gateway(of client: Int) -> String { "gw.\(client / membersOfOneName)" }

    static func run(smoke: Bool) throws {
        for clients in smoke ? [20] : [1000, 10_000] {
            let rounds = smoke ? 3 : clients > 1000 ? 30 : 100
            try checkOpenFiles(clients)
            let headroom = try measureHeadroom(.delta, clients, rounds)
            _ = try measureHeadroom(.snapshot, clients, rounds)
            guard let etcd = try measureEtcd(clients, smoke ? 3 : 15) else {
                print("etcd is not on PATH: nothing to compare with")
                continue
            }
            let ratio = (etcd.median / headroom.median * 10).rounded() / 10
            print("\(clients) clients: etcd / headroom, to the last client, medians: \(ratio)")
        }
    }

    /// Of the last client, over all rounds, in milliseconds.
    private struct Figures {
        let median: Double

        init(_ name: String, _ clients: Int, _ rounds: [FanoutRound], connectionBytes: Int) {
            let last = rounds.map(\.last).sorted()
            let half = rounds.map(\.half).sorted()
            median = last[last.count / 2]
            func text(_ milliseconds: Double) -> String { String((milliseconds * 10).rounded() / 10) }
            print(
                "\(clients) clients, \(name): \(rounds[0].bytes) bytes sent to each, the last has them after "
                    + "\(text(median)) ms (median), \(text(last[(last.count - 1) * 99 / 100])) ms (p99 of \(last.count) rounds), "
                    + "half of them after \(text(half[half.count / 2])) ms; \(text(Double(connectionBytes) / 1024)) KB a connection"
            )
            // The whole takes minutes, and a pipe would show nothing before the end.
            fflush(nil)
        }
    }

    private static func measureHeadroom(_ kind: FanoutClient.Kind, _ clients: Int, _ count: Int) throws -> Figures {
        let names = (0...(clients - 1) / membersOfOneName).map { GatewayID(unchecked: "gw.\($0)") }
        let server = try BenchmarkServer(gateways: ["gw.*"], threads: ServerSettings().threads)
        defer { server.stop() }
        var generation: Int64 = 1
        server.board.publish(publication(generation, names))
        let before = MemoryUse.now.resident
        var grown = 0
        let session = try LoadSession([clientArgument, "\(server.port)", "\(clients)", "\(count)", kind.rawValue])
        var rounds: [FanoutRound] = []
        for _ in 0..<count {
            try session.expect("ready")
            try waitForPolls(of: server, clients)
            // At its most: later, bodies of past generations are free again.
            grown = max(grown, MemoryUse.now.resident - before)
            generation += 1
            let publication = publication(generation, names)
            let start = monotonicNanoseconds()
            server.board.publish(publication)
            rounds.append(try FanoutRound(session.numbers(count: 3), since: start))
        }
        try session.end()
        return Figures("headroom, \(kind.rawValue)", clients, rounds, connectionBytes: grown / clients)
    }

    private static func waitForPolls(of server: BenchmarkServer, _ clients: Int) throws {
        for _ in 0..<20_000 {
            if server.board.waitingCount >= clients { return }
            usleep(1000)
        }
        throw Fault.notWaiting(server.board.waitingCount, clients)
    }

    private static func measureEtcd(_ clients: Int, _ count: Int) throws -> Figures? {
        guard let etcd = try EtcdSubject() else { return nil }
        defer { etcd.stop() }
        let before = etcd.residentBytes
        var grown = 0
        let session = try LoadSession([clientArgument, "\(etcd.port)", "\(clients)", "\(count)", "etcd"])
        var rounds: [FanoutRound] = []
        for round in 0..<count {
            try session.expect("ready")
            grown = max(grown, etcd.residentBytes - before)
            let value = [UInt8](repeating: UInt8(ascii: "a") + UInt8(round % 26), count: deltaBytes)
            let start = monotonicNanoseconds()
            try etcd.put(value)
            rounds.append(try FanoutRound(session.numbers(count: 3), since: start))
        }
        try session.end()
        return Figures("etcd", clients, rounds, connectionBytes: grown / clients)
    }

    /// The server's and the client's are two processes: each has the whole limit.
    private static func checkOpenFiles(_ clients: Int) throws {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        if limit.rlim_max < clients + 200 { throw Fault.tooFewFiles(clients + 200) }
    }

    enum Fault: Error, CustomStringConvertible {
        case tooFewFiles(Int)
        case notWaiting(Int, Int)

        var description: String {
            switch self {
            case .tooFewFiles(let count): "a process may open too few files: ulimit -n \(count)"
            case .notWaiting(let found, let wanted): "of \(wanted) polls only \(found) wait after 20 s"
            }
        }
    }

    // MARK: What is published

    /// About 20 KB, of which about 1 KB differs from the generation before.
    private static func publication(_ generation: Int64, _ names: [GatewayID]) -> Publication {
        let whole = snapshot(generation, tenants: tenants, changed: changed)
        return Publication(whole: whole, parts: names.map { (gateway: $0, snapshot: whole) })
    }

    private static let tenants =
        (1...).first { SnapshotEncoder.encode(snapshot(1, tenants: $0, changed: 0)).count >= snapshotBytes } ?? 1

    private static let changed =
        (1...tenants).first { count in
            let (old, new) = (
                snapshot(1, tenants: tenants, changed: count), snapshot(2, tenants: tenants, changed: count)
            )
            return SnapshotEncoder.encode(SnapshotDelta(from: old, to: new)).count >= deltaBytes
        } ?? tenants

    private static func snapshot(_ generation: Int64, tenants: Int, changed: Int) -> Snapshot {
        let entries = (0..<tenants).map { number in
            let extra = number < changed ? Double(generation % 100) : 0
            return TenantAllocation(
                tenant: TenantID(unchecked: "tenant-\(1000 + number)"),
                assured: Rates(rpm: 1200 + extra, tpm: 240_000 + extra))
        }
        let pool = PoolAllocation(
            pool: "openai:gpt-4o", capacity: Rates(rpm: 950_000, tpm: 180_000_000),
            nominal: Rates(rpm: 1_000_000, tpm: 200_000_000), budget: Rates(rpm: 950_000, tpm: 180_000_000),
            fallback: Rates(rpm: 902_500, tpm: 171_000_000), tenants: entries)
        return Snapshot(
            version: SnapshotVersion(epoch: 1, generation: generation),
            issuedAt: Timestamp(milliseconds: 1_793_000_000_000), leaseSeconds: 600, policy: "default@9f31",
            pools: [pool])
    }
}

/// One publication, in milliseconds until half of the clients and the last had it.
struct FanoutRound {
    let half: Double
    let last: Double
    /// That each client was sent.
    let bytes: Int

    /// - Parameters:
    ///   - numbers: as ``FanoutClient`` prints them.
    ///   - start: in nanoseconds.
    fileprivate init(_ numbers: [Double], since start: Int64) {
        half = (numbers[0] - Double(start)) / 1e6
        last = (numbers[1] - Double(start)) / 1e6
        bytes = Int(numbers[2])
    }
}
