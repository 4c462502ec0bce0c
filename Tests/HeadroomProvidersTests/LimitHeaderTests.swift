import HeadroomModel
import HeadroomProviders
import Testing

@Suite struct LimitHeaderTests {
    private static let date = ("Date", "Sat, 21 Nov 2026 10:00:00 GMT")

    private static func signal(
        _ headers: [(String, String)], provider: String? = nil, status: Int = 200, body: String? = nil,
        receivedAt: Timestamp? = nil
    ) -> ProviderSignal {
        ProviderClassifier.classify(
            ProviderResponse(
                provider: provider, status: status, headers: headers.map { (name: $0.0, value: $0.1) }, body: body,
                receivedAt: receivedAt))
    }

    private static func windows(_ headers: (String, String)..., provider: String? = nil) -> [QuotaWindow] {
        signal(headers, provider: provider).windows
    }

    @Test func `names are read in any case and order of words, with the window that they tell`() {
        let table: [(String, Resource, Double?)] = [
            ("X-RateLimit-Limit-Requests", .requests, nil), ("x-ratelimit-limit", .requests, nil),
            ("RateLimit-Limit", .requests, nil), ("x-rate-limit-limit-tokens", .tokens, nil),
            ("anthropic-ratelimit-input-tokens-limit", .inputTokens, nil),
            ("X-Ratelimit-Limit-Tokens-Generated", .outputTokens, nil),
            ("x-ratelimit-limit-tokens_prompt", .inputTokens, nil), ("x-ratelimit-limit-req-10-second", .requests, 10),
            ("x-ratelimit-limit-tokens-5-minute", .tokens, 300), ("x-ratelimitbysize-limit-month", .tokens, 2_592_000),
            ("x-ratelimit-limit-requests-1h", .requests, 3600), ("x-tokenlimit-limit", .tokens, nil),
            ("X-RateLimit-Limit-Day", .requests, 86400), ("x-ratelimit-limit-tpm", .tokens, 60),
        ]
        for (name, resource, seconds) in table {
            let expected = [QuotaWindow(resource: resource, limit: 7, windowSeconds: seconds)]
            #expect(Self.windows((name, "7")) == expected, "\(name)")
        }
    }

    @Test func `a name with a word that is not known speaks of something else`() {
        for name in [
            "x-ratelimit-limit-input-images", "anthropic-ratelimit-unified-reset",
            "llm_provider-x-ratelimit-limit-tokens",
            "x-ratelimit-limit-tokens-cache-adjusted-prompt", "x-ratelimit", "limit-requests",
            "x-ratelimit-used-requests", "x-ratelimit-limit-9999-months", "x-ratelimit-limit-1e300d",
        ] {
            #expect(Self.windows((name, "7")).isEmpty, "\(name)")
        }
    }

    @Test func `numbers may be grouped, fractional or huge, and are never what cannot be`() {
        let table: [(String, Double?)] = [
            ("30000", 30000), ("30,000", 30000), ("1,234,567.5", 1_234_567.5),
            ("33333.333333333336", 33333.333333333336),
            ("9223372036854767616", 9_223_372_036_854_767_616), ("100, 100;w=60", 100), ("100, 200", 100), (" 5 ", 5),
            ("1e6", 1_000_000), ("3.0", 3), ("-0", 0), ("100;w=60", 100), ("1,00", 1), ("none", nil), ("null", nil),
            ("12 per minute", nil), ("-1", nil), ("", nil), ("nan", nil), ("inf", nil), ("0x10", nil),
            ("unlimited", nil), ("1e300", nil),
        ]
        for (text, amount) in table {
            #expect(Self.windows(("x-ratelimit-limit-tokens", text)).first?.limit == amount, "\(text)")
        }
    }

    @Test func `resets are durations, instants or seconds, and instants count from the response's date`() {
        let table: [(String, Double?)] = [
            ("6m0s", 360_000), ("2m59.56s", 179_560), ("20ms", 20), ("26.5", 26500), ("0", 0),
            ("2026-11-21T10:00:13Z", 13000), ("2026-11-21T09:59:00Z", 0), ("1795255230", 30000),
            ("1795255230500", 30500), ("Sat, 21 Nov 2026 10:01:00 GMT", 60000),
            ("Saturday, 21-Nov-26 10:01:00 GMT", 60000), ("Sat Nov 21 10:01:00 2026", 60000), ("-5", nil),
            ("1h2m3s", 3_723_000), ("0s", 0), ("1.5h", 5_400_000), ("1d", 86_400_000), ("1d2h3m", 93_780_000),
            ("2026-11-21T10:00:13.250Z", 13250), ("2026-11-21T12:00:13+02:00", 13000), ("1795255230.5", 30500),
            ("1795255199", 0), ("1e1", 10000), ("1795255230500123", nil), ("400d", nil), ("1e400", nil), ("d", nil),
            ("2ms, req_1", nil), ("2099-01-01T00:00:00Z", nil), ("soon", nil), ("99999999", nil),
        ]
        for (text, milliseconds) in table {
            let window = Self.windows(("x-ratelimit-limit", "9"), ("x-ratelimit-reset", text), Self.date).first
            #expect(window?.resetMilliseconds == milliseconds, "\(text)")
        }
    }

    @Test func `of a header that comes twice the first value that says something counts`() {
        #expect(
            Self.windows(("x-ratelimit-limit-tokens", "-1"), ("X-RateLimit-Limit-Tokens", "500")).map(\.limit) == [500])
        #expect(Self.windows(("ratelimit-limit", "9"), ("RateLimit-Limit", "7")).map(\.limit) == [9])
        #expect(
            Self.windows(("RateLimit", #""a";r=1;t=5"#), ("RateLimit", #""b";r=2;t=6"#)).map(\.remaining) == [1, 2])
        let twice = Self.signal([("Retry-After", ""), ("retry-after", "7")], status: 429)
        #expect(twice.retryAfterMilliseconds == 7000)
    }

    @Test func `more left than the limit is believed: a burst allowance`() {
        let window = Self.windows(("x-ratelimit-limit", "100"), ("x-ratelimit-remaining", "199")).first
        #expect(window?.limit == 100 && window?.remaining == 199)
    }

    @Test func `an absolute reset without a date counts from the receipt, else it is unknown`() {
        let headers = [("anthropic-ratelimit-requests-reset", "2026-11-21T10:00:13Z")]
        let received = Timestamp(milliseconds: 1_795_255_200_000)
        #expect(Self.signal(headers).windows.isEmpty)
        #expect(Self.signal(headers, receivedAt: received).windows.first?.resetMilliseconds == 13000)
    }

    @Test func `the IETF fields are read in every version of the draft`() {
        let expected = [
            QuotaWindow(resource: .requests, limit: 100, remaining: 50, resetMilliseconds: 30000, windowSeconds: 60)
        ]
        #expect(
            Self.windows(("RateLimit-Policy", #""burst";q=100;w=60"#), ("RateLimit", #""burst";r=50;t=30"#)) == expected
        )
        #expect(
            Self.windows(("RateLimit-Policy", "100;w=60"), ("RateLimit", "limit=100, remaining=50, reset=30"))
                == expected)
        #expect(
            Self.windows(
                ("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "50"), ("RateLimit-Reset", "30"))
                == expected)
        // Unquoted, in any order, with an extension, and a limit that speaks of nothing known.
        #expect(
            Self.windows(("RateLimit-Policy", "default;w=60;q=100;pk=:x:"), ("ratelimit", "default;t=30;r=50"))
                == expected)
        #expect(Self.windows(("RateLimit", #""a";r=-1;t=1e99"#)).isEmpty)
        let two = Self.windows(
            ("RateLimit-Policy", #""burst";q=100;w=60,"daily";q=1000;w=86400"#), ("RateLimit", #""daily";r=5;t=9"#))
        #expect(two.map(\.remaining) == [nil, 5])
        #expect(two.map(\.windowSeconds) == [60, 86400])
        #expect(Self.windows(("RateLimit-Policy", #""a";q=9;w=60;qu="tokens""#)).first?.resource == .tokens)
        #expect(Self.windows(("RateLimit-Policy", #""a";q=9;w=60;qu="content-bytes""#)).isEmpty)
    }

    @Test func `a daily limit under OpenAI's per-minute name shows in how slowly it refills`() {
        func seconds(_ limit: String, _ remaining: String, _ reset: String) -> Double? {
            Self.windows(
                ("x-ratelimit-limit-requests", limit), ("x-ratelimit-remaining-requests", remaining),
                ("x-ratelimit-reset-requests", reset), provider: "openai"
            ).first?.windowSeconds
        }
        #expect(seconds("10000", "9999", "6ms") == 60)
        #expect(seconds("500", "0", "120ms") == 60)
        #expect(seconds("200", "199", "7m12s") == 86400)
        #expect(seconds("10000", "9998", "17.28s") == 86400)
        #expect(seconds("100000", "88447", "83h10m39.057s") == 2_592_000)
    }

    @Test func `Azure's resets without a unit are seconds unless the refill shows milliseconds`() {
        func reset(_ limit: String, _ remaining: String, _ reset: String) -> Double? {
            Self.windows(
                ("x-ratelimit-limit-tokens", limit), ("x-ratelimit-remaining-tokens", remaining),
                ("x-ratelimit-reset-tokens", reset), provider: "azure"
            ).first?.resetMilliseconds
        }
        #expect(reset("50", "49", "1") == 1000)
        #expect(reset("120", "119", "500") == 500)
        #expect(reset("50000", "0", "55") == 55000)
        #expect(reset("-1", "-1", "0") == 0)
    }

    @Test func `several windows of one resource are told apart and ordered by length`() {
        let windows = Self.windows(
            ("x-ratelimit-limit-requests-day", "9"), ("x-ratelimit-limit-requests-minute", "2"),
            ("x-ratelimit-limit-project-tokens", "4"), ("x-ratelimit-limit-tokens", "8"), provider: "openai")
        #expect(windows.map(\.limit) == [2, 9, 8, 4])
    }

    @Test func `the wait is taken from the most exact place that tells it`() {
        let info = #"{"error":{"message":"Please retry in 48.9s.","details":[{"retryDelay":"48s"}]}}"#
        let table: [([(String, String)], String?, Double?)] = [
            ([("Retry-After-Ms", "1500"), ("Retry-After", "9")], info, 1500), ([("Retry-After", "9")], info, 9000),
            ([("retry-after-ms", "x"), ("Retry-After", "Sat, 21 Nov 2026 10:00:07 GMT"), Self.date], nil, 7000),
            ([], info, 48000), ([], #"{"message":"Please try again in 11m7.872s. Need more?"}"#, 667_872),
            ([], #"{"message":"Please retry after 2 seconds."}"#, 2000),
            ([], #"{"message":"wait 90 days"}"#, 7_776_000_000),
            ([("Retry-After", "0")], nil, 0), ([("Retry-After", "1.5")], nil, 1500),
            ([("Retry-After", "90s")], nil, 90000),
            ([("x-ms-retry-after-ms", "33")], nil, 33),
            ([("Retry-After", "Fri, 31 Dec 2199 10:00:07 GMT"), Self.date], nil, nil),
            ([("Retry-After", "-3")], nil, nil), ([("Retry-After", "1e300")], "later", nil),
        ]
        for (headers, body, expected) in table {
            let signal = Self.signal(headers, status: 429, body: body)
            #expect(signal.retryAfterMilliseconds == expected, "\(headers) \(body ?? "")")
        }
    }

    @Test func `limits told in the body become windows`() {
        let openRouter =
            #"{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-day.","metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795255260000"},"provider_name":null}}}"#
        let copied = Self.signal([Self.date], provider: "openrouter", status: 429, body: openRouter)
        #expect(copied.kind == .quota)
        #expect(copied.windows == [QuotaWindow(resource: .requests, limit: 50, remaining: 0, resetMilliseconds: 60000)])
        let prose =
            #"{"error":{"message":"on tokens per day (TPD): Limit 100000, Used 99932","code":"rate_limit_exceeded"}}"#
        #expect(
            Self.signal([], provider: "groq", status: 429, body: prose).windows
                == [QuotaWindow(resource: .tokens, limit: 100_000, windowSeconds: 86400)])
        let vertex =
            #"{"error":{"details":[{"reason":"RATE_LIMIT_EXCEEDED","metadata":{"quota_limit":"GenerateContentRequestsPerMinutePerProjectPerRegion","quota_limit_value":"5"}}]}}"#
        #expect(
            Self.signal([], provider: "vertex", status: 429, body: vertex).windows
                == [QuotaWindow(resource: .requests, limit: 5, windowSeconds: 60)])
    }
}
