import HeadroomCapacity
import HeadroomModel

/// Answers: what is the upstream delivering? Owns one ``CapacityEstimator`` per pool of the policy.
package actor UpstreamCapacityObserver {
    /// Of the bytes of ``checkpoint()``: raised when their meaning changes.
    private static let version: UInt32 = 0x4F42_000A  // "OB", 10

    private var pools = PoolTable<CapacityEstimator>()
    private var pins: [PoolID: CapacityPin] = [:]
    /// Checkpoints of pools that are not followed yet.
    private var restored: [PoolID: [UInt8]] = [:]

    package init() {}

    /// Watches the pools of the policy, and goes by the pins that hold.
    package func follow(_ rules: Rules, at now: Timestamp) {
        let policy = rules.policy
        let byName = Dictionary(policy.pools.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        pools.follow(byName.keys) { name in
            let pool = byName[name]!
            return restoredEstimator(of: pool, under: policy, at: now)
                ?? CapacityEstimator(policy: pool, settings: policy.capacity, breakers: policy.breaker, at: now)
        }
        for place in pools.indices {
            pools[place].follow(
                byName[pools.pools[place]]!, settings: policy.capacity, breakers: policy.breaker)
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
            guard let pool = pools.place(of: records[place].pool) else { continue }
            pools[pool].fold(records[place], at: now)
        }
    }

    /// Ascending by pool.
    package func estimate(at now: Timestamp) -> [PoolCapacity] {
        pools.indices.map { pools[$0].estimate(at: now, pin: pins[pools.pools[$0]]) }
    }

    // MARK: Checkpoint

    /// The state, for ``restore(_:)`` in another process.
    package func checkpoint() -> [UInt8] {
        PoolStates.bytes(
            version: Self.version,
            pools.indices.map { place in
                var state = ByteWriter()
                pools[place].write(to: &state)
                return (pools.pools[place], state)
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
