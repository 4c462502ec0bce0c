import HeadroomLoop
import HeadroomModel

/// Replays recorded telemetry through the four actors under a candidate policy, beside what was in force.
///
/// Telemetry is what gateways reported then: work that a tenant was denied counts as wanted, but nobody sends more or
/// less because of the candidate. What each side would have *served* is therefore modelled the same way for both: the
/// assured rates first, then lending by weight up to the ceilings, as a fluid (``PlanService``).
package struct PlanReplay: Sendable {
    /// All that was reported in a span of time, in the order in which it came.
    package typealias Reading = @Sendable (_ from: Timestamp, _ to: Timestamp) async throws -> [TelemetryRecord]

    /// A stretch of the past, and how it is known.
    package struct Part: Sendable {
        package enum Source: Sendable {
            /// Every line.
            case raw
            /// Sums by minute, each replayed as a window of a minute.
            case minutes
        }

        package var source: Source
        package var from: Timestamp
        package var to: Timestamp
        package var read: Reading

        package init(source: Source, from: Timestamp, to: Timestamp, read: @escaping Reading) {
            self.source = source
            self.from = from
            self.to = to
            self.read = read
        }
    }

    /// The other side of the comparison.
    package enum Baseline: Sendable {
        /// The real publications, ascending.
        case published([(at: Timestamp, pools: [PoolAllocation])])
        /// The publications of other rules.
        case rules(Rules)
    }

    /// Turns of a minute's sums: more would decide on nothing new.
    private static let secondsPerTickOfMinutes = 20.0

    private let parts: [Part]
    private let rules: Rules
    private let baseline: Baseline

    /// - Parameter parts: ascending, not overlapping.
    package init(_ parts: [Part], candidate rules: Rules, baseline: Baseline) {
        self.parts = parts
        self.rules = rules
        self.baseline = baseline
    }

    /// - Parameter progress: is given the part that is done, 0 to 1.
    /// - Throws: `CancellationError` between two ticks, when its task is cancelled.
    package func run(progress: @Sendable (Double) -> Void) async throws -> PlanOutcome {
        guard let first = parts.first, let last = parts.last else { return PlanOutcome(rules: rules, parts: []) }
        let total = last.to.seconds(since: first.from)
        let candidate = PlanLoop(rules, at: first.from)
        var before = PlanBaseline(baseline, at: first.from)
        var outcome = PlanOutcome(rules: rules, parts: parts)
        for part in parts {
            let period = part.source == .raw ? rules.policy.loop.periodSeconds : Self.secondsPerTickOfMinutes
            var now = part.from
            while now < part.to {
                try Task.checkCancellation()
                let next = min(part.to, now.adding(seconds: period))
                let records = try await part.read(now, next)
                for record in records where rules.policy.pool(record.pool) == nil { outcome.leaveOut(record.pool) }
                let report = await candidate.tick(records, at: next)
                let old = await before.tick(records, at: next)
                outcome.add(
                    report, before: old, after: candidate.inForce, from: now, seconds: next.seconds(since: now))
                now = next
                progress(now.seconds(since: first.from) / total)
            }
        }
        outcome.finish(questions: candidate.questions)
        return outcome
    }
}

/// The side that the candidate is compared with.
private struct PlanBaseline {
    private var published: ArraySlice<(at: Timestamp, pools: [PoolAllocation])> = []
    private var inForce: [PoolAllocation] = []
    private var loop: PlanLoop?

    init(_ baseline: PlanReplay.Baseline, at now: Timestamp) {
        switch baseline {
        case .published(let generations): published = generations[...]
        case .rules(let rules): loop = PlanLoop(rules, at: now)
        }
    }

    /// The allocations in force at `now`, ascending by pool.
    mutating func tick(_ records: [TelemetryRecord], at now: Timestamp) async -> [PoolAllocation] {
        if let loop {
            _ = await loop.tick(records, at: now)
            return loop.inForce
        }
        while let next = published.first, next.at <= now {
            inForce = next.pools
            published.removeFirst()
        }
        return inForce
    }
}

extension Rollup {
    /// As a gateway would have reported the minute.
    package var window: WindowRecord {
        WindowRecord(
            start: start, seconds: 60, gateway: "recorded", tenant: tenant, pool: pool, criticality: criticality,
            requests: sums.attempts, ok: sums.ok, quota: sums.quota, overload: sums.overload, error: sums.error,
            retries: sums.retries, denied: sums.denied, deniedTokens: sums.deniedTokens, inputTokens: sums.inputTokens,
            outputTokens: sums.outputTokens)
    }
}
