import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct TenantRouteTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("admin", .admin),
        .sample("globex", .viewer, tenants: ["globex"]), .sample("azure", .admin, pools: ["azure:gpt-4o"]),
    ]

    @Test func `pools tell what the loop saw, what is published and what people said`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let viewer = try Person("viewer", fixture)
            #expect(try await viewer.get("/v1/pools").json["pools"]?.array?.isEmpty == true)
            fixture.board.report(.sample(at: fixture.clock.now))
            fixture.publish(7)
            let now = fixture.clock.now
            let said = Authorship(author: "headroom", reason: "r", at: now, until: now.adding(seconds: 60))
            fixture.desk.change {
                $0.steering.proposals = ["acme", "globex"].map {
                    Proposal(
                        id: 1, kind: .guardrail, pool: "openai:gpt-4o",
                        changes: [Proposal.Change(tenant: $0, from: Rates(tpm: 1), to: Rates(tpm: 2))],
                        authorship: said)
                }
            }
            let pools = try await viewer.get("/v1/pools").json["pools"]
            #expect(pools?.array?.map { $0["pool"]?.string } == ["azure:gpt-4o", "openai:gpt-4o"])
            let pool = try #require(pools?[1])
            #expect(pool["state"]?.string == "throttled" && pool["mode"]?.string == "full")
            #expect(pool["capacity_reason"]?.string == "throttled" && pool["capacity"]?["tpm"]?.number == 1_800_000)
            #expect(pool["calls"]?["quota"]?.number == 8 && pool["tenants"]?.number == 2)
            #expect(pool["starved_tenants"]?["shortage"]?.number == 1 && pool["open_questions"]?.number == 2)
            #expect(pool["excess"]?.array?.map { $0["share"]?.number } == [0.5, 0.5])
            let narrow = try await Person("globex", fixture).get("/v1/pools").json["pools"]?[1]
            #expect(narrow?["tenants"]?.number == 1 && narrow?["open_questions"]?.number == 1)
            let other = try await Person("azure", fixture).get("/v1/pools").json["pools"]?.array
            #expect(other?.map { $0["pool"]?.string } == ["azure:gpt-4o"])
        }
    }

    @Test func `tenants come by the page, or the worst first`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.board.report(.sample(at: fixture.clock.now))
            fixture.publish(7)
            fixture.desk.change {
                $0.contracts = [
                    Contract(tenant: "acme", tier: "premium", terms: [.init(pool: "azure:gpt-4o")]),
                    Contract(tenant: "zeta", isStrategic: true),
                ]
            }
            let viewer = try Person("viewer", fixture)
            func names(_ query: String, _ person: Person) async throws -> [String?] {
                let reply = try await person.get("/v1/tenants" + query)
                return (reply.json["tenants"]?.array ?? []).map { $0["tenant"]?.string } + [reply.json["next"]?.string]
            }
            #expect(try await names("", viewer) == ["acme", "globex", "zeta", nil])
            #expect(try await names("?limit=2", viewer) == ["acme", "globex", "globex"])
            #expect(try await names("?limit=2&after=globex", viewer) == ["zeta", nil])
            #expect(try await names("?order=worst&limit=1", viewer) == ["globex", nil])
            #expect(try await names("?pool=azure:gpt-4o", viewer) == ["acme", "zeta", nil])
            #expect(try await names("?tenant=acme", viewer) == ["acme", nil])
            #expect(try await names("", Person("globex", fixture)) == ["globex", nil])
            #expect(try await names("", Person("azure", fixture)) == ["acme", "zeta", nil])
            for query in ["?limit=0", "?limit=5000", "?order=best", "?pool=a%20b", "?size=3"] {
                #expect(try await viewer.get("/v1/tenants" + query).status == 400, "\(query)")
            }
            let acme = try await viewer.get("/v1/tenants?tenant=acme").json["tenants"]?[0]
            #expect(acme?["contract"]?["tier"]?.string == "premium")
            #expect(acme?["pools"]?[0]?["demand"]?["tpm"]?.number == 50000)
            #expect(acme?["pools"]?[0]?["asked"]?["tpm"]?.number == 50000)
            // Of the published snapshot.
            #expect(acme?["pools"]?[0]?["constraint"]?.string == "level")
        }
    }

    @Test func `a contract is put, checked against the policy, and erased`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let admin = try Person("admin", fixture)
            let body = #"{"tier":"premium","strategic":true,"pools":[{"pool":"azure:gpt-4o","floor":{"rpm":600}}]}"#
            let put = try await admin.put("/v1/tenants/acme", body)
            #expect(put.status == 200 && put.json["pools"]?[0]?["floor"]?["rpm"]?.number == 600)
            // What is answered can be sent again.
            #expect(try await admin.put("/v1/tenants/acme", put.text).status == 200)
            let priced = #"""
                {"tier":"premium","pools":[{"pool":"azure:gpt-4o","floor":{"rpm":600}}],"cost":{"currency":"EUR",
                "period":"month","most_micros":500000000,"prices":[{"input_micros_per_million":2500000}]}}
                """#
            let cost = try await admin.put("/v1/tenants/acme", priced)
            #expect(cost.status == 200 && cost.json["cost"]?["most_micros"]?.number == 500_000_000, "\(cost.text)")
            #expect(try await admin.put("/v1/tenants/acme", cost.text).status == 200)
            let cases: [(tenant: String, body: String, faults: [String])] = [
                ("acme", #"{"tenant":"globex","teir":"x"}"#, ["tenant: must be acme", "teir: unknown field"]),
                ("acme", #"{"tier":"gold"}"#, ["acme: the tier must be one of"]),
                (
                    "acme", #"{"pools":[{"pool":"azure:gpt-4o","floor":{"rpm":9},"ceiling":{"rpm":8,"x":1}},7]}"#,
                    ["pools.1: must be an object", "pools.0.ceiling.x: unknown field", "pools.0.floor: 9 rpm is over"]
                ),
                (
                    "globex", #"{"pools":[{"pool":"azure:gpt-4o","floor":{"rpm":401}}]}"#,
                    ["pools.azure:gpt-4o: the floors of 2 tenants sum to 1001 rpm, over the nominal 1000"]
                ),
                (
                    "globex", #"{"cost":{"currency":"EURO","most_micros":-1,"prices":[{"request_micros":0.5}]}}"#,
                    [
                        "cost.currency: must be a text", "cost.period: is missing",
                        "cost.most_micros: must be a whole number",
                        "cost.prices.0.request_micros: must be a whole number",
                    ]
                ),
                (
                    "globex",
                    #"{"cost":{"currency":"XYZ","period":"week","most_micros":1,"prices":[{"pool":"nowhere"}],"x":1}}"#,
                    [
                        "cost.currency: must be a currency of ISO 4217", "cost.period: must be day or month",
                        "cost.x: unknown field",
                    ]
                ),
                (
                    "globex",
                    #"{"cost":{"currency":"EUR","period":"day","most_micros":1,"prices":[{"pool":"nowhere"}]}}"#,
                    ["globex.pools.nowhere: has a price, and the policy has no such pool"]
                ),
                ("globex", #"{"pools":[{"pool":"nowhere"}]}"#, ["globex.pools.nowhere: the policy has no such pool"]),
            ]
            for (tenant, body, faults) in cases {
                let reply = try await admin.put("/v1/tenants/\(tenant)", body)
                #expect(reply.status == 400 && reply.faults.count == faults.count, "\(reply.text)")
                for fault in faults { #expect(reply.faults.contains { $0.hasPrefix(fault) }, "\(reply.faults)") }
            }
            #expect(try await Person("azure", fixture).put("/v1/tenants/acme", "{}").status == 403)
            #expect(try await admin.delete("/v1/tenants/acme").status == 204)
            #expect(try await admin.delete("/v1/tenants/acme").status == 404)
            #expect(
                fixture.desk.now.audit.map(\.action) == [
                    "contract.put", "contract.put", "contract.put", "contract.put", "contract.removed", "tenant.erase",
                ])
        }
    }

    @Test func `an import reads a CRM's export as the policy in force says`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.desk.change { state in
                state.policy.contracts = ContractPolicy(
                    columns: [.init(name: "tenant", header: "Account ID"), .init(name: "tier", header: "Plan")],
                    ignoresOtherColumns: true, tiers: [.init(word: "Gold Plus", tier: "premium")])
            }
            let admin = try Person("admin", fixture)
            let export = "\u{FEFF}Owner;account id;Plan\r\nJo;acme;GOLD PLUS\r\nAl;globex;free\r\n"
            let taken = try await admin.call("POST", "/v1/tenants/import", export, type: "text/csv")
            #expect(taken.status == 200, "\(taken.text)")
            #expect(fixture.desk.now.contracts.map(\.tier) == ["premium", "free"])
            let faulty = try await admin.call(
                "POST", "/v1/tenants/import", "Account ID;Plan\nacme;Golden\n-;free\n", type: "text/csv")
            #expect(faulty.status == 400)
            #expect(
                faulty.faults.map { String($0.prefix(40)) }
                    == [
                        "line 2: tenant acme: the tier must be one", "line 3: tenant must have 1 to 128 characte",
                    ].map { String($0.prefix(40)) }, "\(faulty.text)")
        }
    }

    @Test func `an import beyond its limit waits for a second person, for these contracts and once`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens + [.sample("sre", .sre)]) { fixture in
            fixture.desk.change { $0.policy.contracts.approvalShare = 0.2 }
            let admin = try Person("admin", fixture)
            let path = "/v1/tenants/import"
            func contracts(_ tier: String, from first: Int = 0) -> String {
                let all = (first..<10).map { #"{"tenant":"t\#($0)","tier":"\#($0 < 5 ? tier : "free")"}"# }
                return "[\(all.joined(separator: ","))]"
            }
            // The first import changes nobody's contract.
            #expect(try await admin.post(path, contracts("free")).status == 200)
            let asked = try await admin.post(path, contracts("premium", from: 1))
            #expect(asked.status == 202, "\(asked.text)")
            #expect(
                asked.json["reasons"]?[0]?.string
                    == "4 of 10 contracts would change and 1 be removed (50 %); one person may change 20 %")
            #expect(fixture.desk.now.contracts.map(\.tier) == Array(repeating: "free", count: 10))
            let id = Int(asked.json["approval"]?["id"]?.number ?? 0)
            let evidence = asked.json["approval"]?["evidence"]?.array?.compactMap(\.string) ?? []
            #expect(evidence.contains("4 changed: t1, t2, t3, t4") && evidence.contains("1 removed: t0"), "\(evidence)")
            // Asked again it is the same question, and others are another.
            let again = try await admin.post(path, contracts("premium", from: 1))
            #expect(again.json["approval"]?["id"]?.number == Double(id))
            let yes = #"{"reason":"the customer moved","revision":1}"#
            #expect(try await admin.post("/v1/approvals/\(id)/approve", yes).status == 403)
            let sre = try Person("sre", fixture)
            #expect(try await sre.get("/v1/approvals").text.contains("4 changed: t1"))
            #expect(try await sre.post("/v1/approvals/\(id)/approve", yes).status == 200)
            let other = try await admin.post(path, contracts("standard", from: 1))
            #expect(other.status == 202 && other.json["approval"]?["id"]?.number != Double(id))
            let taken = try await admin.post(path, contracts("premium", from: 1))
            #expect(taken.status == 200 && taken.json["changed"]?["count"]?.number == 4, "\(taken.text)")
            #expect(
                fixture.desk.now.contracts.map(\.tier).prefix(5) == [
                    "premium", "premium", "premium", "premium", "free",
                ])
            // The approval has been used.
            #expect(try await admin.post(path, contracts("free", from: 1)).status == 202)
            #expect(
                fixture.desk.now.audit.map(\.action) == [
                    "contracts.import", "contracts.ask", "approval.approve", "contracts.ask", "contracts.import",
                    "contracts.ask",
                ])
        }
    }

    @Test func `an import is taken whole or not at all, with each fault by its line`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            // One person may change all of them.
            fixture.desk.change { $0.policy.contracts.approvalShare = 1 }
            let admin = try Person("admin", fixture)
            let path = "/v1/tenants/import"
            let good = "tenant,tier,pool,floor_rpm\nacme,premium,azure:gpt-4o,100\nglobex,,,\n"
            let taken = try await admin.call("POST", path, good, type: "text/csv; charset=utf-8")
            #expect(taken.status == 200 && taken.json["contracts"]?.number == 2 && taken.json["terms"]?.number == 1)
            let faulty = "tenant,tier,pool,floor_rpm\nacme,premium,azure:gpt-4o,x\nb*,,,\n"
            let refused = try await admin.call("POST", path, faulty, type: "text/csv")
            #expect(refused.status == 400)
            #expect(
                refused.faults.map { String($0.prefix(27)) } == [
                    "line 2: floor_rpm must be a", "line 3: tenant must have 1 ",
                ])
            let heavy = try await admin.call(
                "POST", path, #"[{"tenant":"a","pools":[{"pool":"azure:gpt-4o","floor":{"rpm":1001}}]}]"#)
            #expect(heavy.status == 400 && heavy.text.contains("over the nominal 1000"))
            #expect(fixture.desk.now.contracts.map(\.tenant) == ["acme", "globex"])
            // An empty export is more often a failed one.
            let empty = try await admin.post(path, "[]")
            #expect(empty.status == 409 && empty.json["title"]?.string == "Conflict", "\(empty.text)")
            #expect(empty.text.contains("2 of 2 contracts would be removed"), "\(empty.text)")
            let dry = try await admin.post(path + "?dry_run=true", "[]")
            #expect(
                dry.status == 200 && dry.json["dry_run"]?.bool == true && dry.json["removed"]?["count"]?.number == 2)
            #expect(dry.json["removed"]?["first"]?.array?.map(\.string) == ["acme", "globex"])
            // What was confirmed is what the person saw.
            #expect(try await admin.post(path + "?confirm=1", "[]").status == 409)
            #expect(fixture.desk.now.contracts.map(\.tenant) == ["acme", "globex"])
            let meant = try await admin.post(path + "?confirm=2", "[]")
            #expect(meant.status == 200 && meant.json["removed"]?["count"]?.number == 2)
            #expect(fixture.desk.now.contracts.isEmpty)
            // A part that goes, and what changes, asks nobody.
            let three = #"[{"tenant":"a"},{"tenant":"b"},{"tenant":"c"}]"#
            #expect(try await admin.post(path, three).status == 200)
            let two = try await admin.post(path, #"[{"tenant":"a"},{"tenant":"b","tier":"free"},{"tenant":"d"}]"#)
            #expect(two.status == 200 && two.json["unchanged"]?.number == 1, "\(two.text)")
            #expect(["added", "changed", "removed"].map { two.json[$0]?["count"]?.number } == [1, 1, 1])
            #expect(try await admin.call("POST", path, "x", type: "text/plain").status == 415)
            #expect(try await Person("azure", fixture).call("POST", path, "[]").status == 403)
        }
    }
}
