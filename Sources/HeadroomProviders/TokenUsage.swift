import HeadroomJSON

/// What a provider counted of one call, in one sense for all of them. Providers spell it in five ways, and mean two things
/// by the tokens that came out of a cache: a part of the input (OpenAI, Gemini and most others), or something beside it
/// (Anthropic, Bedrock).
package struct TokenUsage: Equatable, Sendable {
    /// All of the prompt, what was read from a cache and what was written to one included.
    package var inputTokens: Int?
    package var outputTokens: Int?
    /// Of the input, what was read from a cache.
    package var cachedInputTokens: Int?
    /// What the provider's limit does not count: for some, what was read from a cache.
    package var uncountedTokens: Int

    /// Larger numbers are cut: no call has them.
    private static let most = 100_000_000

    /// From the numbers that a caller tells, in the provider's own sense.
    /// - Parameters:
    ///   - created: written to a cache; beside the input wherever it is told at all.
    ///   - provider: as of ``ProviderResponse``.
    package init(
        inputTokens input: Int?, outputTokens output: Int?, cachedInputTokens cached: Int?,
        cacheCreationInputTokens created: Int? = nil, provider: String?
    ) {
        let rules = ProviderRules.named(provider)
        // More than the whole is no part of it, whoever says so.
        let isBeside = rules.cachesBesideInput || (cached ?? 0) > (input ?? 0)
        self.init(input: input, output: output, cached: cached, created: created, isBeside: isBeside, rules)
    }

    private init(
        input: Int?, output: Int?, cached: Int?, created: Int?, isBeside: Bool, _ rules: ProviderRules
    ) {
        let beside = isBeside ? Self.bounded(cached ?? 0) + Self.bounded(created ?? 0) : 0
        let whole = input.map { Self.bounded(Self.bounded($0) + beside) }
        let cached = cached.map { min(Self.bounded($0), whole ?? 0) }
        inputTokens = whole
        outputTokens = output.map { Self.bounded($0) }
        cachedInputTokens = cached
        uncountedTokens = rules.countsCachedInput ? 0 : cached ?? 0
    }

    private static func bounded(_ count: Int) -> Int { min(max(0, count), most) }
}

// MARK: From an answer

extension TokenUsage {
    /// From the body of a successful answer: one object, a list of chunks, or the events of a stream, of which the last ones
    /// are enough. `nil` where it does not say, or cannot be read.
    ///
    /// Only the provider's own objects are looked at, and never what the model wrote, which a caller may have asked for.
    package init?(body: String, provider: String?) {
        var counts = Counts()
        if body.utf8.count > TokenUsage.longestBody { return nil }
        let bytes = Array(body.utf8)
        if let first = bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            counts.read(bytes)
        } else {
            for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
                guard line.starts(with: "data:".utf8) else { continue }
                let data = Array(line.dropFirst(5))
                if data.holds("\"usage") { counts.read(data) }
            }
        }
        guard let usage = counts.usage(ProviderRules.named(provider)) else { return nil }
        self = usage
    }

    /// As long as anything that the gate reads.
    private static let longestBody = 4 << 20

    /// The fields of all `usage` objects that were read: a stream tells its input first and its output last, or everything
    /// again and again, growing.
    private struct Counts {
        private var found: [Int?] = Array(repeating: nil, count: Field.allCases.count)

        private enum Field: Int, CaseIterable {
            case promptTokens, completionTokens, inputTokens, outputTokens, cached, cacheRead, cacheCreation
            case bedrockInput, bedrockOutput, bedrockRead, bedrockWrite
            case geminiPrompt, geminiTools, geminiAnswer, geminiThoughts, geminiCached
        }

        /// By the paths inside a `usage` or `usageMetadata`.
        private static let paths: [(path: [String], field: Field)] = [
            (["prompt_tokens"], .promptTokens), (["completion_tokens"], .completionTokens),
            (["prompt_tokens_details", "cached_tokens"], .cached), (["prompt_cache_hit_tokens"], .cached),
            (["input_tokens"], .inputTokens), (["output_tokens"], .outputTokens),
            (["input_tokens_details", "cached_tokens"], .cached),
            (["cache_read_input_tokens"], .cacheRead), (["cache_creation_input_tokens"], .cacheCreation),
            (["inputTokens"], .bedrockInput), (["outputTokens"], .bedrockOutput),
            (["cacheReadInputTokens"], .bedrockRead), (["cacheWriteInputTokens"], .bedrockWrite),
            (["promptTokenCount"], .geminiPrompt), (["toolUsePromptTokenCount"], .geminiTools),
            (["candidatesTokenCount"], .geminiAnswer), (["thoughtsTokenCount"], .geminiThoughts),
            (["cachedContentTokenCount"], .geminiCached),
        ]

        private subscript(field: Field) -> Int? { found[field.rawValue] }

        /// What cannot be read says nothing: the estimate stands.
        mutating func read(_ bytes: [UInt8]) {
            var reader = JSONReader(bytes)
            try? read(&reader, depth: 0)
        }

        /// `usage` at the top, in Anthropic's `message`, or in the `response` of OpenAI's Responses; Gemini may send a list.
        private mutating func read(_ reader: inout JSONReader, depth: Int) throws(JSONError) {
            if depth == 0, try reader.peek() == .array {
                try reader.beginArray()
                while try reader.nextElement() {
                    guard try reader.peek() == .object else { return }
                    try read(&reader, depth: 1)
                }
                return
            }
            try reader.beginObject()
            while let key = try reader.nextKey() {
                let isObject = try reader.peek() == .object
                if isObject, reader.text(key, equals: "usage") || reader.text(key, equals: "usageMetadata") {
                    note(try JSONNode(from: &reader))
                } else if isObject, depth < 2,
                    reader.text(key, equals: "message") || reader.text(key, equals: "response")
                {
                    try read(&reader, depth: 2)
                } else {
                    try reader.skipValue()
                }
            }
        }

        private mutating func note(_ usage: JSONNode) {
            for (path, field) in Self.paths {
                guard let number = path.reduce(usage as JSONNode?, { $0?[$1] })?.number, number >= 0 else { continue }
                let count = Int(min(number, Double(TokenUsage.most)))
                found[field.rawValue] = max(found[field.rawValue] ?? 0, count)
            }
        }

        func usage(_ rules: ProviderRules) -> TokenUsage? {
            if self[.geminiPrompt] != nil || self[.geminiAnswer] != nil {
                return TokenUsage(
                    input: self[.geminiPrompt].map { $0 + (self[.geminiTools] ?? 0) },
                    output: self[.geminiAnswer].map { $0 + (self[.geminiThoughts] ?? 0) } ?? self[.geminiThoughts],
                    cached: self[.geminiCached],
                    created: nil, isBeside: false, rules)
            }
            if self[.bedrockInput] != nil || self[.bedrockOutput] != nil {
                return TokenUsage(
                    input: self[.bedrockInput], output: self[.bedrockOutput], cached: self[.bedrockRead],
                    created: self[.bedrockWrite], isBeside: true, rules)
            }
            if self[.promptTokens] != nil || self[.completionTokens] != nil {
                return TokenUsage(
                    input: self[.promptTokens], output: self[.completionTokens],
                    cached: self[.cached] ?? self[.cacheRead], created: nil, isBeside: false, rules)
            }
            guard self[.inputTokens] != nil || self[.outputTokens] != nil else { return nil }
            let isAnthropic = self[.cacheRead] != nil || self[.cacheCreation] != nil
            return TokenUsage(
                input: self[.inputTokens], output: self[.outputTokens],
                cached: isAnthropic ? self[.cacheRead] : self[.cached], created: self[.cacheCreation],
                isBeside: isAnthropic, rules)
        }
    }
}
