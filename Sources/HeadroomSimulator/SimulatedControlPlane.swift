import HeadroomLoop
import HeadroomModel
import Synchronization

/// Headroom without its disk and its network: the real loop on ports in memory. Ledger and telemetry survive when it is
/// killed, as a database does.
struct SimulatedControlPlane: Sendable {
    let telemetry = MemoryTelemetry()
    let board = MemoryBoard()
    private let ledger = MemoryLedger()
    private let rules: FixedRules
    /// `nil` while it is down.
    private(set) var loop: ControlLoop?

    init(rules: Rules, at now: Timestamp) {
        self.rules = FixedRules(rules: rules)
        start(at: now)
    }

    mutating func start(at now: Timestamp) {
        loop = ControlLoop(telemetry: telemetry, rules: rules, ledger: ledger, board: board, at: now)
    }

    /// As by SIGKILL: what it held in memory is gone.
    mutating func kill() {
        loop = nil
        board.forget()
    }
}

private struct FixedRules: RuleSource {
    let rules: Rules
    func current() async throws -> Rules { rules }
}

/// Stored telemetry, as one list in the order of arrival.
final class MemoryTelemetry: TelemetrySource {
    private struct State {
        var records: [TelemetryRecord] = []
        var arrivals: [Timestamp] = []
    }

    private let state = Mutex(State())

    func append(_ records: [TelemetryRecord], at now: Timestamp) {
        state.withLock { state in
            state.records += records
            state.arrivals += repeatElement(now, count: records.count)
        }
    }

    func page(after cursor: TelemetryCursor, limit: Int) async throws -> TelemetryPage {
        state.withLock { state in
            let first = Int(cursor.call)
            let end = min(state.records.count, first + limit)
            var next = cursor
            next.call = Int64(end)
            return TelemetryPage(
                records: Array(state.records[first..<end]), next: next, isLast: end == state.records.count)
        }
    }

    func cursor(at instant: Timestamp) async throws -> TelemetryCursor {
        state.withLock { state in
            var cursor = TelemetryCursor.start
            cursor.call = Int64(state.arrivals.firstIndex { $0 >= instant } ?? state.arrivals.count)
            return cursor
        }
    }
}

final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var last: Snapshot?
    }

    private let state = Mutex(State())

    func begin(at now: Timestamp) async throws -> LedgerStart {
        state.withLock { state in
            state.epoch = max(state.epoch + 1, now.milliseconds / 1000)
            return LedgerStart(epoch: state.epoch, last: state.last)
        }
    }

    func reserveGeneration() async throws -> Int64 {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    func append(_ snapshot: Snapshot) async throws { state.withLock { $0.last = snapshot } }

    func end() async throws {}
}

/// The newest generation, and who polls.
final class MemoryBoard: SnapshotPublishing {
    struct Contents: Sendable {
        var publication: Publication?
        var serviceClocks: [PoolID: [TenantID: Double]] = [:]
        var report: LoopReport?
        /// Ascending by gateway.
        var gateways: [GatewayPresence] = []
    }

    private let state = Mutex(Contents())

    var contents: Contents { state.withLock { $0 } }

    func publish(_ publication: Publication) { state.withLock { $0.publication = publication } }

    func update(serviceClocks: [PoolID: [TenantID: Double]]) { state.withLock { $0.serviceClocks = serviceClocks } }

    func report(_ report: LoopReport) { state.withLock { $0.report = report } }

    func gateways(since: Timestamp) -> [GatewayPresence] {
        state.withLock { $0.gateways.filter { $0.lastSeen >= since } }
    }

    /// A poll by a gateway. Returns true when it was not known before.
    func note(_ presence: GatewayPresence) -> Bool {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway >= presence.gateway } ?? state.gateways.count
            if index < state.gateways.count, state.gateways[index].gateway == presence.gateway {
                let isBack = presence.lastSeen.seconds(since: state.gateways[index].lastSeen) > 20
                state.gateways[index] = presence
                return isBack
            }
            state.gateways.insert(presence, at: index)
            return true
        }
    }

    func forget() { state.withLock { $0 = Contents() } }
}
