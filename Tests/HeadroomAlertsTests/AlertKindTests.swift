import HeadroomAlerts
import HeadroomModel
import Testing

/// Every kind of alert, caused and ended through what the loop and the service report.
@Suite struct AlertKindTests {
    struct Cause: Sendable, CustomTestStringConvertible {
        let kind: AlertKind
        /// What its sentence must say.
        let words: [String]
        /// Changes an observation in which all is well, as often as somebody looks; the second argument is the seconds
        /// since the trouble began.
        let cause: @Sendable (inout AlertObservation, Double) -> Void

        var testDescription: String { kind.rawValue }

        init(
            _ kind: AlertKind, _ words: String..., cause: @escaping @Sendable (inout AlertObservation, Double) -> Void
        ) {
            self.kind = kind
            self.words = words
            self.cause = cause
        }
    }

    static let causes: [Cause] = [
        Cause(.starvation, "acme has been starved in p since 2", "asks for 90,000 tokens a minute", "served 30,000") {
            seen, _ in seen.tenant = .starved("acme")
        },
        Cause(.capacityLost, "grants p 600,000 of the 1,000,000 tokens a minute of its contract (60 %)", "refuses") {
            seen, _ in
            seen.pool.estimated[.tokens] = 600_000
            seen.pool.capacityReason = .throttled
        },
        Cause(.breakerOpen, "its breaker is open, and there is no pool to fail over to") { seen, _ in
            seen.pool.state = .open
        },
        Cause(.providerBilling, "refused p for want of money since 2") { seen, seconds in
            seen.pool.upstream.billingFailureSince = seen.at.adding(seconds: -300)
        },
        Cause(.providerKey, "refused the key of 10 of 100 calls to p") { seen, _ in
            seen.pool.upstream.whole.outcomes[Outcome.auth.rawValue] = 10
        },
        Cause(.costNear, "acme has spent most of what its contract allows this month: 85.00 of 100.00 EUR, until 2") {
            seen, _ in seen.report?.allowances = ["acme": .sample(spent: 85, at: seen.at)]
        },
        Cause(.costReached, "acme has spent all that its contract allows", "100.05 of 100.00 EUR") { seen, _ in
            seen.report?.allowances = ["acme": .sample(spent: 100.05, at: seen.at)]
        },
        Cause(
            .costSlowing, "acme has spent 40.00 of the 60.00 USD that it may until",
            "it will have spent 90.00 (80.00 to 100.00). It will be slowed in 60 s, to what is left."
        ) { seen, _ in seen.report?.costBreaks = [.sample(.slowing, at: seen.at)] },
        Cause(.costPausing, "it will have spent 90.00", "Slowing does not hold it: it will be paused in 60 s.") {
            seen, _ in seen.report?.costBreaks = [.sample(.pausing, at: seen.at)]
        },
        Cause(
            .taskStopped, "The task t-9 of acme (research) has used 40 calls of 40",
            "it has started 2 tasks in 1 level, the largest t-10 with 30 calls. Its calls and those of the tasks below it are refused."
        ) { seen, _ in
            var use = TaskUse(calls: 40)
            use[.fanOut] = 2
            seen.report?.tasks.tasks = [
                TaskReport(
                    name: TaskName("t-9", of: "acme"), root: "t-9", kind: "research", begunAt: seen.at, seenAt: seen.at,
                    use: use, limits: TaskLimits(calls: 40), depth: 1,
                    children: [TaskReport.Child(task: "t-10", use: TaskUse(calls: 30))], hold: .all, measure: .calls)
            ]
        },
        Cause(
            .taskSlow, "Agent tasks of kind review of acme take 8 min in place of 41 s",
            "90 % of that their calls waited for quota, lately in p"
        ) { seen, _ in seen.report?.tasks.paces = [.sample(usual: 41, recent: 480, waited: 432)] },
        Cause(.drift, "gw-1 polls, but enforces generation 1.7, which was replaced at 2") { seen, _ in
            seen.gateways = [.sample("gw-1", seen: seen.at, behind: 25)]
        },
        Cause(.gatewayLost, "gw-1 has not been heard of since 2", "500 tokens a minute of p are withheld") { seen, _ in
            seen.gateways = [.sample("gw-1", seen: seen.at.adding(seconds: -30))]
            seen.report?.withheld = [
                WithheldBudget(pool: "p", gateway: "gw-1", rates: Rates(tpm: 500), until: seen.at.adding(seconds: 30))
            ]
        },
        Cause(.approvalWaiting, "Approval 7 for acme in p has waited for a person since 2") { seen, _ in
            seen.rules.steering.proposals = [.sample(asked: seen.at.adding(seconds: -1200))]
        },
        Cause(.approvalEnding, "Approval 7 for acme in p ends at 2") { seen, _ in
            var proposal = Proposal.sample(asked: seen.at.adding(seconds: -50_000))
            proposal.state = .approved
            proposal.decision = Authorship(
                author: "sam", reason: "agreed", at: seen.at.adding(seconds: -40_000),
                until: seen.at.adding(seconds: 1200))
            seen.rules.steering.proposals = [proposal]
        },
        Cause(.gaming, "acme looks as if it claimed more than it needs in p: it queued 100 calls") { seen, _ in
            seen.tenant.profile = TenantProfileReport(flags: [
                GamingFlag(kind: .vanishingDemand, since: seen.at, evidence: "it queued 100 calls and took back 90.")
            ])
        },
        Cause(.retryStorm, "acme tries again in step with others in p: a wave every 10 s, and 50 % of all") { seen, _ in
            seen.pool.retryStorm = RetryStorm(since: seen.at, periodSeconds: 10, share: 0.5, tenants: ["acme"])
        },
        Cause(.limitsReversing, "Limits in p turn back and forth: 60 times an hour for each tenant") { seen, seconds in
            seen.pool.reversals = Int(seconds / 10)
        },
        Cause(.queueWait, "A call of acme (premium) has waited since 2", "in p; its tier's should wait for 30 s") {
            seen, _ in
            seen.tenant.tier = "premium"
            seen.tenant.queue.interactive = TenantReport.Queue(depth: 3, oldestSeconds: 45)
        },
        Cause(.latency, "Calls to p take 4 times as long as usual (p95 7,200 ms, usually 1,800 ms), and nothing is") {
            seen, _ in seen.pool.upstream.whole.latency?.p95Milliseconds = 7200
        },
        Cause(
            .sloBurn,
            "acme (standard) was satisfied in p for 20 % of the 17 min of the last hour in which it asked for anything; its "
                + "tier's should be for 95 %.",
            "It burns 16 times as fast as it may."
        ) { seen, _ in
            var windows = LevelWindows()
            windows[.recent] = LevelSums(observedSeconds: 300, missedSeconds: 300)
            windows[.hour] = LevelSums(observedSeconds: 1000, missedSeconds: 800)
            seen.levels.tenants = [TenantLevel(tenant: "acme", pool: "p", windows: windows)]
            seen.tenant.underservedSeconds = 30
        },
        Cause(.loopLate, "The control loop is late: a tick took 3.0 s") { seen, _ in
            seen.delays = ["a tick took 3.0 s, longer than its period of 2.0 s"]
        },
        Cause(.loopFailing, "The control loop fails to publish: the disk is full. What was decided last stays.") {
            seen, _ in seen.report?.failures = [(.publish, "the disk is full")]
        },
        Cause(.telemetrySilent, "Nothing has been reported of p since 2", ", while 1 gateway polls") { seen, _ in
            seen.pool.calls = [.ok: 100_000]
        },
        Cause(.unknownName, "telemetry names the pool") { seen, _ in
            seen.unknownNames = [
                .init(name: "demo:sim-lage", since: seen.at, sentence: "telemetry names the pool demo:sim-lage")
            ]
        },
        Cause(.diskFull, "8 % of it is free (8,000 MB)") { seen, _ in seen.disk?.freeBytes = 8e9 },
        Cause(.policyRejected, "The policy in force is not the newest: rules.json5:3: unknown key") { seen, _ in
            seen.report?.rulesRefusal = "rules.json5:3: unknown key"
        },
        Cause(.certificateEnding, "The service's certificate ends at 2") { seen, _ in
            seen.certificateEnds = seen.at.adding(seconds: 3 * 86_400)
        },
        Cause(.service, "the wall clock was set") { seen, _ in
            seen.troubles = [.init(name: "clock", sentence: "the wall clock was set")]
        },
        Cause(.sinkFailing, "the webhook ops answers 500") { seen, _ in
            seen.failingSinks = [.init(name: "ops", sentence: "the webhook ops answers 500")]
        },
    ]

    @Test(arguments: causes) func `it opens once, is updated, and closes by itself`(_ cause: Cause) throws {
        var watch = Watch()
        // All is well for a quarter of an hour: nothing opens.
        for _ in 0..<180 { #expect(watch.look().isEmpty) }

        let began = watch.now
        var opened: [Alert] = []
        while opened.isEmpty, watch.now.seconds(since: began) < 1000 {
            opened = watch.look { seen in cause.cause(&seen, seen.at.seconds(since: began)) }
        }
        let alert = try #require(opened.first, "it never opened")
        #expect(opened.count == 1 && alert.key.kind == cause.kind && alert.closedAt == nil)
        #expect(alert.memberCount == 1)
        for words in cause.words { #expect(alert.sentence.contains(words), "\(alert.sentence)") }

        // It goes on: never a second one, and it is reported again when its numbers change, twice a minute at most.
        var updates = 0
        for _ in 0..<24 {
            for changed in watch.look({ seen in cause.cause(&seen, seen.at.seconds(since: began)) }) {
                #expect(changed.key == alert.key && changed.openedAt == alert.openedAt && changed.closedAt == nil)
                updates += 1
            }
        }
        #expect(updates <= 4)

        let ended = watch.now
        var closed: [Alert] = []
        while closed.isEmpty, watch.now.seconds(since: ended) < 1000 { closed = watch.look() }
        #expect(closed.count == 1 && closed.first?.closedAt == watch.now, "it never closed")
        #expect(closed.first?.key == alert.key)
        for _ in 0..<60 { #expect(watch.look().isEmpty) }
    }

    @Test func `a sentence names the moment at which something began, so that it stands while it lasts and afterwards`()
        throws
    {
        let sentences = [400.0, 430].map { seconds in
            var finder = ConditionFinder()
            var engine = AlertEngine()
            let now = start.adding(seconds: seconds)
            let found = finder.find(
                in: .well(at: now) { seen in
                    seen.tenant = .starved("acme")
                    seen.tenant.underservedSeconds = seconds
                    seen.pool.upstream.billingFailureSince = start
                    seen.gateways = [.sample("gw-1", seen: start)]
                    seen.rules.steering.proposals = [.sample(asked: start.adding(seconds: -1200))]
                    seen.certificateEnds = start.adding(seconds: 86_400)
                })
            return engine.step(found, closingAfter: 120, at: now).map(\.sentence)
        }
        #expect(sentences[0].count == 5 && sentences[0] == sentences[1], "\(sentences)")
        #expect(sentences[0].count { $0.contains("since 2026-10-26T07:33:20Z") } == 3, "\(sentences[0])")
    }

    @Test func `every kind has a cause`() {
        #expect(Set(Self.causes.map(\.kind)) == Set(AlertKind.allCases))
    }
}

extension TaskPace {
    fileprivate static func sample(usual: Double, recent: Double, waited: Double) -> TaskPace {
        func times(_ count: Int64, _ seconds: Double, waited: Double) -> TaskTimes {
            var times = TaskTimes()
            for _ in 0..<count {
                times.add(
                    task: TaskTimes.Sums {
                        $0.tasks = 1
                        $0.seconds = seconds
                        $0.waitedSeconds = waited
                    })
            }
            return times
        }
        return TaskPace(
            tenant: "acme", kind: "review", pool: "p", recent: times(3, recent, waited: waited),
            usual: times(12, usual, waited: 0))
    }
}

extension CostBreak {
    fileprivate static func sample(_ state: State, at now: Timestamp) -> CostBreak {
        CostBreak(
            subject: .tenant("acme"), state: state, since: now, due: now.adding(seconds: 60), ceiling: 60_000_000,
            spent: 40_000_000, perMinute: 1_000_000, projected: 90_000_000, projectedLeast: 80_000_000,
            projectedMost: 100_000_000, until: now.adding(seconds: 3000))
    }
}

extension CostAllowance {
    fileprivate static func sample(spent: Double, at now: Timestamp) -> CostAllowance {
        CostAllowance(
            terms: CostTerms(currency: "EUR", period: .month, most: 100_000_000, prices: []), spent: spent * 1e6,
            until: now.adding(seconds: 3 * 86_400), minutesLeft: 4320)
    }
}

/// Looks at a service every five seconds.
struct Watch {
    var engine = AlertEngine()
    var finder = ConditionFinder()
    var now = start
    var closeSeconds = AlertPolicy().closeSeconds

    mutating func look(_ change: (inout AlertObservation) -> Void = { _ in }) -> [Alert] {
        now = now.adding(seconds: 5)
        let seen = AlertObservation.well(at: now, change)
        let found = finder.find(in: seen)
        return engine.step(found, closingAfter: closeSeconds, at: now) { [finder] in finder.outcome(of: $0, in: seen) }
    }

    /// What was reported last, once it is as `change` makes it for so long that alerts close.
    mutating func closed(_ change: (inout AlertObservation) -> Void = { _ in }) -> Alert? {
        var last: Alert?
        for _ in 0..<Int(closeSeconds / 5 + 2) { last = look(change).last ?? last }
        return last?.closedAt == nil ? nil : last
    }
}
