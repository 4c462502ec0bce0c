import HeadroomDemand
import HeadroomEnforcement
import HeadroomModel

/// Answers: what does each tenant really need? Owns, per pool of the policy, the ``DemandEstimator``, the
/// ``ServiceClocks`` of its tenants, and the watch for starvation.
package actor TenantConsumptionClassifier {
    /// A pool's demand, and how its tenants fare.
    package struct Classified: Sendable {
        package var demand: PoolDemand
        /// Seconds of the pool's capacity served to each tenant, divided by its weight.
        package var serviceClocks: [TenantID: Double]
        /// Of those that are underserved.
        package var starvation: [TenantID: StarvationWatch.Finding]
        /// Since the start, by tier.
        package var waits: [(tier: String, seconds: PerCriticality<Histogram>)] = []
    }

    fileprivate struct Watched {
        var policy: PoolPolicy
        var demand: DemandEstimator
        var clocks = ServiceClocks()
        var starvation: StarvationWatch
        var waits = WaitTimes()
        /// Of the last decision: what each tenant is entitled to, and what it is given. Both ascend by tenant.
        var entitlements: [Entitlement] = []
        var allocations: [TenantAllocation] = []
        var estimatedAt: Timestamp?
    }

    /// Of the bytes of ``checkpoint()``: raised when their meaning changes.
    private static let version: UInt32 = 0x434C_0004  // "CL", 4

    private var pools = PoolTable<Watched>()
    private var rules: Rules
    /// Checkpoints of pools that are not followed yet.
    private var restored: [PoolID: [UInt8]] = [:]
    private var restoredAt = Timestamp(milliseconds: 0)
    /// Of pools that left the policy.
    private var settled: [Rollup] = []
    private var settledUses: [ModelUse] = []

    package init() {
        rules = Rules(policy: Policy())
    }

    /// Watches the pools of the policy, under its terms from now on.
    package func follow(_ rules: Rules, at now: Timestamp) {
        let policy = rules.policy
        let settings = DemandEstimator.Settings(policy)
        let byName = Dictionary(policy.pools.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        let left = pools.follow(byName.keys) { name in
            let pool = byName[name]!
            return restoredPool(pool, settings, policy.starvation)
                ?? Watched(
                    policy: pool, demand: DemandEstimator(pool: pool, settings: settings, at: now),
                    starvation: StarvationWatch(settings: policy.starvation))
        }
        for (_, watched) in left {
            settled += watched.demand.unstoredRollups()
            settledUses += watched.demand.unstoredUses()
        }
        for place in pools.indices {
            let pool = byName[pools.pools[place]]!
            pools[place].policy = pool
            pools[place].demand.follow(pool, settings, contracts: rules.contracts)
            pools[place].starvation.settings = policy.starvation
        }
        restored = [:]
        self.rules = rules
    }

    /// Takes in rows that were read at `now`, late ones among them: these only enter the roll-ups.
    ///
    /// A tenant takes memory in each pool that it is seen in, so `max_tenants_total` is a bound on all tables together. While the
    /// rows cannot reach it no pool sees another, and they are folded side by side; else one after the other, as they came.
    package func fold(_ records: [TelemetryRecord], at now: Timestamp) {
        let roomLeft = rules.policy.loop.maxTenantsTotal - pools.indices.reduce(0) { $0 + pools[$1].demand.tenantCount }
        let ofPool = placesOfRecords(records)
        guard roomLeft >= records.count || roomLeft >= newcomers(in: records) else {
            return foldInOrder(records, roomLeft, at: now)
        }
        _ = pools.map(weights: ofPool.map(\.count)) { [rules] place, watched in
            watched.demand.roomLeft = roomLeft
            let records = records.span
            for index in ofPool[place] { watched.fold(records[Int(index)], rules: rules, at: now) }
        }
    }

    private func foldInOrder(_ records: [TelemetryRecord], _ room: Int, at now: Timestamp) {
        var roomLeft = room
        let records = records.span
        for index in records.indices {
            guard let place = pools.place(of: records[index].pool) else { continue }
            pools[place].demand.roomLeft = roomLeft
            pools[place].fold(records[index], rules: rules, at: now)
            roomLeft = pools[place].demand.roomLeft
        }
    }

    /// The indices of each pool's records, by the pool's place; those of other pools are left out.
    private func placesOfRecords(_ records: [TelemetryRecord]) -> [[Int32]] {
        var found = [[Int32]](repeating: [], count: pools.indices.count)
        let records = records.span
        for index in records.indices {
            if let place = pools.place(of: records[index].pool) { found[place].append(Int32(index)) }
        }
        return found
    }

    /// At most so many tenants come into a table.
    private func newcomers(in records: [TelemetryRecord]) -> Int {
        let records = records.span
        return records.indices.count { index in
            guard let place = pools.place(of: records[index].pool), let tenant = records[index].tenant else {
                return false
            }
            return !pools[place].demand.knows(tenant)
        }
    }

    /// Forgets the tenants with these names.
    package func erase(_ fingerprints: Set<UInt64>, at now: Timestamp) {
        settled.removeAll { fingerprints.contains($0.tenant.text.fingerprint) }
        settledUses.removeAll { fingerprints.contains($0.tenant.text.fingerprint) }
        for place in pools.indices {
            let erased = pools[place].demand.erase(fingerprints, at: now)
            pools[place].clocks.remove(erased)
            for tenant in erased { pools[place].starvation.forget(tenant) }
            pools[place].entitlements.removeAll { erased.contains($0.tenant) }
            pools[place].allocations.removeAll { erased.contains($0.tenant) }
        }
    }

    /// Takes each tenant's entitlement by the last decision: the measure of starvation and of claims.
    package func note(_ decision: PriorityPolicyEngine.Decision) {
        for pool in decision.pools {
            guard let place = pools.place(of: pool.pool) else { continue }
            pools[place].entitlements = decision.entitlements[pool.pool] ?? []
            pools[place].allocations = pool.tenants
        }
    }

    /// About what is kept of all tenants.
    package var memoryBytes: Int { pools.indices.reduce(0) { $0 + pools[$1].demand.memoryBytes } }

    /// In the order of `capacities`, which ascends by pool.
    package func estimate(capacities: [PoolCapacity], at now: Timestamp) -> [Classified] {
        let byPool = Dictionary(capacities.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        let capacities = pools.pools.map { byPool[$0] }
        return pools.map(weights: weights) { [rules] place, watched in
            capacities[place].map { watched.estimate(capacity: $0, rules: rules, at: now) }
        }.compactMap { $0 }
    }

    // MARK: Checkpoint

    /// The state, for ``restore(_:at:)`` in another process.
    package func checkpoint() -> [UInt8] {
        let states = pools.map(weights: weights) { _, watched in
            var state = ByteWriter()
            watched.write(to: &state)
            return state
        }
        return PoolStates.bytes(version: Self.version, Array(zip(pools.pools, states)))
    }

    private var weights: [Int] { pools.indices.map { pools[$0].demand.tenantCount } }

    /// Before the first ``follow(_:at:)``. Bytes of another version, or damaged ones, change nothing. Returns whether they
    /// were read.
    @discardableResult
    package func restore(_ bytes: [UInt8], at instant: Timestamp) -> Bool {
        guard let states = PoolStates.read(bytes, version: Self.version) else { return false }
        restored = states
        restoredAt = instant
        return true
    }

    /// The roll-ups that are not in the store yet; ascending by pool, start, tenant, criticality.
    package func unstoredRollups() -> [Rollup] {
        settled + pools.indices.flatMap { pools[$0].demand.unstoredRollups() }
    }

    /// What of their use names a model or a kind of task.
    package func unstoredUses() -> [ModelUse] {
        settledUses + pools.indices.flatMap { pools[$0].demand.unstoredUses() }
    }

    /// They are stored, roll-ups and uses.
    package func forgetRollups() {
        settled = []
        settledUses = []
        for place in pools.indices { pools[place].demand.forgetRollups() }
    }

    private func restoredPool(
        _ pool: PoolPolicy, _ settings: DemandEstimator.Settings, _ starvation: StarvationPolicy
    ) -> Watched? {
        guard let bytes = restored[pool.pool] else { return nil }
        var reader = ByteReader(bytes)
        var watched = Watched(
            policy: pool, demand: DemandEstimator(pool: pool, settings: settings, at: restoredAt),
            starvation: StarvationWatch(settings: starvation))
        return (try? watched.restore(from: &reader, at: restoredAt)) == nil ? nil : watched
    }
}

extension TenantConsumptionClassifier.Watched {
    fileprivate mutating func fold(_ record: TelemetryRecord, rules: Rules, at now: Timestamp) {
        demand.fold(record, at: now)
        if case .call(let call) = record, call.outcome == .ok, let wait = call.queuedMilliseconds {
            waits.note(wait / 1000, tier: rules.tier(of: call.tenant, in: call.pool).name, call.criticality)
        }
    }

    fileprivate mutating func estimate(
        capacity: PoolCapacity, rules: Rules, at now: Timestamp
    ) -> TenantConsumptionClassifier.Classified {
        var demand = demand.estimate(at: now, entitlements: entitlements)
        // After a pause, nobody knows how long things were as they are now: a minute at most counts.
        let seconds = estimatedAt.map { min(60, max(0, now.seconds(since: $0))) } ?? 0
        estimatedAt = now
        advanceClocks(&demand, seconds: seconds, capacity: capacity.capacity, rules: rules)
        let hasLostCapacity = capacity.isBelowContract
        var verdicts: [TenantID: StarvationWatch.Finding] = [:]
        var entitled = TenantWalk(entitlements)
        // Most tenants of a large table are idle.
        for index in demand.tenants.indices where demand.tenants[index].wanted.perMinute != .zero {
            guard let row = entitled.place(of: demand.tenants[index].tenant) else { continue }
            let tenant = demand.tenants[index]
            let verdict = starvation.judge(
                tenant, entitlement: entitlements[row].rates, nominal: policy.nominal, hasLostCapacity: hasLostCapacity,
                longestWait: rules.tier(of: tenant.tenant, in: policy.pool).longestWaitSeconds, at: now)
            if verdict.underservedSeconds > 0 { verdicts[tenant.tenant] = verdict }
        }
        starvation.forgetOthers(at: now)
        self.demand.accumulate(demand, allocations: allocations, starvation: verdicts, seconds: seconds, at: now)
        return TenantConsumptionClassifier.Classified(
            demand: demand, serviceClocks: clocks.clocks, starvation: verdicts, waits: waits.tiers)
    }

    /// Service since the last tick moves the clocks; tenants that left the table leave the clocks.
    private mutating func advanceClocks(
        _ demand: inout PoolDemand, seconds: Double, capacity: Rates, rules: Rules
    ) {
        var activities: [ServiceClocks.Activity] = []
        var moving: [Int] = []
        for index in demand.tenants.indices {
            let tenant = demand.tenants[index].tenant
            let queue = demand.tenants[index].queue
            let waiting = Criticality.allCases.first { queue[$0].depth > 0 }
            let served = demand.tenants[index].served
            // The clock of a tenant that did nothing and waits for nothing stays, once it stands somewhere.
            if waiting == nil, served == .zero, let clock = clocks.clocks[tenant] {
                demand.tenants[index].serviceClock = clock
                continue
            }
            moving.append(index)
            activities.append(
                ServiceClocks.Activity(
                    tenant: tenant, served: served, weight: rules.weight(of: tenant, in: policy.pool),
                    waiting: waiting))
        }
        clocks.advance(activities, seconds: seconds, capacity: capacity)
        for index in moving { demand.tenants[index].serviceClock = clocks.clocks[demand.tenants[index].tenant] ?? 0 }
        guard clocks.clocks.count > demand.tenants.count else { return }
        let present = Set(demand.tenants.map(\.tenant))
        clocks.remove(clocks.clocks.keys.filter { !present.contains($0) })
    }

    fileprivate func write(to writer: inout ByteWriter) {
        demand.write(to: &writer)
        starvation.write(to: &writer)
        writer.write(clocks.clocks.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key.text)
            writer.write(entry.value)
        }
    }

    fileprivate mutating func restore(from reader: inout ByteReader, at now: Timestamp) throws(ByteCodingError) {
        try demand.restore(from: &reader)
        try starvation.restore(from: &reader, at: now)
        var found: [TenantID: Double] = [:]
        for _ in 0..<(try reader.readCount(leastBytes: 10)) {
            found[try reader.readIdentifier()] = try reader.readAmount()
        }
        clocks = ServiceClocks(found)
    }
}
