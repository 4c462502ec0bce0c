import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct LevelRouteTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("acme", .viewer, tenants: ["acme"]),
        .sample("gw", .gateway, gateways: ["gw-1"]),
    ]

    private static func level(_ tenant: TenantID, missed: Double, pool: PoolID = "openai:gpt-4o") -> TenantLevel {
        var windows = LevelWindows()
        windows[.hour] = LevelSums(observedSeconds: 1000, missedSeconds: missed, longestWaitSeconds: 42)
        windows[.month] = LevelSums(observedSeconds: 10_000, missedSeconds: missed)
        return TenantLevel(tenant: tenant, pool: pool, windows: windows)
    }

    private static func setUp(_ fixture: ServiceFixture) {
        var own = LevelWindows()
        own[.day] = LevelSums(observedSeconds: 1000, missedSeconds: 10)
        fixture.desk.change { state in
            state.contracts = [Contract(tenant: "acme", tier: "premium"), Contract(tenant: "beta", tier: "premium")]
            state.levels = LevelRecords(
                tenants: [
                    level("acme", missed: 0), level("beta", missed: 100), level("free", missed: 10),
                    level("free", missed: 20, pool: "azure:gpt-4o"),
                ], own: [.published: own])
        }
        var report = LoopReport(at: fixture.clock.now)
        report.confirmedAt = fixture.clock.now.adding(seconds: -3)
        fixture.board.report(report)
    }

    @Test func `tiers are sums of their tenants, and tenants come by their burn`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let reply = try await Person("viewer", fixture).get("/v1/slos?limit=2")
            let answer = reply.json
            #expect(SchemaCheck.openAPI.faults(in: reply, to: "GET", "/v1/slos") == [], "\(reply.text)")
            let premium = try #require(answer["tiers"]?.array?.first { $0["tier"]?.string == "premium" })
            #expect(premium["tenants"]?.number == 2 && premium["objective"]?.number == 0.98)
            let hour = premium["windows"]?["1h"]
            #expect(hour?["observed_seconds"]?.number == 2000 && hour?["missed_seconds"]?.number == 100)
            #expect(hour?["attainment"]?.number == 0.95 && hour?["longest_wait_seconds"]?.number == 42)
            #expect(abs((hour?["burn"]?.number ?? 0) - 2.5) < 1e-9)
            #expect(premium["windows"]?["24h"]?["attainment"]?.number == nil)
            #expect(answer["tenant_count"]?.number == 4)
            #expect(answer["tenants"]?.array?.map { $0["tenant"]?.string } == ["beta", "free"])
            #expect(answer["tenants"]?[1]?["pool"]?.string == "azure:gpt-4o")
            let own = answer["service"]?.array ?? []
            #expect(own.map { $0["level"]?.string } == ["published", "decision", "ingest"])
            #expect(own[0]["age_seconds"]?.number == 3 && own[0]["limit_seconds"]?.number == 10)
            #expect(own[0]["windows"]?["24h"]?["burn"]?.number.map { abs($0 - 10) < 1e-9 } == true)
            #expect(own[1]["age_seconds"]?.number == nil)
        }
    }

    @Test func `agent tasks are held to what their tier says, where it says anything`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            func times(_ seconds: [Double]) -> TaskTimes {
                seconds.reduce(into: TaskTimes()) { times, taken in
                    times.add(
                        task: TaskTimes.Sums {
                            $0.tasks = 1
                            $0.seconds = taken
                        })
                }
            }
            fixture.desk.change { state in
                state.levels.tasks = [
                    TaskLevel(tenant: "acme", times: [.hour: times([40, 50, 60, 300])]),
                    TaskLevel(tenant: "beta", times: [.hour: times([10])]),
                    TaskLevel(tenant: "free", times: [.hour: times([999])]),
                ]
            }
            let silent = try await Person("viewer", fixture).get("/v1/slos").json
            #expect(silent["task_tiers"]?.array?.isEmpty == true && silent["task_tenants"]?.array?.isEmpty == true)
            fixture.desk.change { state in
                let place = state.policy.tiers.firstIndex { $0.name == "premium" }
                state.policy.tiers[place ?? 0].taskSeconds = 120
            }
            let reply = try await Person("viewer", fixture).get("/v1/slos")
            #expect(SchemaCheck.openAPI.faults(in: reply, to: "GET", "/v1/slos") == [], "\(reply.text)")
            let tiers = reply.json["task_tiers"]?.array ?? []
            #expect(tiers.map { $0["tier"]?.string } == ["premium"] && tiers[0]["task_seconds"]?.number == 120)
            let hour = tiers[0]["windows"]?["1h"]
            #expect(hour?["tasks"]?.number == 5 && hour?["late"]?.number == 1)
            #expect(hour?["attainment"]?.number.map { abs($0 - 0.8) < 1e-9 } == true)
            #expect(tiers[0]["windows"]?["24h"]?["attainment"]?.number == nil)
            #expect(reply.json["task_tenants"]?.array?.map { $0["tenant"]?.string } == ["acme", "beta"])
            let own = try await Person("acme", fixture).get("/v1/slos")
            #expect(own.json["task_tenants"]?.array?.count == 1 && !own.text.contains("beta"))
        }
    }

    @Test func `a reader sees what the token may see, and asks for part of it`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let acme = try Person("acme", fixture)
            let own = try await acme.get("/v1/slos")
            #expect(!own.text.contains("beta") && own.json["tenant_count"]?.number == 1)
            #expect(try await acme.get("/v1/slos?tenant=beta").status == 403)
            #expect(try await Person("gw", fixture).get("/v1/slos").status == 403)
            let viewer = try Person("viewer", fixture)
            let some: [(String, [String])] = [
                ("tenant=free&pool=azure:gpt-4o", ["free"]), ("tier=premium", ["beta", "acme"]), ("tenant=nobody", []),
            ]
            for (query, tenants) in some {
                let answer = try await viewer.get("/v1/slos?\(query)").json
                #expect(answer["tenants"]?.array?.map { $0["tenant"]?.string } == tenants, "\(query)")
                #expect(answer["service"]?.array?.isEmpty == true)
            }
            for query in ["tier=gold", "limit=-1", "window=1h"] {
                #expect(try await viewer.get("/v1/slos?\(query)").status == 400, "\(query)")
            }
        }
    }

    private static func starved(_ tenant: TenantID, _ fixture: ServiceFixture, seconds: Double) -> StarvedTenant {
        let now = fixture.clock.now
        return StarvedTenant(
            tenant: tenant, pool: "openai:gpt-4o",
            spell: .init(
                first: now.adding(seconds: -7200), last: now.adding(seconds: seconds - 7200), deliverySeconds: seconds,
                shortageSeconds: 0, longestWaitSeconds: 480, askedTokens: 1000, countedTokens: 300))
    }

    @Test func `who was starved is told to those who may see the tenant`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.desk.change { state in
                state.starved = [
                    Self.starved("beta", fixture, seconds: 900), Self.starved("acme", fixture, seconds: 600),
                ]
            }
            let reply = try await Person("viewer", fixture).get("/v1/starvation")
            #expect(SchemaCheck.openAPI.faults(in: reply, to: "GET", "/v1/starvation") == [], "\(reply.text)")
            let tenants = reply.json["tenants"]?.array ?? []
            #expect(tenants.map { $0["tenant"]?.string } == ["beta", "acme"])
            #expect(tenants[1]["reason"]?.string == "delivery" && tenants[1]["starved_seconds"]?.number == 600)
            #expect(tenants[1]["starved_since"]?.isNull == true)
            let acme = try Person("acme", fixture)
            #expect(try await acme.get("/v1/starvation").json["tenants"]?.array?.count == 1)
            #expect(try await acme.get("/v1/starvation?tenant=beta").status == 403)
            let viewer = try Person("viewer", fixture)
            let now = fixture.clock.now
            let hourAgo = now.adding(seconds: -3600).milliseconds
            for (query, count) in [
                ("tenant=acme", 1), ("pool=azure:gpt-4o", 0), ("from=\(hourAgo)", 0), ("to=\(hourAgo)", 2),
            ] {
                let answer = try await viewer.get("/v1/starvation?\(query)")
                #expect(answer.json["tenants"]?.array?.count == count, "\(query): \(answer.text)")
            }
            for query in ["from=soon", "from=\(now.adding(seconds: 60).milliseconds)", "days=3"] {
                #expect(try await viewer.get("/v1/starvation?\(query)").status == 400, "\(query)")
            }
        }
    }
}
