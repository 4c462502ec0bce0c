import HeadroomModel

/// The effect of other rules on a pool: its fill under both, with the present capacity and the demand of its tenants now.
///
/// It is where the rates would come to rest. On their way there they follow the dampening, and guardrails that ask a
/// person hold here as they do there.
public enum OverridePreview {
    /// The tenants that would be assured more or less, by at least a hundredth; the largest change first.
    ///
    /// - Parameters:
    ///   - rules: those that hold at `now`.
    ///   - other: the same with the override.
    public static func effects(
        on report: PoolReport, of pool: PoolPolicy, from rules: Rules, to other: Rules, at now: Timestamp
    ) -> [Proposal.Change] {
        let capacity = PoolCapacity(
            pool: report.pool, capacity: report.estimated, nominal: report.nominal, reason: report.capacityReason,
            confidence: report.confidence, state: report.state)
        let demand = report.tenants.map(TenantDemand.init)
        let (before, after) = (
            rates(demand, PoolConditions(pool, capacity, rules, elapsed: 0, at: now)),
            rates(demand, PoolConditions(pool, capacity, other, elapsed: 0, at: now))
        )
        let nominal = report.nominal
        // Both list the same tenants in the same order: an override makes nobody a member.
        let effects = zip(before, after).compactMap { old, new -> (effect: Proposal.Change, size: Double)? in
            let moved =
                nominal.resources.members.map { resource in
                    abs((new.rates[resource] ?? 0) - (old.rates[resource] ?? 0)) / max(1, nominal[resource] ?? 1)
                }.max() ?? 0
            let isMoved = nominal.resources.members.contains { resource in
                let (from, to) = (old.rates[resource] ?? 0, new.rates[resource] ?? 0)
                return abs(to - from) > 0.01 * max(from, to) && abs(to - from) >= 1
            }
            guard isMoved else { return nil }
            return (Proposal.Change(tenant: old.tenant, from: old.rates, to: new.rates), moved)
        }
        return effects.sorted { ($1.size, $0.effect.tenant) < ($0.size, $1.effect.tenant) }.map(\.effect)
    }

    /// The rate that the undampened fill assures each member, in whole numbers; ascending by tenant.
    private static func rates(
        _ demand: [TenantDemand], _ conditions: PoolConditions
    ) -> [(tenant: TenantID, rates: Rates)] {
        var members = MemberTable()
        _ = members.admit(demand, conditions)
        members.followShapes(demand, conditions)
        var counter = DemandCounter()
        counter.admit(members.indices.map { _ in nil })
        var counted = counter.count(demand, of: members, conditions)
        var leastShare = LeastShare()
        leastShare.give(to: &counted, of: members, claims: demand, conditions)
        let input = DecisionInput(conditions, members, claims: demand, counted: counted)
        var fill = TargetFill()
        let activities = fill.solve(input).activities
        return members.indices.map { index in
            (members.tenants[index], members.rates(activities[index], of: index).map { $1.rounded(.down) })
        }
    }
}

extension TenantDemand {
    /// As it was reported.
    fileprivate init(_ report: TenantReport) {
        var demand = PerCriticality(repeating: Rates.none)
        for flow in report.profile?.flows ?? [] { demand[flow.criticality] = flow.demand }
        // Work that is of no stated criticality counts as interactive.
        if report.profile?.flows.isEmpty ?? true { demand[.interactive] = report.demand }
        let shape = report.profile?.flows.max { ($0.demand[.requests] ?? 0) < ($1.demand[.requests] ?? 0) }?.shape
        self.init(
            tenant: report.tenant, demand: demand, shape: shape, consumed: report.consumed, queue: report.queue,
            confidence: report.profile?.confidence ?? 1, repayment: report.profile?.repayment ?? 1,
            flags: report.profile?.flags.map(\.kind.rawValue) ?? [],
            isDiscounted: !(report.profile?.flags.isEmpty ?? true))
        arrivals = report.arrivals
    }
}
