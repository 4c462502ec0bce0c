import HeadroomModel
import HeadroomSimulator
import Testing

/// The observer against providers whose true capacity is known, with more work than they grant: 1.4 times the contract.
@Suite struct ObservationTests {
    /// A call and a half a second, some of them larger than all that the provider lets pass at once.
    private static let lumpy = SyntheticWorkload.trace(requests: 6_000, seed: 5)
    private static let seconds = 420.0

    private static func run(
        headers: ProviderModel.Headers, trace: Trace = lumpy, strategy: String = "headroom-lend", seed: UInt64 = 1,
        _ change: (inout Scenario) -> Void = { _ in }
    ) -> (record: RunRecord, use: Double) {
        var scenario = Scenario(name: "observation", intent: "more work than the provider grants")
        scenario.capacity = 0.7
        scenario.provider.headers = headers
        change(&scenario)
        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: seed)
        let record = Simulation(
            workload: workload, scenario: scenario, strategy: Strategy.named(strategy)!, seed: seed
        ).run()
        let metrics = RunMetrics(
            record, workload: workload, reference: Reference(workload: workload, scenario: scenario))
        return (record, metrics[.utilisation] ?? 0)
    }

    private static func drop(_ scenario: inout Scenario) {
        scenario.provider.grants = [(Scenario.Span(from: 0.4, to: 0.7), 0.5)]
    }
    private static let kinds: [ProviderModel.Headers] = [.truthful, .nominal, .absent]

    @Test(.enabled(if: RecordedTraces.areThere), arguments: [.nominal, .absent] as [ProviderModel.Headers])
    func `in the steady state hardly anything is refused and all is used`(
        headers: ProviderModel.Headers
    ) throws {
        let trace = try #require(try RecordedTraces.read("traces/azure-llm-2023-conv-a"))
        let (record, use) = Self.run(headers: headers, trace: trace)
        #expect(Double(record.refusals) < 0.01 * Double(record.attempts), "\(record.refusals) of \(record.attempts)")
        #expect(use >= 0.97, "\(use)")
        #expect(record.estimated.dropFirst(10).allSatisfy { $0 > 0.9 })
    }

    @Test(.enabled(if: RecordedTraces.areThere), arguments: kinds)
    func `a drop to half is found and a recovery too`(headers: ProviderModel.Headers) throws {
        let trace = try #require(try RecordedTraces.read("traces/azure-llm-2023-conv-a"))
        let (record, _) = Self.run(headers: headers, trace: trace, Self.drop)
        let fall = Int(0.4 * Self.seconds)
        let rise = Int(0.7 * Self.seconds)
        // The bucket that was full at the fall is empty within six seconds: the first refusal.
        let found = record.estimated[fall + 21] / 0.5
        #expect(abs(found - 1) < (headers == .truthful ? 0.01 : 0.2), "\(found)")
        let mean = record.estimated[(fall + 25)..<rise].reduce(0, +) / Double(rise - fall - 25) / 0.5
        #expect(abs(mean - 1) < 0.1, "\(mean)")
        #expect(record.estimated[(rise + 60)...].allSatisfy { $0 > 0.9 })
    }

    private static let three = [
        "traces/azure-llm-2023-code", "traces/mooncake-fast25-conversation-a",
        "derived/servegen-deepseek-r1-h09-11.reconstructed",
    ]

    /// Single runs lie further off: some of these calls are larger than all that passes at once, and fifteen seconds hold
    /// a handful of refusals. Of 96 runs (four traces, 24 seeds) five to seven had not found a recovery after 60 s, however
    /// often gateways drew.
    @Test(.enabled(if: RecordedTraces.areThere), arguments: ["headroom", "headroom-lend"])
    func
        `without headers a drop to half is known 15 s after its first refusal, nine recoveries of ten after 60 s and all after 90 s`(
            strategy: String
        ) throws
    {
        var found: [Double] = []
        var late: [String] = []
        for name in Self.three {
            let trace = try #require(try RecordedTraces.read(name))
            for seed in 1...4 {
                let (record, _) = Self.run(
                    headers: .absent, trace: trace, strategy: strategy, seed: UInt64(seed), Self.drop)
                let (fall, rise) = (Int(0.4 * record.seconds), Int(0.7 * record.seconds))
                let first = try #require((fall..<rise).first { record.refusedEachSecond[$0] > 0 })
                found.append(record.estimated[first + 15] / 0.5)
                if record.estimated[rise + 60] <= 0.9 { late.append("\(name), seed \(seed)") }
                #expect(record.estimated[rise + 90] > 0.9, "\(name), seed \(seed)")
            }
        }
        #expect(Double(late.count) <= 0.1 * Double(found.count), "\(late)")
        let mean = found.reduce(0, +) / Double(found.count)
        #expect(abs(mean - 1) < 0.15, "\(found)")
    }

    @Test(
        .enabled(if: RecordedTraces.areThere), arguments: [.fixedWindow, .slidingWindow] as [ProviderModel.Metering],
        [.truthful, .absent] as [ProviderModel.Headers])
    func `a drop at a provider that counts by the minute starts no spiral`(
        metering: ProviderModel.Metering, headers: ProviderModel.Headers
    ) throws {
        for name in Self.three {
            let trace = try #require(try RecordedTraces.read(name))
            let (record, _) = Self.run(headers: headers, trace: trace, strategy: "headroom") { scenario in
                Self.drop(&scenario)
                scenario.provider.metering = metering
            }
            let (fall, rise) = (Int(0.4 * record.seconds), Int(0.7 * record.seconds))
            let mean = record.estimated[(fall + 25)..<rise].reduce(0, +) / Double(rise - fall - 25) / 0.5
            // Before meters that count by the minute were believed too, this was a fifth. Too high is another matter: such
            // a provider refuses only at the end of its minutes, and two of them say little.
            #expect(mean > 0.75, "\(name): \(mean)")
        }
    }

    @Test(arguments: [.absent] as [ProviderModel.Headers])
    func `an overload of two minutes leaves the estimate where it was`(
        headers: ProviderModel.Headers
    ) {
        let (record, _) = Self.run(headers: headers) { scenario in
            // Capacity has halved well before it, and stays so.
            scenario.provider.grants = [(Scenario.Span(from: 0.2, to: 1), 0.5)]
            scenario.provider.overloads = [(Scenario.Span(from: 0.5, seconds: 120), 0.5)]
        }
        let begin = Int(0.5 * Self.seconds)
        let before = record.estimated[begin - 1]
        let after = record.estimated[begin + 121]
        #expect(abs(after / before - 1) < 0.2, "\(before) \(after)")
    }

    @Test(.enabled(if: RecordedTraces.areThere), arguments: [.absent] as [ProviderModel.Headers])
    func `a square wave of a fifth does not make it swing further`(
        headers: ProviderModel.Headers
    ) throws {
        let trace = try #require(try RecordedTraces.read("traces/azure-llm-2023-conv-a"))
        let (record, _) = Self.run(headers: headers, trace: trace) { scenario in
            scenario.provider.wave = ScenarioLibrary.named("square-wave")?.provider.wave
        }
        #expect(record.estimated.dropFirst(30).allSatisfy { (0.6...1).contains($0) })
    }

    @Test(.enabled(if: RecordedTraces.areThere), arguments: [.nominal] as [ProviderModel.Headers])
    func `refused attempts that count do not feed on themselves`(
        headers: ProviderModel.Headers
    ) throws {
        let trace = try #require(try RecordedTraces.read("traces/azure-llm-2023-conv-a"))
        let (record, use) = Self.run(headers: headers, trace: trace) { scenario in
            Self.drop(&scenario)
            scenario.provider.countsRefused = true
        }
        #expect(Double(record.refusals) < 0.1 * Double(record.attempts), "\(record.refusals) of \(record.attempts)")
        #expect(use > 0.8, "\(use)")
    }
}
