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
    /// Balances to be stored.
    public var credits: [CreditBalance]
    /// The balances of those that have any, ascending by tenant.
    public var balances: [CreditBalance]
    /// How often assured rates turned back by more than a hundredth, since the allocator began.
    public var reversals: Int
}

/// Decides one pool: who gets what of the capacity there is (Model §5).
///
/// ``decide(_:capacity:demand:under:restarts:learningFrom:at:)`` is the whole flow. It only orders the pieces: each has
/// its own state, returns what the next ones take as arguments, and is in the file of its name.
public struct PoolAllocator: Sendable {
    private var members = MemberTable()
    private var counter = DemandCounter()
    private var leastShare = LeastShare()
    private var targetFill = TargetFill()
    private var observation: Observation
    private var freeze = FreezeKeeper()
    private var bounds = StepBounds()
    private var dampenedFill = DampenedFill()
    private var bursts: BurstGrants
    private var inForce = PublishedNumbers()
    private var fallback = FallbackDivision()
    private var questions = ApprovalQuestions()
    private var learning = LearningMode()
    private var capacityMark: CapacityMark?

    /// - Parameter credits: as stored, for a start.
    public init(pool: PoolID, credits: [CreditBalance] = [], at now: Timestamp) {
        observation = Observation(at: now)
        bursts = BurstGrants(BurstCredit(pool: pool, balances: credits, at: now))
    }

    /// - Parameters:
    ///   - rules: those that hold at `now`.
    ///   - restarts: Earlier observations speak of other circumstances: work has failed over to this pool, or back.
    ///   - lastKnown: While the loop learns: numbers that stay in force as long as the pool has the budget that they
    ///     divide.
    public mutating func decide(
        _ pool: PoolPolicy, capacity: PoolCapacity, demand: PoolDemand, under rules: Rules,
        restarts: Bool = false, learningFrom lastKnown: PoolAllocation? = nil, at now: Timestamp
    ) -> PoolDecision {
        observation.advance(to: now, rules.policy.dampening)
        let conditions = PoolConditions(pool, capacity, rules, elapsed: observation.clock.elapsed, at: now)
        capacityMark = CapacityMark(capacity.capacity, after: capacityMark, at: now)

        // The tenants that share the pool, and the part of their claims that counts.
        admit(demand.tenants, conditions)
        var counted = counter.count(demand.tenants, of: members, conditions)
        leastShare.give(to: &counted, of: members, claims: demand.tenants, conditions)
        let input = DecisionInput(conditions, members, claims: demand.tenants, counted: counted)

        // Where each rate should go, how far it may go in this step, and where it goes.
        let target = targetFill.solve(input)
        if restarts { observation.restart() }
        let means = observation.observe(target, input, inForce: inForce)
        freeze.follow(input, inForce: inForce)
        let step = bounds.bound(target, means, inForce: inForce, freeze: freeze, input)
        // The observed means include capacity that is gone; no rate may rise to them.
        if step.isEmergency { observation.restart() }
        let given = dampenedFill.solve(step, input)

        // In whole numbers, with bursts on top; why; and in force.
        let base = inForce.assuredRates(given, freeze: freeze, input)
        let granted = bursts.grant(besides: base, before: step.before, inForce: inForce, input)
        let numbers = AssuredNumbers(base: base, bursts: granted, resources: pool.nominal.resources)
        let explainer = DecisionExplainer(input, target, means, step, given)
        let indices = inForce.indicesToExplain(numbers, conditions)
        let changes = indices.map { explainer.facts($0, numbers) }
        inForce.note(changes, of: indices, at: now)
        inForce.put(numbers, given.activities, isForced: step.isEmergency, input)
        let isFollowing = freeze.isFrozen || pool.mode == .recommend
        if let division = fallback.divide(isFollowing: isFollowing, inForce: inForce, input) {
            inForce.put(safe: division.parts, of: division.resources)
        }
        let asked = questions.ask(about: target, means, inForce: inForce, input)

        var decision = PoolDecision(
            allocation: allocation(given, of: demand.tenants, retry: demand.retry, conditions),
            entitlements: explainer.entitlements(numbers),
            facts: explainer.poolFacts(slack: inForce.slack, capacityMark, isFrozen: freeze.isFrozen),
            changes: changes, questions: asked.questions, withdrawn: asked.withdrawn,
            credits: bursts.takeChanges(at: now), balances: bursts.balances, reversals: inForce.reversals)
        if let lastKnown = learning.keep(lastKnown, inPlaceOf: decision.allocation) {
            inForce.resume(lastKnown, members)
            fallback.restart()
            decision.allocation = lastKnown
            decision.changes = []
        }
        // Never of another time than this.
        decision.allocation.tasks = conditions.rules.taskTerms(in: conditions.pool)
        return decision
    }

    /// Takes burst credit as it was stored, in place of what was counted without it.
    public mutating func restore(_ credits: [CreditBalance], at now: Timestamp) {
        bursts.restore(credits, at: now)
    }

    /// Lists the members, and lets every piece move its rows to where they stand now.
    private mutating func admit(_ demand: [TenantDemand], _ conditions: PoolConditions) {
        let admission = members.admit(demand, conditions)
        fallback.admit(admission)
        bounds.admit(admission, at: conditions.now)
        if let origins = admission.origins {
            counter.admit(origins)
            observation.admit(origins)
            freeze.admit(origins)
            inForce.admit(origins, members, at: conditions.now)
        }
        members.followShapes(demand, conditions)
    }

    /// Of the tenants' mean answers by their requests, in whole tokens; `nil` before there was one.
    private static func meanOutputTokens(of demand: [TenantDemand]) -> Double? {
        var (calls, tokens) = (0.0, 0.0)
        for tenant in demand {
            guard let shape = tenant.shape, shape[.outputTokens] > 0, let rate = tenant.consumed[.requests], rate > 0
            else { continue }
            calls += rate
            tokens += rate * shape[.outputTokens] / max(1, shape[.requests])
        }
        return calls > 0 ? (tokens / calls).rounded() : nil
    }

    private func allocation(
        _ given: DampenedFill.Result, of demand: [TenantDemand], retry: PoolAllocation.Retry,
        _ conditions: PoolConditions
    ) -> PoolAllocation {
        let (pool, capacity) = (conditions.pool, conditions.capacity)
        let whole = capacity.capacity.map { $1.rounded(.down) }
        var allocation = PoolAllocation(
            pool: pool.pool, state: capacity.state, models: capacity.models, mode: pool.mode,
            enforce: pool.mode != .observe, level: given.outcome.bands.last?.level ?? 0,
            capacity: whole, nominal: capacity.nominal, capacityReason: capacity.reason,
            budget: conditions.budget, float: conditions.float,
            fallback: whole.map { ($1 * conditions.fallbackShare).rounded(.down) },
            burstSeconds: pool.burstSeconds, failover: pool.failover,
            breaker: conditions.rules.policy.breaker, retry: retry,
            tenants: inForce.allocations, unlisted: conditions.unlisted)
        allocation.taskKinds = conditions.rules.costBreaks.compactMap { stands in
            guard let kind = stands.subject.taskKind, let limit = stands.limit(in: pool.pool) else { return nil }
            return PoolAllocation.TaskKind(kind: kind, requestsPerMinute: limit)
        }
        allocation.meanOutputTokens = PoolAllocator.meanOutputTokens(of: demand)
        allocation.closedAfterSeconds = pool.closedAfterSeconds
        return allocation
    }
}
