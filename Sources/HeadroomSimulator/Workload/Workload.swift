import HeadroomModel

/// One piece of work on its way to a gateway.
package struct Job: Equatable, Sendable {
    /// Since the start of the run.
    package var seconds: Double
    /// Of ``Workload/roster``'s entries.
    package var tenant: Int
    package var gateway: Int
    /// Of ``Workload/pools``.
    package var pool = 0
    package var inputTokens: Int64
    package var outputTokens: Int64
    /// The most output that its caller asks for; `nil` when it sets no bound.
    package var maxTokens: Int64?
    /// Estimate over true cost, where there is no `maxTokens`.
    package var estimateFactor = 1.0
    package var criticality: Criticality
    /// False for work that nobody needs.
    package var isGenuine = true
    /// The agent's task that it belongs to, of ``Workload/tasks``; it comes when the task has come so far, and
    /// ``seconds`` is until then when it would if everyone were served at once.
    package var task: Int?
    /// How often its client sent it again as new after it was denied.
    package var resends = 0

    /// Its cost at the provider.
    package var cost: Work {
        Work(
            requests: 1, tokens: Double(inputTokens + outputTokens), inputTokens: Double(inputTokens),
            outputTokens: Double(outputTokens))
    }
}

/// The arrivals of a run: a trace under a scenario, the same for every strategy.
package struct Workload: Sendable {
    /// Beyond it the smallest tenants are one.
    package static let maxTenants = 20

    package struct Pool: Equatable, Sendable {
        package let id: PoolID
        /// The contract with its provider.
        package let nominal: Rates
    }

    package let seconds: Double
    package let roster: Roster
    /// The one that troubles befall; then the one that it fails over to, if there is one.
    package let pools: [Pool]
    /// By tenant: the pool that it uses.
    package let homes: [Int]
    /// The contracts with the providers of all pools together.
    package let nominal: Rates
    /// Ascending by time.
    package let jobs: [Job]
    /// Each before its sub-agents'.
    package let tasks: [AgentTask]
    /// Tenants that try to gain by what they do.
    package let gamers: [Int]
    /// Tenants whose pipelines run.
    package let loud: [Int]
    /// Tenants that were silent and come back while the run lasts, and when.
    package let returns: [(tenant: Int, second: Double)]
    /// How often each tenant sends denied work again, and whether in step with the others.
    let resends: [(times: Int, inStep: Bool)]
    package let hasSyntheticTenants: Bool

    /// Ascending by tenant; each has its floor in its own pool.
    package var contracts: [Contract] { roster.contracts(pools: homes.map { pools[$0].id }) }

    /// The first `seconds` of `trace`, or as much as there is. `trace` is what floors and capacity go by, whatever the
    /// scenario then does to it.
    package init(trace: Trace, scenario: Scenario, seconds most: Double, seed: UInt64) {
        let played = trace.played(seconds: most, speed: 1).folded(toLargest: Workload.maxTenants)
        let last = (played.rows.last?.seconds ?? 1).rounded(.up)
        // The end of a trace is not silence.
        let run = last < 0.98 * most ? max(1, last) : most
        seconds = run
        let resources: ResourceSet = [ResourceSet(.requests), ResourceSet(.tokens)]
        let mean = played.total.rates(overSeconds: run, of: resources)
        let costs = played.totals.map { $0.seconds(of: mean) }
        let ranked = played.tenants.indices.sorted { (-costs[$0], $0) < (-costs[$1], $1) }
        var homes = Array(repeating: 0, count: ranked.count)
        if let failover = scenario.failover {
            for (rank, tenant) in ranked.enumerated() where rank % failover.every == failover.every - 1 {
                homes[tenant] = 1
            }
        }
        self.homes = homes
        pools = [(Simulation.pool, scenario.capacity), (Simulation.failoverPool, scenario.failover?.capacity)]
            .enumerated().compactMap { index, pool in
                guard let part = pool.1 else { return nil }
                let own = homes.indices.reduce(Work.zero) { homes[$1] == index ? $0 + played.totals[$1] : $0 }
                let demand = own.rates(overSeconds: run, of: resources)
                return Pool(id: pool.0, nominal: (demand * part).map { max(1, $1.rounded()) })
            }
        let nominal = pools.reduce(mean.map { _, _ in 0 }) { sum, pool in
            sum.map { $1 + (pool.nominal[$0] ?? 0) }
        }
        self.nominal = nominal
        let roster = Roster(trace: played, seconds: run, capacity: nominal, seed: seed)
        self.roster = roster
        hasSyntheticTenants = played.hasSyntheticTenants

        func members(_ who: Scenario.Who) -> [Int] {
            switch who {
            case .rank(let rank): [ranked[min(rank, ranked.count - 1)]]
            case .every(let step): ranked.enumerated().filter { $0.offset % step == step - 1 }.map(\.element)
            case .criticality(let criticality):
                ranked.filter { roster.entries[$0].criticality == criticality }
            case .largest(let tier): ranked.first { roster.entries[$0].tier == tier }.map { [$0] } ?? []
            case .everyone: ranked
            }
        }

        var draft = WorkloadDraft(trace: played, roster: roster, scenario: scenario, seconds: run, seed: seed)
        var resends = Array(repeating: (times: 0, inStep: false), count: played.tenants.count)
        var gamers: [Int] = []
        var loud: [Int] = []
        var returns: [(tenant: Int, second: Double)] = []
        for change in scenario.changes {
            switch change {
            case .times(let factor, let who, let span, let ramp):
                draft.multiply(members(who), by: factor, during: span.seconds(ofRun: run), rampSeconds: ramp)
            case .silent(let who, let span):
                let silence = span.seconds(ofRun: run)
                draft.silence(members(who), during: silence)
                if silence.upperBound < run { returns += members(who).map { ($0, silence.upperBound) } }
            case .resendsDenied(let who, let times, let inStep):
                for tenant in members(who) { resends[tenant] = (times, inStep) }
            case .junk(let factor, let who, let span):
                draft.addJunk(members(who), times: factor, during: span.seconds(ofRun: run))
            case .tasks(let plan, let who, let from, let within):
                draft.addTasks(members(who), plan, from: from * run, withinSeconds: within)
            case .agents(let plan, let who):
                draft.makeAgents(of: members(who), plan)
            case .pipeline(let plan, let load, let backlog, let who, let span):
                let span = span.seconds(ofRun: run)
                draft.addPipeline(
                    members(who), plan, contract: nominal, seconds: load * (span.upperBound - span.lowerBound),
                    backlogSeconds: backlog, during: span)
                loud += members(who)
            }
            if let gamer = change.gamer { gamers += members(gamer) }
        }
        (jobs, tasks) = draft.routed(over: scenario.network)
        self.resends = resends
        self.gamers = gamers
        self.loud = loud
        self.returns = returns
    }
}
