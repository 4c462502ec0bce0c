import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct TaskRouteTests {
    private static let tokens = [
        AccessToken.sample("sre", .sre), .sample("viewer", .viewer), .sample("success", .success),
        .sample("acme", .success, tenants: ["acme"]), .sample("narrow", .sre, pools: ["azure:gpt-4o"]),
    ]
    private static let said = #""reason":"runs away","expires_in_seconds":600"#

    private static func stand(_ fixture: ServiceFixture) {
        let now = fixture.clock.now
        func report(_ task: String, _ tenant: TenantID, _ hold: TaskHold = .nothing) -> TaskReport {
            TaskReport(
                name: TaskName(task, of: tenant), root: task, kind: "research", begunAt: now, seenAt: now,
                use: TaskUse(calls: 40, tokens: 9000, micros: 2_000_000), limits: TaskLimits(calls: 40), depth: 2,
                gateways: ["gw-1", "gw-2"],
                children: [TaskReport.Child(task: "child", use: TaskUse(calls: 30))], hold: hold,
                measure: hold > .nothing ? .calls : nil)
        }
        var loop = LoopReport.sample(at: now)
        loop.tasks.tasks = [report("a/1", "acme", .all), report("same", "acme"), report("same", "globex")]
        loop.tasks.followed = 4
        loop.tasks.leftOut = 3
        loop.tasks.stops = 1
        fixture.board.report(loop)
    }

    @Test func `tasks are listed with what they used beside their limits, and counted in the metrics`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let answer = try await Person("viewer", fixture).get("/v1/tasks").json
            #expect(answer["tasks"]?.array?.count == 3 && answer["left_out"]?.number == 3)
            let task = answer["tasks"]?[0]
            #expect(task?["task"]?.string == "a/1" && task?["state"]?.string == "stopped")
            #expect(task?["used"]?["calls"]?.number == 40 && task?["limits"]?["calls"]?.number == 40)
            #expect(task?["gateways"]?.array?.count == 2 && task?["children"]?[0]?["task"]?.string == "child")
            let globex = try await Person("viewer", fixture).get("/v1/tasks?tenant=globex").json
            #expect(globex["tasks"]?.array?.map { $0["tenant"]?.string } == ["globex"])
            let metrics = try await Person("viewer", fixture).get("/metrics").text
            #expect(metrics.contains("headroom_tasks 4") && metrics.contains(#"headroom_tasks_held{held="all"} 1"#))
            #expect(metrics.contains("headroom_task_stops_total 1"), "\(metrics)")
        }
    }

    private static func times(
        _ tenant: TenantID, _ kind: String?, _ seconds: [Double], waited: Double = 0, at: Timestamp
    )
        -> TaskTimeRollup
    {
        var times = TaskTimes()
        for taken in seconds {
            times.add(
                task: TaskTimes.Sums {
                    $0.tasks = 1
                    $0.seconds = taken
                    $0.waitedSeconds = waited
                    $0.calls = 8
                    $0.refused = 2
                })
        }
        return TaskTimeRollup(start: at, tenant: tenant, kind: kind, times: times)
    }

    @Test func `how long tasks took is told beside what is usual, those first that waited longest`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let now = fixture.clock.now
            let before = now.adding(seconds: -7200)
            let lately = now.adding(seconds: -600)
            fixture.desk.change { state in
                state.taskTimes = [
                    Self.times("acme", "review", Array(repeating: 41, count: 12), at: before),
                    Self.times("acme", "review", [470, 480, 490], waited: 440, at: lately),
                    Self.times("globex", nil, [10], at: lately), Self.times("gone", "old", [10], at: before),
                ]
            }
            var loop = LoopReport.sample(at: now)
            loop.tasks.followed = 1
            loop.tasks.paces = [TaskPace(tenant: "acme", kind: "review", pool: "openai:gpt-4o", running: 2)]
            loop.tasks.ended = [TaskReports.KindTimes(kind: "review", times: fixture.desk.now.taskTimes[1].times)]
            fixture.board.report(loop)

            let reply = try await Person("viewer", fixture).get("/v1/task-times")
            #expect(SchemaCheck.openAPI.faults(in: reply, to: "GET", "/v1/task-times") == [], "\(reply.text)")
            let kinds = reply.json["kinds"]?.array ?? []
            #expect(kinds.map { $0["tenant"]?.string } == ["acme", "globex"])
            // 480 and 490 are of one step.
            #expect(kinds[0]["tasks"]?.number == 3 && kinds[0]["p50_seconds"]?.number == 485)
            #expect(kinds[0]["usual_p50_seconds"]?.number == 41 && kinds[0]["usual_tasks"]?.number == 12)
            #expect(kinds[0]["running"]?.number == 2 && kinds[0]["refused"]?.number == 6)
            #expect(
                kinds[0]["sentence"]?.string
                    == "3 tasks of kind review took 8 min in the median and 8 min at the 95th percentile, 92 % of it waiting for "
                    + "quota; 41 s is usual (acme; 2 in progress).")
            #expect(kinds[1]["task_kind"]?.string == nil && kinds[1]["usual_p50_seconds"]?.number == nil)

            let own = try await Person("acme", fixture).get("/v1/task-times?from=\(lately.milliseconds - 1)")
            #expect(own.json["kinds"]?.array?.count == 1 && !own.text.contains("globex"))
            #expect(try await Person("acme", fixture).get("/v1/task-times?tenant=globex").status == 403)
            #expect(try await Person("narrow", fixture).get("/v1/task-times").json["kinds"]?.array?.isEmpty == true)
            #expect(try await Person("viewer", fixture).get("/v1/task-times?from=5&to=4").status == 400)

            let metrics = try await Person("viewer", fixture).get("/metrics").text
            for line in [
                #"headroom_task_seconds_bucket{task_kind="review",le="300"} 0"#,
                #"headroom_task_seconds_bucket{task_kind="review",le="600"} 3"#,
                #"headroom_task_seconds_sum{task_kind="review"} 1440"#,
                #"headroom_task_waited_seconds_total{task_kind="review"} 1320"#,
                #"headroom_tasks_running{task_kind="review"} 2"#,
            ] { #expect(metrics.contains(line + "\n"), "\(line) in \(metrics)") }
        }
    }

    @Test func `a token that is limited to a tenant sees and rules on its tasks only`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let acme = try Person("acme", fixture)
            let seen = try await acme.get("/v1/tasks").json
            #expect(seen["tasks"]?.array?.map { $0["tenant"]?.string } == ["acme", "acme"])
            #expect(seen["left_out"]?.number == 0)
            #expect(try await acme.post("/v1/tasks/stop", #"{"task":"same",\#(Self.said)}"#).status == 201)
            #expect(
                try await acme.post("/v1/tasks/stop", #"{"tenant":"globex","task":"same",\#(Self.said)}"#).status == 403
            )
            let narrow = try Person("narrow", fixture)
            #expect(
                try await narrow.post("/v1/tasks/stop", #"{"tenant":"acme","task":"same",\#(Self.said)}"#).status == 403
            )
            #expect(fixture.desk.now.steering.taskRulings.map(\.name) == [TaskName("same", of: "acme")])
        }
    }

    @Test func `a stop and a lift are in force, and in the audit log`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let success = try Person("success", fixture)
            let stop = try await success.post("/v1/tasks/stop", #"{"task":"a/1",\#(Self.said)}"#)
            #expect(stop.status == 201 && stop.json["tenant"]?.string == "acme", "\(stop.text)")
            #expect(stop.json["verdict"]?.string == "stop" && stop.json["author"]?.string == "success")
            // One's own word is one's own to change.
            #expect(try await success.post("/v1/tasks/lift", #"{"task":"a/1",\#(Self.said)}"#).status == 201)
            let sre = try Person("sre", fixture)
            #expect(try await sre.post("/v1/tasks/stop", #"{"task":"a/1",\#(Self.said)}"#).status == 201)
            let refused = try await success.post("/v1/tasks/lift", #"{"task":"a/1",\#(Self.said)}"#)
            #expect(refused.status == 403 && refused.text.contains("sre or admin may change it"), "\(refused.text)")
            #expect(fixture.desk.now.audit.map(\.action) == ["task.stop", "task.lift", "task.stop"])
            let rulings = fixture.desk.now.steering.taskRulings
            #expect(rulings.count == 1 && rulings.first?.verdict == .stop)
            // Before it is first seen.
            let early = try await sre.post("/v1/tasks/stop", #"{"tenant":"new","task":"t",\#(Self.said)}"#)
            #expect(early.status == 201, "\(early.text)")
        }
    }

    @Test(arguments: [
        (#"{"reason":"x","expires_in_seconds":60}"#, 400, "task: is missing"),
        (#"{"task":"a/1","expires_in_seconds":60}"#, 400, "reason: is missing"),
        (#"{"task":"a/1","reason":"x"}"#, 400, "expires_in_seconds: is missing"),
        (#"{"task":"same","reason":"x","expires_in_seconds":60}"#, 409, "several tenants have a task"),
        (#"{"task":"other","reason":"x","expires_in_seconds":60}"#, 404, "name its tenant"),
    ])
    func `a fault says what would be right`(body: String, status: Int, words: String) async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            Self.stand(fixture)
            let reply = try await Person("sre", fixture).post("/v1/tasks/stop", body)
            #expect(reply.status == status, "\(reply.text)")
            #expect(reply.faults.contains { $0.hasPrefix(words) } || reply.text.contains(words), "\(reply.text)")
        }
    }
}
