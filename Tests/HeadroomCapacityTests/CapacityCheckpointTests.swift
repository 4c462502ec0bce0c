import HeadroomCapacity
import HeadroomModel
import Testing

/// The estimator's state as bytes, and what random telemetry does to it.
@Suite struct CapacityCheckpointTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let policy = PoolPolicy(
        pool: "pool", nominal: Rates(rpm: 600, tpm: 600_000, otpm: 100_000), failover: ["other"], countsRefused: true,
        acceptAboveContract: true)

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private static func estimator() -> CapacityEstimator {
        CapacityEstimator(policy: policy, settings: CapacityPolicy(), at: start)
    }

    /// Anything that a line can say, within seconds of `second` as a rule and far from it at times.
    private static func record(near second: Double, using generator: inout SplitMix64) -> TelemetryRecord {
        func amount() -> Double {
            let plain: [Double] = [0, 1, 59, 600, 600_000, 1e12, 1e15, -5, .infinity, .nan, .leastNonzeroMagnitude]
            return plain.randomElement(using: &generator)! * (Bool.random(using: &generator) ? 1 : 0.37)
        }
        func count() -> Int64 { Int64.random(in: 0...2_000, using: &generator) }
        func name() -> String? {
            Int.random(in: 0...30, using: &generator).isMultiple(of: 7)
                ? nil : "m-\(Int.random(in: 0...30, using: &generator))"
        }
        let far = Int.random(in: 0..<50, using: &generator) == 0
        let at = after(second + .random(in: far ? -100_000...100_000 : -4...1, using: &generator))
        switch Int.random(in: 0..<10, using: &generator) {
        case 0:
            let ok = count()
            return .window(
                WindowRecord(
                    start: at, seconds: .random(in: 0...600, using: &generator), gateway: "gw", tenant: "t",
                    pool: "pool",
                    requests: ok + 20, ok: ok, quota: count(), overload: count(), error: count(), denied: count(),
                    inputTokens: count() * 1_000, outputTokens: count(),
                    latency: WindowRecord.Latency(
                        count: count() - 5, p50Milliseconds: amount(), p95Milliseconds: amount(),
                        p99Milliseconds: amount())))
        case 1, 2:
            let windows = Resource.allCases.map { resource in
                QuotaWindow(
                    resource: resource, limit: amount(), remaining: amount(), resetMilliseconds: amount(),
                    windowSeconds: [nil, 60, 1, 86_400, 0, -1].randomElement(using: &generator)!)
            }
            let kind = ResponseKind.allCases.randomElement(using: &generator)!
            return .response(
                ResponseRecord(
                    at: at, gateway: "gw", pool: "pool", model: name(), status: 429,
                    signal: ProviderSignal(
                        kind: kind, windows: windows, exhausted: ResourceSet(rawValue: UInt8(count() % 16)))))
        case 3:
            return .model(ModelRecord(at: at, pool: "pool", model: name() ?? "m", version: name() ?? "v"))
        default:
            return .call(
                CallRecord(
                    at: at, gateway: "gw", tenant: "t", pool: "pool", model: name(), endpoint: name(),
                    outcome: Outcome.allCases.randomElement(using: &generator)!,
                    latencyMilliseconds: .random(in: 0...5_000, using: &generator),
                    inputTokens: count(), outputTokens: count(),
                    countedTokens: Bool.random(using: &generator) ? count() : nil))
        }
    }

    private static func run(
        _ estimator: inout CapacityEstimator, seconds: Range<Int>, using generator: inout SplitMix64,
        check: (PoolCapacity) -> Void = { _ in }
    ) {
        for second in seconds {
            for _ in 0..<Int.random(in: 0...20, using: &generator) {
                let record = record(near: Double(second), using: &generator)
                estimator.fold(record, at: after(Double(second)))
            }
            if second % 2 == 0 { check(estimator.estimate(at: after(Double(second)))) }
        }
    }

    @Test(arguments: 1...12) func `no telemetry makes the estimate absurd`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var estimator = Self.estimator()
        Self.run(&estimator, seconds: 0..<120, using: &generator) { found in
            #expect(found.capacity.resources == Self.policy.nominal.resources, "seed \(seed)")
            for resource in found.capacity.resources.members {
                let rate = found.capacity[resource] ?? -1
                #expect(rate > 0 && rate <= 1e12, "seed \(seed) \(resource): \(rate)")
                let others = found.upstream.otherConsumers[resource] ?? 0
                #expect(others >= 0 && others.isFinite, "seed \(seed)")
            }
            #expect((0...1).contains(found.confidence) && (0...1).contains(found.growth), "seed \(seed)")
            #expect(found.recentRefusals >= 0 && found.calls.allSatisfy { $0 >= 0 }, "seed \(seed)")
            #expect(found.upstream.channels.count <= 17, "seed \(seed)")
            if let latency = found.upstream.whole.latency {
                #expect(latency.p50Milliseconds > 0 && latency.p99Milliseconds < 5e6, "seed \(seed)")
                #expect(latency.p50Milliseconds <= latency.p95Milliseconds, "seed \(seed)")
            }
        }
    }

    private static func bytes(of estimator: CapacityEstimator) -> [UInt8] {
        var writer = ByteWriter()
        estimator.write(to: &writer)
        return writer.bytes
    }

    private static func restored(
        _ bytes: [UInt8], _ policy: PoolPolicy = policy, at second: Double = 60
    ) throws(ByteCodingError) -> CapacityEstimator {
        var reader = ByteReader(bytes)
        return try CapacityEstimator(
            from: &reader, policy: policy, settings: CapacityPolicy(), breakers: BreakerPolicy(), at: after(second))
    }

    @Test(arguments: 1...10) func `a restored estimator goes on as if it had never stopped`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var original = Self.estimator()
        Self.run(&original, seconds: 0..<60, using: &generator)
        var copy = try Self.restored(Self.bytes(of: original))
        var same = generator
        var expected: [PoolCapacity] = []
        var found: [PoolCapacity] = []
        Self.run(&original, seconds: 60..<120, using: &generator) { expected.append($0) }
        Self.run(&copy, seconds: 60..<120, using: &same) { found.append($0) }
        #expect(found == expected, "seed \(seed)")
    }

    @Test func `a pool with other limits starts over`() {
        var other = Self.policy
        other.nominal = Rates(rpm: 600, tpm: 600_001, otpm: 100_000)
        #expect(throws: ByteCodingError.otherVersion) { try Self.restored(Self.bytes(of: Self.estimator()), other) }
    }

    @Test(arguments: 1...5) func `damaged bytes throw or give an estimator that works`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var original = Self.estimator()
        Self.run(&original, seconds: 0..<30, using: &generator)
        let whole = Self.bytes(of: original)
        for _ in 0..<50 {
            var bytes = whole
            if Bool.random(using: &generator) {
                bytes.removeLast(.random(in: 1...bytes.count, using: &generator))
            } else {
                bytes[.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard var copy = try? Self.restored(bytes, at: 31) else { continue }
            let found = copy.estimate(at: Self.after(32))
            for resource in found.capacity.resources.members {
                let rate = found.capacity[resource] ?? -1
                #expect(rate > 0 && rate <= 1e12, "seed \(seed)")
            }
        }
    }
}
