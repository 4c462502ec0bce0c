import HeadroomControl
import HeadroomModel

/// Who gets what? Owns one ``PoolAllocator`` per pool, and after a start the last known allocations, which it holds
/// until it has seen enough to decide.
package actor PriorityPolicyEngine {
    /// What all pools get.
    package struct Decision: Sendable {
        /// Ascending by pool.
        package var pools: [PoolAllocation]
        package var entitlements: [PoolID: [TenantID: Rates]]
    }

    private var allocators: [PoolID: PoolAllocator] = [:]
    private var held: [PoolID: PoolAllocation] = [:]
    private var heldUntil: Timestamp?

    package init() {}

    /// Learning mode: these allocations stay for `seconds` of the policy's `learning_seconds`.
    package func hold(_ allocations: [PoolAllocation], until: Timestamp) {
        held = Dictionary(uniqueKeysWithValues: allocations.map { ($0.pool, $0) })
        heldUntil = until
    }

    /// `capacities` and `classified` are in the same order, ascending by pool.
    package func decide(
        capacities: [PoolCapacity], classified: [TenantConsumptionClassifier.Classified], under rules: Rules,
        at now: Timestamp
    ) -> Decision {
        if let heldUntil, now >= heldUntil { held = [:] }
        var decision = Decision(pools: [], entitlements: [:])
        var used: [PoolID: PoolAllocator] = [:]
        for (capacity, classified) in zip(capacities, classified) {
            guard let pool = rules.policy.pool(capacity.pool) else { continue }
            var allocator = allocators[pool.pool] ?? PoolAllocator()
            let decided = allocator.decide(
                pool, capacity: capacity, demand: classified.demand, serviceClocks: classified.serviceClocks,
                under: rules)
            used[pool.pool] = allocator
            decision.pools.append(holding(decided.allocation) ?? decided.allocation)
            decision.entitlements[pool.pool] = decided.entitlements
        }
        allocators = used
        return decision
    }

    /// The held allocation, while the pool still has the capacity that it divides.
    private func holding(_ decided: PoolAllocation) -> PoolAllocation? {
        guard let held = held[decided.pool], held.nominal == decided.nominal else { return nil }
        let fits = held.budget.resources.members.allSatisfy {
            (held.budget[$0] ?? 0) <= (decided.budget[$0] ?? 0)
        }
        return fits ? held : nil
    }
}
