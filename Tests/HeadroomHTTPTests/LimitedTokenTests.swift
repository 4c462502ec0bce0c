import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

/// What tokens that are limited to a tenant, a pool, both, or a gateway's names see and do: every call that the service has.
@Suite struct LimitedTokenTests {
    private static let mine: PoolID = "openai:gpt-4o"
    private static let tokens = [
        AccessToken.sample("tenant", .admin, tenants: ["acme"]), .sample("pool", .admin, pools: [mine]),
        .sample("both", .admin, pools: [mine], tenants: ["acme"]), .sample("admin", .admin),
        .sample("prefix", .gateway, gateways: names("gw-1.*"), pools: [mine]),
    ]
    /// What must not be in an answer to the token of that name. All tenants and pools of others have these names.
    private static let others = [
        "tenant": ["globex", "gw-"], "pool": ["azure", "gw-"], "both": ["globex", "azure", "gw-"],
    ]

    private static func names(_ name: String) -> GatewayNames { (try? GatewayNames(parsing: [name])) ?? [] }

    private enum Kind {
        /// A read: 403, or 200 without anything of others.
        case filtered(_ targets: [String])
        /// A change of what is another's: 403 or 404, and nothing is changed. The body is empty where the call has none.
        case act(_ target: String, _ body: String = "")
        /// 403 to all that are limited.
        case refused(_ target: String, _ body: String = "")
        /// Only a gateway's token may, as the table of roles says.
        case gateways
        /// About no pool and no tenant, or for anyone.
        case nothing
    }

    private static let until = #""reason":"r","expires_in_seconds":600"#
    private static let decision = #"{"reason":"r","revision":1}"#
    private static let override = #"{"tenant":"globex","pool":"azure:gpt-4o","tier":"premium",\#(until)}"#

    private static let table: [String: Kind] = [
        "GET /v1/allocations": .filtered(["/v1/allocations", "/v1/allocations?pool=azure:gpt-4o"]),
        "POST /v1/telemetry": .gateways, "POST /v1/traces": .gateways, "POST /v1/draw": .gateways,
        "GET /v1/gateways": .refused("/v1/gateways"), "DELETE /v1/gateways/{id}": .refused("/v1/gateways/gw-2"),
        "GET /v1/overrides": .filtered(["/v1/overrides", "/v1/overrides?tenant=globex"]),
        "POST /v1/overrides": .act("/v1/overrides", override),
        "POST /v1/overrides/preview": .act("/v1/overrides/preview", override),
        "DELETE /v1/overrides/{id}": .act("/v1/overrides/2"),
        "GET /v1/approvals": .filtered(["/v1/approvals", "/v1/approvals?tenant=globex"]),
        "GET /v1/approvals/{id}": .filtered(["/v1/approvals/10", "/v1/approvals/11"]),
        "POST /v1/approvals/{id}/approve": .act("/v1/approvals/10/approve", decision),
        "POST /v1/approvals/{id}/deny": .act("/v1/approvals/10/deny", decision),
        "GET /v1/recommendations": .filtered(["/v1/recommendations"]),
        "GET /v1/recommendations/{id}": .filtered(["/v1/recommendations/12"]),
        "POST /v1/recommendations/{id}/apply": .act("/v1/recommendations/12/apply", decision),
        "POST /v1/recommendations/{id}/dismiss": .act("/v1/recommendations/12/dismiss", decision),
        "GET /v1/pools": .filtered(["/v1/pools", "/v1/pools?pool=azure:gpt-4o"]),
        "PUT /v1/pools/{id}/capacity": .act("/v1/pools/azure:gpt-4o/capacity", #"{"capacity":{"rpm":5},\#(until)}"#),
        "DELETE /v1/pools/{id}/capacity": .act("/v1/pools/azure:gpt-4o/capacity"),
        "GET /v1/freeze": .filtered(["/v1/freeze"]),
        "POST /v1/freeze": .act("/v1/freeze", #"{"pool":"azure:gpt-4o",\#(until)}"#),
        "DELETE /v1/freeze/{id}": .act("/v1/freeze/5"),
        "POST /v1/rollback": .act("/v1/rollback", #"{"pool":"azure:gpt-4o","generation":7,\#(until)}"#),
        "GET /v1/cost-breaker": .filtered(["/v1/cost-breaker"]),
        "POST /v1/cost-breaker/lifts": .act("/v1/cost-breaker/lifts", #"{"tenant":"globex",\#(until)}"#),
        "DELETE /v1/cost-breaker/lifts/{id}": .act("/v1/cost-breaker/lifts/6"),
        "GET /v1/tasks": .filtered(["/v1/tasks", "/v1/tasks?tenant=globex"]),
        "GET /v1/task-times": .filtered(["/v1/task-times", "/v1/task-times?tenant=globex"]),
        "POST /v1/tasks/stop": .act("/v1/tasks/stop", #"{"tenant":"globex","task":"t",\#(until)}"#),
        "POST /v1/tasks/lift": .act("/v1/tasks/lift", #"{"tenant":"globex","task":"t",\#(until)}"#),
        "GET /v1/tenants": .filtered(["/v1/tenants", "/v1/tenants?order=worst", "/v1/tenants?pool=azure:gpt-4o"]),
        "PUT /v1/tenants/{id}": .act("/v1/tenants/globex", #"{"tier":"free"}"#),
        "DELETE /v1/tenants/{id}": .act("/v1/tenants/globex"),
        "POST /v1/tenants/import": .refused("/v1/tenants/import", "[]"),
        "POST /v1/tenants/{id}/share": .nothing,
        "POST /v1/plan": .refused("/v1/plan", #"{"hours":1}"#),
        "GET /v1/policy/files": .refused("/v1/policy/files"),
        "GET /v1/explain": .filtered([
            "/v1/explain?tenant=globex&pool=azure:gpt-4o", "/v1/explain?tenant=globex&pool=openai:gpt-4o",
            "/v1/explain?tenant=acme&pool=openai:gpt-4o&from=1792990000000",
            "/v1/explain?pool=openai:gpt-4o&from=1792990000000",
        ]),
        "GET /v1/history": .filtered([
            "/v1/history?pool=azure:gpt-4o", "/v1/history?pool=openai:gpt-4o&top=5",
            "/v1/history?pool=openai:gpt-4o&tenant=acme", "/v1/history?pool=openai:gpt-4o&tenant=globex",
        ]),
        "GET /v1/generations": .filtered(["/v1/generations"]),
        "GET /v1/generations/{id}": .filtered(["/v1/generations/1..2", "/v1/generations/1..2?tenant=acme"]),
        "GET /v1/costs": .filtered(["/v1/costs?by=tenant", "/v1/costs?by=pool"]),
        "GET /v1/slos": .filtered(["/v1/slos", "/v1/slos?tenant=globex"]),
        "GET /v1/starvation": .filtered(["/v1/starvation", "/v1/starvation?tenant=globex"]),
        "GET /v1/alerts": .filtered(["/v1/alerts", "/v1/alerts?state=all"]),
        "POST /v1/alerts/{id}/acknowledge": .act("/v1/alerts/21/acknowledge", #"{"reason":"r"}"#),
        "POST /v1/alerts/{id}/mute": .act("/v1/alerts/21/mute", "{\(until)}"),
        "GET /v1/audit": .refused("/v1/audit"), "GET /v1/policy": .filtered(["/v1/policy"]),
        "POST /v1/policy/check": .nothing,
        "GET /v1/live": .filtered(["/v1/live", "/v1/live?pool=azure:gpt-4o"]),
        "GET /v1/live/series": .filtered([
            "/v1/live/series?pool=openai:gpt-4o&tenants=8", "/v1/live/series?pool=azure:gpt-4o",
            "/v1/live/series?pool=openai:gpt-4o&tenant=acme",
        ]),
        "GET /v1/demo": .refused("/v1/demo"), "GET /metrics": .refused("/metrics"),
        "GET /v1/session": .nothing, "POST /v1/session": .nothing, "DELETE /v1/session": .nothing,
        "GET /healthz": .nothing, "GET /readyz": .nothing, "GET /openapi.json": .nothing, "GET /": .nothing,
    ]

    /// Something of everybody's behind every call.
    private static func setUp(_ fixture: ServiceFixture) {
        let now = fixture.clock.now
        let rates = Rates(rpm: 100)
        let authorship = Authorship(author: "ops", reason: "r", at: now, until: now.adding(seconds: 3600))
        func report(_ pool: PoolID) -> PoolReport {
            let tenants = ["acme", "globex"].map { tenant in
                TenantReport(
                    tenant: tenant, tier: "standard", demand: rates, assured: rates, consumed: rates,
                    underservedSeconds: 400, starvation: .shortage)
            }
            return PoolReport(
                pool: pool, state: .healthy, nominal: rates, estimated: rates, capacityReason: .headers,
                confidence: 0.5, budget: rates, assured: rates, consumed: rates, calls: [:], tenants: tenants)
        }
        fixture.publish(7, gateways: ["gw-1.1", "gw-2"])
        var loop = LoopReport(at: now, pools: [report("azure:gpt-4o"), report(mine)])
        loop.withheld = ["azure:gpt-4o", mine].map {
            WithheldBudget(pool: $0, gateway: "gw-2", rates: rates, until: authorship.until)
        }
        loop.tasks.tasks = ["acme", "globex"].map {
            TaskReport(name: TaskName("t", of: $0), root: "t", begunAt: now, seenAt: now, gateways: ["gw-2"])
        }
        loop.tasks.paces = ["acme", "globex"].map {
            TaskPace(tenant: $0, kind: "\($0)-work", pool: "azure:gpt-4o", running: 2)
        }
        loop.tasks.leftOut = 3
        loop.failures = [(stage: .read, message: "globex in azure:gpt-4o by gw-2")]
        fixture.board.report(loop)
        func override(_ id: Int64, _ tenant: TenantID, _ pool: PoolID?) -> Override {
            Override(id: id, tenant: tenant, pool: pool, tier: "premium", authorship: authorship)
        }
        func question(_ id: Int64, _ kind: Proposal.Kind, _ pool: PoolID, _ tenants: [TenantID]) -> Proposal {
            Proposal(
                id: id, kind: kind, pool: pool,
                changes: tenants.map { Proposal.Change(tenant: $0, from: Rates(tpm: 10), to: Rates(tpm: 20)) },
                evidence: ["globex is the largest"],
                effects: [.init(tenant: "globex", from: Rates(tpm: 10), to: Rates(tpm: 5))],
                authorship: Authorship(author: "headroom", reason: "globex asks", at: now, until: authorship.until))
        }
        func alert(_ id: Int64, _ pool: PoolID?, _ tenants: [TenantID]) -> Alert {
            Alert(
                id: id, key: AlertKey(pool == nil ? .gatewayLost : .starvation, pool: pool), openedAt: now,
                updatedAt: now,
                members: tenants.map {
                    Alert.Member(
                        name: $0.text, tenant: pool == nil ? nil : $0, since: now, severity: .warning,
                        sentence: "\($0) it is.")
                }, memberCount: tenants.count)
        }
        fixture.desk.change { state in
            state.lastID = 100
            state.policy.tiers = state.policy.tiers.map { tier in
                var tier = tier
                tier.taskSeconds = 60
                return tier
            }
            var times = TaskTimes()
            times.add(
                task: TaskTimes.Sums {
                    $0.tasks = 1
                    $0.seconds = 40
                })
            state.taskTimes = ["acme", "globex"].map {
                TaskTimeRollup(start: now.adding(seconds: -60), tenant: $0, kind: "\($0)-work", times: times)
            }
            state.levels.tasks = ["acme", "globex"].map { TaskLevel(tenant: $0, times: [.hour: times]) }
            state.policy.costBreaker.ceilings = [.tenant("globex"): 5, .tenant("acme"): 5, .taskKind("globex-work"): 5]
            state.policy.alerts.sinks = [
                AlertSinkPolicy(name: "azure-hook", format: .json, url: "https://globex.example/")
            ]
            state.contracts = ["acme", "globex"].map { tenant in
                Contract(
                    tenant: tenant,
                    terms: ["azure:gpt-4o", mine].map { Contract.Terms(pool: $0, floor: Rates(rpm: 1)) })
            }
            state.steering.overrides = [
                override(2, "globex", "azure:gpt-4o"), override(3, "acme", mine), override(4, "acme", nil),
            ]
            state.steering.freezes = [Freeze(id: 5, pool: "azure:gpt-4o", authorship: authorship)]
            state.steering.pins = [CapacityPin(pool: "azure:gpt-4o", capacity: Rates(rpm: 5), authorship: authorship)]
            state.steering.costLifts = [CostLift(id: 6, subject: .tenant("globex"), authorship: authorship)]
            state.steering.proposals = [
                question(10, .guardrail, "azure:gpt-4o", ["globex"]),
                question(11, .guardrail, mine, ["acme", "globex"]),
                question(12, .recommendation, "azure:gpt-4o", ["globex"]),
            ]
            state.alerts = [
                alert(20, mine, ["acme", "globex"]), alert(21, "azure:gpt-4o", ["globex"]), alert(22, nil, ["gw-2"]),
            ]
        }
        for name in ["override.set", "contract.put"] {
            fixture.desk.change { $0.note(name, by: "gw-globex-azure", at: now) }
        }
    }

    @Test func `no call shows or changes what lies outside a token's limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            let before = fixture.desk.now
            for name in ["tenant", "pool", "both"] {
                let client = try fixture.client()
                func call(_ method: String, _ target: String, _ body: String) async throws -> RawClient.Reply {
                    var headers = ["Authorization: Bearer \(name)"]
                    if !body.isEmpty { headers.append("Content-Type: application/json") }
                    return try await client.call(method, target, headers: headers, body: Array(body.utf8))
                }
                for route in fixture.service.calls {
                    let method = String(route.prefix { $0 != " " })
                    guard let kind = Self.table[route] else {
                        Issue.record("\(route) is not in the table: say what of it a limited token gets")
                        continue
                    }
                    switch kind {
                    case .filtered(let targets):
                        for target in targets {
                            let reply = try await call(method, target, "")
                            #expect(
                                [200, 403, 404].contains(reply.status),
                                "\(name): \(target): \(reply.status) \(reply.text)")
                            guard reply.status == 200 else { continue }
                            for other in Self.others[name] ?? [] {
                                #expect(!reply.text.contains(other), "\(name): \(target) shows \(other): \(reply.text)")
                            }
                        }
                    case .act(let target, let body):
                        let reply = try await call(method, target, body)
                        #expect([403, 404].contains(reply.status), "\(name): \(route): \(reply.status) \(reply.text)")
                    case .refused(let target, let body):
                        let reply = try await call(method, target, body)
                        #expect(reply.status == 403, "\(name): \(route): \(reply.status) \(reply.text)")
                        #expect(reply.text.contains("lies outside its limits"), "\(reply.text)")
                    case .gateways, .nothing: break
                    }
                }
            }
            let after = fixture.desk.now
            #expect(after.steering == before.steering && after.contracts == before.contracts)
            #expect(after.alerts == before.alerts && after.audit == before.audit)
            // Whoever sees all of it finds everything of it: the answers above were not empty for want of content.
            let admin = try Person("admin", fixture)
            for target in ["/metrics", "/v1/gateways", "/v1/live", "/v1/live/series?pool=openai:gpt-4o"] {
                let reply = try await admin.client.get(target, headers: ["Authorization: Bearer admin"])
                #expect(reply.text.contains("gw-2"), "\(target): \(reply.text)")
            }
            for target in ["/v1/policy", "/v1/live", "/v1/tenants", "/v1/overrides", "/v1/alerts"] {
                let text = try await admin.get(target).text
                #expect(text.contains("globex") && text.contains("azure"), "\(target): \(text)")
            }
        }
    }

    @Test func `what holds in all pools is ended by a token of all pools`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.setUp(fixture)
            for name in ["pool", "both"] {
                let person = try Person(name, fixture)
                #expect(try await person.get("/v1/overrides").text.contains(#""id":4"#), "it holds in the pool too")
                let refused = try await person.delete("/v1/overrides/4")
                #expect(refused.status == 403 && refused.text.contains("acme in all pools"), "\(refused.text)")
            }
            #expect(fixture.desk.now.steering.overrides.map(\.id) == [2, 3, 4])
            #expect(try await Person("both", fixture).delete("/v1/overrides/3").status == 204)
            #expect(try await Person("tenant", fixture).delete("/v1/overrides/4").status == 204)
        }
    }

    @Test func `a gateway's token speaks for its names whatever else it is limited to`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, gateways: ["gw-1.1", "gw-2"])
            let client = try fixture.client()
            let bearer = ["Authorization: Bearer prefix", "Content-Type: application/json"]
            let poll = try await client.get("/v1/allocations?gateway=gw-1.1", headers: bearer)
            #expect(poll.status == 200 && !poll.text.contains("azure") && !poll.text.contains("gw-2"), "\(poll.text)")
            #expect(try await client.get("/v1/allocations?gateway=gw-2", headers: bearer).status == 403)
            #expect(try await client.call("DELETE", "/v1/gateways/gw-2", headers: bearer).status == 403)
            let line = #"{"type":"call","gateway":"gw-2","tenant":"acme","pool":"openai:gpt-4o","outcome":"ok"}"#
            for lines in [line, line.replacing("gw-2", with: "gw-1.1").replacing("openai", with: "azure")] {
                let reply = try await client.call(
                    "POST", "/v1/telemetry", headers: bearer, body: Array("[\(lines)]".utf8))
                #expect(reply.status == 400, "\(reply.text)")
            }
            #expect(fixture.sink.batches.isEmpty)
            #expect(try await client.call("DELETE", "/v1/gateways/gw-1.1", headers: bearer).status == 204)
        }
    }

    @Test func `a person's word that a gateway is gone is in the audit log, and a gateway's own is not`() async throws {
        let tokens = Self.tokens + [.sample("gw", .gateway, gateways: ["gw-3"])]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(7, gateways: ["gw-2", "gw-3"])
            let gateway = try fixture.client()
            let bearer = ["Authorization: Bearer gw"]
            #expect(try await gateway.get("/v1/allocations?gateway=gw-3&applied=1.1", headers: bearer).status == 200)
            #expect(try await gateway.call("DELETE", "/v1/gateways/gw-3", headers: bearer).status == 204)
            #expect(fixture.desk.now.audit.isEmpty)
            let now = fixture.clock.now
            var report = LoopReport(at: now, pools: [])
            report.withheld = [
                WithheldBudget(pool: Self.mine, gateway: "gw-2", rates: Rates(rpm: 1), until: now.adding(seconds: 60))
            ]
            fixture.board.report(report)
            let admin = try Person("admin", fixture)
            #expect(try await admin.delete("/v1/gateways/gw-9").status == 404)
            #expect(fixture.desk.now.audit.isEmpty)
            #expect(try await admin.delete("/v1/gateways/gw-2").status == 204)
            #expect(fixture.desk.now.audit.map { "\($0.author) \($0.action)" } == ["admin gateway.release"])
            // What cannot be written down is not done.
            fixture.desk.change { $0.failure = SteeringError(.unavailable, "the disk is full") }
            #expect(try await admin.delete("/v1/gateways/gw-2").status == 503)
        }
    }
}
