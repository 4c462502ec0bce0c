import HeadroomControl
import HeadroomEnforcement
import HeadroomModel

/// The oracle's memory: its fill, and how far it has looked ahead.
struct OracleDecision: Sendable {
    var fill: OracleFill?
    var nextJob = 0
}

/// What stands in the place of the loop when the strategy is not Headroom.
extension Simulation {
    private static let foreverSeconds = 1e9
    /// What a wall that bounds nothing is made of.
    private static let boundless = 1000.0
    private static let oraclePeriodSeconds = 1.0

    /// Decides for the next period; returns its length.
    mutating func decideAsRival() -> Double {
        switch controller {
        case .rates(var allocator):
            let period = allocator.periodSeconds
            let observation = observed.observation(
                roster: workload.roster, rules: rules, nominal: workload.nominal, periodSeconds: period)
            let rates = allocator.allocate(observation)
            controller = .rates(allocator)
            publish(rates)
            return period
        case .oracle(var decision):
            decideAsOracle(&decision)
            controller = .oracle(decision)
            return Simulation.oraclePeriodSeconds
        case .headroom, .admission, .nobody:
            return workload.seconds
        }
    }

    private mutating func publish(_ rates: [Rates]) {
        guard case .rates(_, let gatewaysLend) = strategy.kind else { return }
        let whole = allocation(of: rates, gatewaysLend: gatewaysLend)
        record.note(limits: limits(of: whole.tenants), at: second)
        let shares = observed.shares(tenants, gateways: gateways.map(\.id))
        for (index, part) in Parts().divide(whole, over: shares).enumerated() {
            gateways[index].pending = part.allocation
            planPush(index)
        }
    }

    /// With lending the nominal capacity is the budget, and the tiers' ceilings bound what is lent. Without, each rate
    /// is a wall, and there is no cap on the sum but theirs.
    private func allocation(of rates: [Rates], gatewaysLend: Bool) -> PoolAllocation {
        let nominal = workload.nominal
        let budget = gatewaysLend ? nominal : nominal * Simulation.boundless
        var allocation = PoolAllocation(
            pool: Simulation.pool, capacity: nominal, nominal: nominal, budget: budget, fallback: budget,
            burstSeconds: rules.policy.pools[0].burstSeconds, unlisted: nominal.map { _, _ in 0 })
        allocation.tenants = tenants.indices.sorted { tenants[$0] < tenants[$1] }.map { index in
            let rate = nominal.map { resource, most in (rates[index][resource] ?? most).rounded(.down) }
            let ceiling = rules.tier(of: tenants[index], in: Simulation.pool).ceilingShare.map { nominal * $0 } ?? .none
            return TenantAllocation(
                tenant: tenants[index], assured: rate, ceiling: gatewaysLend ? ceiling : rate, plain: rate, safe: rate,
                weight: rules.weight(of: tenants[index], in: Simulation.pool), serviceClock: observed.clocks[tenants[index]],
                tier: workload.roster.entries[index].tier,
                criticality: PerCriticality(interactive: rate, nearRealTime: rate * 0, batch: rate * 0))
        }
        return allocation
    }

    /// A rival's decision reaches a gateway.
    mutating func takePending(_ gateway: Int) {
        guard gateways[gateway].isUp, let allocation = gateways[gateway].pending else { return }
        gateways[gateway].pending = nil
        gateways[gateway].gate.load(
            allocation, leaseUntil: now.adding(seconds: Simulation.foreverSeconds), at: now)
        serve(gateway)
    }

    /// What waits and what comes in the next second, divided on what the provider really grants.
    private mutating func decideAsOracle(_ decision: inout OracleDecision) {
        var fill = decision.fill ?? OracleFill(roster: workload.roster, rules: rules, nominal: workload.nominal)
        var wanted = observed.waiting
        while decision.nextJob < workload.jobs.count,
            workload.jobs[decision.nextJob].seconds < second + Simulation.oraclePeriodSeconds
        {
            let job = workload.jobs[decision.nextJob]
            if job.seconds >= second { wanted[job.tenant] += job.cost }
            decision.nextJob += 1
        }
        let nominal = workload.nominal
        let capacity = provider.capacity(at: now)
        let rates = fill.solve(
            capacity: capacity,
            demand: wanted.map { $0.rates(overSeconds: Simulation.oraclePeriodSeconds, of: nominal.resources) })
        decision.fill = fill

        var allocation = allocation(of: rates, gatewaysLend: true)
        allocation.capacity = capacity
        allocation.budget = capacity
        allocation.fallback = capacity
        allocation.burstSeconds = scenario.provider.burstSeconds
        gateways[0].gate.load(
            allocation, leaseUntil: now.adding(seconds: Simulation.foreverSeconds), at: now)
        serve(0)
    }
}

/// Once a second.
extension Simulation {
    mutating func measure() {
        events.plan(.second, at: now.adding(seconds: 1))
        let nominal = workload.nominal
        record.granted.append(Simulation.part(provider.capacity(at: now), of: nominal))
        observed.advance(tenants: tenants, rules: rules, capacity: nominal)
        switch controller {
        case .headroom(let plane):
            // While it is down, gateways go by what it said last.
            plane.audit.note(at: now) { $0.measure() }
            believed = plane.board.contents.report?.pools.first?.estimated ?? believed
            record.estimated.append(Simulation.part(believed, of: nominal))
            record.committed.append(committed(of: believed))
            record.driftSeconds.append(drift)
        case .rates, .oracle:
            for gateway in gateways.indices where gateways[gateway].gate.allocation != nil {
                gateways[gateway].gate.update(serviceClocks: observed.clocks.clocks, at: now)
            }
            record.committed.append(committed(of: provider.capacity(at: now)))
        case .admission, .nobody: break
        }
    }

    /// The scarcest resource's part of the contract: how many mean requests a minute are left of it, whatever a mean
    /// request is, as the contract grants about as many of them in each resource.
    private static func part(_ rates: Rates, of nominal: Rates) -> Double {
        nominal.resources.members.map { (rates[$0] ?? 0) / max(1e-9, nominal[$0] ?? 0) }.min() ?? 0
    }

    /// What gateways may spend together, over `capacity`, in the resource in which that is most; 0 without budgets.
    private func committed(of capacity: Rates) -> Double {
        let isWalled = if case .rates(_, gatewaysLend: false) = strategy.kind { true } else { false }
        return capacity.resources.members.map { resource in
            let sum = gateways.reduce(0) { sum, gateway in
                sum + (isWalled ? gateway.walls(in: resource) : gateway.budget(at: now)?[resource] ?? 0)
            }
            return sum / max(1, capacity[resource] ?? 0)
        }.max() ?? 0
    }

    /// How long the gateway that is furthest behind has not applied a generation that was published.
    private var drift: Double {
        gateways.filter(\.isUp).reduce(0) { longest, gateway in
            guard let applied = gateway.holder.applied else { return longest }
            // Seconds behind are few, so the first one missed is near the end.
            var missed: Timestamp?
            for generation in generations.reversed() {
                guard generation.version > applied else { break }
                missed = generation.at
            }
            return max(longest, missed.map { now.seconds(since: $0) } ?? 0)
        }
    }
}
