import HeadroomModel

/// The facts of a period in one pool, from which its story is told: for a person on duty, or for a tenant.
package struct PeriodFacts: Sendable {
    /// A tenant's standing now, for what the records of the past do not say.
    package struct Standing: Equatable, Sendable {
        package var tier: String
        /// The factor on the weight of a strategic account; `nil` for another.
        package var strategicFactor: Double?

        package init(tier: String, strategicFactor: Double? = nil) {
            self.tier = tier
            self.strategicFactor = strategicFactor
        }
    }

    /// Minutes that follow each other in which most attempts at the provider failed for reasons of its own.
    package struct Outage: Equatable, Sendable {
        package var from: Timestamp
        /// The end of the last minute.
        package var to: Timestamp
        package var attempts: Int64
        package var failures: Int64
    }

    /// A minute's part of failed attempts from which on it counts as an outage, and how many attempts say so.
    private static let outageShare = 0.5
    private static let leastAttempts: Int64 = 5

    package var pool: PoolID
    package var tenant: TenantID?
    package var from: Timestamp
    package var to: Timestamp
    /// Of the pool as a whole.
    package var sums = RollupSums()
    package var capacity = CapacitySums()
    /// The lowest estimate of a minute, by the resource that fell most; `nil` where nothing fell below the contract.
    package var lowest: (at: Timestamp, resource: Resource, rate: Double, nominal: Double)?
    package var outages: [Outage] = []
    /// Of the tenant.
    package var own = RollupSums()
    /// Descending by counted tokens; without the tenant.
    package var others: [(tenant: TenantID, tokens: Int64)] = []
    /// All that were served, the tenant among them.
    package var tenantCount = 0
    package var events: [PoolEvent] = []
    package var acts: [PersonsAct] = []
    package var standing: Standing?
    /// Of the tenant in all pools: what ended in the period, and in the week before it.
    package var tasks: [TaskTimesAnswer.Row] = []

    /// - Parameters:
    ///   - records: of the pool as a whole, with leaders.
    ///   - own: of the tenant.
    package init(
        _ query: HistoryQuery, _ records: HistoryRecords, own: [Rollup] = [], tenant: TenantID? = nil,
        acts: [PersonsAct] = [], standing: Standing? = nil
    ) {
        pool = query.pool
        self.tenant = tenant
        (from, to) = (query.from, query.to)
        events = records.events
        self.acts = acts
        self.standing = standing
        tenantCount = records.tenantCount
        for minute in records.pools {
            sums.add(minute.sums)
            capacity.add(minute.capacity)
        }
        for rollup in own { self.own.add(rollup.sums) }
        others = records.leaders.filter { $0.tenant != tenant }.map { leader in
            (leader.tenant, leader.rollups.reduce(0) { $0 + $1.countedTokens })
        }
        lowest = Self.lowest(records.pools)
        outages = Self.outages(records.pools, stepSeconds: query.stepSeconds)
    }

    private static func lowest(
        _ pools: [PoolRollup]
    ) -> (at: Timestamp, resource: Resource, rate: Double, nominal: Double)? {
        var lowest: (at: Timestamp, resource: Resource, rate: Double, nominal: Double)?
        for pool in Self.merged(pools) {
            let (estimated, nominal) = (pool.capacity.mean(\.estimated), pool.capacity.mean(\.nominal))
            for resource in nominal.resources.members {
                guard let contract = nominal[resource], let rate = estimated[resource], rate < 0.95 * contract else {
                    continue
                }
                if rate / contract < lowest.map({ $0.rate / $0.nominal }) ?? 1 {
                    lowest = (pool.start, resource, rate, contract)
                }
            }
        }
        return lowest
    }

    private static func outages(_ pools: [PoolRollup], stepSeconds: Int64) -> [Outage] {
        var outages: [Outage] = []
        for pool in merged(pools) {
            let attempts = pool.sums.attempts
            // Refused for quota, for growth or for money: the provider works.
            let failures = pool.sums.overload + pool.sums.error - pool.sums.ramp - pool.sums.billing
            guard attempts >= leastAttempts, Double(failures) >= outageShare * Double(attempts) else { continue }
            let end = pool.start.adding(seconds: Double(stepSeconds))
            if let last = outages.last, last.to == pool.start {
                outages[outages.count - 1].to = end
                outages[outages.count - 1].attempts += attempts
                outages[outages.count - 1].failures += failures
            } else {
                outages.append(Outage(from: pool.start, to: end, attempts: attempts, failures: failures))
            }
        }
        return outages
    }

    /// One of each start, as the store gives them; a list that has several is added up.
    private static func merged(_ pools: [PoolRollup]) -> [PoolRollup] {
        var merged: [PoolRollup] = []
        for pool in pools {
            if merged.last?.start == pool.start {
                merged[merged.count - 1].sums.add(pool.sums)
                merged[merged.count - 1].capacity.add(pool.capacity)
            } else {
                merged.append(pool)
            }
        }
        return merged
    }
}
