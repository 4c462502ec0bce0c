import HeadroomEnforcement
import HeadroomModel

/// Draws are answered from memory and wait for no turn of the actor's: a tick that divides a generation, or waits for its
/// disk, does not hold them up.
extension AllocationPublisher {
    package nonisolated func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        try floats.withLock { floats throws(DrawRefusal) in try floats.draw(request, at: now) }
    }
}

/// Clocks and floor accounts outlive a start.
extension AllocationPublisher {
    /// About what the floats take.
    nonisolated var floatBytes: Int { floats.withLock { $0.memoryBytes } }

    nonisolated func checkpointFloats() -> [UInt8] { floats.withLock { $0.checkpoint() } }

    /// Before the first publication. Bytes of another version, or damaged ones, change nothing.
    nonisolated func restoreFloats(_ bytes: [UInt8]) { floats.withLock { $0.restore(bytes) } }
}

/// The floats of all pools that are published, in one term.
struct PoolFloats: Sendable {
    private var ledgers: [PoolID: FloatLedger] = [:]
    /// Of the term before, until the first publication.
    private var restored: [PoolID: [UInt8]] = [:]
    private static let version: UInt32 = 1

    var memoryBytes: Int { ledgers.values.reduce(0) { $0 + $1.memoryBytes } }

    func checkpoint() -> [UInt8] {
        PoolStates.bytes(
            version: PoolFloats.version,
            ledgers.values.sorted { $0.pool < $1.pool }.map { ledger in
                var state = ByteWriter()
                ledger.write(to: &state)
                return (ledger.pool, state)
            })
    }

    mutating func restore(_ bytes: [UInt8]) {
        restored = PoolStates.read(bytes, version: PoolFloats.version) ?? [:]
    }

    mutating func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        // By index: a ledger is large, and would be moved out of its table and back for each draw.
        guard let index = ledgers.index(forKey: request.pool) else { throw .unknownPool }
        return try ledgers.values[index].draw(request, at: now)
    }

    func drawingGateways(of pool: PoolID, at now: Timestamp) -> Set<GatewayID> {
        ledgers[pool]?.drawingGateways(at: now) ?? []
    }

    /// Ascending by pool, then gateway.
    func grantUses(at now: Timestamp) -> [GrantUse] {
        ledgers.values.sorted { $0.pool < $1.pool }.flatMap { $0.grantUses(at: now) }
    }

    /// A generation is in force, or the same numbers are divided anew.
    mutating func follow(_ publication: Publication, at now: Timestamp) {
        var followed: [PoolID: FloatLedger] = [:]
        for (index, whole) in publication.whole.pools.enumerated() {
            var ledger =
                ledgers[whole.pool] ?? newLedger(of: whole.pool, epoch: publication.whole.version.epoch, at: now)
            ledger.follow(
                whole, budgets: publication.parts.map { ($0.gateway, $0.snapshot.pools[index].budget) }, at: now)
            followed[whole.pool] = ledger
        }
        ledgers = followed
        restored = [:]
    }

    mutating func follow(leastShares pools: [PoolAllocation], at now: Timestamp) {
        for pool in pools {
            guard let place = ledgers.index(forKey: pool.pool) else { continue }
            ledgers.values[place].follow(leastShares: pool, at: now)
        }
    }

    private func newLedger(of pool: PoolID, epoch: Int64, at now: Timestamp) -> FloatLedger {
        var ledger = FloatLedger(pool: pool, epoch: epoch, at: now)
        if let state = restored[pool] {
            var reader = ByteReader(state)
            // Damaged bytes change nothing: clocks then start where the published ones are.
            try? ledger.restore(from: &reader)
        }
        return ledger
    }

    /// Gateways that draw report their service themselves, the others by telemetry: of what telemetry reports of a
    /// tenant, the part counts that its traffic has at the latter.
    mutating func follow(_ classified: [TenantConsumptionClassifier.Classified], at now: Timestamp) {
        for needs in classified {
            guard let place = ledgers.index(forKey: needs.demand.pool) else { continue }
            let drawing = ledgers.values[place].drawingGateways(at: now)
            let tenants = needs.demand.tenants.span
            for index in tenants.indices where tenants[index].served != .zero {
                let gateways = tenants[index].gateways
                let all = gateways.reduce(0) { $0 + $1.weight }
                let reported = gateways.reduce(0) { $0 + (drawing.contains($1.gateway) ? 0 : $1.weight) }
                guard reported > 0 else { continue }
                ledgers.values[place].charge(
                    tenants[index].served * (reported / all), of: tenants[index].tenant, at: now)
            }
        }
    }
}
