import HeadroomModel

/// What one gateway may still spend, by the words of DESIGN §8 and WIRE: a bucket in every limited resource that refills
/// by the budget (the fallback's once the lease has run out), holds so many seconds of it and at least one mean request,
/// keeps its level in proportion when the budget changes, and lets one call more pass as long as it is above 0.
///
/// A gateway may be stricter at any time, since the provider's own headers bound it too; so the bucket here is an upper
/// bound. Without an allocation, or with one that does not enforce, everything passes.
struct SpendingAudit: Sendable {
    private(set) var applied: SnapshotVersion?
    private var pool: PoolAllocation?
    private var leaseUntil = Timestamp(milliseconds: .min)
    private var isOnFallback = false
    private var rates = Rates.none
    /// By the lanes of ``Resource``.
    private var level: [Double] = [0, 0, 0, 0]
    private var burst: [Double] = [0, 0, 0, 0]
    private var filledAt = Timestamp(milliseconds: 0)
    private var charged: [Int: Work] = [:]
    /// The mean over about the last fifty calls, and the largest of all.
    private var meanRequest: Work?
    private var largest = Work.zero

    private static let rounding = 1e-6

    mutating func enqueue(_ estimate: Work) {
        meanRequest = meanRequest.map { $0 * 0.98 + estimate * 0.02 } ?? estimate
        for resource in Resource.allCases { largest[resource] = max(largest[resource], estimate[resource]) }
    }

    mutating func apply(_ part: Snapshot, leaseUntil until: Timestamp, at now: Timestamp) {
        if part.version == applied {
            leaseUntil = max(leaseUntil, until)
            fill(to: now)
            if isOnFallback, now < leaseUntil { change(to: pool?.budget, isFallback: false) }
        } else {
            fill(to: now)
            applied = part.version
            pool = part.pools.first
            leaseUntil = until
            change(to: pool?.budget, isFallback: false)
        }
    }

    /// Returns what is wrong with it.
    mutating func dispatch(_ call: Int, _ estimate: Work, at now: Timestamp) -> String? {
        guard pool?.enforce == true else { return nil }
        fill(to: now)
        for resource in Resource.allCases where rates[resource] != nil {
            // A header that bounded the gateway for a while may have left it a call's worth better off (see `change`).
            if level[resource.rawValue] + largest[resource] <= -SpendingAudit.rounding {
                return "\(resource.name) \(level[resource.rawValue]) of a burst of \(burst[resource.rawValue]), rate "
                    + "\(rates[resource] ?? 0), largest call \(largest[resource])"
            }
        }
        charged[call] = estimate
        add(.zero - estimate)
        return nil
    }

    mutating func settle(_ call: Int, cost: Work?, at now: Timestamp) {
        guard let estimate = charged.removeValue(forKey: call), let cost else { return }
        fill(to: now)
        add(estimate - cost)
    }

    /// What it may spend a minute of `resource`; 0 while it is not bounded.
    func inForce(_ resource: Resource, of id: PoolID, at now: Timestamp) -> Double {
        guard let pool, pool.pool == id, pool.enforce else { return 0 }
        return (now < leaseUntil ? pool.budget : pool.fallback)[resource] ?? 0
    }

    private mutating func fill(to now: Timestamp) {
        if let pool, !isOnFallback, now >= leaseUntil {
            refill(to: leaseUntil)
            change(to: pool.fallback, isFallback: true)
        }
        refill(to: now)
    }

    private mutating func refill(to now: Timestamp) {
        let minutes = max(0, now.seconds(since: filledAt)) / 60
        filledAt = max(filledAt, now)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            level[lane] = min(burst[lane], level[lane] + minutes * (rates[resource] ?? 0))
        }
    }

    private mutating func change(to new: Rates?, isFallback: Bool) {
        isOnFallback = isFallback
        let new = new ?? .none
        for resource in Resource.allCases {
            let lane = resource.rawValue
            let rate = new[resource] ?? 0
            let least = rate > 0 ? (meanRequest?[resource] ?? (resource == .requests ? 1 : 0)) : 0
            let size = max(least, rate * (pool?.burstSeconds ?? 0) / 60)
            if rates[resource] == nil {
                level[lane] = size
            } else if level[lane] > 0 {
                level[lane] *= size / burst[lane]
            }
            burst[lane] = size
        }
        rates = new
    }

    private mutating func add(_ work: Work) {
        for resource in Resource.allCases {
            level[resource.rawValue] = min(burst[resource.rawValue], level[resource.rawValue] + work[resource])
        }
    }
}
