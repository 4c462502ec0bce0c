import HeadroomControl
import HeadroomModel

/// What is the upstream delivering? Owns one ``CapacityEstimator`` per pool of the policy.
package actor UpstreamCapacityObserver {
    private struct Watched {
        var policy: PoolPolicy
        var settings: CapacityPolicy
        var estimator: CapacityEstimator
    }

    private var pools: [PoolID: Watched] = [:]

    package init() {}

    /// Watches the pools of `policy`; one whose terms changed starts over.
    package func follow(_ policy: Policy, at now: Timestamp) {
        var followed: [PoolID: Watched] = [:]
        for pool in policy.pools {
            if let known = pools[pool.pool], known.policy == pool, known.settings == policy.capacity {
                followed[pool.pool] = known
            } else {
                followed[pool.pool] = Watched(
                    policy: pool, settings: policy.capacity,
                    estimator: CapacityEstimator(policy: pool, settings: policy.capacity, at: now))
            }
        }
        pools = followed
    }

    /// Takes in rows that were read at `now`.
    package func fold(_ records: [TelemetryRecord], at now: Timestamp) {
        for record in records { pools[record.pool]?.estimator.fold(record, at: now) }
    }

    /// Ascending by pool.
    package func estimate(at now: Timestamp) -> [PoolCapacity] {
        pools.keys.sorted().map { pools[$0]!.estimator.estimate(at: now) }
    }
}
