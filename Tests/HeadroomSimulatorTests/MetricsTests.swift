import HeadroomModel
import HeadroomSimulator
import Testing

/// Two tenants, one request of 100 tokens each in the middle of every second, for five minutes: the contract is 120 RPM
/// and 12,000 TPM, so a request is half a second of it.
@Suite struct MetricsTests {
    private static let seconds = 300
    private static let trace = Trace(
        tenants: ["a", "b"],
        rows: (0..<(2 * seconds)).map { index in
            Trace.Row(
                seconds: Double(index / 2) + 0.5, tenant: index % 2, inputTokens: 90, outputTokens: 10)
        })
    private static let request = Work(requests: 1, tokens: 100, inputTokens: 90, outputTokens: 10)

    /// Its roster has a in a higher tier than b, and b in the standard one.
    private let workload: Workload
    private let reference: Reference
    private let scenario: Scenario

    init() throws {
        scenario = Scenario(name: "by hand", intent: "known answers")
        let scenario = scenario
        let order = ["critical", "premium", "standard", "free"]
        let found = (0..<50 as Range<UInt64>).lazy.map { seed in
            Workload(trace: Self.trace, scenario: scenario, seconds: Double(Self.seconds), seed: seed)
        }.first { workload in
            let entries = workload.roster.entries
            let ranks = entries.compactMap { order.firstIndex(of: $0.tier) }
            return ranks[0] < ranks[1] && entries[0].criticality == .interactive
                && entries[1].criticality == .interactive && entries[1].tier == "standard"
        }
        workload = try #require(found)
        reference = Reference(workload: workload, scenario: scenario)
    }

    /// A run in which everyone is served what is due to it: ten requests a step.
    private var perfect: RunRecord {
        var run = RunRecord(seconds: Double(Self.seconds), tenantCount: 2)
        for index in run.served.indices { run.served[index] = Self.request * 10 }
        for step in run.delivered.indices { run.delivered[step] = Self.request * 20 }
        for index in run.wanted.indices {
            run.wanted[index] = Self.request * 60
            run.got[index] = Self.request * 60
        }
        return run
    }

    private func metrics(_ run: RunRecord, honest: RunRecord? = nil) -> RunMetrics {
        RunMetrics(run, workload: workload, reference: reference, honest: honest)
    }

    private func isNear(_ value: Double?, _ expected: Double, _ tolerance: Double = 1e-6) -> Bool {
        value.map { abs($0 - expected) <= tolerance } ?? false
    }

    @Test func `the reference serves everyone where there is enough`() {
        #expect(workload.nominal == Rates(rpm: 120, tpm: 12_000))
        for share in reference.shares { #expect(isNear(share[.requests], 10, 1e-6)) }
        #expect(reference.workableSeconds.allSatisfy { isNear($0, 10) })
    }

    @Test func `the reference divides a shortage by weight and lets nobody exceed its ceiling`() {
        var half = scenario
        half.provider.grants = [(Scenario.Span(from: 0, to: 1), 0.5)]
        let reference = Reference(workload: workload, scenario: half)
        for step in 2..<reference.stepCount {
            let a = reference.shares[2 * step][.requests]
            let b = reference.shares[2 * step + 1][.requests]
            #expect(isNear(a + b, 10, 1e-6), "\(a) \(b)")
            #expect(a > b)
        }
    }

    @Test func `a perfect run has no shortfall, no starvation and no inversion`() {
        let metrics = metrics(perfect)
        #expect(isNear(metrics[.shortfall], 0))
        #expect(isNear(metrics[.useful], 1))
        #expect(isNear(metrics[.utilisation], 1))
        #expect(isNear(metrics[.leastServed], 1))
        #expect(metrics[.starvedMinutes] == 0)
        #expect(metrics[.inversions] == 0)
        #expect(metrics[.satisfactionStandard] == 1)
        #expect(metrics[.shortfallWhileDown] == nil)
        #expect(metrics[.estimateError] == nil)
    }

    @Test func `shortfall counts what is missing and no surplus of other minutes`() {
        var run = perfect
        // Tenant b gets half in the first two minutes and double in the third.
        for step in 0..<12 { run.served[2 * step + 1] = Self.request * 5 }
        for step in 12..<18 { run.served[2 * step + 1] = Self.request * 20 }
        let metrics = metrics(run)
        // 60 of 600 requests are missing; 60 came later.
        #expect(isNear(metrics[.shortfall], 0.1))
        #expect(isNear(metrics[.useful], 1))
        #expect(isNear(metrics[.leastServed], 1))
        #expect(metrics[.starvedMinutes] == 0)
    }

    @Test func `starved minutes are those of spells of five`() {
        var run = perfect
        for step in 0..<24 { run.served[2 * step + 1] = Self.request * 6 }
        #expect(metrics(run)[.starvedMinutes] == 0)
        for step in 24..<30 { run.served[2 * step + 1] = Self.request * 6 }
        #expect(metrics(run)[.starvedMinutes] == 5)
    }

    @Test func `shortfall while down counts the minutes of less capacity only`() {
        var run = perfect
        run.granted = (0..<Self.seconds).map { $0 >= 60 && $0 < 120 ? 0.5 : 1 }
        for step in 6..<12 { run.served[2 * step] = Self.request * 5 }
        #expect(isNear(metrics(run)[.shortfallWhileDown], 0.25))
        #expect(isNear(metrics(run)[.shortfall], 0.05))
    }

    @Test func `an inversion is a higher tier served less than a lower one`() {
        var run = perfect
        run.got[0] = Self.request * 50  // a in minute 0: 0.83
        #expect(isNear(metrics(run)[.inversions], 0.2))
        run.got[0] = Self.request * 55  // 0.92: within 0.1
        #expect(metrics(run)[.inversions] == 0)
        run.got[0] = Self.request * 60
        run.got[1] = Self.request * 10  // b is the lower tier: no inversion.
        #expect(metrics(run)[.inversions] == 0)
    }

    @Test func `refused attempts over all attempts`() {
        var run = perfect
        run.attempts = 200
        run.refusals = 30
        #expect(isNear(metrics(run)[.refusedShare], 0.15))
    }

    @Test func `over-commit in seconds and in amount`() {
        var run = perfect
        run.committed = [0.9, 1, 1.005, 1.2, 1.5, 1]
        #expect(metrics(run)[.overcommittedSeconds] == 2)
        #expect(isNear(metrics(run)[.overcommittedAmount], 0.7))
    }

    @Test func `a limit that turns back twice has two reversals`() {
        let motion = RunMetrics.motion([[100], [200], [150], [150.5], [140], [300]], tenants: 1)
        #expect(motion.reversals == 2)
        // 100 + 50 + 10 + 160 over a mean of 173.42.
        #expect(isNear(motion.variation, 320 / (1040.5 / 6), 1e-9))
    }

    @Test func `reversals are per tenant and hour`() {
        var run = perfect
        run.limits = [(0, [100, 100]), (2, [200, 100]), (4, [100, 100])]
        // One in 300 s of two tenants.
        #expect(isNear(metrics(run)[.reversals], 6))
    }

    @Test func `the estimate's error, and how soon it has found a fall`() {
        var run = perfect
        run.granted = (0..<Self.seconds).map { $0 < 100 ? 1 : 0.5 }
        run.estimated = run.granted.indices.map { second in
            second < 110 ? 1 : second < 120 ? 0.6 : 0.5
        }
        let metrics = metrics(run)
        #expect(metrics[.secondsToWithin25] == 10)
        #expect(metrics[.secondsToWithin10] == 20)
        #expect(isNear(metrics[.estimateError], (10 * 1.0 + 10 * 0.2) / 300))
        // Nobody was refused, and nothing came back.
        #expect(metrics[.estimateAfterRefusal] == nil && metrics[.estimateAfterRecovery] == nil)
    }

    @Test func `how long the estimate takes after each fall and each rise, and how it stands`() {
        var run = perfect
        // Half from 60 to 120 and from 180 to 240; beyond the contract afterwards, which counts as the contract.
        run.granted = (0..<Self.seconds).map {
            (60..<120).contains($0) || (180..<240).contains($0) ? 0.5 : $0 < 240 ? 1 : 1.2
        }
        run.estimated = run.granted.indices.map { second in
            switch second {
            case 60..<70, 180..<192: 1
            case 120..<150: 0.5
            case 240..<260: 0.6
            default: min(1, run.granted[second])
            }
        }
        let metrics = metrics(run)
        #expect(metrics[.secondsAfterFall] == 12)
        #expect(metrics[.secondsAfterRise] == 30)
        #expect(metrics[.secondsFarBelow] == 50)
        // Of 300 s those from 20 s after the start and after each change on: 200, of which ten are half of what they should be.
        #expect(isNear(metrics[.standingError], 10 * 0.5 / 200))
    }

    @Test func `the estimate a quarter of a minute after a refusal, and a minute after all is back`() {
        var run = perfect
        run.granted = (0..<Self.seconds).map { (100..<200).contains($0) ? 0.5 : 1 }
        run.estimated = run.granted.indices.map { 0.4 + Double($0) / 1_000 }
        // One before the fall says nothing of it.
        for second in [90, 120, 150] { run.refusedEachSecond[second] = 1 }
        #expect(isNear(metrics(run)[.estimateAfterRefusal], 0.535 / 0.5))
        #expect(isNear(metrics(run)[.estimateAfterRecovery], 0.66))
        // The fall is over before.
        run.refusedEachSecond = run.refusedEachSecond.indices.map { $0 >= 190 ? 1 : 0 }
        #expect(metrics(run)[.estimateAfterRefusal] == nil)
    }

    @Test func `waits are those of the tier's own calls`() {
        var run = perfect
        run.waits[1] = (0..<100).map(Double.init)
        let metrics = metrics(run)
        #expect(metrics[.waitMedianStandard] == 50)
        #expect(metrics[.waitP99Standard] == 99)
        #expect(metrics[.waitMedianFree] == nil)
    }

    @Test func `drift is the worst second`() {
        var run = perfect
        run.driftSeconds = [0, 1, 4, 2]
        #expect(metrics(run)[.driftSeconds] == 4)
    }

    @Test func `a gamer's gain is what it got over what it gets without its game`() throws {
        var gaming = scenario
        gaming.changes = [.resendsDenied(.rank(0), times: 3, inStep: false)]
        let workload = Workload(
            trace: Self.trace, scenario: gaming, seconds: Double(Self.seconds), seed: 1)
        let gamer = try #require(workload.gamers.first)
        var run = perfect
        for step in 0..<run.stepCount { run.served[2 * step + gamer] = Self.request * 15 }
        let metrics = RunMetrics(
            run, workload: workload, reference: Reference(workload: workload, scenario: gaming), honest: perfect)
        #expect(isNear(metrics[.gamingGain], 1.5))
    }

    @Test func `recovery counts from the return to the first step that is served in full`() throws {
        var back = scenario
        back.changes = [.silent(.rank(0), during: Scenario.Span(from: 0, to: 0.5))]
        let workload = Workload(trace: Self.trace, scenario: back, seconds: Double(Self.seconds), seed: 1)
        let tenant = try #require(workload.returns.first?.tenant)
        var run = perfect
        for step in 0..<17 { run.served[2 * step + tenant] = .zero }
        let metrics = RunMetrics(
            run, workload: workload, reference: Reference(workload: workload, scenario: back))
        // Silent for 150 s; served from second 170 on.
        #expect(metrics[.recoverySeconds] == 30)
    }
}
