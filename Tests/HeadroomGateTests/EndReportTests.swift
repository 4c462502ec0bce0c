import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct EndReportTests {
    /// The lines of telemetry since the last time.
    private func lines(_ fixture: GateFixture) async -> String {
        var lines = ""
        _ = await fixture.gate.manager.reporter.sendAll { batch in
            lines += String(decoding: batch.bytes, as: UTF8.self)
            return .refused("the test has them")
        }
        return lines
    }

    @Test func `a proxy that writes no JSON says the status in the query or in a header`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let requests: [(query: String, headers: [String: String], body: String?, kind: String)] = [
                ("?status=200&output_tokens=7", [:], nil, "ok"), ("?status=429", [:], nil, "quota"),
                ("?outcome=timeout", [:], nil, "server"), ("", ["x-headroom-status": "529"], nil, "overload"),
                ("?status=200", ["x-headroom-status": "429"], nil, "ok"),
                (
                    "", ["x-headroom-status": "429", "x-headroom-upstream-retry-after": "7"],
                    #"{"error":{"code":"rate_limit_exceeded"}}"#, "quota"
                ),
            ]
            for request in requests {
                let slot = try await fixture.slot(#""max_wait_ms":0"#)["slot"]?.string ?? ""
                let done = try await fixture.ask(
                    "POST", "/v1/slots/\(slot)/done\(request.query)", request.body, headers: request.headers)
                #expect(done.status == 200 && done["kind"]?.string == request.kind, "\(request): \(done.text)")
                if request.body != nil { #expect(done["retry_after_ms"]?.number == 7000, "\(done.text)") }
                fixture.advance(seconds: 100)
            }
            let slot = try await fixture.slot(#""max_wait_ms":0"#)["slot"]?.string ?? ""
            let wrong = try await fixture.ask("POST", "/v1/slots/\(slot)/done?status=42")
            #expect(wrong.status == 400 && wrong.text.contains("100 to 599"), "\(wrong.text)")
        }
    }

    @Test func `the gate reads what a call cost from the provider's answer, and reports it in one sense`() async throws
    {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            func end(_ provider: String, _ body: String) async throws {
                let slot = try await fixture.slot(#""max_wait_ms":0,"provider":"\#(provider)""#)["slot"]?.string ?? ""
                #expect(try await fixture.ask("POST", "/v1/slots/\(slot)/done?status=200", body).status == 200)
            }
            try await end("openai", #"{"usage":{"prompt_tokens":50,"completion_tokens":200}}"#)
            try await end(
                "anthropic",
                #"{"usage":{"input_tokens":500,"cache_read_input_tokens":9000,"cache_creation_input_tokens":400,"output_tokens":20}}"#
            )
            let text = await lines(fixture)
            #expect(text.contains(#""input_tokens":50,"output_tokens":200"#), "\(text)")
            #expect(
                text.contains(#""input_tokens":9900,"output_tokens":20,"cached_input_tokens":9000"#)
                    && text.contains(#""counted_tokens":920"#), "\(text)")
        }
    }

    @Test func `an answer without a bound is expected as told, then as the tenant's own answers are`() async throws {
        try await GateFixture.run(
            pool(rpm: 6000), settings: { $0.defaultOutputTokens = 400 },
            body: { fixture in
                func ask(_ model: String) async throws -> (slot: String, tokens: Double) {
                    let reply = try await fixture.ask(
                        "POST", "/check/v1/chat/completions",
                        #"{"model":"\#(model)","messages":[{"role":"user","content":"hello"}]}"#,
                        headers: ["x-headroom-tenant": "a"])
                    return (
                        reply.header("x-headroom-slot") ?? "",
                        try #require(reply["estimated_tokens"]?.number, "\(reply.text)")
                    )
                }
                let first = try await ask("large")
                #expect((401...410).contains(first.tokens))
                for _ in 0..<50 {
                    _ = try await fixture.ask(
                        "POST",
                        "/v1/slots/\(try await ask("large").slot)/done?status=200&input_tokens=5&output_tokens=40")
                    _ = try await fixture.ask(
                        "POST",
                        "/v1/slots/\(try await ask("small").slot)/done?status=200&input_tokens=5&output_tokens=900")
                    fixture.advance(seconds: 1)
                }
                #expect((45...75).contains(try await ask("large").tokens))
                #expect((860...910).contains(try await ask("small").tokens))
            })
    }

    @Test func `calls that passed while the gate was away are told, and spread over their time`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let noted = try await fixture.ask(
                "POST", "/v1/missed", #"{"tenant":"a","calls":3,"seconds":30,"tokens":50}"#)
            #expect(noted.status == 200 && noted["noted"]?.number == 3, "\(noted.text)")
            let text = await lines(fixture)
            #expect(text.components(separatedBy: #""outcome":"ok""#).count == 4, "\(text)")
            #expect(text.contains(#""at":1792999990000"#), "\(text)")
            _ = try await fixture.ask("POST", "/v1/missed", #"{"tenant":"a","calls":1,"passed":false}"#)
            #expect(await lines(fixture).contains(#""outcome":"denied""#))
            #expect(
                try await fixture.ask("GET", "/metrics").text.contains(
                    #"headroom_gate_calls_total{pool="pool",result="missed"} 4"#))
            for body in [#"{"tenant":"a"}"#, #"{"tenant":"a","calls":0}"#, #"{"calls":1}"#, "{"] {
                #expect(try await fixture.ask("POST", "/v1/missed", body).status == 400)
            }
        }
    }

    @Test func `a part that is no text has its price`() async throws {
        try await GateFixture.run(
            pool(rpm: 6000), settings: { $0.defaultOutputTokens = 0 },
            body: { fixture in
                func tokens(_ part: String) async throws -> Double {
                    let reply = try await fixture.ask(
                        "POST", "/check", #"{"messages":[{"role":"user","content":[\#(part)]}]}"#,
                        headers: ["x-headroom-tenant": "a"])
                    fixture.advance(seconds: 60)
                    return try #require(reply["estimated_tokens"]?.number, "\(reply.text)")
                }
                let data = String(repeating: "A", count: 20_000)
                let table: [(part: String, price: Double)] = [
                    (#"{"type":"image_url","image_url":{"url":"data:image/png;base64,\#(data)"}}"#, 1000),
                    (#"{"type":"image_url","image_url":{"url":"x","detail":"low"}}"#, 85),
                    (#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"\#(data)"}}"#, 1000),
                    (#"{"type":"document","source":{"type":"base64","data":"\#(data)"}}"#, 5000),
                    (#"{"type":"input_audio","input_audio":{"data":"\#(data)","format":"wav"}}"#, 1000),
                    (#"{"inlineData":{"mimeType":"image/png","data":"\#(data)"}}"#, 1000),
                    (#"{"image":{"format":"png","source":{"bytes":"\#(data)"}}}"#, 1000),
                    (#"{"type":"document","source":{"type":"text","data":"one two three"}}"#, 3),
                    (
                        #"{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one two three"}]}"#,
                        3
                    ),
                ]
                for row in table {
                    let found = try await tokens(row.part)
                    #expect((row.price...row.price + 12).contains(found), "\(row.part.prefix(60)): \(found)")
                }
            })
    }

    @Test func `proxies call by any name, and a browser's page does not`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let slot = try await fixture.ask(
                "POST", "/v1/slots", #"{"tenant":"a"}"#,
                headers: ["Host": "headroom_gate", "X-Forwarded-For": "10.0.0.1"])
            #expect(slot.status == 200, "\(slot.text)")
            let name = slot["slot"]?.string ?? ""
            let done = try await fixture.ask(
                "POST", "/v1/slots/\(name)/done?status=200",
                headers: ["Host": "headroom_gate", "Origin": "https://app.example"])
            #expect(done.status == 200, "\(done.text)")
            // A page under a name of its own that leads to this address, and one of another site.
            for headers in [
                ["Host": "evil.example", "Origin": "http://evil.example"],
                ["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"],
            ] {
                let page = try await fixture.ask("POST", "/v1/slots", #"{"tenant":"a"}"#, headers: headers)
                #expect(page.status == 403, "\(headers)")
            }
            #expect(try await fixture.ask("GET", "/v1/state", headers: ["Host": "headroom_gate"]).status == 403)
        }
    }
}
