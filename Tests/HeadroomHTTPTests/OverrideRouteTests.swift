import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct OverrideRouteTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("anna", .success), .sample("bert", .success),
        .sample("sre", .sre), .sample("admin", .admin), .sample("gw", .gateway, gateways: ["gw-1"]),
        .sample("narrow", .success, pools: ["openai:gpt-4o"], tenants: ["acme"]),
    ]
    private static let small =
        #"{"tenant":"acme","pool":null,"tier":"premium","weight":null,"reason":"renewal call","expires_in_seconds":7200}"#
    private static let large =
        #"{"tenant":"acme","pool":"openai:gpt-4o","tier":"critical","reason":"renewal","expires_in_seconds":7200}"#

    @Test func `an override within its limits is set at once, with author, reason and end`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let anna = try Person("anna", fixture)
            let reply = try await anna.post("/v1/overrides", Self.small)
            #expect(reply.status == 201)
            #expect(reply.json["author"]?.string == "anna" && reply.json["reason"]?.string == "renewal call")
            #expect(reply.json["at"]?.string == "2026-10-26T07:33:20.000Z")
            #expect(reply.json["until"]?.string == "2026-10-26T09:33:20.000Z")
            #expect(reply.json["tier"]?.string == "premium" && reply.json["weight"]?.isNull == true)
            let list = try await Person("viewer", fixture).get("/v1/overrides")
            #expect(list.json["overrides"]?.array?.map { $0["id"]?.number } == [1])
            fixture.clock.advance(seconds: 7200)
            #expect(try await anna.get("/v1/overrides").json["overrides"]?.array?.isEmpty == true)
        }
    }

    @Test func `a name that nobody knows is obeyed with a warning, and the nearest known one`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.desk.change { $0.contracts = [Contract(tenant: "acme"), Contract(tenant: "globex")] }
            let sre = try Person("sre", fixture)
            let misspelled = try await sre.post("/v1/overrides", Self.small.replacing("acme", with: "acem"))
            #expect(misspelled.status == 201)
            let warning = #"no contract and no telemetry names acem yet; did you mean "acme"?"#
            #expect(misspelled.json["warnings"]?.array?.map(\.string) == [warning], "\(misspelled.text)")
            #expect(try await sre.post("/v1/overrides", Self.small).json["warnings"] == nil)
            let asked = try await sre.post("/v1/overrides", Self.large.replacing("acme", with: "initech"))
            #expect(asked.status == 202 && asked.json["warnings"]?.array?.count == 1, "\(asked.text)")
            // Who may not see a tenant is not told of it.
            fixture.desk.change { $0.contracts = [Contract(tenant: "acmf")] }
            let narrow = try await Person("narrow", fixture)
                .post("/v1/overrides", Self.small.replacing("\"pool\":null", with: "\"pool\":\"openai:gpt-4o\""))
            #expect(narrow.json["warnings"]?.array?.map(\.string) == ["no contract and no telemetry names acme yet"])
            let pool = try await sre.post(
                "/v1/overrides", Self.large.replacing("openai:gpt-4o", with: "openai:gpt4o"))
            #expect(pool.status == 400 && pool.faults[0].hasSuffix(#"; did you mean "openai:gpt-4o"?"#), "\(pool.text)")
            let explain = try await sre.get("/v1/explain?tenant=acm&pool=openai:gpt-4o")
            #expect(explain.status == 404 && explain.text.contains(#"did you mean \"acmf\"?"#), "\(explain.text)")
            let elsewhere = try await sre.get("/v1/explain?tenant=acmf&pool=openai:gpt-4")
            #expect(elsewhere.status == 404 && elsewhere.text.contains(#"did you mean \"openai:gpt-4o\"?"#))
        }
    }

    @Test func `a question about many tenants is listed by its largest changes, and decided whole or in part`()
        async throws
    {
        let tokens =
            Self.tokens + [
                .sample("acme-sre", .sre, tenants: ["acme"]), .sample("azure", .sre, pools: ["azure:gpt-4o"]),
            ]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            let now = fixture.clock.now
            fixture.desk.change { state in
                state.steering.proposals = [
                    Proposal(
                        id: 900, kind: .recommendation, pool: "openai:gpt-4o",
                        changes: ["globex", "acme", "zeta"].map {
                            Proposal.Change(tenant: $0, from: Rates(tpm: 10), to: Rates(tpm: $0 == "zeta" ? 9 : 20))
                        }, movers: 1, evidence: ["why"],
                        authorship: Authorship(
                            author: "headroom", reason: "why", at: now, until: now.adding(seconds: 600)))
                ]
            }
            func changed(_ reply: JSONNode?) -> [String?]? { reply?["changes"]?.array?.map { $0["tenant"]?.string } }
            let viewer = try Person("viewer", fixture)
            let listed = try await viewer.get("/v1/recommendations").json["recommendations"]?[0]
            #expect(changed(listed) == ["globex"] && listed?["change_count"]?.number == 3)
            #expect(listed?["raised"]?.number == 2 && listed?["lowered"]?.number == 1)
            #expect(changed(try await viewer.get("/v1/recommendations/900").json) == ["globex", "acme", "zeta"])
            #expect(try await viewer.get("/v1/approvals/900").status == 404)
            #expect(try await viewer.get("/v1/recommendations?tenant=zeta").json["recommendations"]?.array?.count == 1)
            #expect(
                try await viewer.get("/v1/recommendations?tenant=nobody").json["recommendations"]?.array?.isEmpty
                    == true)

            // Who sees one tenant learns nothing of the others, and decides for that one only.
            let narrow = try Person("acme-sre", fixture)
            let own = try await narrow.get("/v1/recommendations/900")
            #expect(changed(own.json) == ["acme"] && own.json["change_count"]?.number == 1)
            #expect(own.json["evidence"]?.array?.isEmpty == true && !own.text.contains("globex"))
            #expect(try await Person("azure", fixture).get("/v1/recommendations/900").status == 404)
            let path = "/v1/recommendations/900/apply"
            let refused = try await narrow.post(path, #"{"reason":"ours","revision":1}"#)
            #expect(refused.status == 403 && refused.text.contains("name yours in"), "\(refused.text)")
            #expect(
                try await narrow.post(path, #"{"reason":"ours","revision":1,"tenants":["acme","zeta"]}"#).status == 403)
            let applied = try await narrow.post(path, #"{"reason":"ours","revision":1,"tenants":["acme"]}"#)
            #expect(applied.status == 200 && applied.json["state"]?.string == "applied", "\(applied.text)")
            #expect(applied.json["id"]?.number != 900 && changed(applied.json) == ["acme"])

            let sre = try Person("sre", fixture)
            let rest = try await sre.get("/v1/recommendations/900").json
            #expect(rest["state"]?.string == "pending" && changed(rest) == ["globex", "zeta"])
            #expect(rest["revision"]?.number == 2)
            let silent = try await sre.post(path, #"{"reason":"r"}"#)
            #expect(silent.status == 409 && silent.text.contains("which is at 2, and send"), "\(silent.text)")
            let stale = try await sre.post(path, #"{"reason":"r","revision":1}"#)
            #expect(stale.status == 409 && stale.text.contains("acme is no longer asked for"), "\(stale.text)")
            let wrong = try await sre.post(path, #"{"reason":"r","revision":2,"tenants":["acme"]}"#)
            #expect(wrong.status == 400 && wrong.text.contains("does not change acme"), "\(wrong.text)")
            for tenants in ["[]", #""acme""#, "[1]"] {
                #expect(try await sre.post(path, #"{"reason":"r","tenants":\#(tenants)}"#).status == 400)
            }
            let dismissed = try await sre.post("/v1/recommendations/900/dismiss", #"{"reason":"no","revision":2}"#)
            #expect(dismissed.json["state"]?.string == "dismissed" && dismissed.json["id"]?.number == 900)
        }
    }

    @Test func `beyond its limits it waits for a second person, who may not be the first`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let sre = try Person("sre", fixture)
            let asked = try await sre.post("/v1/overrides", Self.large)
            #expect(asked.status == 202)
            #expect(asked.json["approval"]?["id"]?.number == 1 && asked.json["approval"]?["state"]?.string == "pending")
            #expect(asked.json["reasons"]?[0]?.string?.hasPrefix("from standard to critical are 2 tiers") == true)
            let pending = try await sre.get("/v1/approvals?state=pending")
            #expect(pending.json["approvals"]?[0]?["override"]?["tier"]?.string == "critical")

            let body = #"{"reason":"agreed","revision":1}"#
            #expect(try await sre.post("/v1/approvals/1/approve", body).status == 403)
            let admin = try Person("admin", fixture)
            #expect(try await admin.post("/v1/recommendations/1/apply", body).status == 404)
            let approved = try await admin.post("/v1/approvals/1/approve", body)
            #expect(approved.status == 200 && approved.json["state"]?.string == "approved")
            // As long as the override itself, where the person who approves does not say.
            #expect(approved.json["decision"]?["until"]?.string == "2026-10-26T09:33:20.000Z")
            #expect(try await admin.post("/v1/approvals/1/deny", body).status == 409)
            #expect(try await admin.post("/v1/approvals/7/deny", body).status == 404)
            #expect(try await admin.get("/v1/approvals?state=pending").json["approvals"]?.array?.isEmpty == true)
        }
    }

    @Test func `a person ends their own, and operators end any`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let anna = try Person("anna", fixture)
            for _ in 0..<3 { _ = try await anna.post("/v1/overrides", Self.small) }
            #expect(try await Person("bert", fixture).delete("/v1/overrides/1").status == 403)
            let ended = try await anna.delete("/v1/overrides/1")
            #expect(ended.status == 204 && ended.body.isEmpty)
            #expect(try await anna.delete("/v1/overrides/1").status == 404)
            #expect(try await Person("sre", fixture).delete("/v1/overrides/2").status == 204)
            #expect(try await Person("admin", fixture).delete("/v1/overrides/3").status == 204)
            #expect(try await anna.delete("/v1/overrides/x").status == 404)
        }
    }

    @Test func `every fault of a body is told at once, with its path`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let anna = try Person("anna", fixture)
            let cases: [(body: String, faults: [String])] = [
                (
                    #"{"tenant":"a b","pool":"gpt","teir":"critical","weight":-1,"reason":" ","expires_in_seconds":0}"#,
                    [
                        "tenant: must be a name", "pool: the policy has no such pool", "weight: must be a number",
                        "reason: must be a text", "expires_in_seconds: must be a number", "teir: unknown field",
                    ]
                ),
                (
                    "{}",
                    [
                        "tenant: is missing", "reason: is missing", "expires_in_seconds: is missing",
                        "tier: say another",
                    ]
                ),
                (
                    #"{"tenant":"a","tier":"gold","reason":"r","expires_in_seconds":99999999}"#,
                    [
                        "expires_in_seconds: must be a number from 1 to 7776000",
                        "tier: must be one of critical, premium, standard, free, found \"gold\"",
                    ]
                ),
                ("[1]", [": must be an object, found an array"]),
                ("{\n\"tenant\":}", ["line 2: not valid JSON"]),
                (#"{"tenant":"a","tenant":"b"}"#, ["line 1: not valid JSON"]),
            ]
            for (body, faults) in cases {
                let reply = try await anna.post("/v1/overrides", body)
                #expect(reply.status == 400 && reply.headers["content-type"] == "application/problem+json")
                #expect(reply.faults.count == faults.count, "\(reply.text)")
                for fault in faults {
                    #expect(reply.faults.contains { $0.hasPrefix(fault) }, "\(fault) in \(reply.faults)")
                }
            }
            #expect(fixture.desk.now.steering.overrides.isEmpty)
        }
    }

    @Test func `a limited token sees and sets what lies inside its limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let anna = try Person("anna", fixture)
            func body(_ tenant: String, _ pool: String) -> String {
                #"{"tenant":"\#(tenant)","pool":\#(pool),"tier":"premium","reason":"r","expires_in_seconds":60}"#
            }
            let all = [
                ("acme", #""openai:gpt-4o""#, 201), ("acme", #""azure:gpt-4o""#, 403), ("acme", "null", 403),
                ("globex", #""openai:gpt-4o""#, 403),
            ]
            let narrow = try Person("narrow", fixture)
            for (tenant, pool, status) in all {
                #expect(try await anna.post("/v1/overrides", body(tenant, pool)).status == 201)
                #expect(
                    try await narrow.post("/v1/overrides", body(tenant, pool)).status == status, "\(tenant) \(pool)")
            }
            let seen = try await narrow.get("/v1/overrides").json["overrides"]?.array ?? []
            #expect(
                seen.map { "\($0["tenant"]?.string ?? "") \($0["pool"]?.string ?? "all")" } == [
                    "acme openai:gpt-4o", "acme openai:gpt-4o", "acme all",
                ])
            // Somebody else's, and not even seen.
            let globex = try #require(fixture.desk.now.steering.overrides.last { $0.tenant == "globex" })
            #expect(try await narrow.delete("/v1/overrides/\(globex.id)").status == 404)
        }
    }

    @Test func `each role may do what is its own`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let open = #"{"reason":"r","expires_in_seconds":60}"#
            let calls: [(method: String, target: String, body: String, allowed: Set<String>)] = [
                ("POST", "/v1/overrides", Self.small, ["anna", "sre", "admin"]),
                ("GET", "/v1/overrides", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/approvals", "", ["viewer", "anna", "sre", "admin"]),
                ("POST", "/v1/approvals/9/approve", open, ["sre", "admin"]),
                ("POST", "/v1/recommendations/9/dismiss", open, ["sre", "admin"]),
                ("PUT", "/v1/pools/azure:gpt-4o/capacity", open, ["sre", "admin"]),
                ("DELETE", "/v1/pools/azure:gpt-4o/capacity", "", ["sre", "admin"]),
                ("POST", "/v1/freeze", open, ["sre", "admin"]),
                ("POST", "/v1/rollback", open, ["sre", "admin"]),
                ("DELETE", "/v1/freeze/9", "", ["sre", "admin"]),
                ("GET", "/v1/freeze", "", ["viewer", "anna", "sre", "admin"]),
                ("PUT", "/v1/tenants/acme", "{}", ["admin"]),
                ("DELETE", "/v1/tenants/acme", "", ["admin"]),
                ("POST", "/v1/tenants/import", "[]", ["admin"]),
                ("GET", "/v1/tenants", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/pools", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/explain?tenant=a&pool=p", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/history?pool=p", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/audit", "", ["sre", "admin"]),
                ("GET", "/v1/gateways", "", ["viewer", "anna", "sre", "admin"]),
                ("GET", "/v1/policy", "", ["viewer", "anna", "sre", "admin"]),
                ("POST", "/v1/policy/check", #"{"files":{}}"#, ["viewer", "anna", "sre", "admin"]),
            ]
            for name in ["viewer", "anna", "sre", "admin", "gw"] {
                let person = try Person(name, fixture)
                for (method, target, body, allowed) in calls {
                    let reply = try await person.call(method, target, body)
                    #expect(
                        (reply.status == 403) == !allowed.contains(name), "\(name) \(method) \(target): \(reply.text)")
                    #expect(reply.status < 500, "\(name) \(method) \(target): \(reply.text)")
                }
            }
            let nobody = try Person(nil, fixture)
            for (method, target, body, _) in calls {
                #expect(try await nobody.call(method, target, body).status == 401)
            }
        }
    }

    @Test func `without tokens everybody on this machine may do everything, as local`() async throws {
        try await ServiceFixture.run { fixture in
            let local = try Person(nil, fixture)
            let reply = try await local.post("/v1/overrides", Self.small)
            #expect(reply.status == 201 && reply.json["author"]?.string == "local")
            #expect(try await local.delete("/v1/overrides/1").status == 204)
            #expect(try await local.post("/v1/overrides", Self.large).status == 202)
            let own = try await local.post("/v1/approvals/2/approve", #"{"reason":"me again","revision":1}"#)
            #expect(own.status == 403 && own.text.contains("without tokens everybody is one person"), "\(own.text)")
            #expect(try await local.get("/v1/audit").json["entries"]?[1]?["author"]?.string == "local")
        }
    }

    @Test func `what storage cannot do is said with the time to come back`() async throws {
        try await ServiceFixture.run { fixture in
            let local = try Person(nil, fixture)
            fixture.desk.change { $0.failure = SteeringError(.unavailable, "the disk is full") }
            for target in ["/v1/overrides", "/v1/explain?tenant=a&pool=p", "/v1/policy", "/v1/tenants"] {
                let reply = try await local.get(target)
                #expect(reply.status == 503 && reply.headers["retry-after"] == "5", "\(target)")
                #expect(reply.text.contains("the disk is full"))
            }
        }
    }

    @Test func `a preview says what an override would do to everybody, and sets nothing`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let full = Rates(rpm: 10000, tpm: 2_000_000)
            let tenants = ["acme", "globex"].map { name in
                TenantReport(
                    tenant: TenantID(name) ?? "acme", tier: "standard", demand: Rates(rpm: 2000, tpm: 2_000_000),
                    assured: Rates(rpm: 1000, tpm: 900_000), consumed: Rates(rpm: 1000, tpm: 900_000))
            }
            fixture.board.report(
                LoopReport(
                    at: fixture.clock.now,
                    pools: [
                        PoolReport(
                            pool: "openai:gpt-4o", state: .pressured, nominal: full, estimated: full,
                            capacityReason: .contract, confidence: 1, budget: full, assured: full, consumed: full,
                            calls: [:], tenants: tenants)
                    ]))
            let anna = try Person("anna", fixture)
            let pool = try await anna.post("/v1/overrides/preview", Self.small).json["pools"]?[0]
            #expect(pool?["pool"]?.string == "openai:gpt-4o" && pool?["resource"]?.string == "tpm")
            let effects = try #require(pool?["effects"]?.array)
            #expect(Set(effects.compactMap { $0["tenant"]?.string }) == ["acme", "globex"], "\(effects)")
            for effect in effects {
                let (from, to) = (effect["from"]?["tpm"]?.number ?? 0, effect["to"]?["tpm"]?.number ?? 0)
                #expect(effect["tenant"]?.string == "acme" ? to > 1.2 * from : to < from, "\(effect)")
            }
            #expect(pool?["unmoved"]?.isNull == true)
            // A larger one says who has to agree; neither is set.
            let large = try await anna.post("/v1/overrides/preview", Self.large).json
            #expect(large["reasons"]?[0]?.string?.hasPrefix("from standard to critical") == true)
            #expect(fixture.desk.now.steering.overrides.isEmpty && fixture.desk.now.steering.proposals.isEmpty)
            let narrow = try Person("narrow", fixture)
            #expect(try await narrow.post("/v1/overrides/preview", Self.small).status == 403, "in all pools")
            let own = try await narrow.post("/v1/overrides/preview", Self.large).json["pools"]?[0]?["effects"]
            #expect(own?.array?.map { $0["tenant"]?.string } == ["acme"], "others are none of its business")
        }
    }
}
