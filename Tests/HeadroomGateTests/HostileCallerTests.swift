import HeadroomClient
import HeadroomGate
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

/// Anybody may be behind a proxy that asks the gate.
@Suite struct HostileCallerTests {
    private static let numbers = [
        "9223372036854775807", "-9223372036854775808", "9000000000000000000", "-9e18", "9e18", "1e300", "-1", "0.5",
        "1e-320", "18446744073709551616", "nan", "inf", "", "0x10", "+1",
    ]

    @Test func `no number that a caller writes ends the gate, whether its call goes or waits`() async throws {
        try await GateFixture.run(pool(rpm: 600_000)) { fixture in
            for number in Self.numbers {
                for name in [
                    "x-headroom-tokens", "x-headroom-bytes", "x-headroom-max-wait-ms", "x-litellm-timeout",
                    "x-stainless-retry-count", "x-dynamo-request-priority",
                ] {
                    var headers = ["x-headroom-tenant": "a", "x-headroom-max-wait-ms": "0"]
                    headers[name] = number
                    fixture.advance(seconds: 1000)
                    let reply = try await fixture.ask("GET", "/check", headers: headers)
                    #expect([200, 400, 429].contains(reply.status), "\(name): \(number): \(reply.text)")
                }
                for field in [
                    "tokens", "max_output_tokens", "max_wait_ms", "deadline", "attempt", "priority", "text", "messages",
                ] {
                    let reply = try await fixture.slot(
                        #""max_wait_ms":0,"\#(field)":\#(number.isEmpty ? "null" : number)"#)
                    #expect([200, 400, 429].contains(reply.status), "\(field): \(number): \(reply.text)")
                }
                for field in ["max_tokens", "max_completion_tokens", "max_output_tokens", "n"] {
                    let reply = try await fixture.ask(
                        "POST", "/check/v1/chat/completions", #"{"max_tokens":5,"\#(field)":\#(number)}"#,
                        headers: ["x-headroom-tenant": "a", "x-headroom-max-wait-ms": "0"])
                    #expect([200, 400, 429].contains(reply.status), "\(field): \(number): \(reply.text)")
                }
            }
            #expect(try await fixture.ask("GET", "/healthz").status == 200)
        }
    }

    @Test func `an end with any number is read or refused, and the next call goes`() async throws {
        try await GateFixture.run(pool(rpm: 600_000)) { fixture in
            for number in Self.numbers where !number.isEmpty {
                for field in ["status", "input_tokens", "output_tokens", "cached_input_tokens", "latency_ms"] {
                    let slot = try await fixture.slot(#""max_wait_ms":0"#)["slot"]?.string ?? ""
                    let done = try await fixture.ask(
                        "POST", "/v1/slots/\(slot)/done", #"{"outcome":"ok","\#(field)":\#(number)}"#)
                    #expect([200, 400, 404].contains(done.status), "\(field): \(number): \(done.text)")
                    fixture.advance(seconds: 1000)
                }
            }
            #expect(try await fixture.slot(#""max_wait_ms":0"#).status == 200)
        }
    }

    @Test func `the proxy's own header is refused with a sentence where it is wrong, and as nginx understands it`()
        async throws
    {
        try await GateFixture.run(pool()) { fixture in
            for (name, value) in [
                ("x-headroom-tokens", "-1"), ("x-headroom-tokens", "9223372036854775807"), ("x-headroom-bytes", "1e3"),
                ("x-headroom-max-wait-ms", "soon"), ("x-headroom-criticality", "urgent"),
            ] {
                let headers = ["x-headroom-tenant": "a", name: value]
                let reply = try await fixture.ask("GET", "/check", headers: headers)
                #expect(reply.status == 400 && reply["detail"]?.string?.contains(name) == true, "\(reply.text)")
                // nginx takes every status but 401 and 403 for a failure of the gate, and lets the call pass.
                #expect(try await fixture.ask("GET", "/check?deny=403", headers: headers).status == 403)
            }
        }
    }

    @Test func `an absurd bound on the answer is no small one`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            func check(_ body: String) async throws -> GateFixture.Reply {
                try await fixture.ask("POST", "/check", body, headers: ["x-headroom-tenant": "a"])
            }
            for body in [#"{"max_tokens":9e18}"#, #"{"max_tokens":1e8}"#, #"{"max_tokens":1000,"n":1000000}"#] {
                let reply = try await check(body)
                #expect(reply.status == 429 && reply["decision"]?.string == "shrink", "\(body): \(reply.text)")
                #expect(reply["retry_after_ms"]?.isNull == true && reply.header("x-should-retry") == "false")
            }
            // The provider refuses these.
            #expect(try await check(#"{"max_tokens":-9e18}"#).status == 200)
            // What nobody here can read has at least its size.
            let unread = try await check(
                "{\"max_tokens\":1,\"max_tokens\":2,\"x\":\"\(String(repeating: "y", count: 8000))\"}")
            #expect((unread["estimated_tokens"]?.number ?? 0) >= 2000, "\(unread.text)")
        }
    }

    @Test func `the query names nobody behind another path, and the proxy's header wins`() async throws {
        try await GateFixture.run(pool(rpm: 6000), pool("other")) { fixture in
            func tenant(_ path: String, _ headers: [String: String]) async throws -> String? {
                let reply = try await fixture.ask("GET", path, headers: headers)
                return reply.status == 200
                    ? "\(reply.header("x-headroom-tenant") ?? "") \(reply.header("x-headroom-pool") ?? "")"
                    : "\(reply.status)"
            }
            let acme = ["x-headroom-tenant": "a"]
            let callers = [
                "baggage": "headroom.tenant=rival,headroom.pool=other", "x-llm-d-inference-fairness-id": "rival",
            ]
            let table: [(path: String, headers: [String: String], answer: String)] = [
                ("/check/v1/chat?tenant=rival&pool=other&expires_ms=1&deny=1", acme, "a pool"),
                ("/check?tenant=rival&pool=pool", acme, "a pool"), ("/check?tenant=a", [:], "a pool"),
                ("/check/v1/chat?tenant=a", [:], "400"), ("/check", callers, "400"),
                ("/check/v1/projects/p/locations/l/publishers/google/models/m?tenant=rival", acme, "a pool"),
                ("/check", callers.merging(["x-headroom-tenant": ""]) { $1 }, "400"),
                ("/check", callers.merging(acme) { $1 }, "a pool"),
            ]
            for row in table {
                let answer = try await tenant(row.path, row.headers)
                #expect(answer == row.answer, "\(row)")
            }
        }
        try await GateFixture.run(pool(rpm: 6000), defaults: GateDefaults(pool: "pool", trustsCallers: true)) {
            fixture in
            let reply = try await fixture.ask("GET", "/check", headers: ["baggage": "headroom.tenant=a"])
            #expect(reply.header("x-headroom-tenant") == "a", "\(reply.text)")
        }
    }

    @Test func `a header of the proxy that its client has written, too, is refused`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let check = try #require(fixture.gate.calls.first { $0.method == .get && $0.pattern == "/check" })
            let target = try #require(RequestTarget(Array("/check".utf8)))
            for (name, values) in [("tenant", ["a", "b"]), ("tenant", ["", "b"]), ("pool", ["pool", "pool"])] {
                let headers =
                    values.map { (name: "x-headroom-\(name)", value: $0) }
                    + (name == "tenant" ? [] : [(name: "x-headroom-tenant", value: "a")])
                let error = #expect(throws: HTTPError.self, "\(headers)") {
                    _ = try check.answer(LocalServer.Request(target: target, headers: headers, body: []))
                }
                #expect(
                    error?.code == .badRequest && error?.message.contains("x-headroom-\(name) is given twice") == true)
            }
        }
    }

    @Test func `a call larger than its tenant's ceiling for minutes is told so at once, and takes nothing`()
        async throws
    {
        let free = TenantAllocation(
            tenant: "free", assured: Rates(rpm: 0, tpm: 0), ceiling: Rates(rpm: 600, tpm: 150_000))
        try await GateFixture.run(pool(rpm: 6000, tenants: [free])) { fixture in
            func ask(_ tokens: Int, _ more: String = "") async throws -> GateFixture.Reply {
                try await fixture.ask(
                    "POST", "/v1/slots", #"{"tenant":"free","tokens":\#(tokens),"max_wait_ms":60000\#(more)}"#)
            }
            let large = try await ask(400_000)
            #expect(large.status == 429 && large["decision"]?.string == "shrink", "\(large.text)")
            #expect(large["exhausted"]?.string == "tokens" && large["retry_after_ms"]?.isNull == true)
            #expect(large["detail"]?.string?.contains("free may use at most 150,000 tokens a minute") == true)
            #expect(try await ask(400_000, #","fallback":"degrade""#)["decision"]?.string == "fallback")
            #expect(fixture.status?.counts.lent == 0 && fixture.status?.waiting == 0)
            // Larger than the burst, and nothing to wait for minutes for.
            #expect(try await ask(40_000).status == 200)
            let metrics = try await fixture.ask("GET", "/metrics").text
            #expect(metrics.contains(#"headroom_gate_calls_total{pool="pool",result="too_large"} 2"#))
        }
    }

    @Test func `a wait that passed in vain is followed by a longer one`() async throws {
        // One call a second, and more urgent ones come in time for each.
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.5)
            var waits: [Double] = []
            for attempt in 1...3 {
                let reply = try await fixture.slot(
                    #""max_wait_ms":0,"request":"r","criticality":"batch","attempt":\#(attempt)"#)
                waits.append(try #require(reply["retry_after_ms"]?.number, "\(reply.text)"))
                for number in 0...Int(waits[attempt - 1] / 1000) {
                    _ = try await fixture.slot(#""max_wait_ms":0,"request":"urgent-\#(attempt)-\#(number)""#)
                }
                fixture.advance(seconds: waits[attempt - 1] / 1000)
            }
            #expect(waits[1] >= 2 * waits[0] && waits[2] >= min(5000, 2 * waits[1]), "\(waits)")
        }
    }

    @Test func `a pool that Headroom does not know is refused by its nearest name, and passes only by choice`()
        async throws
    {
        try await GateFixture.run(pool("openai:gpt-4o", rpm: 6000)) { fixture in
            let misspelt = try await fixture.slot(#""pool":"opnai:gpt-4o""#)
            #expect(misspelt.status == 429 && misspelt["decision"]?.string == "fail", "\(misspelt.text)")
            #expect(misspelt["detail"]?.string?.contains(#"did you mean "openai:gpt-4o""#) == true)
            #expect(
                try await fixture.ask(
                    "GET", "/check?deny=403", headers: ["x-headroom-tenant": "a", "x-headroom-pool": "nope"]
                ).status == 403)
            #expect(try await fixture.slot(#""pool":"openai:gpt-4o""#)["warning"] == nil)
            #expect(try await fixture.ask("GET", "/v1/state")["unknown_pool_calls"]?.number == 2)
        }
        try await GateFixture.run(
            pool("openai:gpt-4o"), settings: { $0.unknownPools = .pass },
            body: { fixture in
                let passed = try await fixture.slot(#""pool":"opnai:gpt-4o""#)
                #expect(passed.status == 200)
                #expect(passed["warning"]?.string?.contains("without a limit") == true)
                #expect(passed.header("x-headroom-warning") != nil)
            })
    }

    @Test func `before the first snapshot every pool passes and says so, and after it a pool that it lacks does not`()
        async throws
    {
        try await GateFixture.run { fixture in
            let passed = try await fixture.slot(#""pool":"any""#)
            #expect(passed.status == 200 && passed["warning"]?.string?.contains("yet") == true, "\(passed.text)")
            fixture.load([pool()])
            #expect(try await fixture.slot(#""pool":"any""#).status == 429)
        }
    }
}
