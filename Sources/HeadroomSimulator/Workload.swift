import HeadroomModel

/// One piece of work on its way to a gateway.
package struct Job: Equatable, Sendable {
    /// Since the start of the run.
    package var seconds: Double
    /// Of ``Workload/roster``'s entries.
    package var tenant: Int
    package var gateway: Int
    package var inputTokens: Int64
    package var outputTokens: Int64
    /// What its caller asks for at most; `nil` when it sets no bound.
    package var maxTokens: Int64?
    /// Estimate over true cost, where there is no `maxTokens`.
    package var estimateFactor = 1.0
    package var criticality: Criticality
    /// False for work that nobody needs.
    package var isGenuine = true
    /// The agent's task that it belongs to.
    package var task: Int?
    /// How often its client sent it again as new after it was denied.
    package var resends = 0

    /// What it costs the provider.
    package var cost: Work {
        Work(
            requests: 1, tokens: Double(inputTokens + outputTokens), inputTokens: Double(inputTokens),
            outputTokens: Double(outputTokens))
    }
}

/// What arrives in a run: a trace under a scenario, the same for every strategy.
package struct Workload: Sendable {
    /// Beyond it the smallest tenants are one.
    package static let mostTenants = 20

    package let seconds: Double
    package let roster: Roster
    /// The contract with the provider.
    package let nominal: Rates
    /// Ascending by time.
    package let jobs: [Job]
    /// Tenants that try to gain by what they do.
    package let gamers: [Int]
    /// Tenants that were silent and come back while the run lasts, and when.
    package let returns: [(tenant: Int, second: Double)]
    /// How often each tenant sends denied work again, and whether in step with the others.
    let resends: [(times: Int, inStep: Bool)]
    package let hasSyntheticTenants: Bool

    /// The first `seconds` of `trace`, or as much as there is. `trace` is what floors and capacity go by, whatever the
    /// scenario then does to it.
    package init(trace: Trace, scenario: Scenario, seconds most: Double, seed: UInt64) {
        let played = trace.played(seconds: most, speed: 1).folded(toLargest: Workload.mostTenants)
        let last = (played.rows.last?.seconds ?? 1).rounded(.up)
        // What a trace ends with is not silence.
        let run = last < 0.98 * most ? max(1, last) : most
        seconds = run
        let resources: ResourceSet = [ResourceSet(.requests), ResourceSet(.tokens)]
        let mean = played.total.rates(overSeconds: run, of: resources)
        let nominal = (mean * scenario.capacity).map { max(1, $1.rounded()) }
        self.nominal = nominal
        let roster = Roster(trace: played, seconds: run, capacity: nominal, seed: seed)
        self.roster = roster
        hasSyntheticTenants = played.hasSyntheticTenants

        let costs = played.totals.map { $0.seconds(of: nominal) }
        let ranked = played.tenants.indices.sorted { (-costs[$0], $0) < (-costs[$1], $1) }
        func members(_ who: Scenario.Who) -> [Int] {
            switch who {
            case .rank(let rank): [ranked[min(rank, ranked.count - 1)]]
            case .every(let step): ranked.enumerated().filter { $0.offset % step == step - 1 }.map(\.element)
            case .criticality(let criticality):
                ranked.filter { roster.entries[$0].criticality == criticality }
            case .everyone: ranked
            }
        }

        var draft = WorkloadDraft(trace: played, roster: roster, scenario: scenario, seconds: run, seed: seed)
        var resends = Array(repeating: (times: 0, inStep: false), count: played.tenants.count)
        var gamers: [Int] = []
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
            case .tasks(let users, let calls, let atOnce, let who, let from, let within):
                draft.addTasks(
                    members(who), users: users, calls: calls, atOnce: atOnce, from: from * run, withinSeconds: within)
            }
            if let gamer = change.gamer { gamers += members(gamer) }
        }
        jobs = draft.routed(gateways: scenario.network.gateways)
        self.resends = resends
        self.gamers = gamers
        self.returns = returns
    }
}

/// A workload in the making. Every kind of draw has its own stream, so that one change moves nothing in the others.
private struct WorkloadDraft {
    private var jobs: [Job]
    private let roster: Roster
    private let run: Double
    private let clients: Scenario.Clients
    private let seed: UInt64
    private var generator: SeededGenerator

    init(trace: Trace, roster: Roster, scenario: Scenario, seconds: Double, seed: UInt64) {
        self.roster = roster
        run = seconds
        clients = scenario.clients
        self.seed = seed
        generator = SeededGenerator(seed: seed, stream: "work changes")
        jobs = trace.rows.filter { $0.seconds < seconds }.map { row in
            Job(
                seconds: row.seconds, tenant: row.tenant, gateway: 0, inputTokens: row.inputTokens,
                outputTokens: row.outputTokens, criticality: roster.entries[row.tenant].criticality)
        }
    }

    mutating func multiply(_ tenants: [Int], by factor: Double, during span: Range<Double>, rampSeconds: Double) {
        let chosen = Set(tenants)
        var result: [Job] = []
        for job in jobs {
            guard chosen.contains(job.tenant), span.contains(job.seconds) else {
                result.append(job)
                continue
            }
            let part = rampSeconds > 0 ? min(1, (job.seconds - span.lowerBound) / rampSeconds) : 1
            let wanted = 1 + (factor - 1) * part
            let copies = Int(wanted) + (generator.drawUniform() < wanted - wanted.rounded(.down) ? 1 : 0)
            for copy in 0..<copies {
                var twin = job
                // Within ten seconds, so that the trace's bursts stay bursts and do not become spikes.
                if copy > 0 { twin.seconds = min(run - 0.001, job.seconds + 10 * generator.drawUniform()) }
                result.append(twin)
            }
        }
        jobs = result
    }

    mutating func silence(_ tenants: [Int], during span: Range<Double>) {
        let chosen = Set(tenants)
        jobs.removeAll { chosen.contains($0.tenant) && span.contains($0.seconds) }
    }

    mutating func addJunk(_ tenants: [Int], times: Double, during span: Range<Double>) {
        let chosen = Set(tenants)
        let honest = jobs
        for job in honest where chosen.contains(job.tenant) && span.contains(job.seconds) {
            let copies = Int(times) + (generator.drawUniform() < times - times.rounded(.down) ? 1 : 0)
            for _ in 0..<copies {
                var junk = job
                junk.isGenuine = false
                junk.seconds = min(run - 0.001, job.seconds + 10 * generator.drawUniform())
                jobs.append(junk)
            }
        }
    }

    /// Calls of one task come in rounds of `atOnce`, five seconds apart: one after the other as answers come in.
    mutating func addTasks(
        _ tenants: [Int], users: Int, calls: Int, atOnce: Int, from: Double, withinSeconds: Double
    ) {
        for tenant in tenants {
            let own = jobs.filter { $0.tenant == tenant }
            guard !own.isEmpty else { continue }
            for user in 0..<users {
                let start = from + withinSeconds * generator.drawUniform()
                for call in 0..<calls {
                    var job = own[generator.drawIndex(below: own.count)]
                    job.seconds = start + 5 * Double(call / atOnce) + generator.drawUniform()
                    job.task = user
                    if job.seconds < run { jobs.append(job) }
                }
            }
        }
    }

    /// In the order of time, with each tenant's own uneven split over the gateways, and with the estimates.
    func routed(gateways: Int) -> [Job] {
        var routes = SeededGenerator(seed: seed, stream: "routes")
        var estimates = SeededGenerator(seed: seed, stream: "estimates")
        let weights = roster.entries.map { _ in (0..<gateways).map { _ in routes.drawExponential(mean: 1) } }
        var jobs = jobs.enumerated()
            .sorted { ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset) }
            .map(\.element)
        for index in jobs.indices {
            let own = weights[jobs[index].tenant]
            var target = routes.drawUniform() * own.reduce(0, +)
            jobs[index].gateway =
                own.firstIndex { weight in
                    target -= weight
                    return target < 0
                } ?? gateways - 1
            if let factor = clients.maxTokensFactor {
                let drawn = factor.lowerBound + (factor.upperBound - factor.lowerBound) * estimates.drawUniform()
                jobs[index].maxTokens = Int64(Double(jobs[index].outputTokens) * drawn) + 1
            } else {
                jobs[index].estimateFactor = 1 + clients.estimateError * (2 * estimates.drawUniform() - 1)
            }
        }
        return jobs
    }
}
