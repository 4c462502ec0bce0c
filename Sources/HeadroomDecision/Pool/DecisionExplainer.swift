import HeadroomModel

/// Tells how the numbers of one decision came about (Model §5.7). Reads what each step returned, and changes nothing.
struct DecisionExplainer {
    let input: DecisionInput
    let target: PoolTarget
    let means: Observation.Means
    let step: StepBounds.Step
    let given: DampenedFill.Result
    private let excess: Double

    init(
        _ input: DecisionInput, _ target: PoolTarget, _ means: Observation.Means, _ step: StepBounds.Step,
        _ given: DampenedFill.Result
    ) {
        self.input = input
        self.target = target
        self.means = means
        self.step = step
        self.given = given
        excess = target.excess(input)
    }

    /// The name of the constraint that is published with one number: the bound that stopped it (``FillStop``), renamed
    /// where cold start, a flag, a ceiling's origin or an override is the reason for that bound.
    private func constraint(_ index: Int) -> Constraint {
        let (members, rows, demand) = (input.members, input.members.rows, input.demand)
        let activity = given.activities[index]
        var binds = given.outcome.stop.of(rows[index], step.demands[index], step.intervals[index], at: activity)
            .constraint
        if binds == .level, abs(activity - target.activities[index]) <= 1e-9 * activity {
            // It is where the undampened fill wants it: what stopped that is what binds.
            binds =
                target.outcome.stop.of(rows[index], demand.fill[index], input.guardrails[index], at: activity)
                .constraint
        }
        switch binds {
        case .demand where demand.rows[index].credible < demand.rows[index].claimed * (1 - 1e-9):
            guard let place = members.members[index].demandIndex else { return .coldStart }
            return input.claims.span[place].isDiscounted ? .gamingDiscount : .coldStart
        case .slew where demand.rows[index].trust < 0.5: return .coldStart
        case .ceiling: return members.ceilingConstraint(of: index)
        case .floor where rows[index].ceiling < rows[index].floor && activity >= rows[index].ceiling * (1 - 1e-9):
            return members.ceilingConstraint(of: index)
        case .level where members.terms[index].override != nil: return .override
        default: return binds
        }
    }

    /// Filled part by part: across modules the initializer of a generic type looks up that type every time.
    private static let nothing = PerCriticality(repeating: Rates.none)

    func facts(_ index: Int, _ numbers: AssuredNumbers) -> Explanation.TenantFacts {
        let members = input.members
        let terms = members.terms.span
        let assured = numbers[index]
        let burst = numbers.burst(of: index)
        let (demand, interval) = (input.demand.fill[index], step.intervals[index])
        // A tenant of which nothing is known has no demand, in the pool's resources.
        var (planned, confidence) = (assured * 0, 1.0)
        var (asked, waiting) = (planned, Work.zero)
        var flags: [GamingFlag] = []
        if let place = members.members[index].demandIndex {
            let claims = input.claims.span
            planned = claims[place].demand.total
            asked = claims[place].asked
            waiting = claims[place].waiting
            confidence = claims[place].confidence
            if claims[place].isDiscounted { flags = claims[place].profile?.flags ?? [] }
        }
        var credible = Self.nothing
        credible.interactive = members.rates(demand.interactive, of: index)
        credible.nearRealTime = members.rates(demand.nearRealTime - demand.interactive, of: index)
        credible.batch = members.rates(demand.batch - demand.nearRealTime, of: index)
        var facts = Explanation.TenantFacts(
            tenant: members.tenants[index], tier: terms[index].tier, weight: terms[index].weight,
            override: terms[index].override, demand: planned, credibleDemand: credible, start: demand.start,
            confidence: confidence, floor: terms[index].floor, ceiling: terms[index].ceiling,
            direction: members.rates(1, of: index), target: target.activities[index], mean: means.targets[index],
            before: step.before[index], least: interval.least, leastConstraint: interval.leastConstraint,
            most: interval.most, mostConstraint: interval.mostConstraint, fill: given.activities[index],
            assured: assured, constraint: burst != nil ? .burst : constraint(index), burst: burst?.activity ?? 0,
            excessShare: excess > 0 ? target.excess(of: index, input) / excess : 0, cost: terms[index].cost,
            breaker: terms[index].breaker)
        facts.asked = asked
        facts.waiting = waiting
        facts.waitingSeconds = input.conditions.rules.policy.demand.backlogSeconds
        facts.flags = flags
        facts.leastShare = demand.leastShare
        facts.isQuiet = input.demand.rows[index].isQuiet
        facts.hasSoftCeiling = terms[index].hasSoftCeiling
        return facts
    }

    func poolFacts(slack: SIMD4<Double>, _ mark: CapacityMark?, isFrozen: Bool) -> Explanation.PoolFacts {
        let conditions = input.conditions
        func bands(_ outcome: FillOutcome) -> [Explanation.PoolFacts.Band] {
            zip(conditions.bands, outcome.bands).map { raise, result in
                Explanation.PoolFacts.Band(name: raise.band.name, level: result.level, saturated: result.saturated)
            }
        }
        return Explanation.PoolFacts(
            pool: conditions.pool.pool, mode: conditions.pool.mode, state: conditions.capacity.state,
            nominal: conditions.capacity.nominal, capacity: conditions.capacity.capacity,
            capacityReason: conditions.capacity.reason, capacityChangedAt: mark?.at, capacityBefore: mark?.before,
            recentAttempts: conditions.capacity.recentAttempts, recentRefusals: conditions.capacity.recentRefusals,
            shared: given.capacity, slack: Rates(perMinute: slack, resources: given.capacity.resources),
            bands: bands(given.outcome), exhausted: bands(target.outcome).first { $0.saturated != nil },
            isFrozen: isFrozen, hasBillingFailure: conditions.capacity.upstream.billingFailureSince != nil)
    }

    /// Each member's entitlement: the measure of starvation. Ascending by tenant.
    func entitlements(_ numbers: AssuredNumbers) -> [Entitlement] {
        let (tenants, rows) = (input.members.tenants, input.members.rows)
        let terms = input.members.terms.span
        var entitlements: [Entitlement] = []
        entitlements.reserveCapacity(rows.count)
        for index in rows.indices {
            let promised = numbers[index].perMinute.raised(
                to: terms[index].floor.perMinute.lowered(to: rows[index].ceilings))
            let rates = promised.raised(to: rows[index].cost * target.entitled[index])
            entitlements.append(
                Entitlement(tenant: tenants[index], rates: Rates(perMinute: rates, resources: numbers.resources)))
        }
        return entitlements
    }
}

/// When capacity last moved by more than a twentieth, and from what: for explanations.
struct CapacityMark: Sendable {
    private(set) var capacity: Rates
    private(set) var before: Rates?
    private(set) var at: Timestamp?

    init(_ capacity: Rates, after last: CapacityMark?, at now: Timestamp) {
        guard let last else {
            self.capacity = capacity
            return
        }
        self = last
        let hasMoved = capacity.resources.members.contains { resource in
            let (old, new) = (last.capacity[resource] ?? 0, capacity[resource] ?? 0)
            return abs(new - old) > 0.05 * max(old, new)
        }
        if hasMoved {
            (before, at) = (last.capacity, now)
            self.capacity = capacity
        }
    }
}
