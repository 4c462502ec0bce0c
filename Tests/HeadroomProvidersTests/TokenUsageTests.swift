import HeadroomProviders
import Testing

@Suite struct TokenUsageTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        var provider = "openai"
        let body: String
        let input: Int?
        let output: Int?
        let cached: Int?
        var uncounted = 0
    }

    static let cases: [Case] = [
        Case(
            description: "OpenAI: what was cached is a part of the prompt",
            body: """
                {"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":1000,"completion_tokens":20,\
                "prompt_tokens_details":{"cached_tokens":800}}}
                """, input: 1000, output: 20, cached: 800),
        Case(
            description: "OpenAI's Responses",
            body: #"{"usage":{"input_tokens":1000,"output_tokens":20,"input_tokens_details":{"cached_tokens":800}}}"#,
            input: 1000, output: 20, cached: 800),
        Case(
            description: "Groq does not count what was cached", provider: "groq",
            body:
                #"{"usage":{"prompt_tokens":1000,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":800}}}"#,
            input: 1000, output: 20, cached: 800, uncounted: 800),
        Case(
            description: "Anthropic: beside the input, and what was read does not count", provider: "anthropic",
            body: """
                {"type":"message","usage":{"input_tokens":500,"cache_read_input_tokens":9000,\
                "cache_creation_input_tokens":400,"output_tokens":20}}
                """, input: 9900, output: 20, cached: 9000, uncounted: 9000),
        Case(
            description: "Anthropic through a library that spells it as OpenAI does", provider: "anthropic",
            body:
                #"{"usage":{"prompt_tokens":9900,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":9000}}}"#,
            input: 9900, output: 20, cached: 9000, uncounted: 9000),
        Case(
            description: "Bedrock", provider: "bedrock",
            body:
                #"{"usage":{"inputTokens":500,"outputTokens":20,"cacheReadInputTokens":9000,"cacheWriteInputTokens":400}}"#,
            input: 9900, output: 20, cached: 9000, uncounted: 9000),
        Case(
            description: "Gemini, with its thoughts and in chunks", provider: "google",
            body: """
                [{"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":800,"candidatesTokenCount":5}},
                 {"usageMetadata":{"promptTokenCount":1000,"cachedContentTokenCount":800,"candidatesTokenCount":20,\
                "thoughtsTokenCount":30}}]
                """, input: 1000, output: 50, cached: 800),
        Case(
            description: "a stream of OpenAI, its last events",
            body: """
                elta":{"content":"x"}}]}

                data: {"choices":[{"delta":{"content":"\\"usage\\""}}],"usage":null}

                data: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":200}}

                data: [DONE]


                """, input: 50, output: 200, cached: nil),
        Case(
            description: "a stream of Anthropic tells its input first and its output last", provider: "anthropic",
            body: """
                event: message_start
                data: {"type":"message_start","message":{"usage":{"input_tokens":500,"cache_read_input_tokens":9000,"output_tokens":1}}}

                event: message_delta
                data: {"type":"message_delta","delta":{},"usage":{"output_tokens":20}}

                """, input: 9500, output: 20, cached: 9000, uncounted: 9000),
        Case(
            description: "a stream of OpenAI's Responses",
            body: """
                data: {"type":"response.completed","response":{"usage":{"input_tokens":50,"output_tokens":200}}}

                """, input: 50, output: 200, cached: nil),
        Case(
            description: "absurd numbers are cut", body: #"{"usage":{"prompt_tokens":1e300,"completion_tokens":-5}}"#,
            input: 100_000_000, output: nil, cached: nil),
    ]

    @Test(arguments: cases) func `usage means the same whoever spells it`(_ row: Case) throws {
        let usage = try #require(TokenUsage(body: row.body, provider: row.provider))
        #expect(usage.inputTokens == row.input && usage.outputTokens == row.output)
        #expect(usage.cachedInputTokens == row.cached && usage.uncountedTokens == row.uncounted)
    }

    @Test func `what the model wrote is no usage, and what says nothing is none`() {
        for body in [
            #"{"content":[{"type":"tool_use","input":{"usage":{"input_tokens":9,"output_tokens":9}}}]}"#,
            #"{"message":{"message":{"message":{"usage":{"input_tokens":9}}}}}"#, #"{"usage":null}"#, #"{"usage":7}"#,
            "", "nothing", "data: {", "{\"usage\":{\"prompt_tokens\":", "[1,2]", "[]", "<html>",
        ] {
            #expect(TokenUsage(body: body, provider: nil) == nil, "\(body)")
        }
    }

    @Test func `numbers that are told are in the provider's own sense`() {
        func usage(_ provider: String, _ input: Int?, _ cached: Int?, _ created: Int? = nil) -> TokenUsage {
            TokenUsage(
                inputTokens: input, outputTokens: 20, cachedInputTokens: cached, cacheCreationInputTokens: created,
                provider: provider)
        }
        #expect(usage("openai:gpt-4o", 1000, 800).inputTokens == 1000)
        #expect(usage("anthropic:claude", 500, 9000, 400).inputTokens == 9900)
        #expect(usage("anthropic:claude", 500, 9000, 400).uncountedTokens == 9000)
        // More than the whole is no part of it.
        #expect(usage("some:model", 500, 9000).inputTokens == 9500)
        #expect(usage("openai:gpt-4o", nil, 800).cachedInputTokens == 0)
        #expect(usage("openai:gpt-4o", .max, .max).inputTokens == 100_000_000)
        #expect(usage("anthropic", .min, .min, .min).inputTokens == 0)
    }
}
