import HeadroomModel

/// Notices the moments that explain what the numbers do after them, by comparing what a tick saw with what was last noted.
struct EventWatch: Sendable {
    /// A capacity is noted again when it has moved by this part of the contract: a fall to nothing and back is twenty
    /// events at most.
    private static let leastShare = 0.1

    private struct Noted {
        var state: PoolState
        var capacity: Rates
        var changes: [String: Timestamp] = [:]
        var isRefusedForMoney: Bool
    }

    private var policy: String?
    private var pools: [PoolID: Noted] = [:]
    private var hasStarted = false
    /// Noticed and not stored yet; bounded, since they may be many while nothing can be stored.
    private(set) var unstored: [PoolEvent] = []
    private static let most = 10_000

    /// - Parameter policy: its name and digest.
    mutating func note(_ report: LoopReport, policy: String, at now: Timestamp) {
        if !hasStarted, let version = report.version {
            hasStarted = true
            add(PoolEvent(at: now, kind: .start, after: String(version.epoch)))
        }
        if let before = self.policy, before != policy {
            add(PoolEvent(at: now, kind: .policy, before: before, after: policy))
        }
        self.policy = policy
        for pool in report.pools { note(pool, at: now) }
        if pools.count > report.pools.count {
            let present = Set(report.pools.map(\.pool))
            pools = pools.filter { present.contains($0.key) }
        }
    }

    /// They are stored.
    mutating func removeAll() { unstored.removeAll() }

    private mutating func note(_ pool: PoolReport, at now: Timestamp) {
        let isRefused = pool.upstream.billingFailureSince != nil
        var noted =
            pools[pool.pool]
            ?? Noted(state: pool.state, capacity: pool.estimated, isRefusedForMoney: isRefused)
        let isNew = pools[pool.pool] == nil
        if noted.state != pool.state {
            add(
                PoolEvent(
                    at: now, pool: pool.pool, kind: .state, before: noted.state.name, after: pool.state.name))
            noted.state = pool.state
        }
        noteCapacity(pool, &noted, at: now)
        for channel in pool.upstream.channels {
            guard let model = channel.model, let changedAt = channel.changedAt else { continue }
            let isKnown = noted.changes.updateValue(changedAt, forKey: model) == changedAt
            // A change that lies before the start was noted by the term before.
            if isKnown || isNew { continue }
            add(PoolEvent(at: now, pool: pool.pool, kind: .model, subject: model, after: channel.version))
        }
        if noted.isRefusedForMoney != isRefused {
            add(PoolEvent(at: now, pool: pool.pool, kind: .billing, after: isRefused ? "refused" : "accepted"))
            noted.isRefusedForMoney = isRefused
        }
        pools[pool.pool] = noted
    }

    private mutating func noteCapacity(_ pool: PoolReport, _ noted: inout Noted, at now: Timestamp) {
        for resource in pool.estimated.resources.members {
            let (before, after) = (noted.capacity[resource], pool.estimated[resource] ?? 0)
            guard let before else {
                noted.capacity[resource] = after
                continue
            }
            let contract = pool.nominal[resource] ?? max(before, after)
            guard abs(after - before) >= Self.leastShare * contract, after != before else { continue }
            add(
                PoolEvent(
                    at: now, pool: pool.pool, kind: .capacity, subject: resource.rateName,
                    before: String(Int64(before.rounded())), after: String(Int64(after.rounded()))))
            noted.capacity[resource] = after
        }
    }

    private mutating func add(_ event: PoolEvent) {
        if unstored.count < Self.most { unstored.append(event) }
    }
}
