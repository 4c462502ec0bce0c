import HeadroomModel

/// One pool's allocation, how it came about, and what it asks of people.
package struct PoolDecision: Sendable {
    package struct Entitlement: Sendable {
        package var tenant: TenantID
        package var rates: Rates
    }

    package var allocation: PoolAllocation
    /// max(assured, floor, what the fill would give at nominal capacity): the measure of starvation.
    /// Ascending by tenant.
    package var entitlements: [Entitlement]
    package var facts: Explanation.PoolFacts
    /// The chains of the numbers that changed, ascending by tenant.
    package var changes: [Explanation.TenantFacts]
    package var questions: [Proposal]
    /// Pending questions that no longer stand.
    package var withdrawn: [Int64]
    package var credits: [CreditBalance]
    /// How often assured rates turned back by more than a hundredth, since the allocator began.
    package var reversals: Int
}

/// Decides one pool: who gets what of the capacity there is (DESIGN §5).
///
/// ``decide(_:capacity:demand:under:restarts:holding:at:)`` is the whole flow: what is claimed becomes what is
/// counted; the fill of that is the target; where each rate may go on its way to the mean of its target is an interval;
/// the fill inside the intervals is what is published, in whole numbers. Each step is a file. State is one
/// ``PoolMember`` a tenant, ascending by id, and the fills' columns, which change speed and not results.
package struct PoolAllocator: Sendable {
    var members: [PoolMember] = []
    /// What the fills read of them, in the same order; written where something has changed.
    var fill: [FillTenant] = []
    var membership: MembershipRules?
    var clock: ObservationClock
    var isFirst = true

    /// Undampened, at present and at nominal capacity, and inside the intervals.
    var targetEngine = FillEngine()
    var nominalEngine = FillEngine()
    var engine = FillEngine()

    var credit: BurstCredit
    /// λ of what was published.
    @Halved var slack = SIMD4<Double>(repeating: 1)
    /// The freeze that members' ``PoolMember/kept`` belongs to.
    var freeze: Int64?
    var capacityMark: CapacityMark?
    var reversals = 0
    /// When it was last looked at what to ask people.
    var askedAt: Timestamp?

    /// - Parameter credits: as stored, for a start.
    package init(pool: PoolID, credits: [CreditBalance] = [], at now: Timestamp) {
        clock = ObservationClock(at: now)
        credit = BurstCredit(pool: pool, balances: credits, at: now)
    }

    /// - Parameters:
    ///   - rules: those that hold at `now`.
    ///   - restarts: What was observed speaks of other circumstances: work has failed over to this pool, or back.
    ///   - held: Numbers that stay as they are while the pool has the budget that they divide.
    package mutating func decide(
        _ pool: PoolPolicy, capacity: PoolCapacity, demand: PoolDemand, under rules: Rules,
        restarts: Bool = false, holding held: PoolAllocation? = nil, at now: Timestamp
    ) -> PoolDecision {
        let dampening = rules.policy.dampening
        clock.advance(to: now, window: dampening.observationSeconds, first: dampening.slewSeconds)
        var turn = PoolTurn(pool, capacity, rules, elapsed: clock.elapsed, at: now)
        capacityMark = CapacityMark(capacity.capacity, after: capacityMark, at: now)

        admit(demand.tenants, turn)
        estimate(demand.tenants, turn)
        turn.cover(floors(turn))
        let target = target(turn)
        if restarts { restartWindows() }
        let means = observe(target, turn)
        let step = step(target, means, turn)
        let given = fill(step, turn)
        var decision = publish(demand.tenants, target: target, means: means, step: step, given: given, turn)
        decision.allocation.retry = demand.retry
        ask(about: target, means, &decision, turn)
        if let held, held.fits(decision.allocation) {
            keep(held, turn)
            decision.allocation = held
            decision.changes = []
        }
        isFirst = false
        return decision
    }

    /// Burst credit as it was stored, in place of what was counted without it.
    package mutating func restore(_ credits: [CreditBalance], at now: Timestamp) {
        credit = BurstCredit(pool: credit.pool, balances: credits, at: now)
    }

    // MARK: Target

    /// What the undampened fill gives.
    struct Target {
        /// In units of activity, one a member.
        var activities: [Double]
        /// At nominal capacity.
        var entitled: [Double]
        var bands: [FillResult.Band]
        var stop: FillStop
    }

    /// What all floors take together.
    private func floors(_ turn: PoolTurn) -> SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for index in members.indices where !members[index].terms.floor.isEmpty {
            sum += members[index].cost * (turn.floor(of: members[index]) / members[index].nominalCost)
        }
        return sum
    }

    private mutating func target(_ turn: PoolTurn) -> Target {
        for index in fill.indices {
            fill[index].interval = turn.guardrail(of: members[index])
            fill[index].burst = 0
        }
        var problem = FillProblem(capacity: turn.assurable, bands: turn.bands, tenants: fill)
        let result = targetEngine.solve(problem)
        var target = Target(
            activities: activities(result, turn.assurable), entitled: [], bands: result.bands,
            stop: result.tenants.stop)
        if turn.hasLostCapacity {
            problem.capacity = turn.pool.nominal
            target.entitled = activities(nominalEngine.solve(problem), turn.pool.nominal)
        }
        return target
    }

    /// One a member, in the order of members.
    func activities(_ result: FillResult, _ capacity: Rates) -> [Double] {
        let capacity = FillCapacity(capacity)
        return members.indices.map { index in
            let cost = members[index].dominantCost(in: capacity)
            return result.tenants.weightedShare(of: index) * members[index].terms.weight / cost
        }
    }

    // MARK: Observation

    mutating func restartWindows() {
        for index in members.indices {
            members[index].window.restart(at: clock)
            members[index].needs.restart(at: clock)
        }
    }

    /// The mean of each one's target over the observation window, as activity; notes that of its needs. A pool whose
    /// breaker is open tells nothing: its tenants work elsewhere.
    private mutating func observe(_ target: Target, _ turn: PoolTurn) -> [Double] {
        guard !turn.isOpen else { return target.activities }
        return members.indices.map { index in
            let cost = members[index].nominalCost
            let share = target.activities[index] * cost
            let needed = max(members[index].credibleDemand, turn.floor(of: members[index]))
            members[index].needed = members[index].needs.observe(min(share, needed), at: clock)
            let mean = members[index].window.observe(share, at: clock) / cost
            return abs(mean - target.activities[index]) <= mean * 1e-9 ? target.activities[index] : mean
        }
    }
}

extension PoolAllocation {
    /// True while the pool still has the capacity that this divides.
    fileprivate func fits(_ decided: PoolAllocation) -> Bool {
        nominal == decided.nominal
            && budget.resources.members.allSatisfy { (budget[$0] ?? 0) <= (decided.budget[$0] ?? 0) }
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
