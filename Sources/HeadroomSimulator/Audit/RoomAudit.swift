import HeadroomModel

/// Whether what gateways may spend of a pool together, with the float, fits into capacity at every instant (Model §5.3).
///
/// It goes by what gateways really have in force and not by what Headroom takes to be: the parts that they applied,
/// when their leases end, and the fallbacks from then on. Two things may exceed capacity, and both end: after it fell,
/// what was given before, until the last live gateway has something newer, for lease and grace at most; and a fallback
/// above the budget that was in force before it, as long. A gateway that is cut off cannot learn that capacity fell:
/// the others have to leave it its part of what there is, and not what it still has. Where the fallbacks of several such
/// gateways exceed capacity, one that comes back may have as much as its fallback was, until all of it fits again: it has
/// not risen, and room never takes more away than that. There is one exception: a gateway
/// that serves on for longer than `safe_seconds` after lease and grace is not counted any more. What it had, and what one
/// that said goodbye had, has to be given to the others.
struct RoomAudit: Sendable {
    /// The amount that could be handed out from `at` on.
    private struct Limit {
        let version: SnapshotVersion
        let at: Timestamp
        /// Ascending by pool.
        let pools: [(pool: PoolID, rates: PoolLimit)]
        /// Once every gateway has something newer than this limit: what each of them has to have for it to be over.
        var settledBy: SnapshotVersion?

        init(_ whole: Snapshot, at now: Timestamp) {
            version = whole.version
            at = now
            pools = whole.pools.map { ($0.pool, PoolLimit($0)) }
        }
    }

    private struct PoolLimit {
        let resources: ResourceSet
        /// Capacity less float.
        @Halved var budgets: SIMD4<Double>
        @Halved var fallback: SIMD4<Double>

        init(_ pool: PoolAllocation) {
            resources = pool.capacity.resources
            budgets = pool.capacity.perMinute - pool.float.perMinute
            fallback = pool.fallback.perMinute
        }
    }

    private struct Holder {
        let version: SnapshotVersion
        var parts: [Part]
        var leaseUntil: Timestamp
    }

    /// A gateway's budget in force of a pool that is enforced.
    private struct Part {
        let pool: PoolID
        @Halved var budget: SIMD4<Double>
        @Halved var fallback: SIMD4<Double>
        /// All gateways' fallbacks together, when it was given its own.
        @Halved var ofAll: SIMD4<Double>
        /// The fallback that the gateway came back from, and all gateways' then, while an excess lasts.
        var cameFrom: (fallback: SIMD4<Double>, ofAll: SIMD4<Double>)?
    }

    /// One gateway's part of one pool.
    private struct Given {
        let version: SnapshotVersion
        let pool: PoolID
        @Halved var budget: SIMD4<Double>
        @Halved var fallback: SIMD4<Double>
        /// When something newer was published for the gateway, or without it.
        var supersededAt: Timestamp?
    }

    /// Of the publication in force, and of those before it that a live gateway may still have; oldest first.
    private var limits: [Limit] = []
    private var holders: [GatewayID: Holder] = [:]
    /// Each gateway's grants that it may still have, oldest first.
    private var given: [GatewayID: [Given]] = [:]
    private var termBegan: Timestamp?
    /// Those that said goodbye in this term.
    private var left: Set<GatewayID> = []
    /// The last version that each applied, also of those that were stopped: nobody knows that they hold nothing any more.
    private var applied: [GatewayID: SnapshotVersion] = [:]

    /// - Parameter isRecorded: The ledger has it, and all before it.
    mutating func publish(
        _ publication: Publication, isRecorded: Bool, under policy: LoopPolicy, at now: Timestamp
    ) {
        limits.append(Limit(publication.whole, at: now))
        note(publication, isRecorded: isRecorded, under: policy, at: now)
    }

    /// A term begins with what the ledger had, which was behind: all of that counts as in effect, and what capacity has
    /// lost since then it has lost now.
    mutating func resume(from last: Snapshot, at now: Timestamp) { limits.append(Limit(last, at: now)) }

    /// A term knows from the ledger who had what, and neither when each was heard of last nor who has left.
    mutating func beginTerm(at now: Timestamp) {
        termBegan = now
        left = []
    }

    /// Nobody has what was superseded before lease and grace, if it has applied something newer since; how long before,
    /// Headroom notices with its next two ticks. Of a gateway that is gone all stays until it is forgotten, and of those that
    /// a term has not heard of yet what the ledger had at the end of the one before: nothing is over while that is behind.
    private mutating func note(
        _ publication: Publication, isRecorded: Bool, under policy: LoopPolicy, at now: Timestamp
    ) {
        let oldest = now.adding(
            seconds: -policy.vanishedSeconds - 2 * policy.periodSeconds)
        for place in given.values.indices {
            for index in given.values[place].indices where given.values[place][index].supersededAt == nil {
                given.values[place][index].supersededAt = now
            }
        }
        let forgotten = now.adding(seconds: -policy.forgottenSeconds - 2 * policy.periodSeconds)
        if termBegan.map({ $0 < forgotten }) ?? true {
            for (gateway, parts) in given where parts.allSatisfy({ $0.supersededAt.map { $0 < forgotten } ?? false }) {
                given[gateway] = nil
            }
        }
        for part in publication.parts {
            if left.remove(part.gateway) != nil { given[part.gateway] = nil }
            let applied = holders[part.gateway]?.version
            given[part.gateway]?.removeAll { given in
                guard isRecorded, let applied, applied.epoch == part.snapshot.version.epoch,
                    let supersededAt = given.supersededAt
                else { return false }
                return supersededAt < oldest && given.version < applied
            }
            for pool in part.snapshot.pools {
                given[part.gateway, default: []].append(
                    Given(
                        version: part.snapshot.version, pool: pool.pool, budget: pool.budget.perMinute,
                        fallback: pool.fallback.perMinute))
            }
        }
    }

    /// The most that the gateway may be using of the pool, of what was published before, on its budget or its fallback.
    func mostHeld(by gateway: GatewayID, of pool: PoolID) -> (budget: SIMD4<Double>, fallback: SIMD4<Double>) {
        var most = (budget: SIMD4<Double>.zero, fallback: SIMD4<Double>.zero)
        if left.contains(gateway) { return most }
        for given in given[gateway] ?? [] where given.pool == pool {
            most.budget = pointwiseMax(most.budget, pointwiseMax(given.budget, given.fallback))
            most.fallback = pointwiseMax(most.fallback, given.fallback)
        }
        return most
    }

    /// The same of all gateways that have no part any more.
    func heldElsewhere(
        than parts: [(gateway: GatewayID, snapshot: Snapshot)], of pool: PoolID
    ) -> (budget: SIMD4<Double>, fallback: SIMD4<Double>) {
        var sum = (budget: SIMD4<Double>.zero, fallback: SIMD4<Double>.zero)
        for gateway in given.keys where !parts.contains(where: { $0.gateway == gateway }) {
            let most = mostHeld(by: gateway, of: pool)
            sum.budget += most.budget
            sum.fallback += most.fallback
        }
        return sum
    }

    mutating func apply(_ part: Snapshot, at gateway: GatewayID, leaseUntil: Timestamp, now: Timestamp) {
        applied[gateway] = part.version
        if let known = holders[gateway], known.version == part.version {
            holders[gateway]?.leaseUntil = max(known.leaseUntil, leaseUntil)
        } else {
            let newest = limits.last?.pools ?? []
            let before = holders[gateway]
            let parts = part.pools.lazy.filter(\.enforce).map { own in
                let last = before?.parts.first { $0.pool == own.pool }
                let wasOnFallback = before.map { $0.leaseUntil <= now } ?? false
                return Part(
                    pool: own.pool, budget: own.budget.perMinute, fallback: own.fallback.perMinute,
                    ofAll: newest.first { $0.pool == own.pool }?.rates.fallback ?? .zero,
                    cameFrom: wasOnFallback ? last.map { ($0.fallback, $0.ofAll) } : last?.cameFrom)
            }
            holders[gateway] = Holder(version: part.version, parts: Array(parts), leaseUntil: leaseUntil)
        }
    }

    mutating func stop(_ gateway: GatewayID) { holders[gateway] = nil }

    /// It uses nothing any more, and Headroom knows.
    mutating func leave(_ gateway: GatewayID) {
        holders[gateway] = nil
        applied[gateway] = nil
        left.insert(gateway)
    }

    /// Returns what is wrong.
    mutating func check(_ policy: LoopPolicy, at now: Timestamp) -> String? {
        let seconds = policy.vanishedSeconds
        forget(seconds: seconds, at: now)
        guard let newest = limits.last else { return nil }
        for (pool, rates) in newest.pools {
            var live: [Part] = []
            var expired: [(rate: SIMD4<Double>, ofAll: SIMD4<Double>)] = []
            for holder in holders.values {
                guard let part = holder.parts.first(where: { $0.pool == pool }) else { continue }
                if now < holder.leaseUntil {
                    live.append(part)
                } else if now < holder.leaseUntil.adding(seconds: policy.graceSeconds + policy.safeSeconds) {
                    let isSettled = now >= holder.leaseUntil.adding(seconds: seconds)
                    expired.append((isSettled ? part.fallback : pointwiseMin(part.budget, part.fallback), part.ofAll))
                }
            }
            var least = SIMD4<Double>(repeating: .infinity)
            for limit in limits {
                guard let limit = limit.pools.first(where: { $0.pool == pool })?.rates else { continue }
                least = pointwiseMin(least, RoomAudit.excess(of: live, beside: expired, over: limit))
            }
            // Parts are sums of fractions.
            let isExceeded = rates.resources.lanes .& (least .> 1e-6)
            if let resource = rates.resources.members.first(where: { isExceeded[$0.rawValue] }) {
                let lane = resource.rawValue
                return "\(pool): \(live.map { $0.budget[lane] }) \(resource.name) in force, and "
                    + "\(expired.map { $0.rate[lane] }) at gateways that were cut off; capacity less float "
                    + "\(rates.budgets[lane]), exceeded by \(least[lane])"
            }
            let sum = live.reduce(expired.reduce(.zero) { $0 + $1.rate }) { $0 + $1.budget }
            if !any(rates.resources.lanes .& (sum .> rates.budgets)) { endExcess(of: pool) }
        }
        return nil
    }

    /// The budgets of live gateways above the part of the limit that those that were cut off leave. Of one that came back the part up to
    /// its fallback is left to it.
    private static func excess(
        of live: [Part], beside expired: [(rate: SIMD4<Double>, ofAll: SIMD4<Double>)], over limit: PoolLimit
    ) -> SIMD4<Double> {
        func share(_ rate: SIMD4<Double>, _ ofAll: SIMD4<Double>) -> SIMD4<Double> {
            rate * pointwiseMin(.one, limit.fallback / ofAll).replacing(with: 1, where: ofAll .<= 0)
        }
        var left = limit.budgets
        for expired in expired { left -= share(expired.rate, expired.ofAll) }
        var used = SIMD4<Double>.zero
        for part in live {
            let own = part.cameFrom.map { pointwiseMin(part.budget, share($0.fallback, $0.ofAll)) } ?? .zero
            left -= own
            used += part.budget - own
        }
        return used - pointwiseMax(left, .zero)
    }

    private mutating func endExcess(of pool: PoolID) {
        for place in holders.values.indices {
            for index in holders.values[place].parts.indices where holders.values[place].parts[index].pool == pool {
                holders.values[place].parts[index].cameFrom = nil
            }
        }
    }

    /// A limit is over once lease and grace have passed since the next one, or when all gateways have taken that in: each
    /// has something newer, also the one that was cut off, and then what was published until the last of them had it,
    /// since only that was divided knowing what they all hold.
    private mutating func forget(seconds: Double, at now: Timestamp) {
        let oldest = applied.values.min()
        func allHave(_ version: SnapshotVersion) -> Bool { oldest.map { $0 >= version } ?? true }
        while limits.count > 1 {
            if now <= limits[1].at.adding(seconds: seconds) {
                if limits[0].settledBy == nil, allHave(limits[1].version) { limits[0].settledBy = limits.last?.version }
                guard let version = limits[0].settledBy, allHave(version) else { return }
            }
            limits.removeFirst()
        }
    }
}
