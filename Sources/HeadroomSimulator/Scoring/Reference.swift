import HeadroomModel

/// The yardstick: what each tenant should have been served, and when, by someone who knows everything and whose work is
/// a fluid. The same for every strategy.
///
/// In steps of ten seconds: true capacity (without bursts), true arrivals of genuine work, the policy's bands from
/// floors to demand with its ceilings (``OracleFill``). What is not served carries over to later steps, the oldest
/// served first, for as long as its caller's patience lasts; then it is gone. Requests are lumps and answers take
/// time, so nobody reaches 0 against it: the study behind ControlLaw puts the practical zero at about 0.06 of shortfall. Pools are apart,
/// each for the tenants at home in it; while one is overloaded and there is another to fail over to, both are one, and
/// what is overloaded grants nothing.
package struct Reference: Sendable {
    /// By step and tenant, as ``RunRecord/served``.
    package let shares: [Work]
    /// By step: seconds of the true capacity that there was work for, at most those of the step.
    package let workableSeconds: [Double]
    /// By step: true capacity, per minute.
    package let capacity: [Rates]
    package let stepCount: Int

    private struct Waiting {
        /// The last step in which it may be served.
        let lastStep: Int
        var work: Work
    }

    package init(workload: Workload, scenario: Scenario) {
        let step = RunRecord.stepSeconds
        let tenantCount = workload.roster.entries.count
        let stepCount = Int((workload.seconds / step).rounded(.up))
        self.stepCount = stepCount
        let grants = scenario.grants(seconds: workload.seconds)
        let rules = Rules(
            policy: Policy(), contracts: Dictionary(uniqueKeysWithValues: workload.contracts.map { ($0.tenant, $0) }))
        var fill = OracleFill(roster: workload.roster, rules: rules, nominal: workload.nominal)

        var shares = Array(repeating: Work.zero, count: stepCount * tenantCount)
        var workable: [Double] = []
        var capacities: [Rates] = []
        var waiting = Array(repeating: [Waiting](), count: tenantCount)
        var nextJob = 0
        for index in 0..<stepCount {
            let start = Double(index) * step
            var arrived = Array(repeating: Work.zero, count: tenantCount)
            while nextJob < workload.jobs.count, workload.jobs[nextJob].seconds < start + step {
                let job = workload.jobs[nextJob]
                nextJob += 1
                guard job.isGenuine else { continue }
                let patience = scenario.clients.patience(of: job)
                arrived[job.tenant] += job.cost
                waiting[job.tenant].append(
                    Waiting(lastStep: Int((job.seconds + patience) / step), work: job.cost))
            }
            fill.note(arrived: arrived, over: step)
            let sums = waiting.map { $0.reduce(Work.zero) { $0 + $1.work } }
            let groups = Reference.groups(
                workload, scenario, grant: Reference.meanGrant(grants, from: start, to: start + step), at: start)
            let capacity = Reference.whole(groups)
            var rates = Array(repeating: Rates.none, count: tenantCount)
            var workableHere = 0.0
            for group in groups {
                let demand = sums.indices.map { group.isMember[$0] ? sums[$0] : .zero }
                let solved = fill.solve(
                    capacity: group.capacity,
                    demand: demand.map { $0.rates(overSeconds: step, of: capacity.resources) })
                for tenant in rates.indices where group.isMember[tenant] { rates[tenant] = solved[tenant] }
                let part = group.capacity.work(overSeconds: 60).seconds(of: capacity) / 60
                workableHere += part * min(step, demand.reduce(Work.zero, +).seconds(of: group.capacity))
            }
            for tenant in 0..<tenantCount {
                let served = Reference.serve(rates[tenant], of: sums[tenant], from: &waiting[tenant], seconds: step)
                shares[index * tenantCount + tenant] = served
                waiting[tenant].removeAll { $0.lastStep <= index }
            }
            capacities.append(capacity)
            workable.append(workableHere)
        }
        self.shares = shares
        workableSeconds = workable
        self.capacity = capacities
    }

    /// Tenants that share a capacity, per minute.
    private struct Group {
        var capacity: Rates
        var isMember: [Bool]
    }

    private static func groups(_ workload: Workload, _ scenario: Scenario, grant: Double, at second: Double) -> [Group]
    {
        var groups = workload.pools.indices.map { pool in
            Group(
                capacity: workload.pools[pool].nominal * (pool == 0 ? grant : 1),
                isMember: workload.homes.map { $0 == pool })
        }
        let overloaded = scenario.overloadShare(at: second, of: workload.seconds)
        guard groups.count > 1, overloaded > 0 else { return groups }
        groups[0].capacity = groups[0].capacity * (1 - overloaded)
        return [Group(capacity: whole(groups), isMember: workload.homes.map { _ in true })]
    }

    /// The sum of the groups.
    private static func whole(_ groups: [Group]) -> Rates {
        groups.dropFirst().reduce(groups[0].capacity) { whole, group in
            whole.map { $1 + (group.capacity[$0] ?? 0) }
        }
    }

    /// Takes what `rates` serve in a step out of the waiting work, the oldest first, and returns it. A part of a
    /// tenant's work is the same part of it in every resource.
    private static func serve(
        _ rates: Rates, of sum: Work, from waiting: inout [Waiting], seconds: Double
    ) -> Work {
        guard sum[.requests] > 0 else { return .zero }
        let allowed = rates.work(overSeconds: seconds)
        // The fill runs along the demand's own direction: every resource gives the same part, but for rounding.
        let part = min(1, allowed[.requests] / sum[.requests])
        var left = sum[.requests] * part
        var served = Work.zero
        for index in waiting.indices {
            let here = waiting[index].work[.requests]
            guard left > 0, here > 0 else { continue }
            let taken = waiting[index].work * min(1, left / here)
            served += taken
            waiting[index].work -= taken
            left -= taken[.requests]
        }
        return served
    }

    private static func meanGrant(
        _ grants: [(fromSecond: Double, factor: Double)], from start: Double, to end: Double
    ) -> Double {
        var sum = 0.0
        for index in grants.indices {
            let until = index + 1 < grants.count ? grants[index + 1].fromSecond : .infinity
            sum += max(0, min(end, until) - max(start, grants[index].fromSecond)) * grants[index].factor
        }
        return sum / (end - start)
    }
}
