import HeadroomModel

/// Whether what gateways may spend of a pool together, with the float, fits into capacity at every instant (DESIGN §5.3).
///
/// It goes by what gateways really have in force and not by what Headroom takes to be: the parts that they applied,
/// when their leases end, and the fallbacks from then on. Two things may exceed capacity, and both end: after it fell,
/// what was given before, until the last live gateway has something newer, for lease and grace at most; and a fallback
/// above the budget that was in force before it, as long. A gateway that is cut off cannot be told that capacity fell:
/// the others have to leave it its part of what there is, and not what it still has.
struct RoomAudit: Sendable {
    /// What could be handed out from `at` on.
    private struct Limit {
        let version: SnapshotVersion
        let at: Timestamp
        let rates: [PoolID: Rates]
        let fallback: [PoolID: Rates]
        /// Once every gateway has something newer than this limit: what each of them has to have for it to be over.
        var settledBy: SnapshotVersion?

        init(_ whole: Snapshot, at now: Timestamp) {
            version = whole.version
            at = now
            rates = Dictionary(
                uniqueKeysWithValues: whole.pools.map { pool in
                    (pool.pool, pool.capacity.map { resource, rate in rate - (pool.float[resource] ?? 0) })
                })
            fallback = Dictionary(uniqueKeysWithValues: whole.pools.map { ($0.pool, $0.fallback) })
        }
    }

    private struct Holder {
        var part: Snapshot
        /// All gateways' together, when it was given its part.
        let fallback: [PoolID: Rates]
        var leaseUntil: Timestamp
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
    /// What each gateway was given and may still have, oldest first.
    private var given: [GatewayID: [Given]] = [:]
    /// What each applied last, also of those that were stopped: nobody knows that they hold nothing any more.
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

    /// Nobody has what was superseded before lease and grace, if it has applied something newer since; how long before,
    /// Headroom notices with its next two ticks. Of a gateway that is gone all stays, and of those that a term has not
    /// heard of yet what the ledger had at the end of the one before: nothing is over while that is behind.
    private mutating func note(
        _ publication: Publication, isRecorded: Bool, under policy: LoopPolicy, at now: Timestamp
    ) {
        let oldest = now.adding(
            seconds: -policy.leaseSeconds - policy.graceSeconds - 2 * policy.periodSeconds)
        for place in given.values.indices {
            for index in given.values[place].indices where given.values[place][index].supersededAt == nil {
                given.values[place][index].supersededAt = now
            }
        }
        for part in publication.parts {
            let applied = holders[part.gateway]?.part.version
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

    mutating func apply(_ part: Snapshot, at gateway: GatewayID, leaseUntil: Timestamp) {
        applied[gateway] = part.version
        if let known = holders[gateway], known.part.version == part.version {
            holders[gateway]?.leaseUntil = max(known.leaseUntil, leaseUntil)
        } else {
            holders[gateway] = Holder(part: part, fallback: limits.last?.fallback ?? [:], leaseUntil: leaseUntil)
        }
    }

    mutating func stop(_ gateway: GatewayID) { holders[gateway] = nil }

    /// Returns what is wrong.
    mutating func check(_ policy: LoopPolicy, at now: Timestamp) -> String? {
        let seconds = policy.leaseSeconds + policy.graceSeconds
        forget(seconds: seconds, at: now)
        let newest = limits.last?.rates ?? [:]
        for pool in newest.keys.sorted() {
            let newest = newest[pool] ?? .none
            for resource in newest.resources.members {
                var live = 0.0
                var expired: [(rate: Double, ofAll: Double)] = []
                for holder in holders.values {
                    // By place: this is asked so often that copies of allocations would be a hundredth of a run.
                    guard let place = holder.part.pools.firstIndex(where: { $0.pool == pool }),
                        holder.part.pools[place].enforce
                    else { continue }
                    let budget = holder.part.pools[place].budget[resource] ?? 0
                    let fallback = holder.part.pools[place].fallback[resource] ?? 0
                    guard now >= holder.leaseUntil else {
                        live += budget
                        continue
                    }
                    let isSettled = now >= holder.leaseUntil.adding(seconds: seconds)
                    expired.append(
                        (isSettled ? fallback : min(budget, fallback), holder.fallback[pool]?[resource] ?? 0))
                }
                let most = limits.map { limit in
                    let all = limit.fallback[pool]?[resource] ?? 0
                    let left = expired.reduce(limit.rates[pool]?[resource] ?? 0) { left, expired in
                        left - expired.rate * min(1, expired.ofAll > 0 ? all / expired.ofAll : 1)
                    }
                    return max(0, left)
                }.max()
                // Parts are sums of fractions.
                if let most, live > most + 1e-6 {
                    return "\(pool): \(live) \(resource.name) in force, and \(expired) at gateways that were cut off; "
                        + "capacity less float \(newest[resource] ?? 0), at most \(most) left for those that are not"
                }
            }
        }
        return nil
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
