/// Whether one person may set an override alone. It follows from the override and the contract (Model §5.4): what the
/// override does later is clamped by the guardrails like everything else.
public enum OverrideCheck {
    /// Why a second person has to agree, in sentences; empty when nobody has to.
    ///
    /// Steps and factors count from the contract, whatever other overrides hold: small ones do not add up to a large one
    /// that nobody saw.
    public static func reasonsForApproval(of override: Override, under rules: Rules) -> [String] {
        let policy = rules.policy
        let limits = policy.overrideLimits
        let contract = rules.contractTier(of: override.tenant)
        var reasons: [String] = []
        if let name = override.tier, let from = policy.tiers.firstIndex(where: { $0.name == contract.name }),
            let to = policy.tiers.firstIndex(where: { $0.name == name })
        {
            let steps = abs(from - to)
            if steps > limits.tierSteps {
                reasons.append(
                    "from \(contract.name) to \(name) are \(steps) tiers; one person may move a tenant by "
                        + "\(limits.tierSteps)")
            }
        }
        if let weight = override.weight {
            let factor = max(weight / contract.weight, contract.weight / weight)
            // A factor written as a decimal may miss the limit by a rounding.
            if factor > limits.weightFactor * (1 + 1e-9) {
                reasons.append(
                    "a weight of \(weight) is more than a factor of \(limits.weightFactor) from the contract's "
                        + "\(contract.weight)")
            }
        }
        let hours = override.authorship.until.seconds(since: override.authorship.at) / 3600
        if hours > limits.hours {
            reasons.append("it holds for \(hours) hours; one person may set \(limits.hours)")
        }
        return reasons
    }
}
