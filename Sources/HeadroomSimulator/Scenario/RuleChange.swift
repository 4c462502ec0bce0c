import HeadroomModel

/// Other rules than those that a run began with.
package struct RuleChange: Equatable, Sendable {
    /// The pool's nominal capacity, and all floors with it, is so many times the contract at the start.
    package var nominalFactor = 1.0
    /// Every tenant moves so many tiers on, from the last to the first.
    package var tierSteps = 0
    /// Every so-many-th tenant by id has no contract any more.
    package var lapsed: Int?

    package init(nominalFactor: Double = 1, tierSteps: Int = 0, lapsed: Int? = nil) {
        self.nominalFactor = nominalFactor
        self.tierSteps = tierSteps
        self.lapsed = lapsed
    }

    func rules(from first: Rules, pool: PoolID) -> Rules {
        var rules = first
        for index in rules.policy.pools.indices where rules.policy.pools[index].pool == pool {
            rules.policy.pools[index].nominal = first.policy.pools[index].nominal.map {
                max(1, ($1 * nominalFactor).rounded())
            }
        }
        let names = first.policy.tiers.map(\.name)
        for (place, tenant) in first.contracts.keys.sorted().enumerated() {
            if let lapsed, place % lapsed == lapsed - 1 {
                rules.contracts[tenant] = nil
                continue
            }
            guard var contract = rules.contracts[tenant] else { continue }
            let tier = names.firstIndex(of: contract.tier ?? first.policy.defaultTier) ?? 0
            contract.tier = names[(tier + tierSteps) % names.count]
            for index in contract.terms.indices where contract.terms[index].pool == pool {
                contract.terms[index].floor = contract.terms[index].floor.map { ($1 * nominalFactor).rounded(.down) }
            }
            rules.contracts[tenant] = contract
        }
        return rules
    }
}
