/// What the business wants: the policy in force and the contracts.
package struct Rules: Sendable {
    package var policy: Policy
    /// By tenant.
    package var contracts: [TenantID: Contract]
    /// What is wrong with newer rules that were refused; `nil` while these are the newest.
    package var refusal: String?

    package init(policy: Policy, contracts: [TenantID: Contract] = [:], refusal: String? = nil) {
        self.policy = policy
        self.contracts = contracts
        self.refusal = refusal
    }

    package func tier(of tenant: TenantID) -> TierPolicy {
        let named = contracts[tenant]?.tier.flatMap(policy.tier(named:))
        // A policy is checked to know its default tier, and to have at least one.
        return named ?? policy.tier(named: policy.defaultTier) ?? policy.tiers[0]
    }

    package func terms(of tenant: TenantID, in pool: PoolID) -> Contract.Terms? {
        contracts[tenant]?.terms.first { $0.pool == pool }
    }

    /// The tier's weight, times the policy's factor for a strategic account.
    package func weight(of tenant: TenantID) -> Double {
        let factor = contracts[tenant]?.isStrategic == true ? policy.strategicFactor : 1
        return tier(of: tenant).weight * factor
    }
}
