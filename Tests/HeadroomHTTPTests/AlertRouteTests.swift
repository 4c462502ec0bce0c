import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct AlertRouteTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("anna", .success), .sample("sre", .sre),
        .sample("gw", .gateway, gateways: ["gw-1"]),
        .sample("tenant", .viewer, tenants: ["beta"]), .sample("pool", .sre, pools: ["azure:gpt-4o"]),
    ]

    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private static func starved(_ id: Int64, _ tenants: [TenantID], pool: PoolID = "openai:gpt-4o") -> Alert {
        Alert(
            id: id, key: AlertKey(.starvation, pool: pool, reason: "delivery"), openedAt: start, updatedAt: start,
            members: tenants.map { tenant in
                Alert.Member(
                    name: tenant.text, tenant: tenant, since: start.adding(seconds: -300), severity: .critical,
                    sentence: "\(tenant) is starved.",
                    recommendation: AlertRecommendation(
                        "Raise \(tenant).",
                        .override(tenant, pool: pool, tier: "premium", weight: nil, seconds: 3600)))
            }, memberCount: tenants.count)
    }

    private static func setUp(_ fixture: ServiceFixture) {
        var closed = starved(1, ["acme"])
        closed.closedAt = start
        let disk = Alert(
            id: 3, key: AlertKey(.diskFull), openedAt: start, updatedAt: start,
            members: [Alert.Member(since: start, severity: .warning, sentence: "The disk is nearly full.")],
            memberCount: 1)
        let azure = starved(4, ["gamma"], pool: "azure:gpt-4o")
        fixture.desk.change { $0.alerts = [closed, starved(2, ["acme", "beta"]), disk, azure] }
    }

    private static func ids(_ reply: RawClient.Reply) -> [Double] {
        (reply.json["alerts"]?.array ?? []).compactMap { $0["id"]?.number }
    }

    @Test func `open alerts are listed, with a sentence and a call that can be sent as it is`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let anna = try Person("anna", fixture)
            let reply = try await anna.get("/v1/alerts")
            #expect(Self.ids(reply) == [4, 3, 2])
            let alert = reply.json["alerts"]?[2]
            #expect(
                alert?["sentence"]?.string?.hasPrefix("2 tenants are starved in openai:gpt-4o: acme, beta.") == true)
            #expect(alert?["since"]?.string == "2026-10-26T07:28:20.000Z" && alert?["reason"]?.string == "delivery")
            let call = try #require(alert?["members"]?[1]?["recommendation"]?["call"])
            let body = try #require(call["body"])
            let made = try await anna.call(
                call["method"]?.string ?? "", call["path"]?.string ?? "",
                String(decoding: body.encoded(), as: UTF8.self))
            #expect(made.status == 201 && made.json["tenant"]?.string == "beta", "\(made.text)")
            #expect(made.json["reason"]?.string == "alert 2: starvation")
        }
    }

    @Test func `they are found by state, kind, pool and tenant, and other words are refused`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let viewer = try Person("viewer", fixture)
            for (query, ids) in [
                ("state=all", [4.0, 3, 2, 1]), ("state=closed", [1]), ("state=acknowledged", []),
                ("kind=disk_full", [3]), ("kind=starvation&pool=azure:gpt-4o", [4]), ("tenant=beta", [2]),
                ("tenant=nobody", []),
            ] {
                #expect(Self.ids(try await viewer.get("/v1/alerts?" + query)) == ids, "\(query)")
            }
            for query in ["state=opne", "kind=disk", "pool=a%20b", "teir=1"] {
                #expect(try await viewer.get("/v1/alerts?" + query).status == 400, "\(query)")
            }
        }
    }

    @Test func `an SRE acknowledges and mutes, with a reason, and nobody else does`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let sre = try Person("sre", fixture)
            let seen = try await sre.post("/v1/alerts/2/acknowledge", #"{"reason":"on it"}"#)
            #expect(seen.status == 200 && seen.json["state"]?.string == "acknowledged", "\(seen.text)")
            #expect(seen.json["acknowledged"]?["author"]?.string == "sre")
            let muted = try await sre.post("/v1/alerts/3/mute", #"{"reason":"known","expires_in_seconds":600}"#)
            #expect(muted.json["muted"]?["until"]?.string == "2026-10-26T07:43:20.000Z", "\(muted.text)")
            #expect(Self.ids(try await sre.get("/v1/alerts?state=acknowledged")) == [2])
            #expect(fixture.desk.now.audit.map(\.action) == ["alert.acknowledge", "alert.mute"])

            for (path, body, status) in [
                ("2/acknowledge", "{}", 400), ("2/acknowledge", #"{"reason":"r","expires_in_seconds":5}"#, 400),
                ("2/mute", #"{"reason":"for ever"}"#, 400), ("1/mute", #"{"reason":"r","expires_in_seconds":5}"#, 409),
                ("9/acknowledge", #"{"reason":"r"}"#, 404), ("x/acknowledge", #"{"reason":"r"}"#, 404),
            ] {
                let reply = try await sre.post("/v1/alerts/" + path, body)
                #expect(reply.status == status, "\(path): \(reply.text)")
            }
            for name in ["viewer", "anna", "gw"] {
                let reply = try await Person(name, fixture).post("/v1/alerts/2/acknowledge", #"{"reason":"r"}"#)
                #expect(reply.status == 403, "\(name)")
            }
            #expect(try await Person("gw", fixture).get("/v1/alerts").status == 403)
        }
    }

    @Test func `a token that is limited sees its part, and silences no more than that`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let tenant = try await Person("tenant", fixture).get("/v1/alerts")
            #expect(Self.ids(tenant) == [2] && !tenant.text.contains("acme") && !tenant.text.contains("gamma"))
            #expect(tenant.json["alerts"]?[0]?["count"]?.number == 1)
            let pool = try Person("pool", fixture)
            #expect(Self.ids(try await pool.get("/v1/alerts")) == [4])
            let body = #"{"reason":"r"}"#
            #expect(try await pool.post("/v1/alerts/4/acknowledge", body).status == 200)
            #expect(try await pool.post("/v1/alerts/2/acknowledge", body).status == 403)
            #expect(try await pool.post("/v1/alerts/3/acknowledge", body).status == 403)
        }
    }

    @Test func `open alerts are counted by kind`() {
        let open = OpenAlerts()
        open.set([.starvation, .starvation, .drift])
        let text = Metrics(loop: LoopSummary(), alerts: open.counts, now: Self.start).render()
        #expect(text.contains("headroom_alerts_open{kind=\"starvation\"} 2\n"))
        #expect(text.contains("headroom_alerts_open{kind=\"drift\"} 1\n"))
        #expect(text.contains("headroom_alerts_open{kind=\"latency\"} 0\n"))
    }
}
