import HeadroomCapacity
import HeadroomModel

/// Answers: what is the upstream delivering? Owns one ``CapacityEstimator`` per pool of the policy.
package actor UpstreamCapacityObserver {
    /// Of the bytes of ``checkpoint()``: raised when their meaning changes.
    private static let version: UInt32 = 0x4F42_0006  // "OB", 6

    private var pools: [PoolID: CapacityEstimator] = [:]
    private var pins: [PoolID: CapacityPin] = [:]
    /// Checkpoints of pools that are not followed yet.
    private var restored: [PoolID: [UInt8]] = [:]

    package init() {}

    /// Watches the pools of the policy, and goes by the pins that hold.
    package func follow(_ rules: Rules, at now: Timestamp) {
        let policy = rules.policy
        for pool in policy.pools {
            if let known = pools.index(forKey: pool.pool) {
                pools.values[known].follow(pool, settings: policy.capacity, breakers: policy.breaker)
            } else {
                pools[pool.pool] =
                    restoredEstimator(of: pool, under: policy, at: now)
                    ?? CapacityEstimator(policy: pool, settings: policy.capacity, breakers: policy.breaker, at: now)
            }
        }
        if pools.count > policy.pools.count {
            let names = Set(policy.pools.map(\.pool))
            pools = pools.filter { names.contains($0.key) }
        }
        pins = Dictionary(rules.steering.pins.map { ($0.pool, $0) }, uniquingKeysWith: { _, last in last })
        restored = [:]
    }

    /// Takes in rows that were read at `now`: responses first, since they correct what gateways say of their calls.
    package func fold(_ records: [TelemetryRecord], at now: Timestamp) {
        fold(records.span, at: now) { if case .response = $0 { true } else { false } }
        fold(records.span, at: now) { if case .response = $0 { false } else { true } }
    }

    private func fold(_ records: Span<TelemetryRecord>, at now: Timestamp, where isMeant: (TelemetryRecord) -> Bool) {
        for place in records.indices where isMeant(records[place]) {
            // By index: an optional chain would copy the estimator for each record, and a loop over them each record.
            guard let index = pools.index(forKey: records[place].pool) else { continue }
            pools.values[index].fold(records[place], at: now)
        }
    }

    /// Ascending by pool.
    package func estimate(at now: Timestamp) -> [PoolCapacity] {
        pools.keys.sorted().map { pools[$0]!.estimate(at: now, pin: pins[$0]) }
    }

    // MARK: Checkpoint

    /// The state, for ``restore(_:)`` in another process.
    package func checkpoint() -> [UInt8] {
        PoolStates.bytes(
            version: Self.version,
            pools.sorted { $0.key < $1.key }.map { pool, estimator in
                var state = ByteWriter()
                estimator.write(to: &state)
                return (pool, state)
            })
    }

    /// Before the first ``follow(_:at:)``. Bytes of another version, or damaged ones, change nothing; a pool whose limits
    /// are others now starts over. Returns whether they were read.
    @discardableResult
    package func restore(_ bytes: [UInt8]) -> Bool {
        guard let states = PoolStates.read(bytes, version: Self.version) else { return false }
        restored = states
        return true
    }

    private func restoredEstimator(
        of pool: PoolPolicy, under policy: Policy, at now: Timestamp
    ) -> CapacityEstimator? {
        guard let bytes = restored[pool.pool] else { return nil }
        var reader = ByteReader(bytes)
        return try? CapacityEstimator(
            from: &reader, policy: pool, settings: policy.capacity, breakers: policy.breaker, at: now)
    }
}
