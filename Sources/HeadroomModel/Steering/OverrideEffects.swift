/// What an override would do to a pool under `rules`. The decision makes it; who tells it to people only asks.
public typealias OverridePreviewing =
    @Sendable (
        _ override: Override, _ report: PoolReport, _ pool: PoolPolicy, _ rules: Rules, _ now: Timestamp
    ) -> OverrideEffects

/// What an override would do to one pool.
public struct OverrideEffects: Equatable, Sendable {
    /// What bounds a tenant whatever its tier and weight.
    public enum Bound: Equatable, Sendable {
        case asksForNothing
        case hasAll
        /// It has all that counts of what it asks for, and a gaming flag makes it count less.
        case doubted
        /// It has all that counts of what it asks for, and little is known of it yet.
        case new
        /// Of its contract, its costs or the cost breaker.
        case ceiling(Constraint)
        /// The pool was full before its most urgent work had a turn.
        case moreUrgentWork(Criticality, own: Criticality)
        /// It shares a full pool, and its share of it stays as it is.
        case full
    }

    /// The tenants that would be assured more or less, by at least a hundredth; the largest change first.
    public var changes: [Proposal.Change]
    /// Why the override would not move the tenant that it is for; `nil` when it would.
    public var unmoved: Bound?

    public init(changes: [Proposal.Change], unmoved: Bound? = nil) {
        self.changes = changes
        self.unmoved = unmoved
    }
}

extension OverrideEffects.Bound {
    /// For people: a sentence about `tenant`.
    public func text(of tenant: TenantID) -> String {
        switch self {
        case .asksForNothing: "\(tenant) asks for nothing just now, so there is nothing to raise"
        case .hasAll: "\(tenant) is sure of all that it asks for already"
        case .doubted:
            "\(tenant) is sure of all of its demand that counts: a gaming flag makes it count less"
        case .new:
            "\(tenant) is new here and sure of all of its demand that counts: the more it calls, the more counts"
        case .ceiling(.costCeiling):
            "\(tenant) is held by the limit on its costs"
        case .ceiling(.costBreaker):
            "\(tenant) is held by the cost breaker"
        case .ceiling: "\(tenant) is at the ceiling of its contract or tier already"
        case .moreUrgentWork(let urgent, let own):
            "\(tenant)'s work is \(own.name), and \(urgent.name) work takes the whole pool"
        case .full: "the pool is full, and \(tenant)'s share of it stays as it is"
        }
    }
}
