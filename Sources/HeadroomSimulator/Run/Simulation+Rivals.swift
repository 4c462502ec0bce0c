import HeadroomEnforcement
import HeadroomModel

/// The oracle's memory: its fill, and how far it has looked ahead.
struct OracleDecision: Sendable {
    /// Floors, and service clocks for the rest, in place of a fill of what waits now.
    let remembers: Bool
    var fill: OracleFill?
    var nextJob = 0
}

/// Stands in the place of the loop when the strategy is not Headroom. It divides every pool for itself, over the
/// tenants that are at home there: rivals do not fail over, and retry where they were refused. The oracle knows when a
/// pool is overloaded, and sends its work to the other one.
extension Simulation {
    private static let foreverSeconds = 1e9
    /// The factor of a wall that bounds nothing.
    private static let boundless = 1000.0
    private static let oraclePeriodSeconds = 1.0

    /// Decides for the next period; returns its length.
    mutating func decideAsRival() -> Double {
        switch controller {
        case .rates(var allocators):
            let period = allocators[0].periodSeconds
            let observation = observed.observation(workload: workload, rules: rules, periodSeconds: period)
            var rates: [Rates] = Array(repeating: .none, count: tenants.count)
            for pool in allocators.indices {
                let members = tenants.indices.filter { workload.homes[$0] == pool }
                let decided = allocators[pool].allocate(
                    PoolObservation(
                        capacity: workload.pools[pool].nominal, periodSeconds: period,
                        tenants: members.map { observation[$0] }))
                for (member, rate) in zip(members, decided) { rates[member] = rate }
            }
            controller = .rates(allocators)
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
        let pools = workload.pools.indices.map { pool in
            allocation(
                of: rates, in: pool, members: tenants.indices.filter { workload.homes[$0] == pool },
                gatewaysLend: gatewaysLend)
        }
        record.note(limits: limits(of: pools), at: second)
        let shares = observed.shares(tenants, gateways: gateways.map(\.id))
        let parts = pools.map { Parts().divide($0, over: shares) }
        for gateway in gateways.indices {
            gateways[gateway].pending = parts.map { $0[gateway].allocation }
            planPush(gateway)
        }
    }

    /// With lending the nominal capacity is the budget, and the tiers' ceilings bound what is lent. Without, each rate
    /// is a wall, and there is no cap on the sum but theirs.
    private func allocation(
        of rates: [Rates], in pool: Int, members: [Int], gatewaysLend: Bool
    ) -> PoolAllocation {
        let nominal = workload.pools[pool].nominal
        let id = workload.pools[pool].id
        let budget = gatewaysLend ? nominal : nominal * Simulation.boundless
        var allocation = PoolAllocation(
            pool: id, capacity: nominal, nominal: nominal, budget: budget, fallback: budget,
            burstSeconds: rules.policy.pools[0].burstSeconds, unlisted: nominal.map { _, _ in 0 })
        allocation.tenants = members.sorted { tenants[$0] < tenants[$1] }.map { index in
            let rate = nominal.map { resource, most in (rates[index][resource] ?? most).rounded(.down) }
            let ceiling = rules.tier(of: tenants[index], in: id).ceilingShare.map { nominal * $0 } ?? .none
            var entry = TenantAllocation(
                tenant: tenants[index], assured: rate, ceiling: gatewaysLend ? ceiling : rate, plain: rate, safe: rate,
                weight: rules.weight(of: tenants[index], in: id), serviceClock: observed.clocks[tenants[index]],
                tier: workload.roster.entries[index].tier,
                criticality: PerCriticality(interactive: rate, nearRealTime: rate * 0, batch: rate * 0))
            entry.hasSoftCeiling = gatewaysLend && !ceiling.isEmpty
            return entry
        }
        return allocation
    }

    /// A rival's decision reaches a gateway.
    mutating func takePending(_ gateway: Int) {
        guard gateways[gateway].isUp, !gateways[gateway].pending.isEmpty else { return }
        for (pool, allocation) in gateways[gateway].pending.enumerated() {
            gateways[gateway].gates[pool].load(
                allocation, leaseUntil: now.adding(seconds: Simulation.foreverSeconds), at: now)
        }
        gateways[gateway].pending = []
        serve(gateway)
    }

    /// The contracts' guarantees, as far as there is capacity for all of them.
    private func floors(of pool: Int, within capacity: Rates) -> [Rates] {
        let floors = workload.roster.entries.indices.map { index in
            workload.homes[index] == pool ? workload.roster.entries[index].floor : .none
        }
        let part = capacity.map { resource, most in
            let sum = floors.reduce(0) { $0 + ($1[resource] ?? 0) }
            return sum > 0 ? min(1, most / sum) : 1
        }
        return floors.map { floor in capacity.map { resource, _ in (floor[resource] ?? 0) * (part[resource] ?? 1) } }
    }

    /// Divides the waiting work and the next second's arrivals on the capacity that the provider really grants.
    private mutating func decideAsOracle(_ decision: inout OracleDecision) {
        var fill = decision.fill ?? OracleFill(roster: workload.roster, rules: rules, nominal: workload.nominal)
        var wanted = observed.waiting
        var arrived = Array(repeating: Work.zero, count: wanted.count)
        while decision.nextJob < workload.jobs.count,
            workload.jobs[decision.nextJob].seconds < second + Simulation.oraclePeriodSeconds
        {
            let job = workload.jobs[decision.nextJob]
            arrived[job.tenant] += job.cost
            // When a task's next call comes, depends.
            if job.seconds >= second, job.task == nil { wanted[job.tenant] += job.cost }
            decision.nextJob += 1
        }
        fill.note(arrived: arrived, over: Simulation.oraclePeriodSeconds)
        let isOverloaded =
            workload.pools.count > 1 && scenario.overloadShare(at: second, of: workload.seconds) > 0.5
        for pool in workload.pools.indices {
            let capacity = providers[pool].capacity(at: now)
            let rates =
                decision.remembers
                ? floors(of: pool, within: capacity)
                : fill.solve(
                    capacity: capacity,
                    demand: wanted.indices.map { tenant in
                        (isOverloaded ? 1 : workload.homes[tenant]) == pool
                            ? wanted[tenant].rates(overSeconds: Simulation.oraclePeriodSeconds, of: capacity.resources)
                            : .none
                    })
            // Work that was sent to the other pool may wait there when its own is back.
            let members = tenants.indices.filter { pool > 0 || workload.homes[$0] == pool }
            var allocation = allocation(of: rates, in: pool, members: members, gatewaysLend: true)
            if pool == 0, isOverloaded {
                allocation.state = .open
                allocation.failover = workload.pools.dropFirst().map(\.id)
            }
            allocation.capacity = capacity
            allocation.budget = capacity
            allocation.fallback = capacity
            allocation.burstSeconds = scenario.provider.burstSeconds
            gateways[0].gates[pool].load(
                allocation, leaseUntil: now.adding(seconds: Simulation.foreverSeconds), at: now)
        }
        decision.fill = fill
        serve(0)
    }
}

/// Once a second.
extension Simulation {
    mutating func measure() {
        events.plan(.second, at: now.adding(seconds: 1))
        let granted = providers.map { $0.capacity(at: now) }
        record.granted.append(part(granted))
        switch controller {
        case .headroom(let plane):
            // While it is down, gateways go by what it said last.
            plane.audit.note(at: now) { auditor throws(AuditViolation) in try auditor.measure() }
            if let pools = plane.board.contents.report?.pools, pools.count == believed.count {
                believed = workload.pools.map { pool in
                    pools.first { $0.pool == pool.id }?.estimated ?? pool.nominal
                }
            }
            record.estimated.append(part(believed))
            record.committed.append(committed(of: believed))
            record.driftSeconds.append(drift)
        case .rates, .oracle:
            observed.advance(roster: workload.roster, rules: rules, capacity: workload.nominal)
            for gateway in gateways.indices {
                for pool in workload.pools.indices where gateways[gateway].gates[pool].allocation != nil {
                    gateways[gateway].gates[pool].update(serviceClocks: observed.clocks.clocks, at: now)
                }
            }
            record.committed.append(committed(of: granted))
        case .admission, .nobody: break
        }
    }

    /// The scarcest resource's part of the contracts: how many mean requests a minute are left of it, whatever a mean
    /// request is, as the contract grants about as many of them in each resource.
    private func part(_ pools: [Rates]) -> Double {
        workload.nominal.resources.members.map { resource in
            pools.reduce(0) { $0 + ($1[resource] ?? 0) } / max(1e-9, workload.nominal[resource] ?? 0)
        }.min() ?? 0
    }

    /// The sum of gateways' budgets, with the float where they draw, over `capacity`, in the pool and resource in which
    /// that is most; 0 without budgets.
    private func committed(of capacity: [Rates]) -> Double {
        let isWalled = if case .rates(_, gatewaysLend: false) = strategy.kind { true } else { false }
        let published = strategy.drawsFromFloat ? publishedPools : []
        var most = 0.0
        for pool in capacity.indices {
            let float = published.first { $0.pool == workload.pools[pool].id }?.float ?? .none
            for resource in capacity[pool].resources.members {
                // By index: a gateway is large, and this runs every second.
                var sum = float[resource] ?? 0
                for gateway in gateways.indices {
                    sum +=
                        isWalled
                        ? gateways[gateway].walls(of: pool, in: resource)
                        : gateways[gateway].budget(of: pool, at: now)?[resource] ?? 0
                }
                most = max(most, sum / max(1, capacity[pool][resource] ?? 0))
            }
        }
        return most
    }

    private var publishedPools: [PoolAllocation] {
        guard case .headroom(let plane) = controller else { return [] }
        return plane.board.contents.publication?.whole.pools ?? []
    }

    /// How long the gateway that is furthest behind has not applied a generation that was published.
    private var drift: Double {
        var longest = 0.0
        for gateway in gateways.indices where gateways[gateway].isUp {
            guard let applied = gateways[gateway].holder.applied else { continue }
            // Seconds behind are few, so the first one missed is near the end.
            for index in generations.indices.reversed() {
                guard generations[index].version > applied else { break }
                longest = max(longest, now.seconds(since: generations[index].at))
            }
        }
        return longest
    }
}
