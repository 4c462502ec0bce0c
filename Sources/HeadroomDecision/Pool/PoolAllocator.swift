import HeadroomModel

/// One pool's allocation, how it came about, and what it asks of people.
public struct PoolDecision: Sendable {
    public var allocation: PoolAllocation
    /// max(assured, floor, what the fill would give at nominal capacity): the measure of starvation.
    /// Ascending by tenant.
    public var entitlements: [Entitlement]
    public var facts: Explanation.PoolFacts
    /// The chains of the numbers that changed, ascending by tenant.
    public var changes: [Explanation.TenantFacts]
    public var questions: [Proposal]
    /// Pending questions that no longer stand.
    public var withdrawn: [Int64]
    public var credits: [CreditBalance]
    /// How often assured rates turned back by more than a hundredth, since the allocator began.
    public var reversals: Int
}

/// Decides one pool: who gets what of the capacity there is (Model §5).
///
/// ``decide(_:capacity:demand:under:restarts:holding:at:)`` is the whole flow: what is claimed becomes what is
/// counted; the fill of that is the target; where each rate may go on its way to the mean of its target is an interval;
/// the fill inside the intervals is what is published, in whole numbers. Each step is a file. State is a row for each
/// tenant in some columns, ascending by id, and what the fills keep, which changes speed and not results.
public struct PoolAllocator: Sendable {
    var tenants: [TenantID] = []
    /// In the same order as these: what every decision reads of them, what the rules say of them, what the pool observes of them, what the fills read of
    /// them, and what is published of them.
    var members: [PoolMember] = []
    var terms: [MemberTerms] = []
    var windows: [MemberWindows] = []
    var fill: [FillRow] = []
    var published: [TenantAllocation] = []
    /// The rates of what is published: most of them do not change, and their rows are long.
    var assured: [Rates] = []
    /// What a freeze keeps them at; empty without one.
    var kept: [KeptNumber?] = []
    var membership: MembershipRules?
    /// Who has a contract is to be looked at anew.
    var hasNewContracts = true
    /// What tenants' ceilings were made for; `nil`: they are to be made anew.
    var allowances: [TenantID: CostAllowance]?
    /// What directions and the bounds that follow from them were made for.
    var nominal = Rates.none
    var clock: ObservationClock
    var isFirst = true
    /// False once numbers that were to be held did not fit.
    private var isHolding = true

    /// Undampened, at present and at nominal capacity, and inside the intervals.
    var targetEngine = FillEngine()
    var nominalEngine = FillEngine()
    var engine = FillEngine()

    var safe = SafeDivision()
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
    public init(pool: PoolID, credits: [CreditBalance] = [], at now: Timestamp) {
        clock = ObservationClock(at: now)
        credit = BurstCredit(pool: pool, balances: credits, at: now)
    }

    /// - Parameters:
    ///   - rules: those that hold at `now`.
    ///   - restarts: What was observed speaks of other circumstances: work has failed over to this pool, or back.
    ///   - held: Numbers that stay as they are while the pool has the budget that they divide.
    public mutating func decide(
        _ pool: PoolPolicy, capacity: PoolCapacity, demand: PoolDemand, under rules: Rules,
        restarts: Bool = false, holding held: PoolAllocation? = nil, at now: Timestamp
    ) -> PoolDecision {
        let dampening = rules.policy.dampening
        clock.advance(to: now, window: dampening.observationSeconds, first: dampening.slewSeconds)
        let turn = PoolTurn(pool, capacity, rules, elapsed: clock.elapsed, at: now)
        capacityMark = CapacityMark(capacity.capacity, after: capacityMark, at: now)

        admit(demand.tenants, turn)
        boundByCost(demand.tenants, turn)
        estimate(demand.tenants, turn)
        turn.cover(floors())
        let target = target(turn)
        if restarts { restartWindows() }
        let means = observe(target, turn)
        let step = step(target, means, turn)
        let given = fill(step, turn)
        var decision = publish(demand.tenants, target: target, means: means, step: step, given: given, turn)
        decision.allocation.retry = demand.retry
        ask(about: target, means, &decision, turn)
        // What capacity has once broken does not come back: its chains tell of other numbers by then.
        isHolding = held.map { isHolding && $0.fits(decision.allocation) } ?? true
        if let held, isHolding {
            keep(held, turn)
            decision.allocation = held
            decision.changes = []
        }
        isFirst = false
        return decision
    }

    /// Burst credit as it was stored, in place of what was counted without it.
    public mutating func restore(_ credits: [CreditBalance], at now: Timestamp) {
        credit = BurstCredit(pool: credit.pool, balances: credits, at: now)
    }

    // MARK: Target

    /// What the undampened fill gives.
    struct Target {
        var outcome: FillOutcome
        /// At nominal capacity, in units of activity, one a member.
        var entitled: [Double]

        /// In units of activity, one a member.
        var activities: [Double] { outcome.activities }
    }

    /// What all floors take together.
    private func floors() -> SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for index in fill.indices where fill[index].floor > 0 { sum += fill[index].cost * fill[index].promised }
        return sum
    }

    private mutating func target(_ turn: PoolTurn) -> Target {
        for index in fill.indices {
            fill[index].interval = turn.guardrail(
                cost: members[index].nominalCost, floor: fill[index].promised, demand: members[index].credibleDemand,
                approved: approved(index, turn))
            fill[index].burst = 0
        }
        let outcome = targetEngine.solve(fill, turn.bands, in: turn.assurable, findsSlack: false)
        let entitled =
            turn.hasLostCapacity
            ? nominalEngine.solve(fill, turn.bands, in: turn.pool.nominal, findsSlack: false).activities
            : outcome.activities
        return Target(outcome: outcome, entitled: entitled)
    }

    // MARK: Observation

    mutating func restartWindows() {
        for index in windows.indices { windows[index] = MemberWindows(at: clock) }
    }

    /// The mean of each one's target over the observation window, as activity; notes that of its needs. A pool whose
    /// breaker is open tells nothing, since its tenants work elsewhere: what is in force counts as wanted.
    private mutating func observe(_ target: Target, _ turn: PoolTurn) -> [Double] {
        var means = target.activities
        for index in members.indices {
            let (cost, activity) = (members[index].nominalCost, means[index])
            let share = turn.isOpen ? members[index].share : activity * cost
            let needed = max(members[index].credibleDemand, fill[index].promised * cost)
            let seconds = windows[index].seconds(at: clock)
            members[index].needed = windows[index].needs.observe(min(share, needed), over: seconds, at: clock)
            let mean = windows[index].target.observe(share, over: seconds, at: clock) / cost
            if !turn.isOpen, abs(mean - activity) > mean * 1e-9 { means[index] = mean }
        }
        return means
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
