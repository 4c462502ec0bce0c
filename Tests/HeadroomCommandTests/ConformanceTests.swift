import HeadroomJSON
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
}
