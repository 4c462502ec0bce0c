import HeadroomModel

/// A run's conditions besides the trace: how much the provider grants, what clients do, and what breaks.
package struct Scenario: Sendable {
    /// As typed behind `--scenario`.
    package var name: String
    /// Its purpose, in a sentence.
    package var intent: String
    /// The contract with the provider, as a part of the trace's mean demand.
    package var capacity = 1.0
    package var provider = Provider()
    /// A second pool that the first one's work fails over to; `nil`: there is none.
    package var failover: Failover?
    package var clients = Clients()
    package var network = Network()
    package var changes: [WorkChange] = []
    package var faults: [Fault] = []

    package init(name: String, intent: String) {
        self.name = name
        self.intent = intent
    }

    package struct Provider: Sendable {
        package var headers = ProviderModel.Headers.nominal
        package var metering = ProviderModel.Metering.refill
        package var burstSeconds = 6.0
        /// A refused attempt costs a request.
        package var countsRefused = false
        /// The granted capacity, as a part of the contract, while a span lasts; 1 outside of all of them.
        package var grants: [(span: Span, factor: Double)] = []
        package var wave: Wave?
        /// A part of what is granted goes to other consumers of the account.
        package var others: [(span: Span, share: Double)] = []
        /// A part of all calls is answered with 529.
        package var overloads: [(span: Span, share: Double)] = []
        /// A new version of the model, which gateways report: it grants another part of the contract from then on.
        package var versionChange: VersionChange?
    }

    /// A pool of its own with some of the tenants, and without troubles.
    package struct Failover: Equatable, Sendable {
        /// Its contract, as a part of the mean demand of the tenants that are at home there.
        package var capacity: Double
        /// Every so-many-th tenant by demand is at home there.
        package var every: Int

        package init(capacity: Double, every: Int) {
            self.capacity = capacity
            self.every = every
        }
    }

    /// Capacity that swings around the contract in steps.
    package struct Wave: Sendable {
        package var amplitude: Double
        package var periodSeconds: Double
    }

    package struct VersionChange: Sendable {
        /// A part of the run.
        package var from: Double
        package var factor: Double
    }

    package struct Clients: Sendable {
        /// Estimates lie evenly within this part of the true cost.
        package var estimateError = 0.2
        /// Callers ask for so many times the output that they get, evenly between the two; gateways then learn a
        /// correction. `nil`: estimates as in ``estimateError``.
        package var maxTokensFactor: ClosedRange<Double>?
        /// Gateways count a call as so many times what the provider counts: then they use a part of what they get.
        package var countedTimes = 1.0
        package var patienceSeconds = PerCriticality(interactive: 10.0, nearRealTime: 60.0, batch: 120.0)

        /// An agent waits for an answer at least as long as near-real-time work: nobody looks on.
        package func patience(of job: Job) -> Double {
            let own = patienceSeconds[job.criticality]
            return job.task == nil ? own : max(own, patienceSeconds.nearRealTime)
        }
    }

    package struct Network: Sendable {
        package var gateways = 4
        /// A publication reaches each gateway after a time of its own, evenly up to this.
        package var pollLagSeconds = 2.0
        /// Part of all polls that bring nothing.
        package var lostPolls = 0.0
        /// From a gateway's flush, once a second, to the control plane.
        package var telemetryDelaySeconds = 0.0
        /// This part of all calls goes to gateways by length: the shortest calls to the first one, the longest to the last.
        package var routedByLength = 0.0
        /// Nine of ten calls of a tenant go to one gateway, and after so many seconds to another. `nil`: each tenant has an
        /// uneven split of its own, which stays.
        package var homeSeconds: Double?

        package init(routedByLength: Double = 0, homeSeconds: Double? = nil) {
            self.routedByLength = routedByLength
            self.homeSeconds = homeSeconds
        }
    }

    /// A part of a run. Traces have different lengths, so a beginning is a part of the run; an end is one too, or
    /// stands so many seconds behind.
    package struct Span: Equatable, Sendable {
        package enum End: Equatable, Sendable {
            case part(Double)
            case seconds(Double)
        }

        package var from: Double
        package var end: End

        package init(from: Double, to part: Double) {
            self.from = from
            end = .part(part)
        }

        package init(from: Double, seconds: Double) {
            self.from = from
            end = .seconds(seconds)
        }

        package func seconds(ofRun run: Double) -> Range<Double> {
            let start = from * run
            let stop =
                switch end {
                case .part(let part): part * run
                case .seconds(let seconds): min(run, start + seconds)
                }
            return start..<max(start, stop)
        }
    }

    /// Which tenants, by their rank of demand in the trace: 0 is the largest.
    package enum Who: Equatable, Sendable {
        case rank(Int)
        /// Every so-many-th of them.
        case every(Int)
        case criticality(Criticality)
        /// The largest tenant of a tier.
        case largest(ofTier: String)
        case everyone
    }

    /// Behaviour of some tenants that differs from the trace.
    package enum WorkChange: Sendable {
        /// So many times the work, whole requests drawn from their own; less than 1 thins it out. It grows linearly
        /// over the first `ramp` seconds.
        case times(Double, of: Who, during: Span, rampSeconds: Double)
        /// Nothing comes.
        case silent(Who, during: Span)
        /// A call that is denied comes again as a new one, up to so many times: after a second, or on the next full ten
        /// seconds together with everyone else's.
        case resendsDenied(Who, times: Int, inStep: Bool)
        /// So many times the work is really sent on top, and nobody needs it.
        case junk(Double, of: Who, during: Span)
        /// Agents: users start their tasks within a time.
        case tasks(TaskPlan, of: Who, from: Double, withinSeconds: Double)
        /// All of their work is agents': so many calls in a row are a task, which begins when its first one came.
        case agents(TaskPlan, of: Who)
        /// A pipeline: as many tasks at a time as fill the contract for `backlogSeconds`, each followed by another one, until
        /// they have asked for `load` times what the contract grants in the span, or it ends.
        case pipeline(TaskPlan, load: Double, backlogSeconds: Double, of: Who, during: Span)

        /// The tenants that try to gain by it; `nil` for honest work.
        package var gamer: Who? {
            switch self {
            case .resendsDenied(.everyone, _, _): nil
            case .resendsDenied(let who, _, _), .junk(_, let who, _): who
            case .times, .silent, .tasks, .agents, .pipeline: nil
            }
        }
    }

    /// One task (``AgentTask``) for each user of a tenant.
    package struct TaskPlan: Equatable, Sendable {
        package var users: Int
        /// Of one task.
        package var calls: Int
        /// A pipeline's task has from ``calls`` to so many, evenly.
        package var mostCalls: Int?
        package var atOnce: Int
        /// Each line of calls is the task of a sub-agent of its own.
        package var hasSubAgents: Bool
        /// Mean pause between an answer and the call that follows from it.
        package var thinkSeconds: Double

        package init(
            users: Int = 1, calls: Int = 1, mostCalls: Int? = nil, atOnce: Int = 1, hasSubAgents: Bool = false,
            thinkSeconds: Double = 2
        ) {
            self.users = users
            self.calls = calls
            self.mostCalls = mostCalls
            self.atOnce = atOnce
            self.hasSubAgents = hasSubAgents
            self.thinkSeconds = thinkSeconds
        }
    }

    package enum Fault: Equatable, Sendable {
        /// Its queue is lost; its arrivals go to the others. It comes back empty. A process that is stopped in order says
        /// goodbye, one that dies does not.
        case gatewayDown(Int, during: Span, saysGoodbye: Bool = false)
        /// All gateways end, and as many with other names begin in their place, as when pods are replaced.
        case fleetReplaced(at: Double, saysGoodbye: Bool = false)
        /// The loop is killed: polls and telemetry find nobody. The ledger and stored telemetry survive.
        case controlPlaneDown(Span)
        /// Reports take so many seconds longer.
        case telemetryLate(seconds: Double, during: Span)
        /// A gateway's wall clock jumps: reports that it has not sent yet look that much older (or come from the
        /// future).
        case clockJump(gateway: Int, at: Double, seconds: Double)
        /// No snapshot can be written, and no term can begin.
        case ledgerFull(Span)
        /// Stored telemetry cannot be read.
        case telemetryLocked(Span)
        /// Policy and contracts change while the run goes on.
        case newRules(at: Double, RuleChange)

        var span: Span {
            switch self {
            case .gatewayDown(_, let span, _), .controlPlaneDown(let span), .telemetryLate(_, let span),
                .ledgerFull(let span), .telemetryLocked(let span):
                span
            case .clockJump(_, let at, _), .newRules(let at, _), .fleetReplaced(let at, _):
                Span(from: at, seconds: 0)
            }
        }
    }
}

extension Scenario {
    /// The capacity that is granted to us from each second on, as a part of the contract: ascending, the first at 0.
    package func grants(seconds run: Double) -> [(fromSecond: Double, factor: Double)] {
        steps(seconds: run).map { ($0, limit(at: $0, of: run) * (1 - othersShare(at: $0, of: run))) }
    }

    /// All seconds at which something about it changes.
    private func steps(seconds run: Double) -> [Double] {
        var steps: Set<Double> = [0]
        for span in provider.grants.map(\.span) + provider.others.map(\.span) {
            let range = span.seconds(ofRun: run)
            steps.formUnion([range.lowerBound, range.upperBound])
        }
        if let wave = provider.wave {
            for half in 0..<Int(run / (wave.periodSeconds / 2)) { steps.insert(Double(half) * wave.periodSeconds / 2) }
        }
        if let change = provider.versionChange { steps.insert(change.from * run) }
        return steps.filter { $0 <= run }.sorted()
    }

    private func othersShare(at second: Double, of run: Double) -> Double {
        provider.others.last { $0.span.seconds(ofRun: run).contains(second) }?.share ?? 0
    }

    /// The part of all calls that is answered with 529.
    func overloadShare(at second: Double, of run: Double) -> Double {
        provider.overloads.first { $0.span.seconds(ofRun: run).contains(second) }?.share ?? 0
    }

    /// Of the account, by all of its users together.
    private func limit(at second: Double, of run: Double) -> Double {
        var factor = 1.0
        for grant in provider.grants where grant.span.seconds(ofRun: run).contains(second) { factor *= grant.factor }
        if let wave = provider.wave {
            let isFirstHalf = Int(second / (wave.periodSeconds / 2)) % 2 == 0
            factor *= isFirstHalf ? 1 + wave.amplitude : 1 - wave.amplitude
        }
        if let change = provider.versionChange, second >= change.from * run { factor *= change.factor }
        return factor
    }

    /// Of a pool that no trouble befalls.
    func calmProviderSettings(nominal: Rates) -> ProviderModel.Settings {
        var settings = ProviderModel.Settings(model: "spare-1", nominal: nominal)
        settings.metering = provider.metering
        settings.burstSeconds = provider.burstSeconds
        settings.headers = provider.headers
        settings.countsRefused = provider.countsRefused
        return settings
    }

    /// The provider as it is in a run of so many seconds, under a contract for `nominal`.
    package func providerSettings(nominal: Rates, seconds run: Double) -> ProviderModel.Settings {
        var settings = ProviderModel.Settings(model: "simulated-1", nominal: nominal)
        settings.metering = provider.metering
        settings.burstSeconds = provider.burstSeconds
        let steps = steps(seconds: run)
        settings.capacity = steps.map { ($0, limit(at: $0, of: run)) }
        settings.others = steps.map { ($0, othersShare(at: $0, of: run)) }
        settings.headers = provider.headers
        settings.countsRefused = provider.countsRefused
        settings.overloads = provider.overloads.map {
            ProviderModel.Overload(seconds: $0.span.seconds(ofRun: run), share: $0.share)
        }
        return settings
    }
}
