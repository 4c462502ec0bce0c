import HeadroomDecision
import HeadroomModel

/// Answers: who gets what? Owns one ``PoolAllocator`` per pool, and after a start the last known allocations, which it
/// keeps until it has seen enough to decide.
package actor PriorityPolicyEngine {
    /// The allocations of all pools.
    package struct Decision: Sendable {
        /// Ascending by pool, as all of these.
        package var pools: [PoolAllocation]
        package var entitlements: [PoolID: [Entitlement]]
        package var reversals: [PoolID: Int]
        /// The explanations, but for their version, which a publication gives them.
        package var explanations: [(pool: Explanation.PoolFacts, tenants: [Explanation.TenantFacts])]
        package var questions: [Proposal]
        package var withdrawn: [Int64]
        package var credits: [CreditBalance]
        /// The balances of those that have any, ascending by tenant.
        package var balances: [PoolID: [CreditBalance]]

        /// The records that must outlive the process. A generation that was not published explains nothing.
        package func outcome(publishedAs version: SnapshotVersion?, at now: Timestamp) -> DecisionOutcome {
            let chains = version.map { version in
                explanations.map {
                    PoolExplanation(version: version, at: now, pool: $0.pool, tenants: $0.tenants)
                }
            }
            return DecisionOutcome(
                questions: questions, withdrawn: withdrawn, credits: credits, explanations: chains ?? [])
        }
    }

    /// What one pool is decided by.
    private struct Part: Sendable {
        let pool: PoolPolicy
        let capacity: PoolCapacity
        let demand: PoolDemand
        let restarts: Bool
        let lastKnown: PoolAllocation?
    }

    private var allocators = PoolTable<PoolAllocator>()
    /// As stored; `nil` until they were read.
    private var credits: [CreditBalance]?
    private var lastKnown: [PoolID: PoolAllocation] = [:]
    private var learningUntil: Timestamp?
    private var failover = Failover([], states: [:])

    package init() {}

    /// Learning mode: these allocations stay for `seconds` of the policy's `learning_seconds`.
    package func learn(from allocations: [PoolAllocation], until: Timestamp) {
        lastKnown = Dictionary(uniqueKeysWithValues: allocations.map { ($0.pool, $0) })
        learningUntil = until
    }

    package var knowsCredits: Bool { credits != nil }

    /// The balances that were stored; what was counted without them is void.
    package func restore(_ credits: [CreditBalance], at now: Timestamp) {
        self.credits = credits
        for place in allocators.indices { allocators[place].restore(credits, at: now) }
    }

    /// `capacities` and `classified` are in the same order, ascending by pool.
    /// - Parameter rules: those that hold at `now`.
    package func decide(
        capacities: [PoolCapacity], classified: [TenantConsumptionClassifier.Classified], under rules: Rules,
        at now: Timestamp
    ) -> Decision {
        if let learningUntil, now >= learningUntil { lastKnown = [:] }
        var decision = Decision(
            pools: [], entitlements: [:], reversals: [:], explanations: [], questions: [], withdrawn: [], credits: [],
            balances: [:])
        let before = failover
        failover = Failover(
            rules.policy.pools,
            states: Dictionary(uniqueKeysWithValues: capacities.map { ($0.pool, $0.state) }))
        let handsOver = !failover.sources.isEmpty
        let demands = Dictionary(
            uniqueKeysWithValues: handsOver ? classified.map { ($0.demand.pool, $0.demand) } : [])
        allocators.follow(capacities.lazy.map(\.pool).filter { rules.policy.pool($0) != nil }) {
            PoolAllocator(pool: $0, credits: credits ?? [], at: now)
        }
        var parts: [Part?] = Array(repeating: nil, count: allocators.indices.count)
        for (capacity, classified) in zip(capacities, classified) {
            guard let place = allocators.place(of: capacity.pool), let pool = rules.policy.pool(capacity.pool)
            else { continue }
            let demand =
                handsOver
                ? failover.demand(of: classified.demand, in: demands, limiting: pool.nominal.resources)
                : classified.demand
            parts[place] = Part(
                pool: pool, capacity: capacity, demand: demand,
                restarts: before.sources[pool.pool] != failover.sources[pool.pool], lastKnown: lastKnown[pool.pool])
        }
        let decided = allocators.map(weights: parts.map { $0?.demand.tenants.count ?? 0 }) { [parts] place, allocator in
            parts[place].map { part in
                allocator.decide(
                    part.pool, capacity: part.capacity, demand: part.demand, under: rules, restarts: part.restarts,
                    learningFrom: part.lastKnown, at: now)
            }
        }
        for case let pool? in decided { decision.add(pool) }
        if credits == nil { decision.credits = [] }
        return decision
    }
}

extension PriorityPolicyEngine.Decision {
    fileprivate mutating func add(_ pool: PoolDecision) {
        let id = pool.allocation.pool
        pools.append(pool.allocation)
        entitlements[id] = pool.entitlements
        reversals[id] = pool.reversals
        if !pool.changes.isEmpty { explanations.append((pool.facts, pool.changes)) }
        questions += pool.questions
        withdrawn += pool.withdrawn
        credits += pool.credits
        balances[id] = pool.balances
    }
}
