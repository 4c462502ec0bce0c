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
    /// Any instant will do; digests depend on it.
    package static let start = Timestamp(milliseconds: 1_800_000_000_000)

    let workload: Workload
    let scenario: Scenario
    let strategy: Strategy
    let rules: Rules
    let tenants: [TenantID]

    var events = EventQueue()
    var now = Simulation.start
    var jobs: [Job]
    /// When each job's work first arrived; a job that was sent again keeps its first one's.
    var firstArrivals: [Double]
    private var attempts: [Int: Attempt] = [:]
    var gateways: [SimulatedGateway]
    var provider: ProviderModel
    var controller: Controller
    var record: RunRecord
    /// What the control plane last took capacity to be.
    var believed: Rates
    /// When each generation was published, ascending.
    var generations: [(version: SnapshotVersion, at: Timestamp)] = []
    /// What rivals observe, and the service clocks that their lending gateways go by.
    var observed: Observer
    /// Of everything that Headroom publishes and its gateways do; `nil` for others.
    var audit: Audit? { if case .headroom(let plane) = controller { plane.audit } else { nil } }

    /// Who stands where Headroom stands.
    enum Controller: Sendable {
        case headroom(SimulatedControlPlane)
        case rates(any RateAllocator)
        case oracle(OracleDecision)
        case admission(any CallAdmitter)
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

    package init(workload: Workload, scenario: Scenario, strategy: Strategy, seed: UInt64) {
        self.workload = workload
        self.scenario = scenario
        self.strategy = strategy
        let policy = Policy(
            name: "simulated", loop: LoopPolicy(expectedGateways: scenario.network.gateways),
            pools: [
                PoolPolicy(
                    pool: Simulation.pool, nominal: workload.nominal,
                    providerBurstSeconds: scenario.provider.burstSeconds,
                    burstSeconds: max(1, scenario.provider.burstSeconds - 1),
                    countsRefused: scenario.provider.countsRefused)
            ])
        let contracts = workload.roster.contracts(pool: Simulation.pool)
        rules = Rules(policy: policy, contracts: Dictionary(uniqueKeysWithValues: contracts.map { ($0.tenant, $0) }))
        tenants = workload.roster.entries.map(\.tenant)
        jobs = workload.jobs
        firstArrivals = workload.jobs.map(\.seconds)
        gateways = (0..<scenario.network.gateways).map {
            SimulatedGateway(GatewayID(unchecked: "gw-\($0 + 1)"), at: Simulation.start)
        }
        provider = ProviderModel(
            settings: scenario.providerSettings(nominal: workload.nominal, seconds: workload.seconds),
            start: Simulation.start, generator: SeededGenerator(seed: seed, stream: "provider"))
        network = SeededGenerator(seed: seed, stream: "network")
        jitter = SeededGenerator(seed: seed, stream: "retries")
        record = RunRecord(seconds: workload.seconds, tenantCount: tenants.count)
        believed = workload.nominal
        observed = Observer(tenantCount: tenants.count, gatewayCount: gateways.count)
        controller =
            switch strategy.kind {
            case .headroom: .headroom(SimulatedControlPlane(rules: rules, at: Simulation.start))
            case .firstComeFirstServed: .nobody
            case .oracle: .oracle(OracleDecision())
            case .rates(let allocator, _): .rates(allocator)
            case .admission(let admitter): .admission(admitter)
            }
    }

    /// On the calling thread.
    package func run() -> RunRecord {
        CallingThreadExecutor().run { [self] in
            var simulation = self
            await simulation.play()
            simulation.record.audit = simulation.audit?.report
            return simulation.record
        }
    }

    private mutating func play() async {
        begin()
        let end = Simulation.start.adding(seconds: workload.seconds)
        let audit = audit
        while let event = events.next(), event.at < end, audit?.hasFailed != true {
            now = event.at
            switch event.kind {
            case .arrival: arrive(event.subject)
            case .wake: wake(event.subject)
            case .answer: conclude(event.subject)
            case .poll: await poll(event.subject, isUsual: true)
            case .push: await poll(event.subject, isUsual: false)
            case .flush: flush(event.subject)
            case .delivery: deliver(event.subject)
            case .tick: await tick()
            case .second: measure()
            case .fault: toggle(event.subject)
            }
        }
    }

    /// Seconds since the start.
    var second: Double { now.seconds(since: Simulation.start) }

    private mutating func begin() {
        if case .admission(var admitter) = controller {
            admitter.begin(capacity: workload.nominal, tiers: rules.policy.tiers)
            controller = .admission(admitter)
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
        if !jobs.isEmpty { events.plan(.arrival, 0, at: Simulation.start.adding(seconds: jobs[0].seconds)) }
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
        for call in gateways[gateway].gate.expire(at: now) { deny(call, at: gateway) }
        for dispatch in gateways[gateway].gate.dispatch(at: now) { send(dispatch, from: gateway) }
        guard let next = gateways[gateway].gate.nextWake(after: now) else { return }
        let wake = max(next, now.adding(seconds: 0.005))
        if let planned = gateways[gateway].plannedWake, planned <= wake, planned > now { return }
        gateways[gateway].plannedWake = wake
        events.plan(.wake, gateway, at: wake)
    }

    private mutating func send(_ dispatch: Dispatch, from gateway: Int) {
        let index = dispatch.call.id
        let job = jobs[index]
        let id = gateways[gateway].id
        audit?.note(at: now) { auditor throws(AuditViolation) in
            try auditor.dispatch(index, dispatch.call.estimate, at: id)
        }
        observed.leave(job.tenant, dispatch.call.estimate)
        record.attempts += 1
        var answer: ProviderAnswer?
        if admits(job, dispatch.call.estimate) {
            answer = provider.answer(inputTokens: job.inputTokens, outputTokens: job.outputTokens, now: now)
        }
        switch answer?.verdict {
        case .served:
            record.serve(job, arrivedAt: firstArrivals[index], at: second)
            observed.serve(job)
        case .overloaded: record.overloads += 1
        case .refused, nil: record.refusals += 1
        }
        record.mix(UInt64(now.milliseconds) << 20 ^ UInt64(index) << 2 ^ (answer.map { UInt64($0.status) } ?? 0))
        attempts[index] = Attempt(dispatch: dispatch, gateway: gateway, answer: answer, sentAt: now)
        events.plan(.answer, index, at: now.adding(seconds: answer?.latencySeconds ?? 0.001))
    }

    private mutating func admits(_ job: Job, _ estimate: Work) -> Bool {
        guard case .admission(var admitter) = controller else { return true }
        let isAdmitted = admitter.admits(
            tenant: tenants[job.tenant], tier: workload.roster.entries[job.tenant].tier, estimate: estimate, at: now)
        controller = .admission(admitter)
        return isAdmitted
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
        case .served:
            gateways[gateway].gate.settle(index, actual: job.cost, at: now)
            audit?.note(at: now) { $0.settle(index, cost: job.cost, at: id) }
            gateways[gateway].estimator.learn(
                from: call.tenant, outputTokens: Double(job.outputTokens), maxTokens: job.maxTokens.map(Double.init))
        case .refused, .overloaded, nil:
            outcome = attempt.answer?.verdict == .overloaded ? .overload : .quota
            audit?.note(at: now) { $0.settle(index, cost: nil, at: id) }
            if let signal { gateways[gateway].gate.observe(signal, at: now) }
            let retry = gateways[gateway].gate.refused(
                index, resetSeconds: attempt.answer.flatMap(resetSeconds), jitter: jitter.drawUniform(), at: now)
            switch retry {
            case .waits: observed.wait(job.tenant, call.estimate)
            case .givenUp: lose(index)
            }
        }
        report(attempt, outcome: outcome, signal: signal)
        serve(gateway)
    }

    private mutating func tellAdmitter(_ attempt: Attempt, _ job: Job) {
        guard case .admission(var admitter) = controller, let answer = attempt.answer else { return }
        admitter.settle(
            tenant: tenants[job.tenant], tier: workload.roster.entries[job.tenant].tier,
            estimate: attempt.dispatch.call.estimate, actual: answer.verdict == .served ? job.cost : .zero, at: now)
        controller = .admission(admitter)
    }

    /// What a gateway of Headroom's reads in an answer. Refusals tell of limits; of the others every twentieth is read.
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
