import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct RecordRouteTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("sre", .sre), .sample("acme", .viewer, tenants: ["acme"]),
        .sample("narrow", .sre, pools: ["p"]),
    ]

    @Test func `a number is explained, in numbers and in sentences`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.desk.change { $0.explanations = [.sample(generation: 5), .sample(generation: 9)] }
            fixture.clock.advance(seconds: 30)
            let viewer = try Person("viewer", fixture)
            let newest = try await viewer.get("/v1/explain?tenant=acme&pool=p")
            #expect(newest.status == 200 && newest.json["generation"]?.number == 9)
            #expect(newest.json["tenant"]?["constraint"]?.string == "slew")
            #expect(newest.json["sentences"]?[0]?.string == "acme asked for 410,000 tokens a minute.")
            #expect(newest.text.contains("(generation 9, 30 s ago)"))
            // Only while there is one: who causes it.
            var report = LoopReport.sample(at: fixture.clock.now)
            report.pools[1].pool = "p"
            fixture.board.report(report)
            let told = try await viewer.get("/v1/explain?tenant=acme&pool=p")
            #expect(told.text.contains("above what they are assured: acme 50 %, globex 50 %."), "\(told.text)")
            #expect(!newest.text.contains("globex"))
            // An earlier one that set the number which was in force.
            #expect(try await viewer.get("/v1/explain?tenant=acme&pool=p&generation=7").json["generation"]?.number == 5)
            for (query, status) in [
                ("tenant=acme&pool=p&generation=4", 404), ("tenant=acme&pool=q", 404), ("tenant=acme", 400),
                ("pool=p", 400), ("tenant=acme&pool=p&generation=x", 400), ("tenant=acme&pool=p&gen=5", 400),
            ] {
                #expect(try await viewer.get("/v1/explain?\(query)").status == status, "\(query)")
            }
            fixture.publish(9)
            for generation in ["10", "9223372036854775807"] {
                let reply = try await viewer.get("/v1/explain?tenant=acme&pool=p&generation=\(generation)")
                #expect(reply.status == 404)
                #expect(reply.text.contains("the newest is 9"))
            }
            let acme = try Person("acme", fixture)
            let own = try await acme.get("/v1/explain?tenant=acme&pool=p")
            #expect(own.status == 200 && !own.text.contains("globex"))
            #expect(try await acme.get("/v1/explain?tenant=globex&pool=p").status == 403)
        }
    }

    @Test func `history adds roll-ups up by the step`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            // 2026-10-26T07:33:00Z, and the three minutes after it.
            let first: Int64 = 1_792_999_980_000
            fixture.desk.change { state in
                state.rollups = (0..<4).flatMap { minute in
                    [("acme", 1), ("globex", 10)].map { tenant, calls in
                        Rollup(
                            start: Timestamp(milliseconds: first + Int64(minute) * 60000), tenant: TenantID(tenant)!,
                            pool: "p", criticality: .batch,
                            sums: RollupSums {
                                $0.ok = Int64(calls)
                                $0.oldestQueuedSeconds = Double(minute)
                            })
                    }
                }
            }
            let viewer = try Person("viewer", fixture)
            let range = "from=\(first)&to=2026-10-26T07:37:00Z"
            let minutes = try await viewer.get("/v1/history?pool=p&\(range)&tenant=acme")
            #expect(minutes.json["step_seconds"]?.number == 60 && minutes.json["next"]?.isNull == true)
            #expect(minutes.json["series"]?.array?.map { $0["ok"]?.number } == [1, 1, 1, 1])
            // Steps are counted from 1970: 07:32 to 07:34, 07:34 to 07:36, 07:36 to 07:38.
            let pairs = try await viewer.get("/v1/history?pool=p&\(range)&step=120").json["series"]?.array ?? []
            #expect(pairs.map { $0["ok"]?.number } == [11, 22, 11])
            #expect(pairs.map { $0["oldest_queued_seconds"]?.number } == [0, 2, 3])
            #expect(pairs.first?["start"]?.string == "2026-10-26T07:32:00.000Z")
            for (query, status) in [
                ("from=7", 400), ("pool=p&from=soon", 400), ("pool=p&step=1", 400), ("pool=p&from=9&to=9", 400),
                ("pool=p&from=-5", 400), ("pool=p", 200), ("pool=p&top=21", 400), ("pool=p&tenant=acme&top=3", 400),
            ] {
                #expect(try await viewer.get("/v1/history?\(query)").status == status, "\(query)")
            }
            let acme = try Person("acme", fixture)
            #expect(try await acme.get("/v1/history?pool=p&tenant=acme").status == 200)
            #expect(try await acme.get("/v1/history?pool=p").status == 403)
            #expect(try await Person("narrow", fixture).get("/v1/history?pool=q").status == 403)
            // Finer than a plot can show: whole pages, one after the other.
            let page = try await viewer.get("/v1/history?pool=p&from=\(first)&to=\(first + 800 * 60_000)&step=60")
            #expect(page.json["next"]?.string == "2026-10-26T20:03:00.000Z", "\(page.json["next"] as Any)")
        }
    }

    @Test func `a pool's plot has what there was to divide, who was served most, and what explains it`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let now = fixture.clock.now
            func minute(_ tenant: TenantID, _ tokens: Int64) -> Rollup {
                Rollup(
                    start: now.adding(seconds: -600), tenant: tenant, pool: "p", criticality: .batch,
                    sums: RollupSums {
                        $0.countedTokens = tokens
                        $0.denied = 1
                    })
            }
            var capacity = CapacitySums()
            capacity.observedSeconds = 30
            capacity.nominal = Rates(tpm: 500)
            capacity.estimated = Rates(tpm: 250)
            fixture.desk.change { state in
                state.rollups = [minute("acme", 5), minute("globex", 70), minute("initech", 20)]
                state.pools = [PoolRollup(start: now.adding(seconds: -600), pool: "p", capacity: capacity)]
                state.events = [
                    PoolEvent(
                        at: now.adding(seconds: -590), pool: "p", kind: .capacity, subject: "tpm", before: "1000",
                        after: "500"),
                    PoolEvent(at: now.adding(seconds: -590), pool: "q", kind: .state, before: "healthy", after: "open"),
                ]
                for (tenant, pool) in [("acme", "p"), ("globex", "q"), ("globex", "p")] {
                    state.note("override.set", by: "anna", at: now.adding(seconds: -580))
                    state.audit[state.audit.count - 1].detail =
                        #"{"tenant":"\#(tenant)","pool":"\#(pool)","reason":"renewal"}"#
                }
            }
            let viewer = try Person("viewer", fixture)
            let plot = try await viewer.get("/v1/history?pool=p&top=1").json
            let step = plot["series"]?[0]
            // Half a minute was looked at: the mean rate of that half.
            #expect(step?["capacity"]?["nominal"]?["tpm"]?.number == 1000)
            #expect(step?["capacity"]?["estimated"]?["tpm"]?.number == 500)
            #expect(step?["counted_tokens"]?.number == 95 && step?["denied"]?.number == 3)
            #expect(plot["top"]?.array?.map { $0["tenant"]?.string } == ["globex"])
            #expect(plot["top"]?[0]?["series"]?[0]?["counted_tokens"]?.number == 70)
            #expect(plot["rest"]?["tenants"]?.number == 2)
            #expect(plot["rest"]?["series"]?[0]?["counted_tokens"]?.number == 25)
            #expect(plot["events"]?.array?.map { $0["kind"]?.string } == ["capacity"])
            #expect(plot["acts"]?.array?.map { $0["tenant"]?.string } == ["acme", "globex"])
            #expect(plot["acts"]?[0]?["reason"]?.string == "renewal")
            // A tenant's own plot names nobody else.
            let own = try await Person("acme", fixture).get("/v1/history?pool=p&tenant=acme")
            #expect(own.json["series"]?[0]?["counted_tokens"]?.number == 5)
            #expect(own.json["acts"]?.array?.count == 1 && !own.text.contains("globex"))
        }
    }

    @Test func `a moment is explained by the generation that was in force, and an outage is named`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let now = fixture.clock.now
            fixture.desk.change { state in
                state.explanations = [.sample(generation: 5), .sample(generation: 9)]
                for (place, generation) in [Int64(5), 9].enumerated() {
                    state.snapshots.append(
                        Snapshot(
                            version: SnapshotVersion(epoch: 1, generation: generation),
                            issuedAt: now.adding(seconds: -600 + 300 * Double(place)), leaseSeconds: 15, policy: "a@b",
                            pools: []))
                }
                state.rollups = [
                    Rollup(
                        start: Timestamp(milliseconds: (now.milliseconds - 400_000) / 60_000 * 60_000), tenant: "acme",
                        pool: "p", criticality: .batch,
                        sums: RollupSums {
                            $0.ok = 1
                            $0.overload = 9
                            $0.asked.tokens = 500
                        })
                ]
            }
            let viewer = try Person("viewer", fixture)
            func explain(_ query: String) async throws -> RawClient.Reply {
                try await viewer.get("/v1/explain?tenant=acme&pool=p&\(query)")
            }
            let earlier = try await explain("at=\(now.milliseconds - 400_000)")
            #expect(earlier.json["generation"]?.number == 5)
            #expect(earlier.text.contains("the provider had an outage: 9 of 10 attempts failed"), "\(earlier.text)")
            let later = try await explain("at=\(now.milliseconds - 10_000)")
            #expect(later.json["generation"]?.number == 9 && !later.text.contains("outage"))
            #expect(try await explain("at=\(now.milliseconds - 700_000)").status == 404)
            #expect(try await explain("at=1&generation=5").status == 400)
            #expect(try await explain("at=1&from=1").status == 400)
            #expect(try await explain("to=5").status == 400)

            let story = try await explain("from=\(now.milliseconds - 600_000)")
            #expect(story.json["own"]?["overload"]?.number == 9 && story.json["outages"]?.array?.count == 1)
            #expect(story.json["sentences"]?[0]?.string?.contains("acme in p asked for") == true)
            #expect(story.json["for_tenant"]?[0]?.string?.contains("you asked p for") == true)
            let pool = try await viewer.get("/v1/explain?pool=p&from=\(now.milliseconds - 600_000)")
            #expect(pool.json["sentences"]?[0]?.string?.contains("all tenants of p") == true, "\(pool.text)")
            #expect(pool.json["for_tenant"] == nil)
            #expect(try await explain("from=1&to=9999999999").status == 400)
            let acme = try Person("acme", fixture)
            #expect(try await acme.get("/v1/explain?pool=p&from=5").status == 403)
            #expect(try await acme.get("/v1/explain?pool=p&tenant=acme&from=\(now.milliseconds - 1000)").status == 200)
        }
    }

    @Test func `costs are summed at the prices of their time, and unpriced use is named`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            // 2026-10-26T07:33:20Z.
            let hour = Timestamp(milliseconds: fixture.clock.now.milliseconds / 3_600_000 * 3_600_000)
            func use(_ tenant: TenantID, _ pool: PoolID, hoursAgo: Double, requests: Int64) -> ModelUse {
                ModelUse(
                    start: hour.adding(seconds: -3_600 * hoursAgo), tenant: tenant, pool: pool, criticality: .batch,
                    model: tenant == "acme" ? "gpt-4o" : nil, taskKind: hoursAgo == 0 ? "review" : nil,
                    sums: UseSums(requests: requests, inputTokens: 10))
            }
            let raise = hour.adding(seconds: -3_600)
            fixture.desk.change { state in
                state.policy.pools = [
                    PoolPolicy(pool: "p", nominal: Rates(rpm: 1)), PoolPolicy(pool: "q", nominal: Rates(rpm: 1)),
                ]
                state.policy.pools[0].prices = [
                    PoolPrice(until: raise, currency: "USD", perRequest: 1_000_000),
                    PoolPrice(from: raise, currency: "USD", perRequest: 3_000_000),
                ]
                let terms = CostTerms(
                    currency: "EUR", period: .month, most: 1, prices: [CostTerms.Price(perRequest: 500_000)])
                state.contracts = [Contract(tenant: "globex", cost: terms)]
                state.uses = [
                    use("acme", "p", hoursAgo: 2, requests: 5), use("acme", "p", hoursAgo: 0, requests: 2),
                    use("acme", "q", hoursAgo: 0, requests: 7), use("globex", "q", hoursAgo: 0, requests: 4),
                    use("acme", "p", hoursAgo: 9_000, requests: 1),
                ]
            }
            let viewer = try Person("viewer", fixture)
            let costs = try await viewer.get("/v1/costs?by=tenant").json
            #expect(
                costs["from"]?.string == "2026-10-01T00:00:00.000Z" && costs["to"]?.string == "2026-10-26T08:00:00.000Z"
            )
            #expect(costs["costs"]?.array?.map { $0["key"]?.string } == ["globex", "acme", "acme"])
            #expect(costs["costs"]?.array?.map { $0["currency"]?.string } == ["EUR", "USD", nil])
            #expect(costs["costs"]?.array?.map { $0["cost_micros"]?.number } == [2_000_000, 11_000_000, nil])
            #expect(costs["costs"]?[2]?["requests"]?.number == 7)
            #expect(costs["totals"]?.array?.map { $0["cost_micros"]?.number } == [2_000_000, 11_000_000])
            let before = try await viewer.get("/v1/costs?by=pool&from=1&to=\(raise.milliseconds)").json
            #expect(before["totals"]?[0]?["cost_micros"]?.number == 6_000_000)
            let own = try await Person("acme", fixture).get("/v1/costs?by=tenant")
            #expect(own.status == 200 && !own.text.contains("globex") && own.json["totals"]?.array?.count == 1)
            // Whatever by says, the sums are the same; the provider's bill does not ask for contracts.
            for by in CostReport.Dimension.allCases.map(\.rawValue) {
                let reply = try await viewer.get("/v1/costs?by=\(by)")
                #expect(SchemaCheck.openAPI.faults(in: reply, to: "GET", "/v1/costs") == [], "\(reply.text)")
                #expect(reply.json["totals"]?.array?.map { $0["cost_micros"]?.number } == [2_000_000, 11_000_000])
                #expect(reply.json["provider_totals"]?.array?.map { $0["cost_micros"]?.number } == [11_000_000])
            }
            let models = try await viewer.get("/v1/costs?by=model").json
            #expect(models["costs"]?.array?.map { $0["key"]?.string } == [nil, "gpt-4o", "gpt-4o"])
            let kinds = try await viewer.get("/v1/costs?by=task-kind").json
            #expect(kinds["costs"]?.array?.map { $0["key"]?.string } == ["review", "review", nil, "review"])
            // The last 24 hours and 33 minutes had 11 dollars; five days, 16 hours and 26 minutes are left.
            #expect(costs["projected_until"]?.string == "2026-11-01T00:00:00.000Z")
            let projected = costs["totals"]?[1]?["projected_micros"]?.number ?? 0
            #expect(abs(projected / 1e6 - (11 + 11 / 24.556 * 136.444)) < 0.01, "\(projected)")
            #expect(before["projected_until"]?.string == nil)
            for query in ["", "by=colour", "by=tenant&from=9&to=9", "by=tenant&month=1"] {
                #expect(try await viewer.get("/v1/costs?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func `generations are listed by time, and two of them compared`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let now = fixture.clock.now
            func snapshot(_ generation: Int64, tpm: Double, tenants: [TenantAllocation]) -> Snapshot {
                let changed = PoolAllocation(
                    pool: "p", capacity: Rates(tpm: tpm), nominal: Rates(tpm: 1000), budget: Rates(tpm: tpm),
                    tenants: tenants)
                let same = PoolAllocation(
                    pool: "q", capacity: Rates(rpm: 7), nominal: Rates(rpm: 7), budget: Rates(rpm: 7))
                return Snapshot(
                    version: SnapshotVersion(epoch: 1, generation: generation),
                    issuedAt: now.adding(seconds: Double(generation) - 100), leaseSeconds: 15, policy: "a@b",
                    pools: [changed, same])
            }
            fixture.desk.change { state in
                state.snapshots = [
                    snapshot(
                        5, tpm: 1000,
                        tenants: [
                            TenantAllocation(tenant: "acme", assured: Rates(tpm: 400)),
                            TenantAllocation(tenant: "globex", assured: Rates(tpm: 300)),
                            TenantAllocation(tenant: "same", assured: Rates(tpm: 10), serviceClock: 1),
                        ]),
                    snapshot(
                        6, tpm: 500,
                        tenants: [
                            TenantAllocation(tenant: "acme", assured: Rates(tpm: 390)),
                            TenantAllocation(tenant: "new", assured: Rates(tpm: 50)),
                            TenantAllocation(tenant: "same", assured: Rates(tpm: 10), serviceClock: 9),
                        ]),
                ]
                state.explanations = [.sample(generation: 6)]
            }
            let viewer = try Person("viewer", fixture)
            let list = try await viewer.get("/v1/generations?limit=1").json
            #expect(list["generations"]?.array?.map { $0["generation"]?.number } == [6])
            let next = try #require(list["next"]?.string)
            let older = try await viewer.get("/v1/generations?to=\(next)").json
            #expect(older["generations"]?.array?.map { $0["generation"]?.number } == [5])
            let inForce = try await viewer.get("/v1/generations?limit=1&to=\(now.milliseconds - 94_500)").json
            #expect(inForce["generations"]?[0]?["generation"]?.number == 5)

            let difference = try await viewer.get("/v1/generations/5..6").json
            #expect(difference["pools"]?.array?.map { $0["pool"]?.string } == ["p"])
            let pool = difference["pools"]?[0]
            #expect(
                pool?["before"]?["capacity"]?["tpm"]?.number == 1000
                    && pool?["after"]?["capacity"]?["tpm"]?.number == 500)
            // Those that moved most first; one that is the same but for its clock is left out.
            #expect(pool?["tenants"]?.array?.map { $0["tenant"]?.string } == ["globex", "new", "acme"])
            #expect(pool?["tenants"]?[0]?["after"]?.isNull == true && pool?["tenants_changed"]?.number == 3)
            #expect(
                try await viewer.get("/v1/generations/5..6?limit=1").json["pools"]?[0]?["tenants"]?.array?.count == 1)
            let own = try await Person("acme", fixture).get("/v1/generations/5..6")
            #expect(own.status == 200 && !own.text.contains("globex") && own.text.contains("390"))
            for (path, status) in [("5..7", 404), ("5", 400), ("a..b", 400), ("5..6?pools=p", 400), ("0..6", 400)] {
                #expect(try await viewer.get("/v1/generations/\(path)").status == status, "\(path)")
            }
        }
    }

    @Test func `the audit log comes by the page, to operators without limits`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.desk.change { state in
                for index in 0..<5 {
                    state.note(index == 4 ? "token.create" : "override.set", by: "anna", at: fixture.clock.now)
                }
                state.audit[4].detail = "not JSON"
            }
            let sre = try Person("sre", fixture)
            let page = try await sre.get("/v1/audit?after=1&limit=2")
            #expect(page.json["entries"]?.array?.map { $0["sequence"]?.number } == [2, 3])
            #expect(page.json["next"]?.number == 3 && page.json["entries"]?[0]?["detail"]?["n"]?.number == 2)
            let rest = try await sre.get("/v1/audit?after=3")
            #expect(rest.json["next"]?.isNull == true && rest.json["entries"]?[1]?["detail"]?.string == "not JSON")
            #expect(try await sre.get("/v1/audit?after=-1").status == 400)
            #expect(try await Person("narrow", fixture).get("/v1/audit").status == 403)
        }
    }

    @Test func `gateways tell what they have applied and how far behind they are`() async throws {
        try await ServiceFixture.run { fixture in
            let local = try Person(nil, fixture)
            fixture.publish(7, gateways: ["gw-1"])
            _ = try await local.get("/v1/allocations?gateway=gw-1&applied=\(Publication.epoch).7")
            fixture.publish(9, gateways: ["gw-1"])
            fixture.clock.advance(seconds: 3)
            let gateway = try await local.get("/v1/gateways").json["gateways"]?[0]
            #expect(gateway?["gateway"]?.string == "gw-1")
            #expect(gateway?["applied"]?.string == "\(Publication.epoch).7")
            #expect(gateway?["drift_generations"]?.number == 2 && gateway?["drift_seconds"]?.number == 3)
            #expect(gateway?["parts"]?.array?.map { $0["pool"]?.string } == ["azure:gpt-4o", "openai:gpt-4o"])
            #expect(gateway?["parts"]?[1]?["budget"]?["rpm"]?.number == 50)
            // The answer counts as handed over a moment after it is read here.
            #expect(gateway?["last_seen"]?.string?.hasPrefix("2026-10-26T07:33:2") == true)
        }
    }

    @Test func `what is withheld for a gateway that vanished is named, and a goodbye frees it`() async throws {
        let tokens =
            Self.tokens + [
                AccessToken.sample("gw-1", .gateway, gateways: ["gw-1"]),
                AccessToken.sample("gw-2", .gateway, gateways: ["gw-2"]),
            ]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            var report = LoopReport(at: fixture.clock.now)
            let pool: PoolID = "openai:gpt-4o"
            report.withheld = [
                WithheldBudget(
                    pool: pool, gateway: "gw-1", rates: Rates(rpm: 285, tpm: 285_000),
                    until: fixture.clock.now.adding(seconds: 60))
            ]
            fixture.board.report(report)
            let sre = try Person("sre", fixture)
            let gateway = try await sre.get("/v1/gateways").json["gateways"]?[0]
            #expect(gateway?["gateway"]?.string == "gw-1" && gateway?["last_seen"]?.isNull == true)
            let withheld = gateway?["withheld"]?[0]
            #expect(withheld?["pool"]?.string == pool.text && withheld?["rates"]?["tpm"]?.number == 285_000)
            #expect(withheld?["until"]?.string == "2026-10-26T07:34:20.000Z")
            let warnings = try await fixture.client().get("/readyz").json["warnings"]?.array?.compactMap(\.string) ?? []
            #expect(
                warnings == [
                    "285,000 tokens and 285 requests a minute of openai:gpt-4o are withheld for gw-1, which has not "
                        + "been heard of, until 2026-10-26T07:34:20.000Z; DELETE /v1/gateways/gw-1 frees them"
                ])

            let goodbye = "/v1/gateways/gw-1"
            #expect(try await Person("viewer", fixture).delete(goodbye).status == 403)
            #expect(try await Person("gw-2", fixture).delete(goodbye).status == 403)
            #expect(try await Person("gw-1", fixture).delete(goodbye).status == 204)
            let left = fixture.board.gateways(since: fixture.clock.now)
            #expect(left.map(\.hasLeft) == [true])
            fixture.board.report(LoopReport(at: fixture.clock.now))
            #expect(try await sre.delete(goodbye).status == 404, "it is gone")
            #expect(try await sre.get("/v1/gateways").json["gateways"]?.array?.isEmpty == true)
            #expect(try await sre.delete("/v1/gateways/a%20b").status == 400)
        }
    }

    @Test func `the policy in force is told, and another is checked`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let viewer = try Person("viewer", fixture)
            let policy = try await viewer.get("/v1/policy").json
            #expect(policy["policy"]?.string == "default@" && policy["refusal"]?.isNull == true)
            #expect(policy["rules"]?["override_limits"]?["hours"]?.number == 24)
            #expect(policy["pools"]?.array?.count == 2)
            // What is in force passes its own check.
            func quoted(_ node: JSONNode?) -> String {
                let text = String(decoding: node?.encoded() ?? [], as: UTF8.self)
                return String(decoding: JSONNode(.string(text)).encoded(), as: UTF8.self)
            }
            let pools = (policy["pools"]?.array ?? []).enumerated().map { #""pools/\#($0).json5":\#(quoted($1))"# }
            let files = ([#""rules.json5":"# + quoted(policy["rules"])] + pools).joined(separator: ",")
            let valid = try await viewer.post("/v1/policy/check", #"{"files":{\#(files)}}"#)
            #expect(valid.status == 200 && valid.json["valid"]?.bool == true, "\(valid.text)")
            let broken = try await viewer.post(
                "/v1/policy/check", #"{"files":{"rules.json5":"{\n  tiers: 7,\n}","pools/a.json5":"{pool:'a'}"}}"#)
            #expect(broken.status == 200 && broken.json["valid"]?.bool == false)
            let faults = broken.json["faults"]?.array ?? []
            #expect(
                faults.map { "\($0["file"]?.string ?? "") \($0["key"]?.string ?? "")" } == [
                    "pools/a.json5 nominal", "rules.json5 tiers",
                ])
            #expect(faults.last?["line"]?.number == 2)
            for body in ["[]", "{}", #"{"files":7}"#, #"{"files":{"rules.json5":7}}"#, #"{"files":{},"x":1}"#] {
                #expect(try await viewer.post("/v1/policy/check", body).status == 400, "\(body)")
            }
        }
    }
}

extension Explanation {
    static func sample(generation: Int64) -> Explanation {
        Explanation(
            version: SnapshotVersion(epoch: Publication.epoch, generation: generation),
            at: Timestamp(milliseconds: 1_793_000_000_000),
            pool: PoolFacts(
                pool: "p", nominal: Rates(tpm: 2_000_000), capacity: Rates(tpm: 1_100_000), capacityReason: .throttled,
                recentAttempts: 100, recentRefusals: 8, shared: Rates(tpm: 1_045_000)),
            tenant: TenantFacts(
                tenant: "acme", tier: "premium", weight: 4, demand: Rates(tpm: 410_000),
                credibleDemand: PerCriticality(interactive: Rates(tpm: 410_000), nearRealTime: .none, batch: .none),
                direction: Rates(rpm: 1, tpm: 1000), target: 268, mean: 268,
                before: 200, least: 150, leastConstraint: .slew, most: 240, mostConstraint: .slew, fill: 240,
                assured: Rates(tpm: 240_000), constraint: .slew))
    }
}
