import HeadroomModel

/// The effect of other rules on a pool: its fill under both, with the present capacity and the demand of its tenants now.
///
/// It is where the rates would come to rest. On their way there they follow the dampening, and guardrails that ask a
/// person hold here as they do there.
public enum OverridePreview {
    /// - Parameter rules: those that hold at `now`, without the override.
    public static func effects(
        of override: Override, on report: PoolReport, of pool: PoolPolicy, under rules: Rules, at now: Timestamp
    ) -> OverrideEffects {
        var override = override
        // The newest goes before the others.
        override.id = (rules.steering.overrides.map(\.id).max() ?? 0) + 1
        var other = rules
        other.steering.overrides.append(override)
        let capacity = PoolCapacity(
            pool: report.pool, capacity: report.estimated, nominal: report.nominal, reason: report.capacityReason,
            confidence: report.confidence, state: report.state)
        let demand = report.tenants.map(TenantDemand.init)
        let before = Rest(demand, PoolConditions(pool, capacity, rules, elapsed: 0, at: now))
        let after = Rest(demand, PoolConditions(pool, capacity, other, elapsed: 0, at: now))
        let nominal = report.nominal
        // Both list the same tenants in the same order: an override makes nobody a member.
        let changes = before.members.indices.compactMap { index -> (change: Proposal.Change, size: Double)? in
            let (old, new) = (before.rates(of: index), after.rates(of: index))
            let moved =
                nominal.resources.members.map { resource in
                    abs((new[resource] ?? 0) - (old[resource] ?? 0)) / max(1, nominal[resource] ?? 1)
                }.max() ?? 0
            let isMoved = nominal.resources.members.contains { resource in
                let (from, to) = (old[resource] ?? 0, new[resource] ?? 0)
                return abs(to - from) > 0.01 * max(from, to) && abs(to - from) >= 1
            }
            guard isMoved else { return nil }
            return (Proposal.Change(tenant: before.members.tenants[index], from: old, to: new), moved)
        }.sorted { ($1.size, $0.change.tenant) < ($0.size, $1.change.tenant) }.map(\.change)
        let isUnmoved = !changes.contains { $0.tenant == override.tenant }
        return OverrideEffects(changes: changes, unmoved: isUnmoved ? after.bound(of: override.tenant) : nil)
    }
}

/// Where a pool's rates would come to rest under some rules: its undampened fill.
private struct Rest {
    let members: MemberTable
    private let counted: CountedDemand
    private let bands: [FillRaise]
    private let outcome: FillOutcome

    init(_ demand: [TenantDemand], _ conditions: PoolConditions) {
        var members = MemberTable()
        _ = members.admit(demand, conditions)
        members.followShapes(demand, conditions)
        var counter = DemandCounter()
        counter.admit(members.indices.map { _ in nil })
        var counted = counter.count(demand, of: members, conditions)
        var leastShare = LeastShare()
        leastShare.give(to: &counted, of: members, claims: demand, conditions)
        var fill = TargetFill()
        outcome = fill.solve(DecisionInput(conditions, members, claims: demand, counted: counted)).outcome
        self.members = members
        self.counted = counted
        bands = conditions.bands
    }

    /// Assured to a member, in whole numbers.
    func rates(of index: Int) -> Rates {
        members.rates(outcome.activities[index], of: index).map { $1.rounded(.down) }
    }

    /// What bounds a tenant here, so that another tier or weight changes nothing; `nil` when it is no member.
    func bound(of tenant: TenantID) -> OverrideEffects.Bound? {
        guard let index = members.tenants.firstIndex(of: tenant) else { return nil }
        let asked = counted.fill[index].batch
        let activity = outcome.activities[index]
        if asked <= 0 { return .asksForNothing }
        if activity >= 0.99 * asked {
            let row = counted.rows[index]
            return row.isFlagged ? .doubted : row.credible < 0.99 * row.claimed ? .new : .hasAll
        }
        if activity >= 0.99 * members.rows[index].ceiling { return .ceiling(members.ceilingConstraint(of: index)) }
        // Its most urgent work, and whether the band that raises it found nothing left.
        let own = Criticality.allCases.first { counted.fill[index].through($0) > 0 } ?? .batch
        if let turn = bands.firstIndex(where: { $0.bound == .demand && ($0.criticality ?? .batch) >= own }), turn > 0,
            outcome.bands[turn].saturated != nil, outcome.bands[turn].level <= outcome.bands[turn - 1].level,
            let urgent = bands[..<turn].last(where: { $0.bound == .demand })?.criticality
        {
            return .moreUrgentWork(urgent, own: own)
        }
        return .full
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
