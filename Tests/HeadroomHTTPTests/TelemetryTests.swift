import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct TelemetryTests {
    private static let ndjson = ["Content-Type: application/x-ndjson"]

    @Test func `lines are answered only after the commit`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.sink.close()
            let client = try fixture.client()
            await client.send("POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(2))
            #expect(await eventually { fixture.sink.entered == 1 })
            #expect(client.isSilent)
            fixture.sink.open()
            let reply = try await client.receive()
            #expect(reply.status == 200)
            #expect(try TelemetryAnswer.decode(reply.body).receipt.accepted == 2)
            #expect(fixture.sink.batches.map(\.lines.count) == [2])
        }
    }

    @Test func `bad lines are named and good ones stored`() async throws {
        try await ServiceFixture.run { fixture in
            let body = Self.lines(1) + Array("{\"type\":\"nonsense\"}\nnot json\n".utf8) + Self.lines(1)
            let reply = try await fixture.client().call("POST", "/v1/telemetry", headers: Self.ndjson, body: body)
            let answer = try TelemetryAnswer.decode(reply.body)
            #expect(answer.receipt.accepted == 2)
            #expect(answer.receipt.rejected.map(\.line) == [2, 3])
        }
    }

    @Test func `a document is taken like lines`() async throws {
        try await ServiceFixture.run { fixture in
            let body = Array("[".utf8) + Self.line(at: "1793000000000") + Array("]".utf8)
            let reply = try await fixture.client().call(
                "POST", "/v1/telemetry", headers: ["Content-Type: application/json; charset=utf-8"], body: body)
            #expect(try TelemetryAnswer.decode(reply.body).receipt.accepted == 1)
        }
    }

    @Test func `the answer bears the service clocks of the tenants in the request`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.board.update(serviceClocks: [
                "openai:gpt-4o": ["acme": 1831.25, "globex": 3], "azure:gpt-4o": ["acme": 1],
            ])
            let reply = try await fixture.client().call(
                "POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
            #expect(try TelemetryAnswer.decode(reply.body).serviceClocks == ["openai:gpt-4o": ["acme": 1831.25]])
        }
    }

    @Test func `a body that cannot be taken gets a clear answer`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let cases: [(headers: [String], body: String, status: Int, words: String)] = [
                (Self.ndjson, "", 400, "the body holds no line of telemetry"),
                (Self.ndjson, "nonsense\nmore\n", 400, "none of the 2 lines can be taken"),
                (["Content-Type: application/json"], "{", 400, "not valid JSON"),
                (["Content-Type: text/plain"], "x", 415, "takes application/x-ndjson or application/json"),
                ([], "x", 415, "the request has no Content-Type"),
                (Self.ndjson + ["Headroom-Batch: -1"], "x", 400, "Headroom-Batch: -1 is no batch number"),
                (Self.ndjson + ["Headroom-Sent-At: noon"], "x", 400, "milliseconds since 1970 or RFC 3339"),
            ]
            for (headers, body, status, words) in cases {
                let reply = try await client.call(
                    "POST", "/v1/telemetry", headers: headers, body: Array(body.utf8))
                #expect(reply.status == status, "\(body): \(reply.text)")
                #expect(try JSONNode.parse(reply.body)["detail"]?.string?.contains(words) == true, "\(reply.text)")
            }
            #expect(fixture.sink.entered == 0)
        }
    }

    @Test func `a line's age is measured on its sender's clock`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            // Both clocks of the sender are an hour behind ours; the line is two seconds old.
            for sentAt in ["1792996402000", "2026-10-26T06:33:22.000Z"] {
                let reply = try await client.call(
                    "POST", "/v1/telemetry", headers: Self.ndjson + ["Headroom-Sent-At: \(sentAt)"],
                    body: Self.line(at: "1792996400000"))
                #expect(reply.status == 200, "\(reply.text)")
            }
            let ages = fixture.sink.batches.flatMap(\.lines).map { fixture.clock.now.seconds(since: $0.record.at) }
            #expect(ages == [2, 2])
        }
    }

    @Test func `storage trouble is 503 and says that nothing was stored`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.sink.fill()
            let reply = try await fixture.client().call(
                "POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "5")
            #expect(reply.text.contains("nothing of this request was stored: the disk is full"))
        }
    }

    @Test func `calls beyond the queue are refused and the rest goes on`() async throws {
        try await ServiceFixture.run(settings: .test { $0.callsInFlight = 1 }) { fixture in
            fixture.sink.close()
            let first = try fixture.client()
            await first.send("POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
            #expect(await eventually { fixture.sink.entered == 1 })
            let second = try fixture.client()
            let refused = try await second.call("POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            fixture.sink.open()
            #expect(try await first.receive().status == 200)
            let later = try await second.call("POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
            #expect(later.status == 200)
            #expect(fixture.sink.batches.count == 2)
        }
    }

    @Test func `nine megabytes are read, dropped and refused`() async throws {
        try await ServiceFixture.run { fixture in
            let body = [UInt8](repeating: UInt8(ascii: "x"), count: 9 << 20)
            let client = try fixture.client()
            let announced = try await client.call("POST", "/v1/telemetry", headers: Self.ndjson, body: body)
            #expect(announced.status == 413)
            #expect(announced.text.contains("larger than the 8388608 bytes"))
            await client.send(
                Array("POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\n\(Self.ndjson[0])\r\n".utf8)
                    + Array("Transfer-Encoding: chunked\r\n\r\n900000\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8))
            #expect(try await client.receive().status == 413, "the length is not announced")
            #expect(try await client.get("/healthz").status == 200, "the connection lives on")
        }
    }

    @Test func `bodies in flight are bounded in sum`() async throws {
        try await ServiceFixture.run(settings: .test { $0.bodyBytesInFlight = 1000 }) { fixture in
            let client = try fixture.client()
            let many = try await client.call(
                "POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(20))
            #expect(many.status == 503)
            #expect(many.text.contains("too many request bodies"))
            for _ in 0..<10 {
                let few = try await client.call(
                    "POST", "/v1/telemetry", headers: Self.ndjson, body: Self.lines(1))
                #expect(few.status == 200, "what was read is given back")
            }
        }
    }

    @Test func `a token speaks for its gateways only`() async throws {
        let tokens = [
            AccessToken.sample("one", .gateway, gateways: ["gw-1"]),
            .sample("two", .gateway, gateways: ["gw-1", "gw-2"]), .sample("viewer", .viewer),
        ]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            let client = try fixture.client()
            func post(_ token: String, _ gateways: [String]) async throws -> RawClient.Reply {
                let body = gateways.flatMap { Self.line(at: "1793000000000", gateway: $0) + [UInt8(ascii: "\n")] }
                return try await client.call(
                    "POST", "/v1/telemetry", headers: Self.ndjson + ["Authorization: Bearer \(token)"], body: body)
            }
            let mixed = try TelemetryAnswer.decode(try await post("one", ["gw-1", "gw-2"]).body)
            #expect(mixed.receipt.accepted == 1)
            #expect(mixed.receipt.rejected.map(\.line) == [2])
            #expect(try await post("one", ["gw-2"]).status == 400)
            #expect(try TelemetryAnswer.decode(try await post("two", ["gw-1", "gw-2"]).body).receipt.accepted == 2)
            #expect(try await post("viewer", ["gw-1"]).status == 403)
            #expect(fixture.sink.batches.map(\.gateway) == ["gw-1", nil])
        }
    }

    @Test func `a line without Headroom-Sent-At is measured by the wall clock as it is set now`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let line = Self.line(at: "1793003598000")
            func post() async throws -> String {
                try await client.call("POST", "/v1/telemetry", headers: Self.ndjson, body: line).text
            }
            #expect(try await post().contains("from the future"))
            // Somebody corrects a clock that was an hour behind at the start.
            fixture.clock.setWall(byHours: 1)
            #expect(try await post().contains(#""accepted":1"#))
            // Two seconds before it arrived, on Headroom's own timeline.
            #expect(
                fixture.sink.batches.last?.lines.first?.record.at == fixture.clock.now.adding(seconds: -2))
        }
    }

    @Test func `a batch number that was used for other content is a conflict, and storage goes on`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let line = Self.line(at: "1793000000000")
            func post(_ headers: [String]) async throws -> Int {
                try await client.call("POST", "/v1/telemetry", headers: Self.ndjson + headers, body: line).status
            }
            #expect(try await post(["Headroom-Batch: 5"]) == 200)
            #expect(try await post([]) == 200)
            #expect(fixture.sink.batches.map(\.contentDigest) == [line, nil])
            fixture.sink.refuse(TelemetryError(.conflict, "batch 5 of gateway gw-1 was stored before"))
            let reply = try await client.call(
                "POST", "/v1/telemetry", headers: Self.ndjson + ["Headroom-Batch: 5"], body: line)
            #expect(reply.status == 409 && reply.text.contains("batch 5 of gateway gw-1"), "\(reply.text)")
            #expect(!reply.headers.keys.contains("retry-after"))
            #expect(try await !client.get("/readyz").text.contains("telemetry is refused"))
        }
    }

    @Test func `a numbered batch bears the lines of one gateway`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let newline = [UInt8(ascii: "\n")]
            let one = Self.line(at: "1793000000000", gateway: "gw-1")
            let two = Self.line(at: "1793000000000", gateway: "gw-2")
            let headers = Self.ndjson + ["Headroom-Batch: 5"]
            let mixed = try await client.call(
                "POST", "/v1/telemetry", headers: headers, body: one + newline + two)
            #expect(mixed.status == 400)
            #expect(mixed.text.contains("bears the lines of one gateway; these name 2"))
            #expect(try await client.call("POST", "/v1/telemetry", headers: headers, body: one).status == 200)
            #expect(fixture.sink.batches.map(\.gateway) == ["gw-1"])
            #expect(fixture.sink.batches.map(\.number) == [5])
        }
    }

    @Test func `a token's limits hold for telemetry, line by line`() async throws {
        let token = AccessToken.sample(
            "limited", .gateway, gateways: ["gw-1"], pools: ["openai:gpt-4o"], tenants: ["acme"])
        try await ServiceFixture.run(tokens: [token]) { fixture in
            fixture.board.update(serviceClocks: ["openai:gpt-4o": ["acme": 1, "rival": 2], "azure": ["acme": 3]])
            let body = [
                Self.call(tenant: "acme", pool: "openai:gpt-4o"), Self.call(tenant: "rival", pool: "openai:gpt-4o"),
                Self.call(tenant: "acme", pool: "azure"),
                #"{"type":"response","gateway":"gw-1","pool":"azure","status":429}"#,
                #"{"type":"queue","gateway":"gw-1","tenant":"rival","pool":"openai:gpt-4o","depth":1}"#,
                #"{"type":"model","pool":"azure","model":"m","version":"2"}"#,
            ].joined(separator: "\n")
            let reply = try await fixture.client().call(
                "POST", "/v1/telemetry", headers: Self.ndjson + ["Authorization: Bearer limited"],
                body: Array(body.utf8))
            let answer = try TelemetryAnswer.decode(reply.body)
            #expect(answer.receipt.accepted == 1)
            #expect(answer.receipt.rejected.map(\.line) == [2, 3, 4, 5, 6])
            #expect(answer.receipt.rejected[0].detail.contains("\"rival\" lies outside its limits"))
            #expect(answer.receipt.rejected[1].detail.contains("\"azure\" lies outside its limits"))
            #expect(answer.serviceClocks == ["openai:gpt-4o": ["acme": 1]])
        }
    }

    @Test func `a pool that no policy names is refused with the nearest name, and counted`() async throws {
        try await ServiceFixture.run(rules: Self.rules) { fixture in
            let client = try fixture.client()
            let body = [Self.call(pool: "openai:gpt4o"), Self.call(pool: "x"), Self.call(pool: "openai:gpt-4o")]
                .joined(separator: "\n")
            let reply = try await client.call("POST", "/v1/telemetry", headers: Self.ndjson, body: Array(body.utf8))
            let answer = try TelemetryAnswer.decode(reply.body)
            #expect(answer.receipt.accepted == 1)
            #expect(
                answer.receipt.rejected.map(\.detail) == [
                    #"pool: no policy names "openai:gpt4o"; did you mean "openai:gpt-4o"?"#,
                    #"pool: no policy names "x"; there are azure:gpt-4o, openai:gpt-4o"#,
                ])
            let metrics = try await client.get("/metrics").text
            #expect(metrics.contains(#"headroom_telemetry_refused_lines_total{reason="unknown_pool"} 2"#))
        }
    }

    @Test func `a line that its pool cannot have served is refused`() async throws {
        try await ServiceFixture.run(rules: Self.rules) { fixture in
            func reason(_ line: String) async throws -> String? {
                let reply = try await fixture.client().call(
                    "POST", "/v1/telemetry", headers: Self.ndjson, body: Array(line.utf8))
                return reply.status == 200 ? nil : reply.faults.first
            }
            // 1,000 requests and 100,000 tokens a minute, ten times over.
            let cases: [(line: String, field: String?)] = [
                (Self.call(tokens: #""input_tokens":1000000000000"#), "tokens"),
                (Self.call(tokens: #""input_tokens":600000,"output_tokens":600000"#), "tokens"),
                (Self.call(tokens: #""input_tokens":600000,"output_tokens":400000"#), nil),
                (Self.call(tokens: #""counted_tokens":1000001"#), "tokens"),
                (Self.call(tokens: #""counted_tokens":1,"input_tokens":1000001"#), "input_tokens"),
                (Self.call(tokens: #""max_tokens":1000001"#), "output_tokens"),
                (Self.window(seconds: 10, requests: 10_000, tokens: 1_000_000), nil),
                (Self.window(seconds: 10, requests: 10_001, tokens: 0), "requests"),
                (Self.window(seconds: 600, requests: 100_000, tokens: 10_000_000), nil),
                (Self.window(seconds: 600, requests: 0, tokens: 10_000_001), "tokens"),
            ]
            for (line, field) in cases {
                let reason = try await reason(line)
                #expect((reason != nil) == (field != nil), "\(line): \(reason ?? "taken")")
                if let field {
                    #expect(reason?.contains("line 1: \(field): ") == true, "\(reason ?? "")")
                    #expect(reason?.contains("telemetry.max_times_nominal") == true)
                }
            }
        }
    }

    private static let rules = TelemetryRules(
        Policy(
            pools: [
                PoolPolicy(pool: "openai:gpt-4o", nominal: Rates(rpm: 1000, tpm: 100_000)),
                PoolPolicy(pool: "azure:gpt-4o", nominal: Rates(rpm: 1000)),
            ]))

    private static func call(
        tenant: String = "acme", pool: String = "openai:gpt-4o", tokens: String = #""input_tokens":1"#
    ) -> String {
        #"{"type":"call","gateway":"gw-1","tenant":"\#(tenant)","pool":"\#(pool)","outcome":"ok",\#(tokens)}"#
    }

    private static func window(seconds: Int, requests: Int, tokens: Int) -> String {
        #"{"type":"window","start":\#(1_793_000_000_000 - seconds * 1000),"seconds":\#(seconds),"gateway":"gw-1","tenant":"acme","pool":"openai:gpt-4o","requests":\#(requests),"ok":\#(requests),"input_tokens":\#(tokens)}"#
    }

    /// Calls of one gateway, about 200 bytes each.
    private static func lines(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { line(at: "1793000000000", id: "gw-1:\($0)") + [UInt8(ascii: "\n")] }
    }

    private static func line(at: String, gateway: String = "gw-1", id: String = "gw-1:0") -> [UInt8] {
        Array(
            #"{"type":"call","id":"\#(id)","at":\#(at),"gateway":"\#(gateway)","tenant":"acme","pool":"openai:gpt-4o","outcome":"ok","status":200,"latency_ms":10,"input_tokens":1200,"output_tokens":300}"#
                .utf8)
    }
}
