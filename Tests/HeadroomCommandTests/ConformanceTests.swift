import Foundation
import Glibc
import HeadroomClient
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct ConformanceTests {
    @Test func `the vectors are the same in every run, and a profile has fewer of them`() async throws {
        let all = try await HeadroomProgram.run("conformance", "vectors")
        #expect(all.code == 0 && all.errors == "")
        #expect(try await HeadroomProgram.run("conformance", "vectors").output == all.output)
        for (profile, has, lacks) in [
            ("lending", "lends what is left", "start_drawing"), ("drawing", "start_drawing", "divert"),
        ] {
            let some = try await HeadroomProgram.run("conformance", "vectors", "--profile", profile).output
            #expect(some.contains(has) && !some.contains(#""do":"\#(lacks)""#), "\(profile)")
        }
        let wrong = try await HeadroomProgram.run("conformance", "vectors", "--profile", "lend")
        #expect(wrong.code == 2 && wrong.errors.contains("must be lending, drawing or all"))
    }

    @Test func `every right on which a call can go is in the vectors`() async throws {
        let output = try await HeadroomProgram.run("conformance", "vectors").output
        for grant in ["assured", "lent", "drawn", "unlisted", "unlimited"] {
            #expect(output.contains(#""grant":"\#(grant)""#), "none goes on \(grant)")
        }
    }

    /// What Headroom's own gate answers to each story, by the story's first line.
    private static func answers() async throws -> [String: [String]] {
        let stored = try await HeadroomProgram.run("conformance", "vectors").output
        var answers: [String: [String]] = [:]
        var story = ""
        for line in stored.split(separator: "\n") {
            if line.hasPrefix(#"{"story""#) {
                story = String(line)
            } else {
                let expected = line.range(of: #","expect":"#).map { String(line[$0.upperBound...].dropLast()) }
                answers[story, default: []].append(expected ?? "null")
            }
        }
        return answers
    }

    @Test func `a gate behind an address that decides the same in every story passes`() async throws {
        let answers = try await Self.answers()
        let gate = try WebhookReceiver { message in
            let story = String(decoding: message.body.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            return Array((answers[story] ?? []).joined(separator: "\n").utf8)
        }
        defer { gate.stop() }
        let outcome = try await HeadroomProgram.run("conformance", "http://127.0.0.1:\(gate.port)/play")
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome)")
        #expect(outcome.output.split(separator: "\n").count == answers.count)
        #expect(!outcome.output.contains("differs"))
        // What is expected is not sent.
        #expect(gate.received.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("expect") })
    }

    @Test func `a gate that decides otherwise is told the first step and both decisions`() async throws {
        let answers = try await Self.answers()
        let gate = try WebhookReceiver { message in
            let story = String(decoding: message.body.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            var lines = answers[story] ?? []
            if let place = lines.firstIndex(where: { $0.hasPrefix("[{") }) { lines[place] = "[]" }
            return Array(lines.joined(separator: "\n").utf8)
        }
        defer { gate.stop() }
        let outcome = try await HeadroomProgram.run("conformance", "http://127.0.0.1:\(gate.port)/")
        #expect(outcome.code == 1)
        let difference =
            "differs  lends what is left: step 6, dispatch at 67 ms\n"
            + "  rule     Buckets, admission: a call that may go now goes now\n  expected [{\"id\":1,"
        #expect(outcome.output.contains(difference), "\(outcome.output.prefix(500))")
        #expect(outcome.output.contains("\n  found    []\n"))
    }

    @Test func `the order of expired calls, and of calls where nothing is enforced, is no law`() async throws {
        let answers = try await Self.answers()
        let gate = try WebhookReceiver { message in
            let lines = String(decoding: message.body, as: UTF8.self).split(separator: "\n")
            var isEnforcing = true
            let answered = zip(lines.dropFirst(), answers[String(lines[0])] ?? []).map { line, answer in
                if line.contains(#""do":"load""#) { isEnforcing = !line.contains(#""enforce":false"#) }
                let isFree = line.contains(#""do":"expire""#) || line.contains(#""do":"dispatch""#) && !isEnforcing
                guard isFree, let array = try? JSONNode.parse(Array(answer.utf8)).array else { return answer }
                let elements = array.map { element in
                    element.number.map { "\(Int($0))" }
                        ?? #"{"id":\#(Int(element["id"]?.number ?? 0)),"grant":"\#(element["grant"]?.string ?? "")"}"#
                }
                return "[\(elements.reversed().joined(separator: ","))]"
            }
            return Array(answered.joined(separator: "\n").utf8)
        }
        defer { gate.stop() }
        let outcome = try await HeadroomProgram.run("conformance", "http://127.0.0.1:\(gate.port)/")
        #expect(outcome.code == 0, "\(outcome.output.prefix(2000))")
    }

    @Test func `an address that cannot be asked, or answers too little, is named with the fault`() async throws {
        let wrong = try await HeadroomProgram.run("conformance", "vector")
        #expect(wrong.code == 2 && wrong.errors.contains(#""vector": must be vectors, or the address of a gate"#))
        let gate = try WebhookReceiver()
        defer { gate.stop() }
        let refused = try await HeadroomProgram.run("conformance", "http://127.0.0.1:\(gate.port)/")
        #expect(refused.code == 1 && refused.errors.contains("answers 204: must be 200"), "\(refused)")
        let short = try WebhookReceiver { _ in Array("null".utf8) }
        defer { short.stop() }
        let outcome = try await HeadroomProgram.run("conformance", "http://127.0.0.1:\(short.port)/")
        #expect(outcome.code == 1 && outcome.output.contains("must be one for each, null where nothing comes of it"))
    }

    // MARK: Headroom, played to a gateway

    @Test func `a gateway that links the client keeps every rule of the wire`() async throws {
        try await PlayedService.run("--pool", "chat", "--lease-seconds", "1.5") { service in
            let address = try #require(URL(string: "http://127.0.0.1:\(service.client.port)"))
            let manager = try BudgetManager(BudgetManager.Settings(gateway: "gw-1", addresses: [address]))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await manager.run() }
                while manager.poolStates.first?.status.allocation?.enforce != true { await Task.yield() }
                for _ in 0..<5 {
                    let slot = try await manager.slot(for: Call(tenant: "a", pool: "chat", inputTokens: 100))
                    slot.finish(.answer(status: 200, inputTokens: 100, outputTokens: 10))
                }
                _ = try #require(await service.log.line(with: "everything has been played"))
                await manager.stop()
                try await group.waitForAll()
            }
            let outcome = await service.outcome()
            #expect(outcome.code == 0, "\(outcome.output)")
            #expect(!outcome.output.contains("broken"))
            for rule in ["Poll: one that nobody answers", "Deltas: one for the version", "Reports: a batch", "Goodbye"]
            {
                #expect(outcome.output.contains("kept    \(rule)"), "\(rule): \(outcome.output)")
            }
        }
    }

    @Test func `a gateway that breaks rules is told each, and what it did`() async throws {
        try await PlayedService.run { service in
            func poll(_ query: String) async throws -> Int {
                try await service.client.get("/v1/allocations?gateway=g&\(query)").status
            }
            #expect(try await poll("boot=1") == 200)
            #expect(try await poll("boot=2&applied=1.1") == 200)
            for generation in [1, 2, 3, 3, 2, 2] { _ = try await poll("boot=2&applied=1000.\(generation)") }
            #expect(try await poll("boot=2&applied=1000.5") == 503)
            #expect(try await poll("boot=2&applied=1000.5") == 503)
            let batch = ["Headroom-Batch: 7"]
            #expect(try await service.client.post([#"{"type":"call"}"#], headers: batch).status == 503)
            let next = try await service.client.post([#"{"type":"call"}"#], headers: ["Headroom-Batch: 8"])
            #expect(next.status == 200 && next.json["rejected"]?[0]?["line"]?.number == 1, "\(next.text)")
            let draw = #"{"gateway":"g","boot":"1","sequence":1,"pool":"pool","epoch":1000,"totals":{},"waiting":{}}"#
            #expect(try await service.client.call("POST", "/v1/draw", body: Array(draw.utf8)).status == 200)
            #expect(try await service.client.call("DELETE", "/v1/gateways/other").status == 404)
            let outcome = await service.outcome(by: SIGTERM)
            #expect(outcome.code == 1)
            for (rule, why) in [
                ("Poll: each names", "boot=1 became boot=2"), ("Poll: the first answer", "applied=1.1 follows 1000.1"),
                ("Poll: a snapshot", "applied=1000.1 follows 1000.2"), ("Poll: it waits", "without wait="),
                ("Fields that are not known", "applied=1000.3 follows 1000.4"),
                ("An older generation", "applied=1000.2, where 1000.3 was in force"),
                ("Poll: after a failure", "ms after failure 1: must be"), ("Reports: each line", "line 1: "),
                ("Reports: a batch", "batch 8 came although batch 7"), ("Drawing", "where polls are of g with boot 2"),
                ("Goodbye", "it says goodbye as other"),
            ] {
                let lines = outcome.output.components(separatedBy: "\n")
                let place = try #require(
                    lines.firstIndex { $0.hasPrefix("broken  \(rule)") }, "\(rule): \(outcome.output)")
                #expect(lines[place + 1].contains(why), "\(lines[place + 1])")
            }
            #expect(outcome.output.contains("unseen  Deltas: one for the version in force"))
        }
    }
}

/// `headroom conformance serve` on a free port.
private struct PlayedService {
    let client: ServiceClient
    let log: RunningService.Log
    private let output: RunningService.Log
    private let end: ProcessEnd

    static func run(_ arguments: String..., body: (PlayedService) async throws -> Void) async throws {
        let directory = TemporaryDirectory()
        let (output, errors) = (Pipe(), Pipe())
        let process = HeadroomProgram.makeProcess(
            ["conformance", "serve", "--listen", "127.0.0.1:0"] + arguments, in: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        let end = try HeadroomProgram.start(process)
        defer { end.send(SIGKILL) }
        let log = RunningService.Log(errors.fileHandleForReading)
        let words = "serves on http://127.0.0.1:"
        let line = try #require(await log.line(with: words), "\(log.text)")
        let rest = line[try #require(line.range(of: words)).upperBound...]
        let port = try #require(UInt16(rest.prefix { $0.isNumber }))
        try await body(
            PlayedService(
                client: ServiceClient(port: port), log: log, output: RunningService.Log(output.fileHandleForReading),
                end: end))
    }

    /// Its exit code and what it found, once it has ended.
    func outcome(by signal: Int32? = nil) async -> (code: Int32, output: String) {
        if let signal { end.send(signal) }
        let code = await blocking { [end] in end.wait(seconds: HeadroomProgram.patienceSeconds) }
        // The last rule.
        _ = await output.line(with: "Goodbye")
        return (code, output.text)
    }
}
