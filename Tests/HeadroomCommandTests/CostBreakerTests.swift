import HeadroomJSON
import Testing

/// The cost breaker of a running service, from telemetry to what gateways poll.
@Suite struct CostBreakerTests {
    private static func open(_ kind: String, _ reply: ServiceClient.Reply) -> JSONNode? {
        reply.json["alerts"]?.array?.first { $0["kind"]?.string == kind }
    }

    @Test func `a tenant and a kind of task that overspend are announced, held, and lifted by a person`() async throws {
        let house = try House()
        try house.directory.write(
            #"""
            { pool: "\#(House.pool)", provider: "openai", nominal: { rpm: 600, tpm: 600000 },
              prices: [{ currency: "USD", request_micros: 1000000 }] }
            """#,
            to: "policies/pools/test.json5")
        // A day's window, so that none ends while the test runs.
        try house.writeRules(
            #"""
            alerts: { close_seconds: 0.1 }, telemetry: { checkpoint_seconds: 1 }, cost_breaker: {
              window_seconds: 86400, notice_seconds: 3,
              ceilings: [{ tenant: "acme", micros: 20000000 }, { task_kind: "research", micros: 5000000 }] }
            """#)
        func lines(_ count: Int, _ name: String, _ more: String) -> [String] {
            (0..<count).map {
                #"{"type":"call","id":"\#(name)-\#($0)","gateway":"gw-1","pool":"\#(House.pool)","outcome":"ok","#
                    + #""input_tokens":10,\#(more)}"#
            }
        }
        let paused = #"{"research":{"rpm":0}}"#
        let held: @Sendable (ServiceClient.Reply) -> Bool = { reply in
            let pool = reply.json["pools"]?[House.pool]
            return pool?["tenants"]?["acme"]?["ceiling"]?["rpm"]?.number == 0
                && Self.text(pool?["task_kinds"]) == paused
        }
        try await RunningService.run(house) { service in
            let client = service.client
            _ = try await client.post(lines(25, "a", #""tenant":"acme""#))
            _ = try await client.post(lines(6, "r", #""tenant":"globex","task_kind":"research""#))
            // Each step is announced before it is taken.
            let slowing = try await client.poll("/v1/alerts?kind=cost_slowing") {
                Self.open("cost_slowing", $0) != nil
            }
            #expect(slowing.text.contains("acme has spent 25.00 of the 20.00 USD"), "\(slowing.text)")
            let pausing = try await client.poll("/v1/alerts?kind=cost_pausing") {
                Self.open("cost_pausing", $0)?["count"]?.number == 2
            }
            #expect(pausing.text.contains("headroom cost-breaker lift --task-kind"), "\(pausing.text)")
            let snapshot = try await client.poll("/v1/allocations", until: held)
            #expect(held(snapshot), "\(snapshot.text)")
            let acme = snapshot.json["pools"]?[House.pool]?["tenants"]?["acme"]
            #expect(acme?["constraint"]?.string == "cost_breaker" && acme?["rpm"]?.number == 0)
            #expect(snapshot.json["pools"]?[House.pool]?["tenants"]?["globex"]?["ceiling"]?["rpm"]?.number != 0)
            let explained = try await client.poll("/v1/explain?tenant=acme&pool=\(House.pool)") {
                $0.text.contains("so it is paused until then")
            }
            // The number has been 0 since it was slowed, with nothing left: its chain is as old.
            #expect(explained.text.contains("The cost breaker binds: acme has spent 25.00 of the 20.00 USD"))
            #expect(explained.json["tenant"]?["cost_breaker"]?["state"]?.string == "paused", "\(explained.text)")
            // Stored with the checkpoint.
            let stored = #"headroom_cost_breaker_subjects{subject="tenant",state="paused"}"#
            let metrics = try await client.poll("/metrics") { $0.text.contains(stored + " 1\n") }
            #expect(metrics.text.contains(stored + " 1\n"), "\(metrics.text)")
            #expect(await service.stop(by: 15) == 0)
        }
        try await RunningService.run(house) { service in
            let client = service.client
            #expect(held(try await client.poll("/v1/allocations", until: held)))
            let url = ["--url", "http://127.0.0.1:\(client.port)"]
            let end = ["--reason", "launch day", "--expires-in", "1h"] + url
            for subject in [["--tenant", "acme"], ["--task-kind", "research"]] {
                let lift = try await HeadroomProgram.run(["cost-breaker", "lift"] + subject + end)
                #expect(lift.code == 0 && lift.output.contains("may spend on until"), "\(lift.errors)")
            }
            let free = try await client.poll("/v1/allocations") { reply in
                let pool = reply.json["pools"]?[House.pool]
                return pool?["tenants"]?["acme"]?["ceiling"]?["rpm"]?.number != 0 && pool?["task_kinds"] == nil
            }
            #expect(free.json["pools"]?[House.pool]?["task_kinds"] == nil, "\(free.text)")
            let listed = try await HeadroomProgram.run(["cost-breaker"] + url)
            #expect(listed.output.contains("task kind research  free"), "\(listed.output)\(listed.errors)")
            #expect(listed.output.contains("launch day"), "\(listed.output)")
            let closed = try await client.poll("/v1/alerts?state=open") { !$0.text.contains("cost_pausing") }
            #expect(!closed.text.contains("cost_pausing"), "\(closed.text)")
            let audit = try await client.get("/v1/audit")
            #expect(audit.text.contains(#""action":"cost.lift","detail":{"tenant":"acme","id":1"#), "\(audit.text)")
            let ended = try await HeadroomProgram.run(["cost-breaker", "end", "2"] + url)
            #expect(ended.code == 0, "\(ended.errors)")
            let again = try await client.poll("/v1/allocations") {
                Self.text($0.json["pools"]?[House.pool]?["task_kinds"]) == paused
            }
            #expect(Self.text(again.json["pools"]?[House.pool]?["task_kinds"]) == paused, "\(again.text)")
        }
    }

    private static func text(_ node: JSONNode?) -> String {
        node.map { String(decoding: $0.encoded(), as: UTF8.self) } ?? ""
    }

    @Test func `usage says what would be right`() async throws {
        let both = try await HeadroomProgram.run("cost-breaker", "lift", "--tenant", "a", "--task-kind", "b")
        #expect(both.code == 2 && both.errors.contains("say either --tenant T or --task-kind K"))
        let none = try await HeadroomProgram.run("cost-breaker", "end")
        #expect(none.code == 2 && none.errors.contains("ID is missing: \"headroom cost-breaker\" shows them"))
    }
}
