import HeadroomLoop
import HeadroomModel
import Synchronization

struct Refused: Error {}

/// Telemetry in memory; every table is one list.
final class MemoryTelemetry: TelemetrySource {
    private struct State {
        var records: [TelemetryRecord] = []
        var isBroken = false
    }

    private let state = Mutex(State())

    func append(_ records: [TelemetryRecord]) { state.withLock { $0.records += records } }

    func fail(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    func page(after cursor: TelemetryCursor, limit: Int) async throws -> TelemetryPage {
        try state.withLock { state in
            if state.isBroken { throw Refused() }
            let rest = state.records.dropFirst(Int(cursor.call))
            var next = cursor
            next.call += Int64(min(limit, rest.count))
            return TelemetryPage(records: Array(rest.prefix(limit)), next: next, isLast: rest.count <= limit)
        }
    }

    func cursor(at instant: Timestamp) async throws -> TelemetryCursor { .start }
}

/// A ledger in memory, which can be made to refuse.
final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var snapshots: [Snapshot] = []
        var isFull = false
    }

    private let state = Mutex(State())

    var snapshots: [Snapshot] { state.withLock { $0.snapshots } }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func begin(at now: Timestamp, rememberingSeconds: Double) async throws -> LedgerStart {
        state.withLock { state in
            state.epoch = max(state.epoch + 1, now.milliseconds / 1000)
            return LedgerStart(epoch: state.epoch, last: state.snapshots.last)
        }
    }

    func reserveGeneration() async throws -> Int64 {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    func append(_ publication: Publication) async throws {
        let snapshot = publication.whole
        try state.withLock { state in
            if state.isFull { throw Refused() }
            state.snapshots.append(snapshot)
        }
    }

    func end() async throws {}
}

/// A board that keeps everything, and knows the gateways that a test names.
final class MemoryBoard: SnapshotPublishing {
    private struct State {
        var publications: [Publication] = []
        var reports: [LoopReport] = []
        var gateways: [GatewayID] = []
        var clocks: [PoolID: [TenantID: Double]] = [:]
    }

    private let state = Mutex(State())

    var publications: [Publication] { state.withLock { $0.publications } }
    var clocks: [PoolID: [TenantID: Double]] { state.withLock { $0.clocks } }

    func join(_ gateways: [GatewayID]) { state.withLock { $0.gateways = gateways.sorted() } }

    func publish(_ publication: Publication) { state.withLock { $0.publications.append(publication) } }

    func update(serviceClocks: [PoolID: [TenantID: Double]]) { state.withLock { $0.clocks = serviceClocks } }

    func report(_ report: LoopReport) { state.withLock { $0.reports.append(report) } }

    func gateways(since: Timestamp) -> [GatewayPresence] {
        state.withLock { state in
            state.gateways.map { GatewayPresence(gateway: $0, lastSeen: since, applied: nil, sent: nil) }
        }
    }
}

/// Rules that a test changes.
final class MemoryRules: RuleSource {
    private let state: Mutex<Rules>

    init(_ rules: Rules) {
        state = Mutex(rules)
    }

    func change(_ body: (inout Rules) -> Void) { state.withLock { body(&$0) } }

    func current() async throws -> Rules { state.withLock { $0 } }
}
