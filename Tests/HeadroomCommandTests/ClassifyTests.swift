import HeadroomJSON
import Testing

@Suite struct ClassifyTests {
    @Test func `a line that cannot be read does not end the run`() async throws {
        let input = """
            {"provider":"openai","status":429,"headers":{"retry-after":"6"},"body":""}

            {"status":
            {"provider":"openai"}
            {"status":200}
            """
        let outcome = try await HeadroomProgram.run("classify", input: input)
        #expect(outcome.code == 0 && outcome.errors == "")
        let lines = try outcome.output.split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
        #expect(lines.map { $0["kind"]?.string } == ["quota", nil, nil, "ok"])
        #expect(lines.map { $0["error"]?.string != nil } == [false, true, true, false])
        #expect(lines.first?["retry_after_ms"]?.number == 6000)
    }

    @Test func `a line says what decided its kind, and which resources ran out`() async throws {
        let input = """
            {"provider":"openai","status":429,"body":{"error":{"type":"insufficient_quota"}}}
            {"status":429,"body":"{\\"error\\":{\\"type\\":\\"tokens\\",\\"code\\":\\"rate_limit_exceeded\\"}}"}
            {"status":503,"body":"The model is overloaded."}
            """
        let output = try await HeadroomProgram.run("classify", input: input).output
        let lines = try output.split(separator: "\n").map { try JSONNode.parse(Array($0.utf8)) }
        #expect(lines.map { $0["kind"]?.string } == ["billing", "quota", "overload"])
        #expect(
            lines.map { $0["reason"]?.string }
                == ["the code insufficientquota", "the code ratelimitexceeded", "the words \"overloaded\""])
        #expect(lines.map { $0["exhausted"]?.array?.compactMap(\.string) } == [[], ["tokens"], []])
    }

    @Test func `a file that cannot be read is named`() async throws {
        let outcome = try await HeadroomProgram.run("classify", "nothing.jsonl")
        #expect(outcome.code == 1)
        #expect(outcome.errors == "headroom classify: nothing.jsonl: cannot be read: No such file or directory\n")
    }
}
