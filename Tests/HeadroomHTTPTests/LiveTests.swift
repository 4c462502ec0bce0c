import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct LiveTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("globex", .viewer, tenants: ["globex"]),
        .sample("azure", .viewer, pools: ["azure:gpt-4o"]), .sample("gw", .gateway, gateways: ["gw-1"]),
    ]

    private static func report(
        _ fixture: ServiceFixture, capacity: Double = 2000, state: PoolState = .healthy, starved: Bool = false
    ) -> LoopReport {
        fixture.clock.advance(seconds: 2)
        let rates = Rates(rpm: 100, tpm: 2000)
        let tenants = ["acme", "globex", "initech"].enumerated().map { index, name in
            TenantReport(
                tenant: TenantID(name) ?? "acme", tier: index == 0 ? "premium" : "standard",
                demand: Rates(rpm: 10, tpm: 1000 * Double(index + 1)), assured: Rates(rpm: 10, tpm: 500),
                consumed: Rates(rpm: 5, tpm: 400), underservedSeconds: starved && index == 1 ? 400 : 0,
                starvation: starved && index == 1 ? .shortage : nil)
        }
        let pool = PoolReport(
            pool: "openai:gpt-4o", state: state, nominal: rates, estimated: Rates(rpm: 100, tpm: capacity),
            capacityReason: .headers, confidence: 0.5, budget: rates, assured: rates, consumed: rates, calls: [:],
            tenants: tenants)
        var other = pool
        other.pool = "azure:gpt-4o"
        return LoopReport(at: fixture.clock.now, pools: [other, pool])
    }

    /// The newest state, once it is that of the last report.
    private static func state(
        _ person: Person, after tick: Int = 0, _ query: String = ""
    ) async throws -> JSONNode {
        try await person.get("/v1/live?after=\(tick)&wait=20\(query)").json
    }

    @Test func `a poll waits for the next tick, and has what happened since`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let viewer = try Person("viewer", fixture)
            fixture.board.report(Self.report(fixture))
            let first = try await Self.state(viewer)
            let tick = Int(first["tick"]?.number ?? 0)
            #expect(tick == 1 && first["events"]?.array?.map { $0["kind"]?.string } == ["start"])
            #expect(first["pools"]?[1]?["tiers"]?.array?.map { $0["tier"]?.string } == ["premium", "standard"])
            #expect(first["pools"]?[1]?["tiers"]?[1]?["asked"]?["tpm"]?.number == 5000)
            #expect(first["pools"]?[1]?["top"]?.array?.map { $0["tenant"]?.string } == ["initech", "globex", "acme"])

            async let waiting = Self.state(viewer, after: tick)
            fixture.board.report(Self.report(fixture, capacity: 1000, state: .throttled, starved: true))
            let second = try await waiting
            #expect(second["tick"]?.number == 2)
            let events = (second["events"]?.array ?? []).filter { $0["pool"]?.string == "openai:gpt-4o" }
            #expect(Set(events.compactMap { $0["kind"]?.string }) == ["state", "starved", "capacity"], "\(events)")
            #expect(events.contains { $0["text"]?.string == "capacity down to 50 % of nominal" })
            #expect(second["pools"]?[1]?["starved"]?.number == 1)
            #expect(second["pools"]?[1]?["short"]?.array?.map { $0["tenant"]?.string } == ["globex"])

            fixture.board.report(Self.report(fixture, capacity: 2000))
            let kinds = try await Self.state(viewer, after: 2)["events"]?.array?.compactMap { $0["kind"]?.string }
            #expect(Set(kinds ?? []) == ["state", "recovered", "capacity"])
        }
    }

    @Test func `a limited token sees what lies inside its limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.board.report(Self.report(fixture, starved: true))
            _ = try await Self.state(try Person("viewer", fixture))
            let own = try await Self.state(try Person("globex", fixture))
            #expect(own["pools"]?[0]?["top"]?.array?.map { $0["tenant"]?.string } == ["globex"])
            #expect(own["pools"]?[0]?["tiers"]?.array?.isEmpty == true)
            let azure = try Person("azure", fixture)
            #expect(try await Self.state(azure)["pools"]?.array?.map { $0["pool"]?.string } == ["azure:gpt-4o"])
            #expect(try await azure.get("/v1/live/series?pool=openai:gpt-4o").status == 403)
            #expect(try await Person("gw", fixture).get("/v1/live").status == 403)
            #expect(try await Person("viewer", fixture).get("/v1/live?wait=26").status == 400)
        }
    }

    /// Two gateways have half of the budget each, and one tenant uses more than it is assured.
    private static func divide(_ fixture: ServiceFixture) -> LoopReport {
        var pool = PoolAllocation.sample("openai:gpt-4o", rpm: 100)
        (pool.budget, pool.float) = (Rates(rpm: 100, tpm: 2000), Rates(rpm: 5, tpm: 300))
        pool.tenants[0].floor = Rates(rpm: 10, tpm: 700)
        fixture.publish(7, gateways: ["gw-1", "gw-2"], pools: [pool, .sample("azure:gpt-4o", rpm: 100)])
        var report = report(fixture)
        report.pools[1].tenants[0].consumed = Rates(rpm: 5, tpm: 900)
        report.pools[1].tenants[0].credit = 12_345
        return report
    }

    @Test func `answers show how a budget is divided, but not to a token limited to some tenants`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let viewer = try Person("viewer", fixture)
            fixture.board.report(Self.divide(fixture))
            let pool = try await Self.state(viewer)["pools"]?[1]
            #expect(pool?["floors"]?.number == 700 && pool?["float"]?.number == 300)
            #expect(pool?["lent"]?.number == 400 && pool?["unused"]?.number == 200)
            #expect(pool?["gateways"]?.members?.map(\.key) == ["gw-1", "gw-2"])
            #expect(pool?["gateways"]?["gw-2"]?.number == 1000 && pool?["draws_granted"]?.isNull == true)
            let series = try await viewer.get("/v1/live/series?pool=openai:gpt-4o&tenant=acme").json
            #expect(series["lent"]?.array?.map(\.number) == [400])
            #expect(series["gateways"]?["gw-1"]?.array?.map(\.number) == [1000])
            #expect(series["tenants"]?["acme"]?["credit"]?.array?.map(\.number) == [12_345])
            let acme = try await viewer.get("/v1/tenants?tenant=acme&pool=openai:gpt-4o").json["tenants"]?[0]?[
                "pools"]?[0]
            #expect(acme?["credit"]?.number == 12_345 && acme?["floor"]?["tpm"]?.number == 700)

            let globex = try Person("globex", fixture)
            #expect(try await Self.state(globex)["pools"]?[1]?["gateways"] == nil)
            let own = try await globex.get("/v1/live/series?pool=openai:gpt-4o").json
            #expect(own["lent"] == nil && own["gateways"]?.members?.isEmpty == true)
        }
    }

    @Test func `draws are counted from tick to tick`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let report = Self.divide(fixture)
            let applied = "applied=\(Publication.epoch).7"
            #expect(try await client.get("/v1/allocations?gateway=gw-1&\(applied)&boot=one").status == 200)
            fixture.board.report(report)
            #expect(try await client.get("/v1/live?wait=20").json["tick"]?.number == 1)
            let head = DrawRequest.Head(estimate: Work(requests: 1, tokens: 100))
            let draw = DrawRequest(
                gateway: "gw-1", boot: "one", sequence: 1, pool: "openai:gpt-4o", epoch: Publication.epoch,
                waiting: [DrawRequest.Queue(tenant: "acme", heads: [head])])
            let reply = try await client.call(
                "POST", "/v1/draw", headers: ["Content-Type: application/json"], body: draw.encoded())
            #expect(reply.status == 200, "\(reply.text)")
            var next = report
            next.at = report.at.adding(seconds: 2)
            fixture.board.report(next)
            let pool = try await client.get("/v1/live?after=1&wait=20").json["pools"]?[1]
            #expect(pool?["draws_granted"]?.number == 30 && pool?["draws_refused"]?.number == 0, "one in 2 s")
        }
    }

    @Test func `the last minutes come as columns of one length`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let viewer = try Person("viewer", fixture)
            for tick in 0..<30 {
                fixture.board.report(Self.report(fixture, capacity: 1900 + Double(tick)))
                _ = try await Self.state(viewer, after: tick)
            }
            let series = try await viewer.get("/v1/live/series?pool=openai:gpt-4o&tenants=2&points=10&seconds=60").json
            let at = try #require(series["at"]?.array)
            #expect(at.count == 10 && at.last?.number == Double(fixture.clock.now.milliseconds))
            let tokens = try #require(series["resources"]?["tpm"]?.members)
            #expect(tokens.map(\.key) == ["nominal", "capacity", "budget", "assured", "asked", "consumed"])
            #expect(tokens.allSatisfy { $0.value.array?.count == 10 })
            #expect(series["resources"]?["tpm"]?["capacity"]?.array?.last?.number == 1929)
            #expect(series["tenants"]?.members?.map(\.key) == ["acme", "globex"], "of equals the first by name")
            #expect(series["tenants"]?["globex"]?["asked"]?.array?.allSatisfy { $0.number == 2000 } == true)
            let one = try await viewer.get("/v1/live/series?pool=openai:gpt-4o&tenant=initech").json
            #expect(one["tenants"]?.members?.map(\.key) == ["initech"] && one["at"]?.array?.count == 30)
        }
    }
}
