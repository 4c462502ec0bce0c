import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct ProviderModelTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    /// 600 requests and 60,000 tokens a minute: 10 requests and 1,000 tokens a second, 60 and 6,000 at once.
    private func provider(seed: UInt64 = 1, _ change: (inout ProviderModel.Settings) -> Void = { _ in })
        -> ProviderModel
    {
        var settings = ProviderModel.Settings(model: "gpt-4o", nominal: Rates(rpm: 600, tpm: 60000))
        change(&settings)
        return ProviderModel(
            settings: settings, start: ProviderModelTests.start,
            generator: SeededGenerator(seed: seed, stream: "provider"))
    }

    private func instant(_ seconds: Double) -> Timestamp { ProviderModelTests.start.adding(seconds: seconds) }

    /// Requests and tokens served of `rate` calls a second.
    private func served(
        _ provider: inout ProviderModel, from: Double, to: Double, rate: Double, tokens: Int64
    ) -> (requests: Int, tokens: Int64) {
        var requests = 0
        for step in 0..<Int((to - from) * rate) {
            let now = instant(from + Double(step) / rate)
            if provider.answer(inputTokens: tokens, outputTokens: 0, now: now).verdict == .served { requests += 1 }
        }
        return (requests, Int64(requests) * tokens)
    }

    @Test func `six seconds of the limit pass at once and then its rate in either resource`() {
        for (tokens, most) in [(Int64(10), 60 + 10 * 30), (1000, 6 + 30)] {
            var provider = provider()
            let got = served(&provider, from: 0, to: 30, rate: 100, tokens: tokens).requests
            #expect(abs(got - most) <= 1, "\(tokens) tokens a call")
        }
    }

    @Test func `no stretch of time lets more pass than burst and rate allow`() {
        for seed in UInt64(0)..<20 {
            var generator = SeededGenerator(seed: seed, stream: "test")
            var provider = provider(seed: seed)
            var clock = 0.0
            var passed: [(at: Double, work: Work)] = []
            for _ in 0..<800 {
                clock += (generator.drawExponential(mean: 0.05) * 1000).rounded() / 1000
                let tokens = Int64(generator.drawIndex(below: 400))
                if provider.answer(inputTokens: tokens, outputTokens: 1, now: instant(clock)).verdict == .served {
                    passed.append((clock, Work(requests: 1, tokens: Double(tokens + 1))))
                }
            }
            for first in stride(from: 0, to: passed.count, by: 7) {
                var sum = Work.zero
                for (at, work) in passed[first...] {
                    sum += work
                    let seconds = 6 + at - passed[first].at + 1e-6
                    #expect(sum[.requests] <= 10 * seconds && sum[.tokens] <= 1000 * seconds, "seed \(seed)")
                }
            }
        }
    }

    @Test func `capacity changes without a word in nominal headers`() {
        var provider = provider { $0.capacity = [(20, 0.5), (40, 1)] }
        _ = served(&provider, from: 0, to: 20, rate: 50, tokens: 1)
        #expect(abs(served(&provider, from: 20, to: 40, rate: 50, tokens: 1).requests - 100) <= 2)
        #expect(abs(served(&provider, from: 40, to: 60, rate: 50, tokens: 1).requests - 200) <= 2)
        #expect(provider.capacity(at: instant(19.9)) == Rates(rpm: 600, tpm: 60000))
        #expect(provider.capacity(at: instant(20)) == Rates(rpm: 300, tpm: 30000))
        for (headers, limit) in [(ProviderModel.Headers.nominal, "600"), (.truthful, "300"), (.absent, nil)] {
            var provider = self.provider {
                $0.capacity = [(20, 0.5)]
                $0.headers = headers
            }
            let answer = provider.answer(inputTokens: 1, outputTokens: 1, now: instant(30))
            #expect(answer.headers.first { $0.name == "x-ratelimit-limit-requests" }?.value == limit)
        }
    }

    @Test func `a refusal reads like the provider's own`() {
        var provider = provider { $0.headers = .truthful }
        _ = served(&provider, from: 0, to: 0.001, rate: 60000, tokens: 1)
        let requests = provider.answer(inputTokens: 7, outputTokens: 1, now: instant(0.001))
        #expect(requests.verdict == .refused(.requests) && requests.status == 429)
        #expect(
            requests.body == """
                {"error":{"message":"Rate limit reached for gpt-4o on requests per min (RPM): Limit 600, Requested 1. \
                Please try again in 99ms. Visit https://platform.openai.com/account/rate-limits to learn more.",\
                "type":"requests","param":null,"code":"rate_limit_exceeded"}}
                """, "\(requests.body)")
        let headers = Dictionary(uniqueKeysWithValues: requests.headers.map { ($0.name, $0.value) })
        #expect(headers["retry-after"] == "1")
        #expect(headers["x-ratelimit-remaining-requests"] == "0")
        #expect(headers["x-ratelimit-reset-requests"] == "5.999s")

        var thirsty = self.provider()
        _ = thirsty.answer(inputTokens: 6000, outputTokens: 0, now: instant(0))
        let tokens = thirsty.answer(inputTokens: 1500, outputTokens: 500, now: instant(0))
        #expect(tokens.verdict == .refused(.tokens) && tokens.body.contains("tokens per min (TPM)"))
        #expect(tokens.body.contains("Requested 2000. Please try again in 2s."))
    }

    @Test func `a caller that waits as long as it was told passes`() {
        var provider = provider()
        _ = provider.answer(inputTokens: 6000, outputTokens: 0, now: instant(0))
        let refused = provider.answer(inputTokens: 1234, outputTokens: 0, now: instant(0))
        let wait = refused.headers.first { $0.name == "retry-after-ms" }.flatMap { Double($0.value) } ?? 0
        #expect(provider.answer(inputTokens: 1234, outputTokens: 0, now: instant(wait / 1000 - 0.002)).status == 429)
        #expect(provider.answer(inputTokens: 1234, outputTokens: 0, now: instant(wait / 1000)).status == 200)
    }

    @Test func `a call larger than a whole bucket passes when it is full and leaves a debt`() {
        var provider = provider()
        #expect(provider.answer(inputTokens: 9000, outputTokens: 0, now: instant(0)).status == 200)
        #expect(provider.answer(inputTokens: 1, outputTokens: 0, now: instant(2.9)).status == 429)
        #expect(provider.answer(inputTokens: 1, outputTokens: 0, now: instant(3.1)).status == 200)
    }

    @Test func `refused attempts cost a request only where they are counted`() {
        for (counts, least, most) in [(false, 390, 410), (true, 55, 75)] {
            var provider = provider { $0.countsRefused = counts }
            let requests = served(&provider, from: 0, to: 34, rate: 100, tokens: 1).requests
            #expect((least...most).contains(requests), "counted: \(counts), served \(requests)")
        }
    }

    @Test func `a fixed window lets all of a minute pass at once and nothing more before the next`() {
        var provider = provider {
            $0.metering = .fixedWindow
            $0.headers = .truthful
        }
        // The start lies 20 s behind the full minute.
        let inWindow = 60 - Double(Self.start.milliseconds % 60_000) / 1000
        #expect(served(&provider, from: 0, to: 10, rate: 200, tokens: 1).requests == 600)
        let refused = provider.answer(inputTokens: 1, outputTokens: 0, now: instant(10))
        let headers = Dictionary(uniqueKeysWithValues: refused.headers.map { ($0.name, $0.value) })
        #expect(headers["x-ratelimit-remaining-requests"] == "0")
        #expect(headers["x-ratelimit-remaining-tokens"] == "59400")
        #expect(headers["retry-after"] == String(Int(inWindow - 10)))
        #expect(provider.answer(inputTokens: 1, outputTokens: 0, now: instant(inWindow - 0.001)).status == 429)
        #expect(provider.answer(inputTokens: 1, outputTokens: 0, now: instant(inWindow)).status == 200)
    }

    @Test func `a sliding window forgets a second's use a minute later`() {
        var provider = provider { $0.metering = .slidingWindow }
        for second in 0..<60 {
            // Ten requests a second: as much as there is.
            #expect(served(&provider, from: Double(second), to: Double(second) + 1, rate: 10, tokens: 1).requests == 10)
        }
        #expect(served(&provider, from: 60, to: 61, rate: 40, tokens: 1).requests == 10)
        #expect(served(&provider, from: 200, to: 201, rate: 700, tokens: 1).requests == 600)
        let refused = provider.answer(inputTokens: 1, outputTokens: 0, now: instant(201))
        #expect(refused.retryAfterSeconds == 59)
        #expect(served(&provider, from: 259.999, to: 260, rate: 1000, tokens: 1).requests == 0)
        #expect(provider.answer(inputTokens: 1, outputTokens: 0, now: instant(260)).status == 200)
    }

    @Test func `no window lets more pass in its minute than the limit`() {
        for metering in [ProviderModel.Metering.fixedWindow, .slidingWindow] {
            for seed in UInt64(0)..<10 {
                var generator = SeededGenerator(seed: seed, stream: "test")
                var provider = provider(seed: seed) { $0.metering = metering }
                var clock = 0.0
                var passed: [(at: Double, tokens: Int64)] = []
                for _ in 0..<2000 {
                    clock += generator.drawExponential(mean: 0.1)
                    let tokens = Int64(1 + generator.drawIndex(below: 400))
                    if provider.answer(inputTokens: tokens, outputTokens: 0, now: instant(clock)).status == 200 {
                        passed.append((clock, tokens))
                    }
                }
                let stretch = metering == .fixedWindow ? 60.0 : 59
                let offset = Double(Self.start.milliseconds % 60_000) / 1000
                for first in stride(from: 0, to: passed.count, by: 11) {
                    let begin =
                        metering == .fixedWindow
                        ? ((passed[first].at + offset) / 60).rounded(.down) * 60 - offset : passed[first].at
                    let inside = passed.filter { $0.at >= begin && $0.at < begin + stretch - 0.002 }
                    #expect(inside.count <= 600, "\(metering) seed \(seed)")
                    #expect(inside.reduce(0) { $0 + $1.tokens } <= 60_000, "\(metering) seed \(seed)")
                }
            }
        }
    }

    @Test func `others on the account take their part and only remaining tells`() {
        for metering in ProviderModel.Metering.allCases {
            var provider = provider {
                $0.metering = metering
                $0.headers = .truthful
                $0.others = [(60, 0.4), (180, 0)]
            }
            _ = served(&provider, from: 0, to: 120, rate: 30, tokens: 1)
            let shared = served(&provider, from: 120, to: 180, rate: 30, tokens: 1).requests
            _ = served(&provider, from: 180, to: 240, rate: 30, tokens: 1)
            let alone = served(&provider, from: 240, to: 300, rate: 30, tokens: 1).requests
            #expect(abs(shared - 360) <= 20, "\(metering): \(shared)")
            #expect(abs(alone - 600) <= 20, "\(metering): \(alone)")
            #expect(provider.capacity(at: instant(120)) == Rates(rpm: 360, tpm: 36000), "\(metering)")
            #expect(provider.capacity(at: instant(180)) == Rates(rpm: 600, tpm: 60000), "\(metering)")
        }
        for headers in [ProviderModel.Headers.nominal, .truthful] {
            var idle = provider {
                $0.metering = .slidingWindow
                $0.headers = headers
                $0.others = [(0, 0.4)]
            }
            let shown = idle.answer(inputTokens: 0, outputTokens: 0, now: instant(100)).headers
            #expect(shown.first { $0.name == "x-ratelimit-remaining-tokens" }?.value == "36000", "\(headers)")
            #expect(shown.first { $0.name == "x-ratelimit-limit-tokens" }?.value == "60000", "\(headers)")
        }
    }

    @Test func `overload hits a share of calls for a time and costs no quota`() {
        var provider = provider { $0.overloads = [ProviderModel.Overload(seconds: 0..<10, share: 1)] }
        let answer = provider.answer(inputTokens: 6000, outputTokens: 0, now: instant(5))
        #expect(answer.status == 529 && answer.body.contains("overloaded_error"))
        #expect(provider.answer(inputTokens: 6000, outputTokens: 0, now: instant(10)).status == 200)
    }

    @Test func `latency rises as the buckets empty and is the same for the same seed`() {
        func latencies(_ seed: UInt64) -> [Double] {
            var provider = provider(seed: seed)
            return (0..<60).map { _ in
                provider.answer(inputTokens: 50, outputTokens: 50, now: instant(0)).latencySeconds
            }
        }
        let first = latencies(1)
        #expect(first == latencies(1) && first != latencies(2))
        #expect(first[40...].reduce(0, +) > first[..<20].reduce(0, +) * 1.3)
    }

    @Test func `completions state the tokens that were charged`() {
        var provider = provider()
        let answer = provider.answer(inputTokens: 12, outputTokens: 30, now: instant(0))
        #expect(answer.body.contains(#""usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42}"#))
        #expect(answer.body.contains(#""created":1793000000,"model":"gpt-4o""#))
    }

    @Test func `resets are Go durations`() {
        let table: [(limit: Double, tokens: Int64, reset: String)] = [
            (60000, 0, "0s"), (60000, 20, "20ms"), (60000, 1500, "1.5s"), (60, 6, "6s"), (6, 36, "6m0s"),
            (1, 61, "1h1m0s"), (60000, 59_561, "59.561s"),
        ]
        for (limit, tokens, reset) in table {
            var provider = provider {
                $0.nominal = Rates(tpm: limit)
                $0.burstSeconds = 7200
            }
            let answer = provider.answer(inputTokens: tokens, outputTokens: 0, now: instant(0))
            #expect(
                answer.headers.first { $0.name == "x-ratelimit-reset-tokens" }?.value == reset, "\(limit) \(tokens)")
        }
    }
}
