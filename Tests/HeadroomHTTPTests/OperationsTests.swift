import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct OperationsTests {
    @Test func `readiness says why not`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            func reasons() async throws -> [String] {
                let reply = try await client.get("/readyz")
                let document = try JSONNode.parse(reply.body)
                let reasons = (document["reasons"]?.array ?? []).compactMap(\.string)
                #expect(reply.status == (reasons.isEmpty ? 200 : 503))
                #expect(document["ready"]?.bool == reasons.isEmpty)
                return reasons
            }
            #expect(
                try await reasons() == ["no generation has been published yet", "the control loop has not run yet"])
            fixture.publish(7)
            fixture.board.report(LoopReport(at: fixture.clock.now))
            #expect(try await reasons() == [])
            fixture.board.report(
                LoopReport(
                    at: fixture.clock.now, failures: [(stage: .read, message: "database is locked")],
                    isLedgerWritable: false))
            #expect(
                try await reasons() == [
                    "read failed: database is locked",
                    "the ledger cannot be written: decreases are published from memory",
                ])
            fixture.board.report(LoopReport(at: fixture.clock.now, publishedAt: fixture.clock.now))
            fixture.clock.advance(seconds: 61)
            #expect(try await reasons() == ["the control loop last ran 61 seconds ago"])
            let document = try JSONNode.parse(try await client.get("/readyz").body)
            #expect(document["published_age_seconds"]?.number == 61)
            #expect(document["generation"]?.number == 7)
        }
    }

    @Test func `rules that were refused are a warning, and the service stays ready`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            var report = LoopReport(at: fixture.clock.now)
            report.rulesRefusal = "the changed policy was refused: rules.json5:1:2: no"
            fixture.board.report(report)
            let reply = try await fixture.client().get("/readyz")
            #expect(reply.status == 200)
            let document = try JSONNode.parse(reply.body)
            #expect(document["ready"]?.bool == true)
            #expect(document["reasons"]?.array?.isEmpty == true)
            #expect(
                document["warnings"]?.array?.map(\.string) == ["the changed policy was refused: rules.json5:1:2: no"])
        }
    }

    @Test func `what is wrong beside the loop is a warning or a reason for as long as it holds, and a metric`()
        async throws
    {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            fixture.board.report(LoopReport(at: fixture.clock.now))
            let client = try fixture.client()
            for kind in ServiceConditions.Kind.allCases {
                let sample = "headroom_service_condition{condition=\"\(kind.rawValue)\"} "
                #expect(try await client.get("/metrics").text.contains(sample + "0\n"))
                fixture.conditions.set(kind, "wrong: \(kind.rawValue)")
                fixture.board.report(LoopReport(at: fixture.clock.now))
                let reply = try await client.get("/readyz")
                #expect(reply.status == (kind == .databaseFiles ? 503 : 200), "\(reply.text)")
                let document = try JSONNode.parse(reply.body)
                let place = kind == .databaseFiles ? "reasons" : "warnings"
                #expect(document[place]?.array?.map(\.string) == ["wrong: \(kind.rawValue)"], "\(reply.text)")
                #expect(try await client.get("/metrics").text.contains(sample + "1\n"))
                fixture.conditions.set(kind, nil)
                fixture.board.report(LoopReport(at: fixture.clock.now))
            }
        }
    }

    @Test func `a late, long or skipped tick is a warning until it is a minute ago`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            func warnings() async throws -> [String] {
                let reply = try await client.get("/readyz")
                #expect(reply.status == 200)
                return (reply.json["warnings"]?.array ?? []).compactMap(\.string)
            }
            func report(skipped: Int, seconds: Double) {
                fixture.board.report(
                    LoopReport(at: fixture.clock.now, ticksSkipped: skipped, lastTickSeconds: seconds))
            }
            report(skipped: 0, seconds: 0.1)
            #expect(try await warnings() == [])
            fixture.clock.advance(seconds: 5)
            #expect(
                try await warnings() == ["no tick has begun since 2026-10-26T07:33:20.000Z; one is due every 2.0 s"])
            report(skipped: 2, seconds: 5.2)
            #expect(
                try await warnings() == [
                    "a tick took 5.2 s, longer than its period of 2.0 s",
                    "2 ticks were skipped in the last 60 s, because the one before had not ended",
                ])
            report(skipped: 3, seconds: 0.1)
            #expect(
                try await warnings() == [
                    "3 ticks were skipped in the last 60 s, because the one before had not ended"
                ])
            fixture.clock.advance(seconds: 61)
            report(skipped: 3, seconds: 0.1)
            #expect(try await warnings() == [])
        }
    }

    @Test func `more than four gateways that do not draw are a warning`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            for (lending, isWarned) in [(4, false), (5, true)] {
                var pool = PoolReport(
                    pool: "demo:pool", state: .healthy, nominal: Rates(rpm: 10), estimated: Rates(rpm: 10),
                    capacityReason: .contract, confidence: 1, budget: Rates(rpm: 10), assured: Rates(rpm: 10),
                    consumed: .none, calls: [:], tenants: [])
                pool.gateways = GatewayCounts(drawing: 2, lending: lending)
                fixture.board.report(LoopReport(at: fixture.clock.now, pools: [pool]))
                let readiness = try await client.get("/readyz")
                #expect(readiness.status == 200)
                #expect(
                    readiness.json["warnings"]?.array?.map(\.string)
                        == (isWarned
                            ? [
                                "pool demo:pool: 5 gateways do not draw, 2 do; more than 4 without draws leave budget "
                                    + "where no work waits: let them draw"
                            ] : []))
                let counts = try await client.get("/v1/pools").json["pools"]?.array?.first?["gateways"]
                #expect(counts?["drawing"]?.number == 2 && counts?["lending"]?.number == Double(lending))
            }
        }
    }

    @Test func `the text of the metrics is rendered once a report, and again when none comes`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            func age() async throws -> String? {
                try await client.get("/metrics").text.split(separator: "\n")
                    .first { $0.hasPrefix("headroom_published_age_seconds ") }.map { String($0.dropFirst(31)) }
            }
            let publishedAt = fixture.clock.now
            fixture.board.report(LoopReport(at: publishedAt, publishedAt: publishedAt))
            #expect(try await age() == "0")
            fixture.clock.advance(seconds: 2)
            #expect(try await age() == "0", "the same text")
            fixture.board.report(LoopReport(at: fixture.clock.now, publishedAt: publishedAt))
            #expect(try await age() == "2")
            fixture.clock.advance(seconds: 60)
            #expect(try await age() == "62", "the loop has stopped, and its age grows")
        }
    }

    @Test func `tenants that were turned away are a warning for ten minutes, and a metric`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            func report(_ bound: UntrackedTenants.Bound) {
                var untracked = UntrackedTenants(lines: 980)
                untracked.last = (bound, "gw-1", fixture.clock.now)
                fixture.board.report(
                    LoopReport(
                        at: fixture.clock.now,
                        pools: [
                            PoolReport(
                                pool: "demo:pool", state: .healthy, nominal: Rates(rpm: 10), estimated: Rates(rpm: 10),
                                capacityReason: .contract, confidence: 1, budget: Rates(rpm: 10),
                                assured: Rates(rpm: 10), consumed: .none, calls: [:], untracked: untracked, tenants: [])
                        ]))
            }
            let client = try fixture.client()
            func warnings() async throws -> [String?] {
                let reply = try await client.get("/readyz")
                return try JSONNode.parse(reply.body)["warnings"]?.array?.map(\.string) ?? []
            }
            report(.gateway)
            #expect(
                try await warnings() == [
                    "pool demo:pool: 980 lines were of tenants beyond loop.max_new_tenants_per_gateway, which share "
                        + "`unlisted`; the last came from gateway gw-1"
                ])
            #expect(
                try await client.get("/metrics").text.contains(#"headroom_untracked_lines_total{pool="demo:pool"} 980"#)
            )
            report(.total)
            #expect(try await warnings().first??.contains("beyond loop.max_tenants_total,") == true)
            fixture.clock.advance(seconds: 601)
            #expect(try await !warnings().contains { $0?.contains("beyond loop.") == true })
        }
    }

    @Test func `telemetry that storage refuses is a reason until it takes some again`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            fixture.board.report(LoopReport(at: fixture.clock.now))
            let client = try fixture.client()
            func post() async throws -> Int {
                let line = #"{"type":"model","at":1793000000000,"pool":"p","model":"m","version":"1"}"#
                return try await client.call(
                    "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"], body: Array(line.utf8)
                ).status
            }
            fixture.sink.fill()
            #expect(try await post() == 503)
            let reply = try await client.get("/readyz")
            #expect(reply.status == 503)
            #expect(
                try JSONNode.parse(reply.body)["reasons"]?.array?.map(\.string) == [
                    "telemetry is refused: the disk is full"
                ])
            fixture.sink.empty()
            #expect(try await post() == 200)
            #expect(try await client.get("/readyz").status == 200)
        }
    }

    @Test func `the description names every path`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let document = try JSONNode.parse(try await client.get("/openapi.json").body)
            let paths = document["paths"]?.members?.map(\.key) ?? []
            #expect(paths.contains("/v1/allocations") && paths.contains("/v1/telemetry"))
            for path in paths {
                // "{id}" is the id of nothing, but the path is known.
                let reply = try await client.call("GET", path)
                #expect(!reply.text.contains("is no path of this service"), "\(path)")
            }
            #expect(try await client.get("/healthz").text == "ok\n")
        }
    }

    @Test func `metrics count telemetry and name gateways that are behind`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let body = Array(
                ("{\"type\":\"model\",\"at\":1793000000000,\"pool\":\"p\",\"model\":\"m\",\"version\":\"m-2\"}\n"
                    + "nonsense\n").utf8)
            _ = try await client.call(
                "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"], body: body)
            fixture.publish(7, gateways: ["gw-1"])
            _ = try await client.get("/v1/allocations?gateway=gw-1&applied=\(Publication.epoch).7")
            fixture.publish(8, gateways: ["gw-1"])
            fixture.clock.advance(seconds: 3)
            let reply = try await client.get("/metrics")
            #expect(reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            for line in [
                #"headroom_telemetry_lines_total{type="model",result="accepted"} 1"#,
                #"headroom_telemetry_lines_total{type="unknown",result="rejected"} 1"#,
                #"headroom_gateway_drift_seconds{gateway="gw-1"} 3"#, "headroom_gateway_drift_seconds_max 3",
                "headroom_long_polls 0",
            ] {
                #expect(reply.text.contains(line + "\n"), "\(line) in \(reply.text)")
            }
        }
    }
}
