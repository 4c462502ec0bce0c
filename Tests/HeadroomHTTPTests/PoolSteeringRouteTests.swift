import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct PoolSteeringRouteTests {
    private static let tokens = [
        AccessToken.sample("sre", .sre), .sample("narrow", .sre, pools: ["azure:gpt-4o"]),
        .sample("acme", .sre, tenants: ["acme"]),
    ]
    private static let said = #""reason":"incident 7","expires_in_seconds":600"#

    @Test func `a capacity is pinned, shown, and released`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.board.report(.sample(at: fixture.clock.now))
            let sre = try Person("sre", fixture)
            let path = "/v1/pools/openai:gpt-4o/capacity"
            let pinned = try await sre.put(path, #"{"capacity":{"tpm":1500000},\#(Self.said)}"#)
            #expect(pinned.status == 200 && pinned.json["capacity"]?["tpm"]?.number == 1_500_000)
            let pools = try await sre.get("/v1/pools?pool=openai:gpt-4o").json["pools"]
            #expect(pools?[0]?["pin"]?["author"]?.string == "sre")
            #expect(pools?[0]?["pin"]?["until"]?.string == "2026-10-26T07:43:20.000Z")
            #expect(try await sre.delete(path).status == 204)
            #expect(try await sre.delete(path).status == 404)
            #expect(fixture.desk.now.steering.pins.isEmpty)
        }
    }

    @Test func `a pin names what the pool limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let sre = try Person("sre", fixture)
            for (pool, capacity, status, words) in [
                ("azure:gpt-4o", #"{"tpm":5}"#, 400, "capacity: must name some of what the pool limits: rpm"),
                ("azure:gpt-4o", "{}", 400, "capacity: must name some of what the pool limits: rpm"),
                ("azure:gpt-4o", "7", 400, "capacity: must be an object with rates"),
                ("azure:gpt-4o", #"{"rpm":-1,"rmp":2}"#, 400, "capacity.rmp: unknown field"),
                ("nowhere", #"{"rpm":1}"#, 404, ""), ("a%20b", #"{"rpm":1}"#, 400, ""),
            ] {
                let reply = try await sre.put("/v1/pools/\(pool)/capacity", #"{"capacity":\#(capacity),\#(Self.said)}"#)
                #expect(reply.status == status, "\(reply.text)")
                #expect(words.isEmpty || reply.faults.contains { $0.hasPrefix(words) }, "\(reply.text)")
            }
        }
    }

    @Test func `a pool or all is frozen, and old numbers come back`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let sre = try Person("sre", fixture)
            let one = try await sre.post("/v1/freeze", #"{"pool":"azure:gpt-4o",\#(Self.said)}"#)
            #expect(one.status == 201 && one.json["generation"]?.isNull == true)
            let all = try await sre.post("/v1/rollback", #"{"generation":7,\#(Self.said)}"#)
            #expect(all.status == 201 && all.json["pool"]?.isNull == true && all.json["generation"]?.number == 7)
            #expect(try await sre.post("/v1/rollback", #"{"generation":900,\#(Self.said)}"#).status == 404)
            let unknown = try await sre.post("/v1/freeze", #"{"generation":7,\#(Self.said)}"#)
            #expect(unknown.faults == ["generation: unknown field; known are pool, reason, expires_in_seconds"])
            #expect(try await sre.get("/v1/freeze").json["freezes"]?.array?.count == 2)
            #expect(try await sre.delete("/v1/freeze/1").status == 204)
            #expect(try await sre.delete("/v1/freeze/1").status == 404)
            fixture.clock.advance(seconds: 600)
            #expect(try await sre.get("/v1/freeze").json["freezes"]?.array?.isEmpty == true)
        }
    }

    @Test func `a limited token steers no pool beyond its limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            for (name, pool, status) in [
                ("narrow", #""azure:gpt-4o""#, 201), ("narrow", #""openai:gpt-4o""#, 403), ("narrow", "null", 403),
                ("acme", #""azure:gpt-4o""#, 403), ("sre", "null", 201),
            ] {
                let reply = try await Person(name, fixture).post("/v1/freeze", #"{"pool":\#(pool),\#(Self.said)}"#)
                #expect(reply.status == status, "\(name) \(pool): \(reply.text)")
            }
            let narrow = try Person("narrow", fixture)
            #expect(try await narrow.delete("/v1/freeze/2").status == 403, "the freeze of all pools")
            let pin = #"{"capacity":{"rpm":1},\#(Self.said)}"#
            #expect(try await narrow.put("/v1/pools/openai:gpt-4o/capacity", pin).status == 403)
            #expect(try await Person("acme", fixture).put("/v1/pools/azure:gpt-4o/capacity", pin).status == 403)
        }
    }
}

extension LoopReport {
    /// Two pools; acme and globex in the first.
    static func sample(at now: Timestamp) -> LoopReport {
        func tenant(_ id: TenantID, underserved: Double = 0) -> TenantReport {
            TenantReport(
                tenant: id, tier: "standard", demand: Rates(rpm: 100, tpm: 50000), assured: Rates(rpm: 50, tpm: 25000),
                consumed: Rates(rpm: 40, tpm: 20000), underservedSeconds: underserved,
                starvation: underserved > 300 ? .shortage : nil)
        }
        func pool(_ id: PoolID, _ tenants: [TenantReport]) -> PoolReport {
            PoolReport(
                pool: id, state: .throttled, nominal: Rates(rpm: 10000, tpm: 2_000_000),
                estimated: Rates(rpm: 9000, tpm: 1_800_000), capacityReason: .throttled, confidence: 0.9,
                budget: Rates(rpm: 9000, tpm: 1_800_000), assured: Rates(rpm: 100, tpm: 50000),
                consumed: Rates(rpm: 80, tpm: 40000), calls: [.ok: 90, .quota: 8], tenants: tenants)
        }
        return LoopReport(
            at: now,
            pools: [
                pool("azure:gpt-4o", []), pool("openai:gpt-4o", [tenant("acme"), tenant("globex", underserved: 400)]),
            ])
    }
}
