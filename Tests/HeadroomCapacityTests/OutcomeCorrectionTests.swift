import HeadroomCapacity
import HeadroomModel
import Testing

@Suite struct OutcomeCorrectionTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let nominal = Rates(rpm: 600, tpm: 600_000)

    private static func estimator() -> CapacityEstimator {
        CapacityEstimator(
            policy: PoolPolicy(pool: pool, nominal: nominal), settings: CapacityPolicy(), at: start)
    }

    private static func call(_ second: Double, _ outcome: Outcome, request: String) -> TelemetryRecord {
        .call(
            CallRecord(
                request: request, at: start.adding(seconds: second), gateway: "gw-1", tenant: "acme", pool: pool,
                outcome: outcome, status: outcome == .ok ? 200 : 429, inputTokens: 1_000, outputTokens: 0))
    }

    private static func response(_ second: Double, _ kind: ResponseKind, request: String) -> TelemetryRecord {
        .response(
            ResponseRecord(
                at: start.adding(seconds: second), request: request, gateway: "gw-1", pool: pool, status: 429,
                signal: ProviderSignal(kind: kind, exhausted: kind == .quota ? ResourceSet(.tokens) : [])))
    }

    /// Twenty seconds in which half of the calls fail, as `said` says; responses come so many seconds after their calls and
    /// say `meant`. Negative: before.
    private static func run(
        _ said: Outcome, meant: ResponseKind, late: Double, check: (PoolCapacity) -> Void = { _ in }
    ) -> PoolCapacity {
        var estimator = estimator()
        var lines: [(readAt: Double, line: TelemetryRecord)] = []
        for n in 0..<200 {
            let at = Double(n) / 10
            lines.append((at + 1, call(at, n % 2 == 0 ? .ok : said, request: "r\(n)")))
            if n % 2 == 1 { lines.append((at + 1 + late, response(at, meant, request: "r\(n)"))) }
        }
        lines.sort { $0.readAt < $1.readAt }
        var next = 0
        for second in 1...28 {
            while next < lines.count, lines[next].readAt <= Double(second) {
                estimator.fold(lines[next].line, at: start.adding(seconds: lines[next].readAt))
                next += 1
            }
            check(estimator.estimate(at: start.adding(seconds: Double(second))))
        }
        return estimator.estimate(at: start.adding(seconds: 29))
    }

    @Test(arguments: [-0.5, 0.01, 2.5], [ResponseKind.billing, .overload, .auth])
    func `a call reported as quota does not lower the estimate when its response says otherwise`(
        late: Double, kind: ResponseKind
    ) {
        let found = Self.run(.quota, meant: kind, late: late)
        #expect(found.capacity == Self.nominal)
        #expect(found.recentRefusals == 0)
    }

    @Test(arguments: [-0.5, 0.01, 2.5])
    func `a call reported as an error bounds the estimate when its response says quota`(
        late: Double
    ) throws {
        let found = Self.run(.error, meant: .quota, late: late)
        #expect(try #require(found.capacity[.tokens]) < 0.8 * 600_000)
    }

    @Test func `a response corrects one attempt of its request, and not the one that was served`() {
        var estimator = Self.estimator()
        estimator.fold(Self.call(1, .quota, request: "r"), at: Self.start.adding(seconds: 1.5))
        estimator.fold(Self.call(1.2, .quota, request: "r"), at: Self.start.adding(seconds: 1.5))
        estimator.fold(Self.call(1.4, .ok, request: "r"), at: Self.start.adding(seconds: 1.5))
        estimator.fold(Self.response(1, .overload, request: "r"), at: Self.start.adding(seconds: 1.6))
        let found = estimator.estimate(at: Self.start.adding(seconds: 2))
        #expect(found.recentRefusals == 1)
        #expect(found.recentAttempts == 2)
    }

    @Test(arguments: [0.01, 2.5]) func `money gone at the provider is said of the pool, and over once calls are served`(
        late: Double
    ) throws {
        var estimator = Self.estimator()
        var begun: [Int] = []
        for second in 0..<60 {
            for n in 0..<10 {
                let at = Double(second) + Double(n) / 10
                let isPaid = !(10..<30).contains(second)
                estimator.fold(
                    Self.call(at, isPaid ? .ok : .quota, request: "r\(at)"), at: Self.start.adding(seconds: at))
                if !isPaid {
                    estimator.fold(
                        Self.response(at, .billing, request: "r\(at)"), at: Self.start.adding(seconds: at + late))
                }
            }
            let found = estimator.estimate(at: Self.start.adding(seconds: Double(second + 1)))
            if found.upstream.billingFailureSince != nil { begun.append(second) }
            #expect(found.capacity == Self.nominal)
        }
        #expect((10...20).contains(try #require(begun.first)))
        #expect((30...41).contains(try #require(begun.last)))
        #expect(begun.count == begun.last! - begun.first! + 1)
    }

    @Test func `a few billing errors among many calls are no state of the pool`() {
        var estimator = Self.estimator()
        for n in 0..<600 {
            let at = Double(n) / 10
            estimator.fold(
                Self.call(at, n % 10 == 0 ? .billing : .ok, request: "r\(n)"), at: Self.start.adding(seconds: at))
            let found = estimator.estimate(at: Self.start.adding(seconds: at))
            #expect(found.upstream.billingFailureSince == nil)
        }
    }
}
