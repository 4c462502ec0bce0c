import Foundation
import HeadroomCapacity
import HeadroomModel
import HeadroomPolicy
import Testing

/// The pools of `policies`, as they are, at providers that grant half of what the files say from second 60 on.
@Suite struct ShippedPoolTests {
    private static let directory = URL(filePath: #filePath).appending(path: "../../../policies").standardized
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let fall = 60
    private static let seconds = 180

    private struct Run {
        /// By second: requests a minute, over what is granted.
        var estimates: [Double] = []
        var attempts = 0
        var refusals = 0
        var firstRefusal: Int?
    }

    /// Senders have more work than is granted, and keep to the capacity of a second ago. Calls end after a second and a half,
    /// refusals at once. A refused call costs a request where the pool says so.
    private static func run(_ name: String, seed: UInt64) throws -> Run {
        let policy = try PolicyDirectory(path: directory.path(percentEncoded: false)).load()
        let pool = try #require(policy.pools.first { $0.pool.text == name })
        let nominal = try #require(pool.nominal[.requests])
        let tokens = try #require(pool.nominal[.tokens])
        var estimator = CapacityEstimator(
            policy: pool, settings: policy.capacity, breakers: policy.breaker, at: Self.start)
        var generator = SplitMix64(seed: seed)
        var run = Run()
        var capacity = nominal
        var budget = 0.0
        var size = nominal / 60 * pool.providerBurstSeconds
        var level = size
        var ending: [Int: [CallRecord]] = [:]
        for second in 0..<Self.seconds {
            let granted = second < fall ? nominal : nominal / 2
            size = granted / 60 * pool.providerBurstSeconds
            for tenth in 0..<10 {
                let now = Self.start.adding(seconds: Double(second) + Double(tenth) / 10)
                level = min(size, level + granted / 600)
                budget = min(capacity / 60, budget + capacity / 600)
                let demand = nominal / 600 * .random(in: 0..<2.6, using: &generator)
                var waiting = Int(demand + .random(in: 0..<1, using: &generator))
                while waiting > 0, budget >= 1 {
                    waiting -= 1
                    budget -= 1
                    run.attempts += 1
                    let isServed = level >= 1
                    if isServed { level -= 1 } else if pool.countsRefused { level = max(-size, level - 1) }
                    // A third of the tokens that a request may have: requests are what is scarce.
                    let call = CallRecord(
                        at: isServed ? now.adding(seconds: 1.5) : now, gateway: "gw-1", tenant: "acme", pool: pool.pool,
                        outcome: isServed ? .ok : .quota, latencyMilliseconds: isServed ? 1_500 : 0,
                        inputTokens: isServed ? Int64(tokens / nominal / 3) : 0, outputTokens: 0)
                    if isServed {
                        ending[second * 10 + tenth + 15, default: []].append(call)
                    } else {
                        run.refusals += 1
                        if second >= fall, run.firstRefusal == nil { run.firstRefusal = second }
                        estimator.fold(.call(call), at: now)
                        let quota = ProviderSignal(kind: .quota, exhausted: ResourceSet(.requests))
                        estimator.fold(
                            .response(
                                ResponseRecord(
                                    at: now, gateway: "gw-1", pool: pool.pool, status: 429, signal: quota)), at: now)
                    }
                }
                for call in ending.removeValue(forKey: second * 10 + tenth) ?? [] {
                    estimator.fold(.call(call), at: now)
                }
            }
            let found = estimator.estimate(at: Self.start.adding(seconds: Double(second + 1)))
            capacity = try #require(found.capacity[.requests])
            run.estimates.append((found.estimated[.requests] ?? 0) / granted)
        }
        return run
    }

    @Test(arguments: ["openai:gpt-4o", "demo:sim-large"])
    func `half of a shipped pool is found within 15 s of the first refusal, and little is refused`(name: String) throws
    {
        var found: [Double] = []
        var refused = 0.0
        for seed in 1...6 as ClosedRange<UInt64> {
            let run = try Self.run(name, seed: seed)
            #expect(run.estimates[10..<Self.fall].allSatisfy { $0 > 0.99 }, "seed \(seed)")
            let first = try #require(run.firstRefusal)
            found.append(run.estimates[first + 15])
            #expect(run.estimates[(first + 15)...].allSatisfy { $0 > 0.9 }, "seed \(seed)")
            refused += Double(run.refusals) / Double(run.attempts) / 6
        }
        #expect(found.count { abs($0 - 1) <= 0.1 } >= 5, "\(found)")
        #expect(refused < 0.02, "\(refused)")
    }
}
