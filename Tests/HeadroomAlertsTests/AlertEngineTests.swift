import HeadroomAlerts
import HeadroomModel
import Testing

@Suite struct AlertEngineTests {
    private func look(_ watch: inout Watch, starved count: Int) -> [Alert] {
        watch.look { seen in
            seen.pool.tenants = (0..<count).map { .starved(TenantID(unchecked: "t\(1000 + $0)")) }
        }
    }

    @Test func `a storm in one pool is one alert, whatever its size`() throws {
        var watch = Watch()
        let first = look(&watch, starved: 1)
        #expect(first.count == 1 && first[0].sentence.hasPrefix("t1000 has been starved"))
        var last: Alert?
        for _ in 0..<12 { last = look(&watch, starved: 3000).first ?? last }
        let storm = try #require(last)
        #expect(storm.openedAt == first[0].openedAt && storm.memberCount == 3000 && storm.members.count == 20)
        #expect(
            storm.sentence.hasPrefix(
                "3000 tenants are starved in p: t1000, t1001, t1002 and 2997 more. t1000 has been"),
            "\(storm.sentence)")
        for _ in 0..<12 { last = look(&watch, starved: 2).first ?? last }
        #expect(last?.memberCount == 500)
        for _ in 0..<24 { last = look(&watch, starved: 2).first ?? last }
        #expect(last?.memberCount == 2 && last?.closedAt == nil)
    }

    @Test func `the two reasons of starvation are two alerts, and pools are apart`() {
        var watch = Watch()
        let opened = watch.look { seen in
            var other = PoolReport.sample(tenants: [.starved("acme")])
            other.pool = "q"
            seen.pool.tenants = [.starved("acme"), .starved("beta", by: .shortage)]
            seen.report?.pools.append(other)
        }
        #expect(
            opened.map(\.key) == [
                AlertKey(.starvation, pool: "p", reason: "delivery"),
                AlertKey(.starvation, pool: "p", reason: "shortage"),
                AlertKey(.starvation, pool: "q", reason: "delivery"),
            ])
    }

    @Test func `an alert that closes says how it stands`() {
        var watch = Watch()
        for _ in 0..<20 { _ = watch.look { $0.pool.estimated[.tokens] = 380_000 } }
        let capacity = watch.closed()
        #expect(capacity?.outcome == "The provider grants p 100 of the 100 requests a minute of its contract (100 %).")
        #expect(capacity?.sentence.contains("380,000") == true)

        _ = watch.look { $0.tenant = .starved("acme") }
        let one = watch.closed {
            $0.tenant.consumed = Rates(tpm: 42_000)
            $0.tenant.queue[.batch].depth = 3
        }
        #expect(one?.outcome == "acme is served 42,000 tokens a minute in p, and 3 of its calls wait.")
        _ = watch.look { $0.tenant = .starved("acme") }
        let idle = watch.closed { $0.tenant.consumed = Rates(tpm: 0) }
        #expect(idle?.outcome == "acme is served nothing in p, and nothing of it waits.")
        _ = watch.look { $0.pool.tenants = [.starved("acme"), .starved("beta")] }
        let nobody = watch.closed()
        #expect(nobody?.outcome == "Nobody in p is starved.")
    }

    @Test func `of gateways that were lost it is told who is back`() {
        var watch = Watch()
        let lost = watch.look { seen in
            seen.gateways += ["gw-2", "gw-3", "gw-4"].map { .sample($0, seen: start.adding(seconds: -300)) }
        }
        #expect(lost.first?.memberCount == 3)
        let closed = watch.closed { seen in seen.gateways.append(.sample("gw-3", seen: seen.at)) }
        #expect(
            closed?.outcome == "gw-3 is heard of again; gw-2, gw-4 are gone for good, and nothing is withheld for them."
        )
    }

    @Test func `who may not see all members is not told of them by the end`() {
        var alert = Alert(
            key: AlertKey(.starvation, pool: "p"), openedAt: start, updatedAt: start, closedAt: start,
            members: ["acme", "beta"].map {
                Alert.Member(name: $0, tenant: TenantID($0), since: start, severity: .critical, sentence: $0)
            }, memberCount: 2)
        alert.outcome = "beta waits."
        #expect(alert.showing { $0 == "acme" }?.outcome == nil)
        #expect(alert.showing { _ in true }?.outcome == "beta waits.")
    }

    @Test func `it counts from the first minute of starvation, not from when that was certain`() {
        var watch = Watch()
        let opened = watch.look { $0.tenant = .starved("acme", for: 301) }
        #expect(opened.first?.since == watch.now.adding(seconds: -301))
        #expect(opened.first?.openedAt == watch.now)
    }

    @Test func `what comes and goes opens nothing, and what wavers about a threshold is one alert`() {
        var watch = Watch()
        func lose(_ share: Double) -> [Alert] { watch.look { $0.pool.estimated[.tokens] = share * 1e6 } }
        for _ in 0..<100 { #expect(lose(0.5).isEmpty && lose(1).isEmpty) }
        // Between the two thresholds it does not begin.
        for _ in 0..<100 { #expect(lose(0.81).isEmpty) }
        var opened = 0
        for _ in 0..<100 { opened += lose(0.79).count { $0.updatedAt == $0.openedAt } }
        #expect(opened == 1)
        // There it goes on.
        for _ in 0..<100 { #expect(lose(0.81).allSatisfy { $0.closedAt == nil }) }
        var closed = 0
        for _ in 0..<100 { closed += lose(1).count { $0.closedAt != nil } }
        #expect(closed == 1)
    }

    @Test func `a graver alert is reported at once`() {
        var watch = Watch()
        for _ in 0..<20 { _ = watch.look { $0.disk?.freeBytes = 9e9 } }
        let graver = watch.look { $0.disk?.freeBytes = 1e9 }
        #expect(graver.first?.severity == .critical)
    }

    @Test func `a restart goes on with what was open, and closes what is over`() {
        var before = Watch()
        var opened = before.look { $0.tenant = .starved("acme") }
        opened[0].id = 17
        for isOver in [false, true] {
            var after = Watch(engine: AlertEngine(restoring: opened, at: before.now), now: before.now)
            var changed: [Alert] = []
            for _ in 0..<40 { changed += after.look { if !isOver { $0.tenant = .starved("acme") } } }
            #expect(changed.allSatisfy { $0.id == 17 && $0.openedAt == opened[0].openedAt })
            #expect(changed.contains { $0.closedAt != nil } == isOver)
        }
    }

    @Test func `an erased tenant is in no alert any more`() {
        var watch = Watch()
        _ = watch.look { $0.pool.tenants = [.starved("acme"), .starved("beta")] }
        watch.engine.forget([TenantID(unchecked: "acme").text.fingerprint])
        var last: Alert?
        for _ in 0..<10 { last = watch.look { $0.pool.tenants = [.starved("beta")] }.first ?? last }
        #expect(last?.members.map(\.name) == ["beta"])
    }

    @Test func `the table is bounded, and what finds no room is counted`() {
        var engine = AlertEngine()
        var found = FoundConditions()
        for number in 0..<(AlertEngine.maxAlerts + 50) {
            found.add(AlertKey(.latency, pool: PoolID(unchecked: "p\(number)"))) {
                Alert.Member(since: start.adding(seconds: -100), severity: .warning, sentence: "slow")
            }
        }
        #expect(engine.step(found, closingAfter: 120, at: start).count == AlertEngine.maxAlerts)
        #expect(engine.dropped == 50)
    }

    private func advice(
        _ tenants: [TenantReport], _ proposals: [Proposal] = [], _ change: (inout AlertObservation) -> Void = { _ in }
    ) -> AlertRecommendation? {
        var finder = ConditionFinder()
        let found = finder.find(
            in: .well(proposals: proposals) {
                $0.pool.tenants = tenants
                change(&$0)
            })
        let reason = tenants[0].starvation?.rawValue ?? ""
        return found[AlertKey(.starvation, pool: "p", reason: reason)].members.first?.member.recommendation
    }

    @Test func `a starved tenant's alert proposes the one call that helps`() {
        #expect(
            advice([.starved("acme", by: .shortage)])?.action
                == .override("acme", pool: "p", tier: "premium", weight: nil, seconds: 3600))
        #expect(
            advice([.starved("acme", tier: "critical", by: .shortage)])?.action
                == .override("acme", pool: "p", tier: nil, weight: 4, seconds: 3600))
        let waiting = advice([.starved("acme", by: .shortage)], [.sample(9, kind: .recommendation)])
        #expect(waiting?.action == .approve(9, tenant: "acme", revision: 1, isRecommendation: true))
        #expect(
            waiting?.sentence
                == "Apply recommendation 9 for acme: it takes acme from 50,000 tokens a minute to 90,000 tokens a minute."
        )
    }

    @Test func `where another tier does not help, the advice says what does`() throws {
        func sentence(_ found: AlertRecommendation?) throws -> String {
            let found = try #require(found)
            #expect(found.action == nil, "\(found.sentence)")
            return found.sentence
        }
        // It was tried, and changes nothing.
        let urgent = advice([.starved("acme", by: .shortage)]) { seen in
            seen.preview = { _, _, _, _, _ in
                OverrideEffects(changes: [], unmoved: .moreUrgentWork(.interactive, own: .batch))
            }
        }
        #expect(
            try sentence(urgent)
                == "Another tier or weight does not help: acme's work is batch, and interactive work takes the whole pool."
        )
        var gamer = TenantReport.starved("acme", by: .shortage)
        gamer.profile = TenantProfileReport(flags: [
            GamingFlag(kind: .resentDenials, since: start, evidence: "40 of 50 denied calls came again")
        ])
        #expect(try sentence(advice([gamer])).hasPrefix("Do not raise it"))
        let outage = advice([.starved("acme", by: .shortage)]) { $0.pool.state = .open }
        #expect(try sentence(outage).contains("fail over, or wait"))
        #expect(try sentence(advice([.starved("acme")])).contains("look at the gateways"))
        let late = advice([.starved("acme")]) { $0.gateways = [.sample("gw-2", seen: start, behind: 90)] }
        #expect(try sentence(late).contains("gw-2 has not applied the newest limits for"))
        let starved = (1...25).map { TenantReport.starved(TenantID(unchecked: "t\($0)"), by: .shortage) }
        let many = advice(starved + [.sample("loud")])
        #expect(
            try sentence(many).hasPrefix("25 tenants of p get too little, and a raise of one takes from the others."))
        #expect(try !sentence(many).contains("loud"), "t1 may read it, and nobody else is its business")
    }

    @Test func `that a question waits is no recommendation to say yes to it`() throws {
        var question = Proposal.sample(asked: start.adding(seconds: -1200))
        question.changes.append(.init(tenant: "beta", from: Rates(tpm: 10), to: Rates(tpm: 20)))
        var finder = ConditionFinder()
        let found = finder.find(in: .well(proposals: [question]))
        let member = try #require(found[AlertKey(.approvalWaiting, pool: "p")].members.first?.member)
        #expect(member.recommendation?.action == nil, "its sentence does not show what would be approved")
        #expect(member.recommendation?.sentence == "Read it and decide: headroom approvals show 7.")
    }

    @Test func `a reader of some tenants sees theirs and no other name`() {
        var watch = Watch()
        let alert = watch.look { $0.pool.tenants = [.starved("acme"), .starved("beta"), .starved("gamma")] }[0]
        let shown = alert.showing { $0 == "beta" }
        #expect(shown?.memberCount == 1 && shown?.sentence.contains("acme") == false)
        #expect(alert.showing { $0 == "nobody" } == nil)
        #expect(alert.showing { _ in true } == alert)
    }
}
