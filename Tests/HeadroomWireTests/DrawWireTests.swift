import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct DrawWireTests {
    @Test func `a draw and its answer come back as they were written`() throws {
        for seed in 0..<200 {
            var random = SplitMix64(seed: UInt64(seed))
            let request = Self.request(&random)
            #expect(try DrawRequest.decode(request.encoded()) == request, "seed \(seed)")
            let answer = Self.answer(&random)
            #expect(try DrawAnswer.decode(answer.encoded()) == answer, "seed \(seed)")
        }
    }

    @Test func `a draw in the words of the article is read`() throws {
        let body = #"""
            {"gateway":"gw-1","boot":"7f3a","sequence":88213,"pool":"openai:gpt-4o","epoch":1793000000,"later":{"a":1},
             "totals":{"returned":{"requests":912,"tokens":2100000},"granted_used":{"requests":4011,"tokens":9100000},
                       "spent":{"acme":{"requests":51200,"input_tokens":121000000,"output_tokens":1000}}},
             "waiting":{"globex":[{"tokens":5}],
                        "acme":[{"tokens":1800,"criticality":"interactive","waited_ms":250,"patience_ms":4000},
                                {"input_tokens":900,"output_tokens":100,"criticality":"batch"}]}}
            """#
        let request = try DrawRequest.decode(Array(body.utf8))
        #expect(request.sequence == 88213 && request.epoch == 1_793_000_000 && request.member == nil)
        #expect(request.totals.returned == Work(requests: 912, tokens: 2_100_000))
        // Tokens are the sum of both kinds where they are not given.
        #expect(request.totals.spent.map(\.work[.tokens]) == [121_001_000])
        #expect(request.waiting.map(\.tenant) == ["acme", "globex"])
        #expect(
            request.waiting[0].heads == [
                DrawRequest.Head(
                    estimate: Work(requests: 1, tokens: 1800), waitedSeconds: 0.25, patienceSeconds: 4),
                DrawRequest.Head(
                    estimate: Work(requests: 1, tokens: 1000, inputTokens: 900, outputTokens: 100), criticality: .batch),
            ])
        #expect(request.waiting[1].heads == [DrawRequest.Head(estimate: Work(requests: 1, tokens: 5))])
    }

    @Test func `heads beyond the sixty-fourth of a tenant are dropped`() throws {
        let heads = Array(repeating: #"{"tokens":1}"#, count: 1000).joined(separator: ",")
        let body = #"{"gateway":"g","boot":"b","sequence":1,"pool":"p","epoch":1,"waiting":{"a":["# + heads + "]}}"
        #expect(try DrawRequest.decode(Array(body.utf8)).waiting.map(\.heads.count) == [DrawRequest.maxHeads])
    }

    @Test func `a tenant that stands twice in a draw is refused`() throws {
        let head = #"{"gateway":"g","boot":"b","sequence":1,"pool":"p","epoch":1"#
        for (body, place) in [
            (#","waiting":{"b":[{"tokens":9}],"a":[],"b":[{"tokens":90}]}}"#, "waiting"),
            (#","totals":{"spent":{"b":{},"a":{},"b":{"tokens":1}}}}"#, "totals.spent"),
        ] {
            #expect(throws: WireError(.unreadable, "\(place): b stands twice: remove one")) {
                try DrawRequest.decode(Array((head + body).utf8))
            }
        }
    }

    private static func work(_ random: inout SplitMix64) -> Work {
        Work(
            requests: Double(Int.random(in: 0...100_000, using: &random)),
            tokens: Double(Int.random(in: 0...1_000_000_000, using: &random)) / 8,
            inputTokens: Bool.random(using: &random) ? 17 : 0, outputTokens: Bool.random(using: &random) ? 0.5 : 0)
    }

    private static func request(_ random: inout SplitMix64) -> DrawRequest {
        let tenants: [TenantID] = ["T9", "acme", "b.c@d:e-f_g"]
        let queues = tenants.filter { _ in Bool.random(using: &random) }.map { tenant in
            DrawRequest.Queue(
                tenant: tenant,
                heads: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    DrawRequest.Head(
                        estimate: work(&random), criticality: Criticality.allCases.randomElement(using: &random)!,
                        waitedSeconds: Double(Int.random(in: 0...80_000, using: &random)) / 8,
                        patienceSeconds: Bool.random(using: &random) ? .infinity : 2.5)
                })
        }
        return DrawRequest(
            gateway: "gw-1", member: Bool.random(using: &random) ? "m" : nil, boot: "7f3a",
            sequence: Int64.random(in: 0...(.max), using: &random), pool: "openai:gpt-4o",
            epoch: Int64.random(in: 0...(.max), using: &random),
            totals: DrawRequest.Totals(
                returned: work(&random), grantedUsed: .zero - work(&random),
                spent: tenants.map { DrawRequest.TenantWork(tenant: $0, work: work(&random)) }),
            waiting: queues)
    }

    private static func answer(_ random: inout SplitMix64) -> DrawAnswer {
        DrawAnswer(
            sequence: Int64.random(in: 0...1_000_000_000, using: &random),
            granted: [DrawAnswer.Granted(tenant: "acme", calls: Int.random(in: 1...64, using: &random))],
            grantedTotal: work(&random),
            serviceClocks: [
                DrawAnswer.Clock(tenant: "acme", serviceClock: Double.random(in: -9...9e9, using: &random))
            ],
            waitMilliseconds: Int64.random(in: 0...200, using: &random))
    }
}
