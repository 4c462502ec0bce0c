import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct CostBreakerRouteTests {
    private static let tokens = [
        AccessToken.sample("sre", .sre), .sample("viewer", .viewer), .sample("acme", .sre, tenants: ["acme"]),
        .sample("narrow", .sre, pools: ["azure:gpt-4o"]),
    ]
    private static let said = #""reason":"launch day","expires_in_seconds":600"#

    private static func stand(_ fixture: ServiceFixture) {
        let now = fixture.clock.now
        var report = LoopReport.sample(at: now)
        report.costBreaks = [
            CostBreak(
                subject: .tenant("acme"), state: .slowed, since: now, ceiling: 5_000_000, spent: 4_000_000,
                perMinute: 1_000_000, projected: 9_000_000, projectedLeast: 8_000_000, projectedMost: 1e7,
                until: now.adding(seconds: 300), limits: [CostBreak.Limit(pool: "openai:gpt-4o", requestsPerMinute: 2)]),
            CostBreak(
                subject: .taskKind("research"), state: .pausing, since: now, due: now.adding(seconds: 60), ceiling: 1,
                until: now.adding(seconds: 300), fanOut: CostBreak.FanOut(tasksPerMinute: 2, callsPerTask: 5)),
        ]
        fixture.board.report(report)
        fixture.desk.change {
            $0.policy.costBreaker.ceilings = [.tenant("acme"): 5_000_000, .taskKind("research"): 1]
        }
    }

    @Test func `who is held is listed, and in the metrics`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let answer = try await Person("viewer", fixture).get("/v1/cost-breaker").json
            #expect(answer["on"]?.bool == true && answer["subjects"]?.array?.count == 2)
            let acme = answer["subjects"]?[0]
            #expect(acme?["tenant"]?.string == "acme" && acme?["state"]?.string == "slowed")
            #expect(acme?["limits"]?["openai:gpt-4o"]?["rpm"]?.number == 2)
            #expect(acme?["sentence"]?.string?.contains("4.00 of the 5.00 USD") == true)
            #expect(answer["subjects"]?[1]?["task_kind"]?.string == "research")
            #expect(answer["subjects"]?[1]?["fan_out"]?["calls_per_task"]?.number == 5)
            // A token that is limited to a tenant sees no kinds of all tenants.
            let own = try await Person("acme", fixture).get("/v1/cost-breaker").json
            #expect(own["subjects"]?.array?.map { $0["tenant"]?.string } == ["acme"])
            let metrics = try await Person("viewer", fixture).get("/metrics").text
            #expect(
                metrics.contains(#"headroom_cost_breaker_subjects{subject="tenant",state="slowed"} 1"#), "\(metrics)")
            #expect(metrics.contains(#"headroom_cost_breaker_subjects{subject="task_kind",state="pausing"} 1"#))
        }
    }

    @Test func `a lift is set, shown, ended, and bounded by the token`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let sre = try Person("sre", fixture)
            let path = "/v1/cost-breaker/lifts"
            let lift = try await sre.post(path, #"{"task_kind":"research",\#(Self.said)}"#)
            #expect(lift.status == 201 && lift.json["author"]?.string == "sre", "\(lift.text)")
            #expect(lift.json["task_kind"]?.string == "research" && lift.json["tenant"]?.isNull == true)
            #expect(try await sre.get("/v1/cost-breaker").json["lifts"]?.array?.count == 1)
            let acme = try Person("acme", fixture)
            #expect(try await acme.get("/v1/cost-breaker").json["lifts"]?.array?.isEmpty == true)
            #expect(try await acme.delete("\(path)/1").status == 403)
            #expect(try await acme.post(path, #"{"tenant":"acme",\#(Self.said)}"#).status == 201)
            #expect(try await acme.post(path, #"{"tenant":"globex",\#(Self.said)}"#).status == 403)
            #expect(
                try await Person("narrow", fixture).post(path, #"{"tenant":"acme",\#(Self.said)}"#).status == 403)
            #expect(try await sre.delete("\(path)/1").status == 204)
            #expect(try await sre.delete("\(path)/1").status == 404)
            fixture.clock.advance(seconds: 600)
            #expect(try await sre.get("/v1/cost-breaker").json["lifts"]?.array?.isEmpty == true)
            #expect(fixture.desk.now.audit.map(\.action) == ["cost.lift", "cost.lift", "cost.lift_end"])
        }
    }

    @Test(arguments: [
        (#"{"reason":"x","expires_in_seconds":60}"#, "tenant: name either a tenant or a task_kind, and not both"),
        (
            #"{"tenant":"acme","task_kind":"research","reason":"x","expires_in_seconds":60}"#,
            "tenant: name either a tenant or a task_kind, and not both"
        ),
        (#"{"tenant":"acme","expires_in_seconds":60}"#, "reason: is missing"),
        (#"{"tenant":"acme","reason":"x"}"#, "expires_in_seconds: is missing"),
        (#"{"teant":"acme","reason":"x","expires_in_seconds":60}"#, "teant: unknown field"),
    ])
    func `a fault says what would be right`(body: String, words: String) async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let reply = try await Person("sre", fixture).post("/v1/cost-breaker/lifts", body)
            #expect(reply.status == 400 && reply.faults.contains { $0.hasPrefix(words) }, "\(reply.text)")
        }
    }

    @Test func `who has no ceiling cannot be lifted`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let reply = try await Person("sre", fixture).post(
                "/v1/cost-breaker/lifts", #"{"tenant":"globex",\#(Self.said)}"#)
            #expect(
                reply.status == 400 && reply.text.contains("globex has no ceiling: cost_breaker in"), "\(reply.text)")
        }
    }
}
