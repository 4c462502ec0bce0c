import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

/// A running service, called as gateways and people call it.
@Suite struct ServingTests {
    @Test func `with --log json each line of the log is an object`() async throws {
        try await RunningService.run(try House(), ["--log", "json"]) { service in
            let lines = service.errors.split(separator: "\n").map { try? JSONNode.parse(Array($0.utf8)) }
            #expect(lines.count > 2 && lines.allSatisfy { $0?["message"]?.string?.isEmpty == false })
            let levels = Set(lines.compactMap { $0?["level"]?.string })
            #expect(levels.contains("info") && levels.isSubset(of: ["info", "warn", "error"]), "\(service.errors)")
            #expect(lines.allSatisfy { $0?["at"]?.string.flatMap { RFC3339.parse($0) } != nil })
        }
    }

    @Test func `a start beside a program that writes says that it waits, and serves when that has ended`() async throws
    {
        let house = try House()
        _ = try await HeadroomProgram.run("migrate", "--database", house.database)
        let writer = DiskExecutor(label: "other")
        let other = try SQLiteConnection(path: house.database, access: .readWrite, executor: writer)
        try writer.performAndWait { try other.execute("BEGIN IMMEDIATE") }
        func endWriting(_ log: RunningService.Log) async throws {
            let line = await log.line(with: "headroom.sqlite: another program writes; the start waits for it")
            #expect(line?.hasSuffix(", 30 seconds at most") == true, "\(log.text)")
            #expect(!log.text.contains("serves on"))
            try writer.performAndWait { try other.execute("ROLLBACK") }
        }
        try await RunningService.run(house, [], whileStarting: endWriting) { service in
            let stored = try await service.client.post([Self.call("a")])
            #expect(stored.status == 200, "\(stored.text)")
        }
    }

    @Test func `good lines are stored and bad ones are named by line`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let client = service.client
            let reply = try await client.post([
                Self.call("good-1"), "{broken", Self.call("good-2"), #"{"type":"rumour","gateway":"gw-1"}"#,
                Self.call("minus", #""input_tokens":-1"#), Self.call("huge", #""input_tokens":1e300"#),
                Self.call("future", #""at":\#(Self.farFuture)"#), #"{"type":"call","gateway":"gw-1"}"#, "", "\u{0}",
                Self.call("good-3", #""unknown_field":{"a":[1]}"#),
            ])
            #expect(reply.status == 200)
            #expect(reply.json["accepted"]?.number == 3, "\(reply.text)")
            let lines = reply.json["rejected"]?.array?.compactMap { $0["line"]?.number }
            #expect(lines == [2, 4, 5, 6, 7, 8, 10], "\(reply.text)")
            #expect(reply.json["rejected"]?.array?.allSatisfy { $0["detail"]?.string?.isEmpty == false } == true)
            #expect(try await house.storedRecords().count == 3)
            #expect(try await client.metric(#"headroom_telemetry_lines_total{type="call",result="accepted"}"#) == 3)
            #expect(try await client.metric(#"headroom_telemetry_lines_total{type="unknown",result="rejected"}"#) == 7)

            let hopeless = try await client.post(["{broken", "[1,"])
            #expect(hopeless.status == 400)
            #expect(hopeless.headers["content-type"] == "application/problem+json")
            #expect(hopeless.json["errors"]?.array?.compactMap { $0["line"]?.number } == [1, 2])
            #expect(try await house.storedRecords().count == 3)
            #expect(try await client.get("/readyz").status == 200)
        }
    }

    @Test func `a repeated batch is answered as the first time and stored once`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let batch = [Self.call("a"), "{broken", Self.call("b")]
            let first = try await service.client.post(batch, headers: ["Headroom-Batch: 7"])
            let second = try await service.client.post(batch, headers: ["Headroom-Batch: 7"])
            #expect(first.status == 200 && second.status == 200)
            for key in ["accepted", "duplicate", "late", "rejected"] {
                #expect(first.json[key].map(Self.bytes) == second.json[key].map(Self.bytes), "\(key)")
            }
            // Line ids count once too, in other batches and without one.
            #expect(try await service.client.post([Self.call("a")]).json["duplicate"]?.number == 1)
            #expect(try await house.storedRecords().count == 2)
        }
    }

    @Test func `a request that cannot be taken says what would be right`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let client = service.client
            let json = "Content-Type: application/x-ndjson"
            let large = [UInt8](repeating: UInt8(ascii: "x"), count: 9 << 20)
            for (method, target, headers, body, status, words) in [
                (
                    "GET", "/v2/allocations", [], [], 404,
                    "/v2/allocations is no path of this service; /openapi.json lists"
                ),
                ("DELETE", "/v1/allocations", [], [], 405, "/v1/allocations takes GET, HEAD"),
                ("GET", "/v1/telemetry", [], [], 405, "/v1/telemetry takes POST"),
                ("POST", "/v1/telemetry", [], [1], 415, "the request has no Content-Type"),
                ("POST", "/v1/telemetry", ["Content-Type: text/csv"], [1], 415, "this call takes application/x-ndjson"),
                ("POST", "/v1/telemetry", [json], [], 400, "the body holds no line of telemetry"),
                ("POST", "/v1/telemetry", [json], large, 413, "larger than the 8388608 bytes"),
                ("POST", "/v1/telemetry", [json, "Headroom-Batch: -1"], [1], 400, "-1 is no batch number"),
                ("POST", "/v1/telemetry", [json, "Headroom-Sent-At: noon"], [1], 400, "noon is no time"),
                ("GET", "/v1/allocations?since=7", [], [], 400, "one is EPOCH.GENERATION"),
                ("GET", "/v1/allocations?wait=-1", [], [], 400, "one is 0 to 60 seconds"),
                ("GET", "/v1/allocations?wait=nan", [], [], 400, "one is 0 to 60 seconds"),
                ("GET", "/v1/allocations?gateway=a%20b", [], [], 400, "is no name"),
                ("GET", "/v1/allocations?applied=1.1", [], [], 400, "applied is for gateways"),
                ("GET", "/v1/allocations?pool=%00", [], [], 400, "the target is not a path"),
            ] as [(String, String, [String], [UInt8], Int, String)] {
                let reply = try await client.call(method, target, headers: headers, body: body)
                #expect(reply.status == status, "\(method) \(target): \(reply.text)")
                #expect(reply.headers["content-type"] == "application/problem+json", "\(method) \(target)")
                #expect(reply.json["detail"]?.string?.contains(words) == true, "\(method) \(target): \(reply.text)")
                #expect((reply.headers["allow"] != nil) == (status == 405), "\(method) \(target)")
            }
            #expect(try await house.storedRecords().isEmpty)
            #expect(try await client.get("/readyz").status == 200)
        }
    }

    @Test func `a gateway polls, waits and acknowledges`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let client = service.client
            // A first poll is a reader's: it sees the whole, and nothing is enforced.
            let first = try await client.get("/v1/allocations?gateway=gw-1")
            #expect(first.status == 200, "\(first.text)")
            #expect(first.json["pools"]?[House.pool]?["enforce"]?.bool == false)
            // Nor does anybody else's withhold anything from it.
            #expect(try await client.get("/v1/allocations?gateway=debug").status == 200)
            let seen = try #require(Self.version(first.json))
            let whole = try await client.get("/v1/allocations?gateway=gw-1&applied=\(seen)")
            #expect(whole.status == 200, "\(whole.text)")
            #expect(whole.json["pools"]?[House.pool]?["enforce"]?.bool == true)
            let version = try #require(Self.version(whole.json))
            #expect(whole.headers["headroom-epoch"] == "\(version.epoch)")
            #expect(whole.headers["headroom-generation"] == "\(version.generation)")
            #expect(whole.headers["headroom-lease-seconds"] == "15")
            #expect(whole.headers["cache-control"] == "no-store")
            #expect(whole.json["pools"]?[House.pool]?["budget"]?["rpm"]?.number == 600)

            let chosen = try await client.get("/v1/allocations?pool=\(House.pool)&pool=other:model")
            #expect(chosen.json["pools"]?.members?.map(\.key) == [House.pool])
            #expect(try await client.get("/v1/allocations?pool=other:model").json["pools"]?.members?.isEmpty == true)

            let etag = try #require(whole.headers["etag"])
            let target = "/v1/allocations?gateway=gw-1&applied=\(version)"
            let same = try await client.get(target, headers: ["If-None-Match: \(etag)"])
            #expect(same.status == 304 && same.body.isEmpty)
            let nothing = try await client.get(target + "&since=\(version)")
            #expect(nothing.status == 200)
            #expect(nothing.json["since"]?.string == "\(version)")
            #expect(nothing.json["pools"]?.members?.isEmpty == true)
            // Applied, and not yet superseded.
            #expect(try await client.metric(#"headroom_gateway_drift_seconds{gateway="gw-1"}"#) == 0)

            // The first demand of a tenant is news, and ends the wait.
            async let waiting = client.get(target + "&since=\(version)&wait=7")
            #expect(try await client.poll("/metrics") { $0.text.contains("\nheadroom_long_polls 1\n") }.status == 200)
            _ = try await client.post((0..<20).map { Self.call("n-\($0)") })
            let news = try await waiting
            let next = try #require(Self.version(news.json))
            #expect(next.epoch == version.epoch && next.generation > version.generation)
            #expect(news.json["since"]?.string == "\(version)")
            #expect(news.json["pools"]?[House.pool]?["tenants"]?["acme"] != nil, "\(news.text)")
        }
    }

    @Test func `metrics are what Prometheus reads`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            _ = try await service.client.post([Self.call("a")])
            _ = try await service.client.poll("/metrics") { $0.text.contains(#"tenant="acme""#) }
            let reply = try await service.client.get("/metrics")
            #expect(reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let name = /[a-zA-Z_:][a-zA-Z0-9_:]*/
            let sample = /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z]+="[^"\n]*"(,[a-z]+="[^"\n]*")*\})? -?[0-9.e+\-]+/
            var families: Set<Substring> = []
            for line in reply.text.split(separator: "\n") {
                if line.hasPrefix("# TYPE ") {
                    let family = line.split(separator: " ")[2]
                    #expect(family.wholeMatch(of: name) != nil)
                    #expect(families.insert(family).inserted, "\(family) twice")
                } else if !line.hasPrefix("# HELP ") {
                    let match = line.wholeMatch(of: sample)
                    let known = match.map { match in families.contains { match.1.hasPrefix($0) } }
                    #expect(known == true, "\(line)")
                }
            }
            for wanted in ["headroom_loop_ticks_total", "headroom_generation", "headroom_pool_capacity_per_minute"] {
                #expect(families.contains(Substring(wanted)))
            }
        }
    }

    @Test func `status tells people what the service does`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let url = "http://127.0.0.1:\(service.client.port)"
            let text = try await HeadroomProgram.run("status", "--url", url)
            #expect(text.code == 0 && text.errors == "")
            // On a busy machine a late tick is a warning between the two.
            #expect(text.output.hasPrefix("ready\n") && text.output.contains("\ngeneration "))
            #expect(text.output.contains(House.pool))
            let json = try await HeadroomProgram.run("status", "--url", url + "/", "--json")
            #expect(try JSONNode.parse(Array(json.output.utf8))["ready"]?.bool == true)
        }
    }

    // MARK: Lines

    /// A call of gateway gw-1 for tenant acme; `more` are further members.
    static func call(_ id: String, _ more: String = #""input_tokens":1200"#) -> String {
        #"{"type":"call","id":"\#(id)","gateway":"gw-1","tenant":"acme","pool":"\#(House.pool)","outcome":"ok","latency_ms":10,"output_tokens":300,\#(more)}"#
    }

    static func version(_ body: JSONNode) -> SnapshotVersion? {
        guard let epoch = body["epoch"]?.number, let generation = body["generation"]?.number else { return nil }
        return SnapshotVersion(epoch: Int64(epoch), generation: Int64(generation))
    }

    /// Of a value wherever it stands.
    private static func bytes(_ node: JSONNode) -> [UInt8] {
        var writer = JSONWriter()
        node.write(to: &writer)
        return writer.bytes
    }

    /// In the year 2096, so that no clock has to be asked.
    private static let farFuture = 4_000_000_000_000
}
