import HeadroomEnforcement
import HeadroomModel

/// What one gateway may still spend, by the words of DESIGN §8 and WIRE: a bucket in every limited resource that refills
/// by the budget (the fallback's once the lease has run out), holds so many seconds of it and at least one mean request,
/// keeps its level in proportion when the budget changes, and lets one call more pass as long as it is above 0.
///
/// A gateway that draws gives up what its bucket cannot hold, and says so: instead of a bucket that is full, it has what
/// came in less what it returned. Drawn calls go on what was granted for them, until its next request.
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
    /// The last draw that was sent; `nil` for a gateway that does not draw.
    private var draw: DrawRequest?
    /// What its answer grants, as far as it is not used.
    private var granted = Work.zero
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

    /// Returns what is wrong with it.
    mutating func note(_ request: DrawRequest, at now: Timestamp) -> String? {
        fill(to: now)
        let returned = request.totals.returned - (draw?.totals.returned ?? .zero)
        draw = request
        granted = .zero
        for resource in Resource.allCases where rates[resource] != nil && returned[resource] > 0 {
            level[resource.rawValue] -= returned[resource]
            if level[resource.rawValue] + largest[resource] <= -SpendingAudit.rounding {
                return "returns \(returned[resource]) \(resource.name), which it has not got"
            }
        }
        return nil
    }

    mutating func grant(_ answer: DrawAnswer, to request: DrawRequest) {
        guard request == draw else { return }
        for entry in answer.granted {
            let heads = request.waiting.first { $0.tenant == entry.tenant }?.heads ?? []
            for head in heads.prefix(entry.calls) { granted += head.estimate }
        }
    }

    /// A call goes on what was granted. Returns what is wrong with it.
    mutating func draw(_ estimate: Work) -> String? {
        granted -= estimate
        guard pool?.enforce == true else { return nil }
        for resource in Resource.allCases where rates[resource] != nil {
            if granted[resource] <= -1e-3 { return "draws \(estimate[resource]) \(resource.name) more than granted" }
        }
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
            level[lane] = min(holds(lane), level[lane] + minutes * (rates[resource] ?? 0))
        }
    }

    private mutating func change(to new: Rates?, isFallback: Bool) {
        // A bucket that was a second's holds five seconds' in proportion, and the other way round.
        let isReturning = draw != nil && isOnFallback && !isFallback
        isOnFallback = isFallback
        let new = new ?? .none
        for resource in Resource.allCases {
            let lane = resource.rawValue
            let rate = new[resource] ?? 0
            let least = rate > 0 ? (meanRequest?[resource] ?? (resource == .requests ? 1 : 0)) : 0
            let size = max(least, rate * (pool?.burstSeconds ?? 0) / 60)
            if rates[resource] == nil {
                level[lane] = size
            } else if draw != nil {
                level[lane] += max(0, size - burst[lane])
                if isFallback || isReturning { level[lane] = min(level[lane], size) }
            } else if level[lane] > 0 {
                level[lane] *= size / burst[lane]
            }
            burst[lane] = size
        }
        rates = new
    }

    private mutating func add(_ work: Work) {
        for resource in Resource.allCases {
            let lane = resource.rawValue
            level[lane] = min(holds(lane), level[lane] + work[resource])
        }
    }

    /// Nothing flows over unsaid where it is returned.
    private func holds(_ lane: Int) -> Double { draw != nil && !isOnFallback ? .infinity : burst[lane] }
}
