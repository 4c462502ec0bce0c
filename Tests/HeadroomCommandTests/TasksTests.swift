import HeadroomJSON
import Testing

/// Agent tasks of a running service, from telemetry of two gateways to what they poll, and people's word on them.
@Suite struct TasksTests {
    private static func held(_ reply: ServiceClient.Reply, _ task: String) -> String? {
        reply.json["pools"]?[House.pool]?["tasks"]?["held"]?.array?.first { $0["task"]?.string == task }?["held"]?
            .string
    }

    @Test
    func `a tree over two gateways is stopped by its budget, lifted, stopped by a person, and survives a restart`()
        async throws
    {
        let house = try House()
        try house.writeRules(
            #"""
            alerts: { close_seconds: 0.1 }, telemetry: { checkpoint_seconds: 1 },
            task_budgets: { require_task: true, budgets: [{ task_kind: "research", calls: 20 }] }
            """#)
        func lines(_ count: Int, _ gateway: String, _ task: String, _ more: String = "") -> [String] {
            (0..<count).map {
                #"{"type":"call","id":"\#(gateway)-\#(task)-\#($0)","gateway":"\#(gateway)","tenant":"acme","#
                    + #""pool":"\#(House.pool)","outcome":"ok","input_tokens":10,"task":"\#(task)","task_kind":"research"\#(more)}"#
            }
        }
        try await RunningService.run(house) { service in
            let client = service.client
            _ = try await client.post(lines(12, "gw-1", "root"))
            _ = try await client.post(lines(8, "gw-2", "child", #","parent":"root""#))
            let stopped = try await client.poll("/v1/allocations") { Self.held($0, "child") == "all" }
            #expect(Self.held(stopped, "root") == "all" && Self.held(stopped, "child") == "all", "\(stopped.text)")
            #expect(stopped.json["pools"]?[House.pool]?["tasks"]?["require_task"]?.bool == true)
            let alerts = try await client.poll("/v1/alerts?kind=task_stopped") { $0.text.contains("20 calls of 20") }
            #expect(alerts.text.contains("headroom tasks lift"), "\(alerts.text)")
            #expect(alerts.text.contains("the largest child with 8 calls"), "\(alerts.text)")
            let metrics = try await client.poll("/metrics") { $0.text.contains("headroom_task_stops_total 1") }
            #expect(metrics.text.contains(#"headroom_tasks_held{held="all"} 1"#), "\(metrics.text)")
            #expect(await service.stop(by: 15) == 0)
        }
        try await RunningService.run(house) { service in
            let client = service.client
            let again = try await client.poll("/v1/allocations") { Self.held($0, "child") == "all" }
            #expect(Self.held(again, "child") == "all", "\(again.text)")
            let url = ["--url", "http://127.0.0.1:\(client.port)"]
            let end = ["--reason", "the report is due", "--expires-in", "1h"] + url
            let listed = try await HeadroomProgram.run(["tasks"] + url)
            #expect(listed.output.contains("stopped (calls)") && listed.output.contains("20/20"), "\(listed.output)")
            #expect(listed.output.contains("gw-1,gw-2"), "\(listed.output)\(listed.errors)")
            let lift = try await HeadroomProgram.run(["tasks", "lift", "root"] + end)
            #expect(lift.code == 0 && lift.output.contains("the task root of acme may go on until"), "\(lift.errors)")
            let free = try await client.poll("/v1/allocations") { Self.held($0, "root") == "nothing" }
            #expect(Self.held(free, "root") == "nothing" && Self.held(free, "child") == nil, "\(free.text)")
            let closed = try await client.poll("/v1/alerts?state=open") { !$0.text.contains("task_stopped") }
            #expect(!closed.text.contains("task_stopped"), "\(closed.text)")
            let stop = try await HeadroomProgram.run(["tasks", "stop", "other", "--tenant", "acme"] + end)
            #expect(stop.code == 0 && stop.output.contains("the task other of acme is stopped until"), "\(stop.errors)")
            let killed = try await client.poll("/v1/allocations") { Self.held($0, "other") == "all" }
            #expect(Self.held(killed, "other") == "all", "\(killed.text)")
            let audit = try await client.get("/v1/audit")
            #expect(audit.text.contains("task.lift") && audit.text.contains("task.stop"), "\(audit.text)")
        }
    }

    @Test func `usage says what would be right`() async throws {
        let none = try await HeadroomProgram.run("tasks", "stop", "--reason", "x", "--expires-in", "1h")
        #expect(
            none.code == 2 && none.errors.contains("name the task, as \"headroom tasks\" shows it"), "\(none.errors)")
        let unknown = try await HeadroomProgram.run("tasks", "stop", "t", "--expires-in", "1h")
        #expect(unknown.code == 2 && unknown.errors.contains("--reason"), "\(unknown.errors)")
    }
}
