import HeadroomModel

/// Whether what gateways may spend of a pool together, with the float, fits into capacity at every instant (DESIGN §5.3).
///
/// It goes by what gateways really have in force and not by what Headroom takes to be: the parts that they applied,
/// when their leases end, and the fallbacks from then on. Two things may exceed capacity, and both end: after it fell,
/// what was given before, until the last live gateway has something newer, for lease and grace at most; and a fallback
/// above the budget that was in force before it, as long.
struct RoomAudit: Sendable {
    /// What could be handed out from `at` on.
    private struct Limit {
        let version: SnapshotVersion
        let at: Timestamp
        let rates: [PoolID: Rates]
        /// Once every gateway has something newer than this limit: what each of them has to have for it to be over.
        var settledBy: SnapshotVersion?
    }

    private struct Holder {
        var part: Snapshot
        var leaseUntil: Timestamp
    }

    /// Of the publication in force, and of those before it that a live gateway may still have; oldest first.
    private var limits: [Limit] = []
    private var holders: [GatewayID: Holder] = [:]
    /// What was published within lease and grace, oldest first, and the last part of each gateway before.
    private var recent: [(at: Timestamp, publication: Publication)] = []
    private var last: [GatewayID: Snapshot] = [:]

    mutating func publish(_ publication: Publication, under policy: LoopPolicy, at now: Timestamp) {
        let whole = publication.whole
        var rates: [PoolID: Rates] = [:]
        for pool in whole.pools {
            rates[pool.pool] = pool.capacity.map { resource, rate in rate - (pool.float[resource] ?? 0) }
        }
        limits.append(Limit(version: whole.version, at: now, rates: rates))
        recent.append((now, publication))
        let oldest = now.adding(seconds: -policy.leaseSeconds - policy.graceSeconds)
        while recent.count > 1, recent[1].at < oldest {
            for part in recent.removeFirst().publication.parts { last[part.gateway] = part.snapshot }
        }
    }

    /// How much less than the whole's budget the parts of `pool` may sum to, by the lanes of ``Resource``: any, while a
    /// gateway may still be using more of it than it has in them, or while fewer gateways than expected have joined.
    func mostShort(_ pool: PoolID, in publication: Publication, under policy: LoopPolicy) -> SIMD4<Double> {
        func parts(_ snapshots: [(gateway: GatewayID, snapshot: Snapshot)]) -> [GatewayID: PoolAllocation] {
            var found: [GatewayID: PoolAllocation] = [:]
            for part in snapshots { found[part.gateway] = part.snapshot.pools.first { $0.pool == pool } }
            return found
        }
        let now = parts(publication.parts)
        let before = [parts(last.map { ($0.key, $0.value) })] + recent.map { parts($0.publication.parts) }
        let known = Set(before.flatMap(\.keys))
        if now.count < policy.expectedGateways, now.keys.contains(where: { !known.contains($0) }) {
            return SIMD4(repeating: .infinity)
        }
        var short = SIMD4<Double>.zero
        for old in before {
            for (gateway, part) in old {
                let most = pointwiseMax(part.budget.perMinute, part.fallback.perMinute)
                let least = now[gateway].map { pointwiseMin($0.budget.perMinute, $0.fallback.perMinute) } ?? .zero
                short.replace(with: .infinity, where: most .> least)
            }
        }
        return short
    }

    mutating func apply(_ part: Snapshot, at gateway: GatewayID, leaseUntil: Timestamp) {
        if let known = holders[gateway], known.part.version == part.version {
            holders[gateway]?.leaseUntil = max(known.leaseUntil, leaseUntil)
        } else {
            holders[gateway] = Holder(part: part, leaseUntil: leaseUntil)
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
                // What is on its fallback cannot be told otherwise: it is for the others to leave it room.
                var live = 0.0
                var expired = 0.0
                for holder in holders.values {
                    guard let part = holder.part.pools.first(where: { $0.pool == pool }), part.enforce else { continue }
                    let budget = part.budget[resource] ?? 0
                    let fallback = part.fallback[resource] ?? 0
                    if now < holder.leaseUntil {
                        live += budget
                    } else if now < holder.leaseUntil.adding(seconds: seconds) {
                        expired += min(budget, fallback)
                    } else {
                        expired += fallback
                    }
                }
                let most = limits.reduce(0) { max($0, $1.rates[pool]?[resource] ?? 0) }
                if live > max(0, most - expired) {
                    return "\(pool): \(live) \(resource.name) in force, and \(expired) at gateways that were cut off; "
                        + "capacity less float \(newest[resource] ?? 0), at most \(most) in effect"
                }
            }
        }
        return nil
    }

    /// A limit is over once lease and grace have passed since the next one, or when all gateways have taken that in: each
    /// has something newer, also the one that was cut off, and then what was published until the last of them had it,
    /// since only that was divided knowing what they all hold.
    private mutating func forget(seconds: Double, at now: Timestamp) {
        let oldest = holders.values.map(\.part.version).min()
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
