import HeadroomJSON
import HeadroomModel
import HeadroomProviders
import Testing

@Suite struct FuzzTests {
    @Test func `random headers and bodies never trap and never give an impossible number`() {
        for seed in UInt64(1)...1000 {
            var random = SplitMix64(seed: seed)
            let response = random.response()
            expectSane(ProviderClassifier.classify(response), "seed \(seed): \(response)")
        }
    }

    @Test(.enabled(if: RecordedResponse.all != nil))
    func `mutated real responses never trap and never give an impossible number`() throws {
        let all = try #require(RecordedResponse.all)
        for seed in UInt64(1)...1000 {
            var random = SplitMix64(seed: seed)
            var response = all[Int.random(in: 0..<all.count, using: &random)].response
            response.body = response.body.map { String($0.prefix(2000)) }
            for _ in 0..<Int.random(in: 1...4, using: &random) { random.mutate(&response) }
            expectSane(ProviderClassifier.classify(response), "seed \(seed): \(response)")
        }
    }

    @Test func `answers cut, spliced, nested, doubled and given huge numbers stay sane`() {
        let answers = AnswerTests.all.map(\.response)
        for seed in UInt64(1)...3000 {
            var random = SplitMix64(seed: seed)
            var response = answers.randomElement(using: &random)!
            for _ in 0..<Int.random(in: 1...3, using: &random) { random.deform(&response, with: answers) }
            expectSane(ProviderClassifier.classify(response), "seed \(seed): \(response)")
        }
    }

    @Test(arguments: FuzzTests.megabytes)
    func `a megabyte of anything is read as far as its bound`(part: String) {
        let body = String(repeating: part, count: 1_000_000 / part.utf8.count)
        for status in [200, 429] {
            let headers = (0..<2000).map { (name: "x-ratelimit-limit-\($0)s", value: "\($0)") }
            let response = ProviderResponse(status: status, headers: headers, body: body)
            let signal = ProviderClassifier.classify(response)
            expectSane(signal, "\(part)")
            #expect(signal.windows.count <= 512)
        }
    }

    private static let megabytes = [
        "[", "{\"a\":", "{\"error\":{\"message\":\"{", "\"", "{\"code\":\"a\",", "\\", " ", "data: {\"error\":1}\n",
        "event: error\n", ":HTTP_STATUS/429\n", "a per ", "1 ", "{\"message\":\"Limit 5 per 1 d ",
        "{\"quotaId\":\"PerDay\"},",
        "\u{E9}", "rror\"",
    ]

    @Test func `thousands of the largest amount are beyond all reason`() {
        for (limit, expected) in [("10K", 10_000.0), ("18446744073709551615K", nil)] {
            let body =
                #"{"detail":"You have not yet added your payment method and have reduced rate limits of \#(limit) TPM."}"#
            let signal = ProviderClassifier.classify(ProviderResponse(status: 429, headers: [], body: body))
            expectSane(signal, limit)
            #expect(signal.windows.first { $0.resource == .tokens }?.limit == expected, "\(limit)")
        }
    }

    @Test(arguments: ["\\", "\\u", "\\u4", "\\u4f", "\\u4f6", "\\u4f60"])
    func `a body that breaks off inside an escape is read as far as it goes`(end: String) {
        let body = "{\"error\":{\"message\":\"abc" + end
        #expect(ProviderClassifier.classify(ProviderResponse(status: 429, headers: [], body: body)).kind == .quota)
    }

    @Test func `every classification is one line of JSON that says what the signal does`() throws {
        let keys =
            ["kind", "reason", "exhausted", "retry_after_ms"]
            + Resource.allCases.flatMap {
                ["limit_\($0.name)", "remaining_\($0.name)", "reset_\($0.name)_ms", "window_\($0.name)_s"]
            }
        for seed in UInt64(1)...200 {
            var random = SplitMix64(seed: seed)
            let response = random.response()
            let signal = ProviderClassifier.classify(response)
            var writer = JSONWriter()
            ClassificationLine.write(answerTo: response, to: &writer)
            #expect(writer.bytes.count { $0 == UInt8(ascii: "\n") } == 1 && writer.bytes.last == UInt8(ascii: "\n"))
            let line = try JSONNode.parse(writer.bytes)
            #expect(Set((line.members ?? []).map(\.key)) == Set(keys), "seed \(seed)")
            #expect(line["kind"]?.string == signal.kind.name, "seed \(seed)")
            #expect(line["retry_after_ms"]?.number == signal.retryAfterMilliseconds?.rounded(), "seed \(seed)")
            let exhausted = line["exhausted"]?.array?.compactMap(\.string)
            #expect(exhausted == Resource.allCases.filter(signal.exhausted.contains).map(\.name), "seed \(seed)")
            for resource in Resource.allCases {
                let windows = signal.windows.filter { $0.resource == resource }
                let limit = line["limit_\(resource.name)"]?.number
                #expect(windows.isEmpty ? limit == nil : windows.contains { $0.limit == limit }, "seed \(seed)")
            }
        }
    }
}

extension SplitMix64 {
    private static let words = [
        "x", "ratelimit", "rate", "limit", "remaining", "reset", "requests", "tokens", "input", "output", "minute",
        "day",
        "60", "second", "5", "retry", "after", "ms", "anthropic", "project", "policy", "renewalperiod", "9999999", "1d",
        "tpm", "ratelimitbysize", "tokenlimit", "ai", "",
    ]
    private static let values = [
        "", "-1", "0", "1", "1e308", "1e400", "-0", "nan", "inf", "0x1p3", "30,000", "1,2,3", "9223372036854767616",
        "18446744073709551615", "99999999999999999999999", "6m0s", "-5s", "1e9h", "2ms, req_1", "26.5", "1766006934.57",
        "1741305600000", "2026-11-21T10:00:00Z", "0000-00-00T00:00:00Z", "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 99 Nov 99999999999999999999 08:49:37 GMT", "\"a\";q=10;w=60", "\"a\";r=-1;t=1e99", "limit=1, remaining=2",
        "100, 100;w=60", "1, 2000, 3", "name=a,7;", ";;;,,,\"\"\"", "\u{0}\u{1}", "é", "1 2", "3.", ".", "e", "+5",
    ]
    private static let bodies = [
        "{\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"Limit 5, try again in 9e99s\"}}",
        "{\"error\":{\"message\":\"on tokens per min (TPM): Limit 99999999999999999999999999, Used\"",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{\"a\":", "data: {\"error\":", "event: error\ndata: [DONE]",
        "<html>",
        "{\"violations\":[{\"quotaId\":\"PerDay-Tokens\",\"quotaValue\":\"-3\"}],\"retryDelay\":\"-9s\"}",
        "\"\\u", "{\"a\":\"\\ud800\\u00zz\\", "}}}]]]", "{\"x\":{\"headers\":{\"X-RateLimit-Reset\":\"1e13\"}}}",
        "retry in 1e300 days",
    ]

    mutating func response() -> ProviderResponse {
        var headers: [(name: String, value: String)] = []
        for _ in 0..<Int.random(in: 0...8, using: &self) { headers.append((name(), value())) }
        if Bool.random(using: &self) { headers.append(("Date", value())) }
        let statuses = [
            -1, 0, 100, 200, 204, 302, 400, 401, 402, 403, 413, 424, 429, 498, 500, 502, 503, 529, 999, .max,
        ]
        return ProviderResponse(
            provider: ["openai", "azure", "mistral", "gemini", "together", nil, "\u{0}", "zz"].randomElement(
                using: &self)!,
            status: statuses.randomElement(using: &self)!, headers: headers,
            body: Bool.random(using: &self) ? body() : nil,
            receivedAt: Bool.random(using: &self)
                ? Timestamp(milliseconds: [0, .min, .max, 1_793_000_000_000].randomElement(using: &self)!) : nil)
    }

    /// Real names half of the time, else random words of them.
    private mutating func name() -> String {
        if Bool.random(using: &self) {
            return [
                "x-ratelimit-limit-requests", "X-RateLimit-Reset-Tokens", "RateLimit", "RateLimit-Policy",
                "retry-after",
                "retry-after-ms", "anthropic-ratelimit-tokens-reset", "RateLimit-Limit", "x-ratelimit-remaining-tokens",
            ].randomElement(using: &self)!
        }
        let count = Int.random(in: 1...7, using: &self)
        return (0..<count).map { _ in Self.words.randomElement(using: &self)! }.joined(separator: "-")
    }

    private mutating func value() -> String {
        if Int.random(in: 0..<4, using: &self) > 0 { return Self.values.randomElement(using: &self)! }
        let count = Int.random(in: 0...20, using: &self)
        return String((0..<count).map { _ in "0123456789.,;=-+eEhmsT:Z\" ".randomElement(using: &self)! })
    }

    private mutating func body() -> String {
        if Bool.random(using: &self) { return Self.bodies.randomElement(using: &self)! }
        let count = Int.random(in: 0...60, using: &self)
        return String((0..<count).map { _ in "{}[]\",:\\'eError 0.limtoknspy\n".randomElement(using: &self)! })
    }

    mutating func mutate(_ response: inout ProviderResponse) {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: response.status = Int.random(in: 100...600, using: &self)
        case 1:
            guard let index = response.headers.indices.randomElement(using: &self) else { return }
            response.headers[index].value = value()
        case 2: response.headers.append((name(), value()))
        case 3:
            guard let index = response.headers.indices.randomElement(using: &self) else { return }
            response.headers[index].value = flipped(response.headers[index].value)
        case 4: response.body = response.body.map { flipped($0) }
        default: response.provider = ["openai", "azure", "groq", "gemini", nil].randomElement(using: &self)!
        }
    }

    mutating func deform(_ response: inout ProviderResponse, with others: [ProviderResponse]) {
        let body = Array((response.body ?? "").utf8)
        let other = others.randomElement(using: &self)!
        let cut = Int.random(in: 0...body.count, using: &self)
        switch Int.random(in: 0..<7, using: &self) {
        case 0: response.body = String(decoding: body[..<cut], as: UTF8.self)
        case 1:
            let tail = Array((other.body ?? "").utf8)
            let start = Int.random(in: 0...tail.count, using: &self)
            response.body = String(decoding: body[..<cut] + tail[start...], as: UTF8.self)
        case 2: response.headers += other.headers + response.headers
        case 3: response.provider = other.provider
        case 4:
            // Every run of digits becomes another number; a string may so become a number, and the reverse.
            let number = ["-1", "1e308", "99999999999999999999", "0", "\"", "[", "null"].randomElement(using: &self)!
            response.body = body.split(whereSeparator: { $0 &- UInt8(ascii: "0") < 10 })
                .map { String(decoding: $0, as: UTF8.self) }.joined(separator: number)
        case 5:
            let depth = Int.random(in: 1...100, using: &self)
            response.body = String(repeating: "{\"error\":[", count: depth) + (response.body ?? "")
        default: mutate(&response)
        }
    }

    /// One byte changed, dropped or doubled.
    private mutating func flipped(_ text: String) -> String {
        var bytes = Array(text.utf8)
        guard let index = bytes.indices.randomElement(using: &self) else { return text }
        switch Int.random(in: 0..<3, using: &self) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &self)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[index], at: index)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
