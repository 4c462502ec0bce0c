import HeadroomModel

/// A workload in the making. Every kind of draw has its own stream, so that one change moves nothing in the others.
struct WorkloadDraft {
    private var jobs: [Job]
    private let roster: Roster
    private let run: Double
    private let clients: Scenario.Clients
    private let seed: UInt64
    private var generator: SeededGenerator
    private var tasks: [AgentTask] = []
    /// Apart from ``jobs``: what is changed about a tenant's work leaves its agents alone.
    private var taskJobs: [Job] = []

    /// The lines of a pipeline do not begin at one instant.
    private static let pipelineStartSeconds = 5.0

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

    /// Each user's task is made of calls drawn from the tenant's own.
    mutating func addTasks(_ tenants: [Int], _ plan: Scenario.TaskPlan, from: Double, withinSeconds: Double) {
        for tenant in tenants {
            let own = jobs.filter { $0.tenant == tenant }
            guard !own.isEmpty else { continue }
            for _ in 0..<plan.users {
                let start = from + withinSeconds * generator.drawUniform()
                let calls = (0..<plan.calls).map { _ in own[generator.drawIndex(below: own.count)] }
                if plan.hasSubAgents, calls.count > 1 {
                    addDelegatedTask(calls, plan, of: tenant, at: start)
                } else {
                    _ = addTask(calls, plan, of: tenant, atOnce: plan.atOnce, parent: nil, at: start)
                }
            }
        }
    }

    /// A tenant's calls of the trace become tasks, so many in a row each; the last task may have fewer.
    mutating func makeAgents(of tenants: [Int], _ plan: Scenario.TaskPlan) {
        for tenant in tenants {
            let own = jobs.filter { $0.tenant == tenant }.sorted { $0.seconds < $1.seconds }
            for first in stride(from: 0, to: own.count, by: plan.calls) {
                let calls = Array(own[first..<min(first + plan.calls, own.count)])
                _ = addTask(calls, plan, of: tenant, atOnce: plan.atOnce, parent: nil, at: calls[0].seconds)
            }
        }
        let agents = Set(tenants)
        jobs.removeAll { agents.contains($0.tenant) }
    }

    /// Tasks that fill the contract for so many seconds, in lines: the first tasks of all lines fill it for
    /// `backlogSeconds`. Their calls are drawn from everybody's, so that no pipeline wins or loses by its calls' sizes.
    mutating func addPipeline(
        _ tenants: [Int], _ plan: Scenario.TaskPlan, contract: Rates, seconds: Double, backlogSeconds: Double,
        during span: Range<Double>
    ) {
        // More than any run gets through.
        let maxTasks = 100_000
        let models = jobs + taskJobs
        guard !models.isEmpty else { return }
        for tenant in tenants {
            var work = Work.zero
            var lines: [Int] = []
            var added = 0
            while work.seconds(of: contract) < seconds, added < maxTasks {
                let count = plan.calls + generator.drawIndex(below: (plan.mostCalls ?? plan.calls) - plan.calls + 1)
                let calls = (0..<count).map { _ in
                    var call = models[generator.drawIndex(below: models.count)]
                    call.tenant = tenant
                    call.criticality = roster.entries[tenant].criticality
                    return call
                }
                let isFirst = work.seconds(of: contract) < backlogSeconds || lines.isEmpty
                let line = added % max(1, lines.count)
                let start =
                    isFirst
                    ? min(run - 0.001, span.lowerBound + WorkloadDraft.pipelineStartSeconds * generator.drawUniform())
                    : tasks[lines[line]].start + tasks[lines[line]].undisturbedSeconds
                _ = addTask(calls, plan, of: tenant, atOnce: plan.atOnce, parent: nil, at: start)
                let number = tasks.count - 1
                tasks[number].lastStart = span.upperBound
                if isFirst {
                    lines.append(number)
                } else {
                    tasks[lines[line]].next = number
                    tasks[number].isNext = true
                    lines[line] = number
                }
                work += calls.reduce(.zero) { $0 + $1.cost }
                added += 1
            }
        }
    }

    /// The task's first call plans; the others are dealt to sub-agents that begin when it has ended.
    private mutating func addDelegatedTask(
        _ calls: [Job], _ plan: Scenario.TaskPlan, of tenant: Int, at start: Double
    ) {
        let parent = tasks.count
        let planned = addTask([calls[0]], plan, of: tenant, atOnce: 1, parent: nil, at: start)
        var end = planned
        let count = min(plan.atOnce, calls.count - 1)
        for line in 0..<count {
            let dealt = stride(from: 1 + line, to: calls.count, by: count).map { calls[$0] }
            tasks[parent].subAgents.append(tasks.count)
            end = max(end, addTask(dealt, plan, of: tenant, atOnce: 1, parent: parent, at: planned))
        }
        tasks[parent].undisturbedSeconds = end - start
    }

    /// Returns when it would end if every call were served at once.
    private mutating func addTask(
        _ calls: [Job], _ plan: Scenario.TaskPlan, of tenant: Int, atOnce: Int, parent: Int?, at start: Double
    ) -> Double {
        var task = AgentTask(number: tasks.count, tenant: tenant, parent: parent, atOnce: atOnce, start: start)
        // When each of its lines of work is free again.
        var free = Array(repeating: start, count: min(atOnce, calls.count))
        for (number, call) in calls.enumerated() {
            var job = call
            let pause = number < atOnce ? 0 : generator.drawExponential(mean: plan.thinkSeconds)
            job.task = tasks.count
            job.seconds = free[number % free.count] + pause
            free[number % free.count] =
                job.seconds + ProviderModel.Latency().idle(inputTokens: job.inputTokens, outputTokens: job.outputTokens)
            task.calls.append(AgentTask.Call(job: taskJobs.count, pauseSeconds: pause))
            taskJobs.append(job)
        }
        let end = free.max() ?? start
        task.undisturbedSeconds = end - start
        task.tokensPerCall = calls.reduce(0) { $0 + $1.cost[.tokens] } / Double(calls.count)
        tasks.append(task)
        return end
    }

    /// In the order of time, with a gateway for each, and with the estimates.
    func routed(over network: Scenario.Network) -> (jobs: [Job], tasks: [AgentTask]) {
        let gateways = network.gateways
        var routes = SeededGenerator(seed: seed, stream: "routes")
        var estimates = SeededGenerator(seed: seed, stream: "estimates")
        let weights = roster.entries.map { _ in (0..<gateways).map { _ in routes.drawExponential(mean: 1) } }
        let drawn = jobs + taskJobs
        let order = drawn.indices.sorted { (drawn[$0].seconds, $0) < (drawn[$1].seconds, $1) }
        var places = Array(repeating: 0, count: drawn.count)
        for (place, index) in order.enumerated() { places[index] = place }
        var tasks = tasks
        for task in tasks.indices {
            for call in tasks[task].calls.indices {
                tasks[task].calls[call].job = places[jobs.count + tasks[task].calls[call].job]
            }
        }
        var routed = order.map { drawn[$0] }
        for index in routed.indices {
            let own = weights[routed[index].tenant]
            var target = routes.drawUniform() * own.reduce(0, +)
            routed[index].gateway =
                own.firstIndex { weight in
                    target -= weight
                    return target < 0
                } ?? gateways - 1
            if let factor = clients.maxTokensFactor {
                let drawn = factor.lowerBound + (factor.upperBound - factor.lowerBound) * estimates.drawUniform()
                routed[index].maxTokens = Int64(Double(routed[index].outputTokens) * drawn) + 1
            } else {
                routed[index].estimateFactor = 1 + clients.estimateError * (2 * estimates.drawUniform() - 1)
            }
        }
        rerouteByLength(&routed, over: network)
        rerouteHome(&routed, over: network)
        return (routed, tasks)
    }

    private func rerouteByLength(_ jobs: inout [Job], over network: Scenario.Network) {
        guard network.routedByLength > 0, !jobs.isEmpty else { return }
        var generator = SeededGenerator(seed: seed, stream: "routes by length")
        let lengths = jobs.map { $0.cost[.tokens] }.sorted()
        // The longest call of each gateway but the last.
        let bounds = (1..<network.gateways).map { lengths[lengths.count * $0 / network.gateways] }
        for index in jobs.indices where generator.drawUniform() < network.routedByLength {
            let length = jobs[index].cost[.tokens]
            jobs[index].gateway = bounds.firstIndex { length <= $0 } ?? network.gateways - 1
        }
    }

    private func rerouteHome(_ jobs: inout [Job], over network: Scenario.Network) {
        guard let seconds = network.homeSeconds else { return }
        var generator = SeededGenerator(seed: seed, stream: "routes home")
        // Not all move at once.
        let phases = roster.entries.map { _ in generator.drawUniform() }
        let homes = roster.entries.map { _ in
            (0...Int(run / seconds) + 1).map { _ in generator.drawIndex(below: network.gateways) }
        }
        for index in jobs.indices where generator.drawUniform() < 0.9 {
            let tenant = jobs[index].tenant
            jobs[index].gateway = homes[tenant][Int(jobs[index].seconds / seconds + phases[tenant])]
        }
    }
}
