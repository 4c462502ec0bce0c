import Foundation
import Glibc
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct GateTests {
    @Test func `a slot is taken, and settled at what the call cost`() async throws {
        try await GateFixture.run(pool()) { fixture in
            let slot = try await fixture.slot(#""model":"gpt-4o""#)
            #expect(slot.status == 200)
            #expect(slot["pool"]?.string == "pool")
            #expect(slot["model"]?.string == "gpt-4o")
            #expect(slot["estimated_tokens"]?.number == 100)
            #expect(slot.header("x-headroom-slot") == slot["slot"]?.string)
            let name = try #require(slot["slot"]?.string)
            let done = try await fixture.ask(
                "POST", "/v1/slots/\(name)/done", #"{"status":200,"input_tokens":90,"output_tokens":10}"#)
            #expect(done.text == #"{"kind":"ok","retry":"never","retry_after_ms":null}"#)
            #expect(fixture.status?.inFlight == 0)
            let again = try await fixture.ask("POST", "/v1/slots/\(name)/done", #"{"outcome":"ok"}"#)
            #expect(again.status == 404)
        }
    }

    @Test func `who prefers headers alone gets no body, and the same headers`() async throws {
        try await GateFixture.run(pool()) { fixture in
            let brief = ["x-headroom-tenant": "a", "x-headroom-max-wait-ms": "0", "Prefer": "wait=1, Return=Minimal"]
            let slot = try await fixture.ask("GET", "/check?deny=403", headers: brief)
            #expect(slot.status == 204 && slot.text.isEmpty, "\(slot.text)")
            let name = try #require(slot.header("x-headroom-slot"))
            #expect(slot.header("x-headroom-pool") == "pool" && slot.header("x-headroom-waited-ms") == "0")
            let refused = try await fixture.ask("GET", "/check?deny=403", headers: brief)
            #expect(refused.status == 403 && refused.text.isEmpty, "\(refused.text)")
            #expect(refused.header("retry-after-ms") != nil && refused.header("x-should-retry") == "true")
            let done = try await fixture.ask("POST", "/v1/slots/\(name)/done?status=200", headers: brief)
            #expect(done.status == 204 && done.text.isEmpty, "\(done.text)")
            #expect(fixture.status?.inFlight == 0)
            // A wrong call says what is wrong with it in any case.
            let unknown = try await fixture.ask("POST", "/v1/slots/\(name)/done?status=200", headers: brief)
            #expect(unknown.status == 404 && unknown.text.contains("there is no slot"), "\(unknown.text)")
        }
    }

    @Test func `who will not wait gets a 429 that says when to come back, and has its place then`() async throws {
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.5)
            let first = try await fixture.slot(#""max_wait_ms":0,"request":"r-1""#)
            let second = try await fixture.slot(#""max_wait_ms":0,"request":"r-2""#)
            #expect(first.status == 429)
            #expect(first["decision"]?.string == "wait")
            #expect(first["exhausted"]?.string == "requests")
            #expect(first.header("x-should-retry") == "true")
            #expect(first.header("Retry-After") == "1")
            #expect(second.header("Retry-After") == "2")
            #expect(first.header("RateLimit-Policy") == #""requests";q=60;w=60"#)
            let waits = try [first, second].map { try #require($0["retry_after_ms"]?.number) }
            // One a second, and each behind the one before it.
            #expect((450...600).contains(waits[0]))
            #expect((900...1100).contains(waits[1] - waits[0]))
            #expect(first.header("retry-after-ms") == String(Int(waits[0])))
            fixture.advance(seconds: waits[0] / 1000)
            // Its place, not the next one's, although that comes first.
            let early = try await fixture.slot(#""max_wait_ms":0,"request":"r-2","attempt":2"#)
            #expect(early.status == 429)
            let late = try await fixture.slot(#""max_wait_ms":0,"request":"r-1","attempt":2"#)
            #expect(late.status == 200)
            #expect(fixture.status?.counts.denied == 0)
        }
    }

    @Test func `a kind of task that the cost breaker holds is refused with cost, by body and by header`() async throws {
        var slowed = pool(rpm: 6000)
        slowed.taskKinds = [
            PoolAllocation.TaskKind(kind: "paused", requestsPerMinute: 0),
            PoolAllocation.TaskKind(kind: "research", requestsPerMinute: 6),
        ]
        try await GateFixture.run(slowed) { fixture in
            #expect(try await fixture.slot(#""max_wait_ms":0,"task_kind":"review""#).status == 200)
            #expect(try await fixture.slot(#""max_wait_ms":0,"task_kind":"research""#).status == 200)
            let held = try await fixture.slot(#""max_wait_ms":0,"task_kind":"research""#)
            #expect(held.status == 429 && held["exhausted"]?.string == "cost", "\(held.text)")
            #expect(held["decision"]?.string == "wait" && held["retry_after_ms"]?.number == 10_000)
            let paused = try await fixture.slot(#""max_wait_ms":1000,"task_kind":"paused""#)
            #expect(paused.status == 429 && paused["decision"]?.string == "fail", "\(paused.text)")
            #expect(paused["retry_after_ms"]?.isNull == true)
            #expect(paused["detail"]?.string?.contains("their cost ceiling is reached") == true)
            let check = try await fixture.ask(
                "GET", "/check", headers: ["x-headroom-tenant": "a", "baggage": "headroom.task-kind=paused"])
            #expect(check.status == 429 && check["exhausted"]?.string == "cost", "\(check.text)")
            let own = try await fixture.ask(
                "GET", "/check", headers: ["x-headroom-tenant": "a", "x-headroom-task-kind": "paused"])
            #expect(own.status == 429)
            fixture.advance(seconds: 10)
            #expect(try await fixture.slot(#""max_wait_ms":0,"task_kind":"research""#).status == 200)
        }
    }

    @Test func `an upstream that gives no answers is left, and the caller has its turn in another pool`() async throws {
        var failing = pool(rpm: 6000)
        failing.failover = ["spare"]
        var spare = pool(rpm: 6000)
        spare.pool = "spare"
        try await GateFixture.run(failing, spare) { fixture in
            for index in 0..<20 {
                let slot = try #require(try await fixture.slot()["slot"]?.string)
                let outcome = index % 2 == 0 ? "timeout" : "connection"
                let done = try await fixture.ask("POST", "/v1/slots/\(slot)/done", #"{"outcome":"\#(outcome)"}"#)
                #expect(done.text == #"{"kind":"server","retry":"never","retry_after_ms":null}"#)
            }
            #expect(try await fixture.slot()["pool"]?.string == "spare")
            let state = try await fixture.ask("GET", "/v1/state")
            #expect(state["pools"]?["pool"]?["breaker"]?.string == "open", "\(state.text)")
            #expect(state["pools"]?["spare"]?["breaker"]?.string == "closed")
            let metrics = try await fixture.ask("GET", "/metrics")
            #expect(metrics.text.contains("headroom_gate_breakers{pool=\"pool\"} 1\n"), "\(metrics.text)")
            let slot = try #require(try await fixture.slot()["slot"]?.string)
            let unknown = try await fixture.ask("POST", "/v1/slots/\(slot)/done", #"{"outcome":"lost"}"#)
            #expect(unknown.status == 400 && unknown.text.contains("server, timeout, connection"), "\(unknown.text)")
        }
    }

    @Test func `no wait is named that the caller will not see the end of`() async throws {
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.9)
            let deadline = fixture.now.adding(seconds: 0.5).milliseconds
            let refused = try await fixture.slot(#""max_wait_ms":0,"deadline":\#(deadline)"#)
            #expect(refused["decision"]?.string == "fail")
            #expect(refused.header("x-should-retry") == "false")
            let degrades = try await fixture.slot(#""max_wait_ms":0,"fallback":"degrade","deadline":\#(deadline)"#)
            #expect(degrades["decision"]?.string == "fallback")
            // Nobody comes back for these, so no place is kept.
            #expect(fixture.status?.waiting == 0)
        }
    }

    @Test func `a caller is answered while it still has time, however long it would wait`() async throws {
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.9)
            for place in 0..<20 { _ = try await fixture.slot(#""max_wait_ms":0,"request":"r-\#(place)""#) }
            async let asked = fixture.ask(
                "GET", "/check",
                headers: [
                    "x-headroom-tenant": "a", "x-headroom-max-wait-ms": "20000", "x-stainless-read-timeout": "5",
                ])
            await fixture.hasWaiting(21)
            fixture.advance(seconds: 4)
            let answer = try await asked
            #expect(answer.status == 429, "\(answer.text)")
        }
    }

    @Test func `the work of a step and its being the last are read from headers, too`() async throws {
        var limited = pool(rpm: 6e6, tpm: 6e9)
        limited.tasks = TaskTerms(budgets: [TaskBudget(limits: TaskLimits(calls: 10))])
        try await GateFixture.run(limited) { fixture in
            func step(_ more: [String: String] = [:]) async throws -> GateFixture.Reply {
                let headers = ["x-headroom-tenant": "a", "x-headroom-task": "t"].merging(more) { $1 }
                return try await fixture.ask("GET", "/check", headers: headers)
            }
            for _ in 0..<9 { #expect(try await step().status == 200) }
            let tool = try await step(["x-headroom-work": "tool"])
            #expect(tool.status == 429 && tool["exhausted"]?.string == "task_budget", "\(tool.text)")
            #expect(try await step(["x-headroom-step": "finish"]).status == 200)
            #expect(try await step(["baggage": "headroom.work=chat"]).status == 400)
        }
    }

    @Test func `a caller waits for its turn`() async throws {
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.9)
            async let later = fixture.slot(#""max_wait_ms":5000"#)
            await fixture.hasWaiting(1)
            fixture.advance(seconds: 1.1)
            let slot = try await later
            #expect(slot.status == 200)
            #expect(slot["waited_ms"]?.number == 1100)
        }
    }

    @Test func `a caller that hangs up while it waits takes no slot with it`() async throws {
        try await GateFixture.run(pool()) { fixture in
            try await fixture.spend(aheadSeconds: 0.9)
            let descriptor = try connection(to: fixture.base)
            let body = #"{"tenant":"a","tokens":100,"max_wait_ms":60000}"#
            write(
                "POST /v1/slots HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)",
                to: descriptor)
            await fixture.hasWaiting(1)
            close(descriptor)
            // Its place is given up before its turn: the clock stands still.
            await fixture.hasWaiting(0)
            #expect(fixture.status?.inFlight == 2)
            fixture.advance(seconds: 1.1)
            #expect(try await fixture.slot(#""max_wait_ms":0"#).status == 200)
        }
    }

    @Test func `a call that the provider refuses keeps its place`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let slot = try await fixture.slot(#""request":"r-1""#)
            let name = try #require(slot["slot"]?.string)
            let done = try await fixture.ask(
                "POST", "/v1/slots/\(name)/done", #"{"status":429,"headers":{"retry-after":"2"},"body":"{}"}"#)
            #expect(done.text == #"{"kind":"quota","retry":"after","retry_after_ms":2000}"#)
            fixture.advance(seconds: 2.1)
            let again = try await fixture.slot(#""request":"r-1","attempt":2,"max_wait_ms":0"#)
            #expect(again.status == 200)
            #expect(again["waited_ms"]?.number == 2100)
        }
    }

    @Test func `a slot that nobody ends expires at its estimate`() async throws {
        try await GateFixture.run(pool(rpm: 6000)) { fixture in
            let slot = try await fixture.slot()
            fixture.advance(seconds: 601)
            _ = try await fixture.slot()
            let name = try #require(slot["slot"]?.string)
            #expect(try await fixture.ask("DELETE", "/v1/slots/\(name)").status == 404)
            #expect(fixture.status?.inFlight == 1)
        }
    }

    @Test func `a proxy asks by headers, and passes on an error of its caller's kind`() async throws {
        try await GateFixture.run(pool()) { fixture in
            let headers = ["x-headroom-tenant": "a", "x-headroom-max-wait-ms": "0"]
            let passed = try await fixture.ask("GET", "/check", headers: headers)
            #expect(passed.status == 200)
            #expect(passed.header("x-headroom-slot") != nil)
            let openAI = try await fixture.ask("POST", "/check/v1/chat/completions", "", headers: headers)
            #expect(openAI.status == 429)
            #expect(openAI["error"]?["code"]?.string == "rate_limit_exceeded")
            let anthropic = try await fixture.ask(
                "GET", "/check?deny=403", headers: headers.merging(["x-original-uri": "/v1/messages"]) { $1 })
            #expect(anthropic.status == 403)
            #expect(anthropic["error"]?["type"]?.string == "rate_limit_error")
            #expect(anthropic.header("Retry-After") != nil)
            // Through a proxy, and of any host.
            let forwarded = try await fixture.ask(
                "GET", "/check",
                headers: headers.merging(["X-Forwarded-For": "10.0.0.1", "baggage": "headroom.task=t-9"]) { $1 })
            #expect(forwarded.status == 429)
        }
    }

    @Test func `what is wrong with a request is said, and what would be right`() async throws {
        try await GateFixture.run(pool()) { fixture in
            for (body, words) in [
                ("{", "no JSON"), ("{}", "tenant is missing"), (#"{"tenant":"a b"}"#, "is no name"),
                (#"{"tenant":"a","criticality":"urgent"}"#, "must be interactive"),
                (#"{"tenant":"a","tokens":-1}"#, "tokens: must be a whole number from 0 to 100000000"),
                (#"{"tenant":"a","fallback":"x"}"#, "must be smaller_model"),
            ] {
                let reply = try await fixture.ask("POST", "/v1/slots", body)
                #expect(reply.status == 400)
                #expect(reply["detail"]?.string?.contains(words) == true, "\(body): \(reply.text)")
            }
            let page = try await fixture.ask("POST", "/v1/slots", "{}", headers: ["Origin": "http://evil.example"])
            #expect(page.status == 403)
            let check = try await fixture.ask("GET", "/check")
            #expect(check["detail"]?.string?.contains("x-headroom-tenant") == true)
        }
    }

    @Test func `it says what it enforces`() async throws {
        try await GateFixture.run(pool()) { fixture in
            _ = try await fixture.slot()
            let state = try await fixture.ask("GET", "/v1/state")
            #expect(state["pools"]?["pool"]?["in_flight"]?.number == 1)
            #expect(state["pools"]?["pool"]?["budget"]?["rpm"]?.number == 60)
            let metrics = try await fixture.ask("GET", "/metrics").text
            #expect(metrics.contains(#"headroom_gate_calls_total{pool="pool",result="assured"} 1"#))
        }
    }

    @Test func `an answer that was kept is given again, to its tenant only, and reported`() async throws {
        try await GateFixture.run(pool()) { fixture in
            let question = #""model":"m","messages":[{"role":"user","content":"2+2?"}]"#
            func lookUp(_ tenant: String, _ more: String) async throws -> JSONNode? {
                let reply = try await fixture.ask(
                    "POST", "/v1/cache/lookup", #"{"tenant":"\#(tenant)",\#(question)\#(more)}"#)
                #expect(reply.status == 200, "\(reply.text)")
                return reply["hit"].flatMap { $0.isNull ? nil : try? JSONNode.parse(Array(reply.text.utf8)) }
            }
            #expect(try await lookUp("a", "") == nil)
            let kept = try await fixture.ask(
                "POST", "/v1/cache",
                #"{"tenant":"a",\#(question),"vector":[1,0.1],"answer":{"text":"four"},"input_tokens":9,"output_tokens":1}"#
            )
            #expect(kept["kept"] != nil && kept.text.contains("true"), "\(kept.text)")
            let exact = try await lookUp("a", "")
            #expect(exact?["hit"]?.string == "exact" && exact?["answer"]?["text"]?.string == "four")
            #expect(try await lookUp("b", #","vector":[1,0.1]"#) == nil)
            let reply = try await fixture.ask(
                "POST", "/v1/cache/lookup",
                #"{"tenant":"a","model":"m","question":"two plus two","vector":[1,0.12]}"#)
            #expect(reply["hit"]?.string == "similar" && reply["input_tokens"]?.number == 9, "\(reply.text)")
            var lines = ""
            _ = await fixture.gate.manager.reporter.sendAll { batch in
                lines += String(decoding: batch.bytes, as: UTF8.self)
                return .unanswered
            }
            #expect(lines.components(separatedBy: #""outcome":"cached""#).count == 3, "\(lines)")
            for (body, words) in [
                ("{}", "tenant is missing"), (#"{"tenant":"a"}"#, "model is missing"),
                (#"{"tenant":"a","model":"m"}"#, "question is missing"),
                (#"{"tenant":"a","model":"m","question":"q","vector":["x"]}"#, "vector: must be"),
                (#"{"tenant":"a","model":"m","question":"q"}"#, "answer is missing"),
            ] {
                let reply = try await fixture.ask("POST", "/v1/cache", body)
                #expect(reply.status == 400 && reply.text.contains(words), "\(body): \(reply.text)")
            }
        }
    }

    private func connection(to base: URL) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(base.port!).bigEndian
        _ = unsafe inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(code == 0)
        return descriptor
    }

    private func write(_ text: String, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        let sent = unsafe send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #expect(sent == bytes.count)
    }
}
