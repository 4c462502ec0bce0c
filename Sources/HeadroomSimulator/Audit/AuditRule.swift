import HeadroomModel

/// The rules for every published snapshot, for every step from one to the next, and for gateways' use of them
/// (Model §5, §6).
package enum AuditRule: String, CaseIterable, Sendable {
    case version, change, ledger, order, numbers, budget, capacity, parts, membership, fallback, criticality, ceiling,
        plain, entry, tier, weight, floor, decrease, room, application, lease, spending, float, telemetry

    package var sentence: String {
        switch self {
        case .version: "a version is above all before it, and no generation comes twice, also across starts"
        case .change: "a new generation changes something that gateways enforce"
        case .ledger: "the ledger has a snapshot before it is seen; one that it could not take raises nothing"
        case .order: "pools, tenants and gateways ascend by id, each once"
        case .numbers: "every rate is finite, whole and not negative, in just the resources that the pool limits"
        case .budget: "assured rates and unlisted fit into the budget together"
        case .capacity: "budget and float fit into capacity, capacity into nominal"
        case .parts: "over the gateways every number sums to the whole's, or to less while a gateway may use more still"
        case .membership: "a part names what the whole names: version, policy, pools, tenants, weights and tiers"
        case .fallback: "the fallback is within its share of capacity, and safe rates together within the fallback"
        case .criticality: "a tenant's parts by criticality sum to its assured rate"
        case .ceiling: "no assured rate is above its ceiling, and no ceiling above the contract's and the tier's"
        case .plain: "no plain rate is above its ceiling"
        case .entry: "every tenant with terms in a pool has an entry there"
        case .tier: "everyone is in the tier of its contract, or the default one"
        case .weight: "a weight is its tier's, times the strategic factor where the contract says so"
        case .floor: "where all floors fit each is kept, also an idle tenant's"
        case .decrease: "a decrease of capacity reaches the budgets in the same tick"
        case .room:
            "budgets in effect fit into capacity together, with the float, but for lease and grace after it fell and for "
                + "gateways that serve on when they are forgotten"
        case .application: "a gateway applies what was published for it, and never an older version than it has"
        case .lease: "a lease ends so many seconds after the last answer, as the snapshot says"
        case .spending: "a gateway spends no more than its budget, its burst and one call of debt"
        case .float: "the float grants no more than flowed into it, to calls that wait, and refuses what it has to"
        case .telemetry: "each record of an answered batch is read once, and every call that is read counts once"
        }
    }
}

/// A rule that was broken, and where.
package struct AuditViolation: Error, Equatable, Sendable, CustomStringConvertible {
    package let rule: AuditRule
    package let at: Timestamp
    /// Ticks of the loop so far, over all terms.
    package let tick: Int
    /// Who, and the numbers that do not agree.
    package let detail: String
    /// The newest publication and the one before it, in the numbers that the rules speak of.
    package let state: String

    package var description: String {
        "tick \(tick): \(rule.rawValue): \(rule.sentence)\n\(detail)\n\(state)"
    }
}

/// The auditor's report on a run.
package struct AuditReport: Equatable, Sendable {
    /// The first; the run ended with it.
    package var violation: AuditViolation?
    package var publications = 0
    package var dispatches = 0
    /// Seconds in which the budgets in force together exceeded the capacity that was published last.
    package var overcommittedSeconds = 0
    /// Largest sum of budgets in force over that capacity.
    package var maxCommitted = 0.0
}
