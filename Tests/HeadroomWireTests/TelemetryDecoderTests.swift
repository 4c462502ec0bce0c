import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

private let now: Int64 = 1_793_000_000_000

@Suite struct TelemetryDecoderTests {
    @Test func `reads each kind of line that the format shows`() throws {
        let lines = [
            #"{"type":"call","id":"gw-1:000417","request":"r-77","at":1793000000000,"gateway":"gw-1","tenant":"acme","pool":"openai:gpt-4o","model":"gpt-4o-2024-11-20","endpoint":"chat","criticality":"interactive","task":"t-9","parent":"t-4","task_kind":"code-review","attempt":1,"outcome":"ok","status":200,"latency_ms":812.5,"queued_ms":20,"input_tokens":1200,"output_tokens":300,"cached_input_tokens":800,"max_tokens":4096,"counted_tokens":700}"#,
            #"{"type":"window","start":1792999990000,"seconds":10,"gateway":"gw-1","tenant":"acme","pool":"openai:gpt-4o","criticality":"batch","requests":42,"ok":40,"quota":2,"overload":0,"error":0,"retries":2,"denied":5,"denied_tokens":7000,"input_tokens":50000,"output_tokens":9000,"latency_ms":{"count":40,"p50":700,"p95":1900,"p99":2500}}"#,
            #"{"type":"queue","at":1793000000000,"gateway":"gw-1","tenant":"acme","pool":"openai:gpt-4o","criticality":"interactive","depth":12,"tokens":18000,"oldest_age_ms":5300}"#,
            #"{"type":"response","at":"2026-10-26T07:33:20Z","request":"r-77","gateway":"gw-1","pool":"openai:gpt-4o","model":"m","endpoint":"chat","provider":"openai","status":429,"headers":{"x-ratelimit-remaining-tokens":"0","retry-after":7,"set-cookie":["a","b"],"x":null},"body":"{\"error\":1}"}"#,
            #"{"type":"task","at":1793000000000,"gateway":"gw-1","tenant":"acme","pool":"openai:gpt-4o","criticality":"near_real_time","task":"t-9","parent":"t-4","state":"progress","progress":0.8,"remaining_requests":20,"remaining_tokens":30000}"#,
            #"{"type":"model","at":1793000000000,"pool":"openai:gpt-4o","model":"gpt-4o","version":"gpt-4o-2026-11-01"}"#,
        ]
        let at = Timestamp(milliseconds: now)
        let expected: [TelemetryRecord] = [
            .call(
                CallRecord(
                    id: "gw-1:000417", request: "r-77", at: at, gateway: "gw-1", tenant: "acme", pool: "openai:gpt-4o",
                    model: "gpt-4o-2024-11-20", endpoint: "chat", criticality: .interactive, task: "t-9",
                    parent: "t-4", attempt: 1, outcome: .ok, status: 200, latencyMilliseconds: 812.5,
                    queuedMilliseconds: 20, inputTokens: 1200, outputTokens: 300, cachedInputTokens: 800,
                    maxTokens: 4096, countedTokens: 700, taskKind: "code-review")),
            .window(
                WindowRecord(
                    start: at.adding(seconds: -10), seconds: 10, gateway: "gw-1", tenant: "acme",
                    pool: "openai:gpt-4o", criticality: .batch, requests: 42, ok: 40, quota: 2, retries: 2, denied: 5,
                    deniedTokens: 7000, inputTokens: 50000, outputTokens: 9000,
                    latency: .init(count: 40, p50Milliseconds: 700, p95Milliseconds: 1900, p99Milliseconds: 2500))),
            .queue(
                QueueRecord(
                    at: at, gateway: "gw-1", tenant: "acme", pool: "openai:gpt-4o", depth: 12, tokens: 18000,
                    oldestAgeMilliseconds: 5300)),
            .response(
                ResponseRecord(
                    at: at, request: "r-77", gateway: "gw-1", pool: "openai:gpt-4o", model: "m", endpoint: "chat",
                    provider: "openai", status: 429, signal: ProviderSignal(kind: .quota, retryAfterMilliseconds: 7))),
            .task(
                TaskRecord(
                    at: at, gateway: "gw-1", tenant: "acme", pool: "openai:gpt-4o", criticality: .nearRealTime,
                    task: "t-9", parent: "t-4", state: .progress, progress: 0.8, remainingRequests: 20,
                    remainingTokens: 30000)),
            .model(ModelRecord(at: at, pool: "openai:gpt-4o", model: "gpt-4o", version: "gpt-4o-2026-11-01")),
        ]
        let decoder = TelemetryDecoder { response in
            #expect(response.provider == "openai" && response.status == 429 && response.receivedAt == at)
            #expect(response.headers.map(\.name) == ["x-ratelimit-remaining-tokens", "retry-after"])
            #expect(response.body == "{\"error\":1}")
            return ProviderSignal(
                kind: response.headers[0].value == "0" ? .quota : .ok,
                retryAfterMilliseconds: Double(response.headers[1].value))
        }
        let arrival = TelemetryDecoder.Arrival(received: at)
        let text = lines.joined(separator: "\n")
        let result = try decoder.decode(Array(text.utf8), as: .lines, arrival: arrival)
        #expect(result.faults == [])
        #expect(result.lines.map(\.number) == Array(1...6))
        for (line, record) in zip(result.lines, expected) { #expect(line.record == record) }
        #expect(result.lines.map(\.id) == ["gw-1:000417", nil, nil, nil, nil, nil])

        let array = "[\n" + lines.joined(separator: " , ") + "]\n"
        let again = try decoder.decode(Array(array.utf8), as: .document, arrival: arrival)
        #expect(again.lines.map(\.record) == expected && again.lines.map(\.number) == Array(1...6))
        let one = try decoder.decode(Array((" " + lines[2]).utf8), as: .document, arrival: arrival)
        #expect(one.lines.map(\.record) == [expected[2]])
    }

    @Test func `names every bad line, says what would be right, and keeps the good ones`() throws {
        let call = #""type":"call","gateway":"g","tenant":"t","pool":"p","outcome":"ok""#
        let window = #""type":"window","start":1792999999000,"seconds":1,"gateway":"g","tenant":"t","pool":"p""#
        let long = String(repeating: "x", count: 257)
        let cases: [(String, String)] = [
            ("{\(call)", "not valid JSON: the text ends where ',' or '}' is expected"),
            ("hello", "not valid JSON: expected a value, found 'h' (column 1)"),
            ("[]", "expected an object, found an array"), ("17", "expected an object, found a number"),
            ("{\(call)} {}", "nothing may follow the value"),
            ("{\(call),\"status\":200,\"status\":500}", "\"status\" stands twice"),
            ("{\(call),\"type\":\"call\"}", "\"type\" stands twice"),
            ("{}", "type is missing: one of call, window, queue, response, task, model"),
            (#"{"type":null}"#, "type: expected a string, found null"),
            (#"{"type":"cal"}"#, #"type: "cal" is no type of line: one of call, window"#),
            (#"{"type":"call","tenant":"t","pool":"p","outcome":"ok"}"#, "gateway is missing"),
            (#"{"type":"call","gateway":"g","pool":"p","outcome":"ok"}"#, "tenant is missing"),
            (#"{"type":"call","gateway":"g","tenant":"t","outcome":"ok"}"#, "pool is missing"),
            (
                #"{"type":"call","gateway":"g","tenant":"t","pool":"p"}"#,
                "outcome is missing: one of ok, cached, denied, quota"
            ),
            (
                #"{"type":"call","gateway":"g","tenant":"t","pool":"p","outcome":"OK"}"#,
                #"outcome: "OK" is no outcome: one of ok"#
            ),
            (
                #"{"type":"call","gateway":"g","tenant":"-t","pool":"p","outcome":"ok"}"#,
                #"tenant: "-t" is no identifier: 1 to 128 characters"#
            ),
            (#"{"type":"call","gateway":"","tenant":"t","pool":"p","outcome":"ok"}"#, #"gateway: "" is no identifier"#),
            (
                #"{"type":"call","gateway":"g","tenant":"t","pool":"a b","outcome":"ok"}"#,
                #"pool: "a b" is no identifier"#
            ),
            (
                "{\(call),\"input_tokens\":-1}",
                "input_tokens: expected a whole number from 0 to 1000000000000, found -1"
            ),
            ("{\(call),\"output_tokens\":1.5}", "output_tokens: expected a whole number"),
            (
                "{\(call),\"counted_tokens\":1000000000001}",
                "counted_tokens: expected a whole number from 0 to 1000000000000, found 1000000000001"
            ),
            ("{\(call),\"max_tokens\":1e30}", "max_tokens: too large"),
            ("{\(call),\"max_tokens\":1e999}", "max_tokens: too large"),
            ("{\(call),\"extra\":1e999}", "extra: too large"),
            ("{\(call),\"cached_input_tokens\":\"5\"}", "cached_input_tokens: expected a number, found a string"),
            ("{\(call),\"latency_ms\":86400001}", "latency_ms: expected a number from 0 to 86400000, found 86400001"),
            ("{\(call),\"queued_ms\":-0.5}", "queued_ms: expected a number from 0 to"),
            ("{\(call),\"latency_ms\":NaN}", "latency_ms: NaN and Infinity are not allowed"),
            ("{\(call),\"status\":99}", "status: expected a whole number from 100 to 599, found 99"),
            ("{\(call),\"attempt\":0}", "attempt: expected a whole number from 1"),
            (
                "{\(call),\"criticality\":\"urgent\"}",
                #"criticality: "urgent" is no criticality: one of interactive, near_real_time, batch"#
            ),
            ("{\(call),\"id\":\"\(long)\"}", "id: too long: at most 256 bytes"),
            ("{\(call),\"model\":\"\(long)\"}", "model: too long"),
            ("{\(call),\"parent\":[]}", "parent: expected a string, found an array"),
            ("{\(call),\"at\":\"yesterday\"}", #"at: "yesterday" is no time: RFC 3339"#),
            ("{\(call),\"at\":-1}", "at: expected a whole number from 0"),
            ("{\(call),\"at\":true}", "at: expected a string, found true or false"),
            ("{\(call),\"at\":1793000060001}", "from the future: it ended 60.001 s after it was sent"),
            (
                "{\(call),\"at\":1792999099999}",
                "too old: it ended 900.001 s before it was sent; after 900 s a line is taken in a numbered batch only"
            ),
            (
                "{\(call),\"at\":1792000000000}",
                "too old: it ended 1000000 s before it was sent, and rows are kept for 172800 s"
            ),
            (
                "{\(window),\"requests\":3,\"ok\":1,\"quota\":1}",
                "requests: expected ok + quota + overload + error = 2, found 3"
            ),
            (
                "{\(window),\"requests\":1,\"ok\":1,\"retries\":2}",
                "retries: they are among the requests, so at most 1, found 2"
            ),
            ("{\(window),\"ok\":1}", "requests is missing"), (#"{"type":"window","seconds":1}"#, "start is missing"),
            (
                #"{"type":"window","start":1793000000000}"#,
                "seconds is missing: how long the window was, above 0 and at most 3600"
            ),
            (
                #"{"type":"window","start":1793000000000,"seconds":0}"#,
                "seconds: expected a number above 0 and at most 3600, found 0"
            ),
            (
                #"{"type":"window","start":1793000000000,"seconds":3601}"#,
                "seconds: expected a number above 0 and at most 3600, found 3601"
            ),
            (
                "{\(window),\"requests\":0,\"latency_ms\":{\"count\":1,\"p50\":1,\"p95\":2}}",
                "latency_ms: expected an object with count, p50, p95 and p99"
            ),
            (
                "{\(window),\"requests\":0,\"latency_ms\":{\"count\":1,\"p50\":3,\"p95\":2,\"p99\":4}}",
                "latency_ms: expected p50 ≤ p95 ≤ p99, found 3, 2, 4"
            ),
            (#"{"type":"queue","gateway":"g","tenant":"t","pool":"p"}"#, "depth is missing"),
            (#"{"type":"task","gateway":"g","tenant":"t","pool":"p"}"#, "task is missing"),
            (
                #"{"type":"task","task":"t","state":"done"}"#,
                #"state: "done" is no state: one of started, progress, completed, failed"#
            ),
            (
                #"{"type":"task","task":"t","state":"started","progress":1.1}"#,
                "progress: expected a number from 0 to 1, found 1.1"
            ),
            (#"{"type":"model","pool":"p","model":"m"}"#, "version is missing"),
            (#"{"type":"response","gateway":"g","pool":"p"}"#, "status is missing"),
            (
                "{\"type\":\"response\",\"gateway\":\"g\",\"pool\":\"p\",\"status\":500,\"body\":\"\(String(repeating: "b", count: 4097))\"}",
                "body: too long: at most 4096 bytes"
            ),
            (
                "{\"type\":\"response\",\"gateway\":\"g\",\"pool\":\"p\",\"status\":500,\"headers\":{\"a\":\"\(String(repeating: "h", count: 20000))\"}}",
                "headers: too many: at most 128 headers"
            ),
            (
                #"{"type":"response","gateway":"g","pool":"p","status":500,"headers":[]}"#,
                "headers: expected an object, found an array"
            ),
        ]
        // Good lines and blank ones in between: every fault must bear its own line's number.
        let text = cases.map { "\($0.0)\r\n{\(call)}\n \t\n" }.joined()
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        let result = try decoder.decode(
            Array(text.utf8), as: .lines, arrival: .init(received: Timestamp(milliseconds: now)))
        #expect(result.lines.map(\.number) == cases.indices.map { $0 * 3 + 2 })
        #expect(result.faults.map(\.line) == cases.indices.map { $0 * 3 + 1 })
        for (fault, bad) in zip(result.faults, cases) {
            #expect(fault.detail.contains(bad.1), "\(bad.0.prefix(120))\n\(fault.detail)")
        }
    }

    @Test func `a line's age is measured on its sender's clock`() throws {
        // (sent at, the line's at, age in milliseconds, is late); the sender's clock is an hour ahead of ours.
        let ahead = now + 3_600_000
        let cases: [(Int64?, String, Int64?, Bool)] = [
            (ahead, "\(ahead - 1500)", 1500, false), (ahead, "\(ahead + 60_000)", 0, false),
            (ahead, "\(ahead + 60_001)", nil, false),
            (ahead, "\(ahead - 300_000)", 300_000, false), (ahead, "\(ahead - 300_001)", 300_001, true),
            (ahead, "null", 0, false),
            (nil, "\(now - 1500)", 1500, false), (nil, "\(ahead)", nil, false),
            (nil, "\"2026-10-26T08:33:18.500+01:00\"", 1500, false),
            (.min, "\(now)", nil, false), (.max, "\(now)", nil, false), (ahead, "\(ahead - 900_000)", 900_000, true),
            (ahead, "\(ahead - 900_001)", nil, true),
        ]
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        for (sentAt, at, age, isLate) in cases {
            let text = #"{"type":"call","gateway":"g","tenant":"t","pool":"p","outcome":"ok","at":\#(at)}"#
            let result = try decoder.decode(
                Array(text.utf8), as: .lines, arrival: .init(received: Timestamp(milliseconds: now), sentAt: sentAt))
            #expect(result.lines.first.map { now - $0.record.at.milliseconds } == age, "\(at): \(result)")
            if age != nil { #expect(result.lines.first?.isLate == isLate, "\(at)") }
        }
        let old =
            #"{"type":"window","start":\#(now - 8_000_000),"seconds":4,"gateway":"g","tenant":"t","pool":"p","requests":0}"#
        let batch = try decoder.decode(
            Array(old.utf8), as: .lines, arrival: .init(received: Timestamp(milliseconds: now), isNumberedBatch: true))
        #expect(batch.lines.first?.record.at.milliseconds == now - 7_996_000)
        #expect(batch.lines.first?.isLate == true)
    }

    @Test func `the sender's own name stands in for a missing one, and foreign names are refused`() throws {
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        let arrival = TelemetryDecoder.Arrival(
            received: Timestamp(milliseconds: now), gateway: "gw-1", allowed: ["gw-1", "gw-2"])
        let text = """
            {"type":"call","tenant":"t","pool":"p","outcome":"ok"}
            {"type":"call","tenant":"t","pool":"p","outcome":"ok","gateway":"gw-2"}
            {"type":"call","tenant":"t","pool":"p","outcome":"ok","gateway":"gw-3"}
            {"type":"model","pool":"p","model":"m","version":"v","gateway":"gw-3"}
            {"type":"model","pool":"p","model":"m","version":"v"}
            """
        let result = try decoder.decode(Array(text.utf8), as: .lines, arrival: arrival)
        #expect(result.lines.map(\.record.gateway) == ["gw-1", "gw-2", "gw-1"])
        #expect(result.faults.map(\.line) == [3, 4])
        #expect(result.faults[0].detail == "gateway: the token does not speak for \"gw-3\", only for gw-1, gw-2")
    }

    @Test func `a body with too many lines, or that is no JSON document, is refused whole`() throws {
        var decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        decoder.limits.lines = 3
        let line = #"{"type":"call","gateway":"g","tenant":"t","pool":"p","outcome":"ok"}"#
        let arrival = TelemetryDecoder.Arrival(received: Timestamp(milliseconds: now))
        let cases: [(String, TelemetryDecoder.Format, WireError.Code?)] = [
            (String(repeating: line + "\n", count: 3), .lines, nil),
            (String(repeating: line + "\n", count: 4), .lines, .tooManyLines),
            ("[\(line),\(line),\(line)]", .document, nil),
            ("[\(line),\(line),\(line),\(line)]", .document, .tooManyLines),
            ("[\(line),]", .document, .unreadable), ("[\(line)", .document, .unreadable), ("", .document, .unreadable),
            ("", .lines, nil),
            ("[\(line)] x", .document, .unreadable), ("[1,\(line)]", .document, nil),
        ]
        for (text, format, code) in cases {
            do throws(WireError) {
                _ = try decoder.decode(Array(text.utf8), as: format, arrival: arrival)
                #expect(code == nil, "\(text)")
            } catch { #expect(error.code == code, "\(text): \(error)") }
        }
        let mixed = try decoder.decode(Array("[1,\(line)]".utf8), as: .document, arrival: arrival)
        #expect(mixed.lines.map(\.number) == [2])
        #expect(mixed.faults == [.init(line: 1, detail: "expected an object, found a number")])
    }

    @Test func `damaged lines are refused or read, and their neighbours stay`() throws {
        let decoder = TelemetryDecoder { _ in ProviderSignal(kind: .ok) }
        let good = #"{"type":"call","gateway":"g","tenant":"t","pool":"p","outcome":"ok"}"#
        for seed in UInt64(0)..<400 {
            var generator = SplitMix64(seed: seed)
            var encoder = TelemetryEncoder()
            encoder.append(RandomWire.record(&generator), body: "b")
            var bytes = encoder.bytes.dropLast()
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: bytes.startIndex..<bytes.endIndex, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
                if bytes[place] == 0x0A { bytes[place] = 0 }
            }
            let text = Array(good.utf8) + [0x0A] + bytes + [0x0A] + Array(good.utf8)
            let result = try decoder.decode(
                text, as: .lines, arrival: .init(received: Timestamp(milliseconds: now)))
            #expect(result.lines.count + result.faults.count == 3, "seed \(seed)")
            #expect(result.lines.first?.number == 1 && result.lines.last?.number == 3, "seed \(seed)")
        }
    }
}
