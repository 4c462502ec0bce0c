import HeadroomEnforcement
import HeadroomLoop
import HeadroomModel
import HeadroomProviders

/// One run: a workload under a scenario, enforced by a strategy, on virtual time.
///
/// Start reading here. ``run()`` takes events in the order of time. Gateways are the product's ``PoolGate`` and
/// ``SnapshotHolder``, Headroom is the product's ``ControlLoop``; what is modelled is the provider, the network between
/// them and the clients. Nothing reads a clock or a random source: the same arguments give the same record.
package struct Simulation: Sendable {
    static let pool: PoolID = "simulated:pool"
    static let failoverPool: PoolID = "simulated:spare"
    /// Any instant will do; digests depend on it.
    package static let start = Timestamp(milliseconds: 1_800_000_000_000)

    let workload: Workload
    let scenario: Scenario
    let strategy: Strategy
    let rules: Rules
    let tenants: [TenantID]
    /// In ``tenants``.
    let places: [TenantID: Int]

    var events = EventQueue()
    var now = Simulation.start
    var jobs: [Job]
    /// When each job's work first arrived; a job that was sent again keeps its first one's.
    var firstArrivals: [Double]
    /// How far each of ``Workload/tasks`` has come.
    var tasks: [TaskProgress]
    private var attempts: [Int: Attempt] = [:]
    var gateways: [SimulatedGateway]
    /// One for each of ``Workload/pools``.
    var providers: [ProviderModel]
    var controller: Controller
    /// One for each pool, where calls are admitted one by one.
    private var admitters: [any CallAdmitter] = []
    var record: RunRecord
    /// The control plane's last estimate of each pool's capacity.
    var believed: [Rates]
    /// When each generation was published, ascending.
    var generations: [(version: SnapshotVersion, at: Timestamp)] = []
    /// The rivals' observations, and the service clocks that their lending gateways go by.
    var observed: Observer
    /// Of everything that Headroom publishes and its gateways do; `nil` for others.
    let audit: Audit?

    /// The controller in Headroom's place.
    enum Controller: Sendable {
        case headroom(SimulatedControlPlane)
        /// One for each pool.
        case rates([any RateAllocator])
        case oracle(OracleDecision)
        case admission
        case nobody
    }

    /// One attempt that is on its way.
    struct Attempt: Sendable {
        let dispatch: Dispatch
        let gateway: Int
        /// `nil`: turned away before it reached the provider.
        let answer: ProviderAnswer?
        let sentAt: Timestamp
    }

    var network: SeededGenerator
    private var jitter: SeededGenerator
    /// Of each job's client, where clients retry by themselves.
    private var clientRetries: [Int: Int] = [:]

    package init(workload: Workload, scenario: Scenario, strategy: Strategy, seed: UInt64) {
        self.workload = workload
        self.scenario = scenario
        self.strategy = strategy
        let policy = Policy(
            name: "simulated", loop: LoopPolicy(expectedGateways: scenario.network.gateways),
            pools: workload.pools.enumerated().map { index, pool in
                PoolPolicy(
                    pool: pool.id, nominal: pool.nominal, providerBurstSeconds: scenario.provider.burstSeconds,
                    burstSeconds: max(1, scenario.provider.burstSeconds - 1),
                    failover: index == 0 ? workload.pools.dropFirst().map(\.id) : [],
                    countsRefused: scenario.provider.countsRefused)
            })
        rules = Rules(
            policy: policy, contracts: Dictionary(uniqueKeysWithValues: workload.contracts.map { ($0.tenant, $0) }))
        tenants = workload.roster.entries.map(\.tenant)
        places = Dictionary(uniqueKeysWithValues: zip(tenants, tenants.indices))
        jobs = workload.jobs
        firstArrivals = workload.jobs.map(\.seconds)
        tasks = workload.tasks.map(TaskProgress.init)
        gateways = (0..<scenario.network.gateways).map {
            SimulatedGateway(
                GatewayID(unchecked: "gw-\($0 + 1)"), pools: workload.pools.map(\.id),
                isDrawing: strategy.draws($0), at: Simulation.start)
        }
        providers = workload.pools.enumerated().map { index, pool in
            ProviderModel(
                settings: index == 0
                    ? scenario.providerSettings(nominal: pool.nominal, seconds: workload.seconds)
                    : scenario.calmProviderSettings(nominal: pool.nominal),
                start: Simulation.start,
                generator: SeededGenerator(seed: seed, stream: index == 0 ? "provider" : "spare"))
        }
        network = SeededGenerator(seed: seed, stream: "network")
        jitter = SeededGenerator(seed: seed, stream: "retries")
        record = RunRecord(seconds: workload.seconds, tenantCount: tenants.count)
        believed = workload.pools.map(\.nominal)
        observed = Observer(tenantCount: tenants.count, gatewayCount: gateways.count)
        controller =
            switch strategy.kind {
            case .headroom: .headroom(SimulatedControlPlane(rules: rules, at: Simulation.start))
            case .firstComeFirstServed: .nobody
            case .oracle(let remembers): .oracle(OracleDecision(remembers: remembers))
            case .rates(let allocator, _): .rates(workload.pools.map { _ in allocator })
            case .admission: .admission
            }
        audit = if case .headroom(let plane) = controller { plane.audit } else { nil }
    }

    /// On the calling thread.
    package func run() -> RunRecord {
        CallingThreadExecutor().run { [self] in
            var simulation = self
            await simulation.play()
            simulation.record.audit = simulation.audit?.report
            simulation.record.tasks = simulation.taskOutcomes
            return simulation.record
        }
    }

    private mutating func play() async {
        begin()
        let end = Simulation.start.adding(seconds: workload.seconds)
        while let event = events.next(), event.at < end, audit?.hasFailed != true {
            now = event.at
            switch event.kind {
            case .arrival: arrive(event.subject)
            case .task: beginTask(event.subject)
            case .wake: wake(event.subject)
            case .answer: conclude(event.subject)
            case .poll: await poll(event.subject, isUsual: true)
            case .push: await poll(event.subject, isUsual: false)
            case .flush: flush(event.subject)
            case .delivery: deliver(event.subject)
            case .draw: answerDraw(event.subject)
            case .grant: takeGrant(event.subject)
            case .tick: await tick()
            case .second: measure()
            case .fault: await toggle(event.subject)
            }
        }
    }

    /// Seconds since the start.
    var second: Double { now.seconds(since: Simulation.start) }

    private mutating func begin() {
        if case .admission(var admitter) = strategy.kind {
            for pool in workload.pools {
                admitter.begin(capacity: pool.nominal, tiers: rules.policy.tiers)
                admitters.append(admitter)
            }
        }
        planFaults()
        events.plan(.second, at: now)
        for gateway in gateways.indices {
            events.plan(.poll, gateway, at: now)
            // Gateways did not all start at the same moment.
            let part = Double(gateway + 1) / Double(gateways.count)
            events.plan(.flush, gateway, at: now.adding(seconds: part))
        }
        events.plan(.tick, at: now)
        planTasks()
        planArrival(from: 0)
    }
}

/// Gateways: whose turn it is, and what the provider says.
extension Simulation {
    private mutating func wake(_ gateway: Int) {
        guard gateways[gateway].plannedWake == now else { return }  // An earlier one was planned since.
        gateways[gateway].plannedWake = nil
        serve(gateway)
    }

    mutating func serve(_ gateway: Int) {
        guard gateways[gateway].isUp else { return }
        for pool in workload.pools.indices {
            for call in gateways[gateway].gates[pool].expire(at: now) { deny(call, at: gateway) }
            for dispatch in gateways[gateway].gates[pool].dispatch(at: now) { send(dispatch, from: gateway) }
            divert(from: pool, at: gateway)
        }
        draw(gateway)
        guard let next = gateways[gateway].nextWake(after: now) else { return }
        let wake = max(next, now.adding(seconds: 0.005))
        if let planned = gateways[gateway].plannedWake, planned <= wake, planned > now { return }
        gateways[gateway].plannedWake = wake
        events.plan(.wake, gateway, at: wake)
    }

    mutating func send(_ dispatch: Dispatch, from gateway: Int) {
        let index = dispatch.call.id
        let job = jobs[index]
        let id = gateways[gateway].id
        // Spending is audited in the first pool.
        let audit = job.pool == 0 ? audit : nil
        audit?.note(at: now) { auditor throws(AuditViolation) in
            try auditor.dispatch(index, dispatch.call.estimate, isDrawn: dispatch.grant == .drawn, at: id)
        }
        observed.leave(job.tenant, dispatch.call.estimate)
        record.attempts += 1
        if dispatch.grant == .drawn { record.drawnAttempts += 1 }
        var answer: ProviderAnswer?
        if admits(job, dispatch.call.estimate) {
            answer = providers[job.pool].answer(inputTokens: job.inputTokens, outputTokens: job.outputTokens, now: now)
        }
        switch answer?.verdict {
        case .served:
            record.serve(job, arrivedAt: firstArrivals[index], at: second)
            observed.serve(job)
        case .overloaded: record.overloads += 1
        case .refused, nil: record.refuse(at: second)
        }
        record.mix(UInt64(now.milliseconds) << 20 ^ UInt64(index) << 2 ^ (answer.map { UInt64($0.status) } ?? 0))
        attempts[index] = Attempt(dispatch: dispatch, gateway: gateway, answer: answer, sentAt: now)
        events.plan(.answer, index, at: now.adding(seconds: answer?.latencySeconds ?? 0.001))
    }

    private mutating func admits(_ job: Job, _ estimate: Work) -> Bool {
        guard case .admission = controller else { return true }
        return admitters[job.pool].admits(
            tenant: tenants[job.tenant], tier: workload.roster.entries[job.tenant].tier, estimate: estimate, at: now)
    }

    /// The answer to a job's attempt has come.
    private mutating func conclude(_ index: Int) {
        guard let attempt = attempts.removeValue(forKey: index), gateways[attempt.gateway].isUp else { return }
        let gateway = attempt.gateway
        let id = gateways[gateway].id
        let call = attempt.dispatch.call
        let job = jobs[index]
        tellAdmitter(attempt, job)
        let signal = signal(of: attempt.answer, gateway)
        var outcome = Outcome.ok
        switch attempt.answer?.verdict {
        case .served: break
        case .overloaded: outcome = .overload
        case .refused, nil: outcome = .quota
        }
        report(attempt, outcome: outcome, signal: signal)
        let counted = job.cost * scenario.clients.countedTimes
        if job.pool == 0 { audit?.note(at: now) { $0.settle(index, cost: outcome == .ok ? counted : nil, at: id) } }
        if outcome == .ok {
            gateways[gateway].gates[job.pool].settle(index, actual: counted, at: now)
            gateways[gateway].estimator.learn(
                from: call.tenant, outputTokens: Double(job.outputTokens), maxTokens: job.maxTokens.map(Double.init))
        } else {
            if let signal { gateways[gateway].gates[job.pool].observe(signal, at: now) }
            retry(attempt)
        }
        if outcome == .ok, let task = job.task { advanceTask(task, from: gateway) }
        serve(gateway)
    }

    /// A refused call waits again, unless it was refused too often.
    private mutating func retry(_ attempt: Attempt) {
        let call = attempt.dispatch.call
        if let habit = strategy.clientRetries { return retry(attempt, by: habit) }
        // Not by name: a method that is handed over holds a copy of the run.
        let reset = attempt.answer.flatMap { resetSeconds($0) }
        let retry = gateways[attempt.gateway].gates[jobs[call.id].pool].refused(
            call.id, resetSeconds: reset, jitter: jitter.drawUniform(), at: now)
        switch retry {
        case .waits: observed.wait(jobs[call.id].tenant, call.estimate)
        case .givenUp: lose(call.id)
        }
    }

    /// The client's library tries again by itself, and then the program around it does, until its patience ends.
    private mutating func retry(_ attempt: Attempt, by habit: ClientRetries) {
        let job = jobs[attempt.dispatch.call.id]
        let retries = clientRetries[attempt.dispatch.call.id] ?? 0
        var call = attempt.dispatch.call
        let wait = habit.seconds(
            afterRetries: retries, told: attempt.answer?.retryAfterSeconds, jitter: jitter.drawUniform())
        clientRetries[call.id] = (retries + 1) % (habit.maxRetries + 1)
        call.eligibleAt = now.adding(seconds: wait)
        gateways[attempt.gateway].gates[job.pool].settle(call.id, actual: .zero, at: now)
        guard call.eligibleAt < call.deadline, enqueue(call, at: attempt.gateway) else {
            clientRetries[call.id] = nil
            return lose(call.id)
        }
        observed.wait(job.tenant, call.estimate)
    }

    private mutating func tellAdmitter(_ attempt: Attempt, _ job: Job) {
        guard case .admission = controller, let answer = attempt.answer else { return }
        admitters[job.pool].settle(
            tenant: tenants[job.tenant], tier: workload.roster.entries[job.tenant].tier,
            estimate: attempt.dispatch.call.estimate, actual: answer.verdict == .served ? job.cost : .zero, at: now)
    }

    /// Reads an answer as a gateway of Headroom's does. Refusals tell of limits; of the others every twentieth is read.
    private mutating func signal(of answer: ProviderAnswer?, _ gateway: Int) -> ProviderSignal? {
        guard case .headroom = controller, let answer else { return nil }
        gateways[gateway].answers += 1
        guard answer.verdict != .served || gateways[gateway].answers % 20 == 1 else { return nil }
        return ProviderClassifier.classify(
            ProviderResponse(
                provider: "openai", status: answer.status, headers: answer.headers,
                body: answer.verdict == .served ? nil : answer.body, receivedAt: now))
    }

    /// Everyone's clients go by the header, where it is true.
    private func resetSeconds(_ answer: ProviderAnswer) -> Double? {
        guard scenario.provider.headers == .truthful, case .refused = answer.verdict else { return nil }
        return answer.retryAfterSeconds
    }
}
