import HeadroomControl
import HeadroomModel

/// The dampened feedback loop: observe what the upstream delivers, classify what each tenant needs, decide who gets
/// what, publish it.
///
/// Start reading here. ``tick(at:)`` is those four steps over the telemetry that is new since the last tick, and
/// nothing else; the daemon, the tests and the simulator all call it. Each step is an actor that owns state and calls
/// pure functions of `HeadroomControl`. A step that fails leaves the last snapshot in force, is counted, and is
/// shown in the report; the next tick tries again.
package actor ControlLoop {
    /// Rows are read in pages, and at most this many pages a tick: a flood delays telemetry, never the loop.
    private static let pageSize = 20_000
    private static let maxPages = 25

    private let telemetry: any TelemetrySource
    private let rules: any RuleSource
    private let board: any SnapshotPublishing
    private let observer = UpstreamCapacityObserver()
    private let classifier = TenantConsumptionClassifier()
    private let engine = PriorityPolicyEngine()
    private let publisher: AllocationPublisher

    private var cursor: TelemetryCursor?
    private var report: LoopReport

    package init(
        telemetry: any TelemetrySource, rules: any RuleSource, ledger: any SnapshotLedger,
        board: any SnapshotPublishing, at now: Timestamp
    ) {
        self.telemetry = telemetry
        self.rules = rules
        self.board = board
        publisher = AllocationPublisher(ledger: ledger, board: board)
        report = LoopReport(at: now)
    }

    /// One turn of the loop. Returns what it saw and did; never throws, since the loop goes on.
    @discardableResult
    package func tick(at now: Timestamp) async -> LoopReport {
        var failures: [(stage: LoopReport.Stage, message: String)] = []
        do {
            let rules = try await stage(.read) { try await self.rules.current() }
            report.rulesRefusal = rules.refusal
            report.hasBacklog = try await stage(.read) { try await self.readTelemetry(under: rules, at: now) }

            let capacities = await observer.estimate(at: now)
            let classified = await classifier.estimate(capacities: capacities, at: now)

            try await stage(.publish) { try await self.beginTerm(under: rules.policy.loop, at: now) }
            let decision = await engine.decide(
                capacities: capacities, classified: classified, under: rules, at: now)
            report.decidedAt = now
            await classifier.note(entitlements: decision.entitlements)

            let published = try await stage(.publish) {
                try await self.publisher.publish(decision, classified: classified, under: rules.policy, at: now)
            }
            report.describe(capacities, classified, decision, published)
            report.ticksSucceeded += 1
        } catch {
            failures.append((error.stage, error.message))
            report.ticksFailed += 1
        }
        report.at = now
        report.failures = failures
        board.report(report)
        return report
    }

    /// Makes room for gateways that have joined since the last publication, without waiting for the next tick.
    package func admitGateways(at now: Timestamp) async {
        do {
            let rules = try await rules.current()
            try await publisher.admitGateways(under: rules.policy.loop, at: now)
        } catch {
            report.failures.append((.publish, String(describing: error)))
            board.report(report)
        }
    }

    /// Counts a turn that was skipped because the one before it overran its period.
    package func noteSkippedTick() {
        report.ticksSkipped += 1
    }

    package func noteDuration(seconds: Double) {
        report.lastTickSeconds = seconds
    }

    /// Gives back the generations that were reserved and not used.
    package func stop() async throws {
        try await publisher.stop()
    }

    /// Once, before the first decision: what the term before published last stays in force while the loop learns.
    private func beginTerm(under policy: LoopPolicy, at now: Timestamp) async throws {
        guard let last = try await publisher.begin(at: now) else { return }
        await engine.hold(last.pools, until: now.adding(seconds: policy.learningSeconds))
    }

    /// Folds all rows behind the cursor into both actors. Returns true when more wait.
    private func readTelemetry(under rules: Rules, at now: Timestamp) async throws -> Bool {
        await observer.follow(rules.policy, at: now)
        await classifier.follow(rules, at: now)
        // A start rebuilds the windows from the rows that they would hold.
        var next: TelemetryCursor
        if let cursor {
            next = cursor
        } else {
            next = try await telemetry.cursor(at: now.adding(seconds: -2 * rules.policy.demand.windowSeconds))
        }
        for _ in 0..<ControlLoop.maxPages {
            let page = try await telemetry.page(after: next, limit: ControlLoop.pageSize)
            let oldest = now.adding(seconds: -rules.policy.telemetry.lateSeconds)
            let live = page.records.filter { $0.at >= oldest }
            await observer.fold(live, at: now)
            await classifier.fold(live)
            next = page.next
            cursor = next
            if page.isLast { return false }
        }
        return true
    }

    private func stage<Value: Sendable>(
        _ stage: LoopReport.Stage, _ work: () async throws -> Value
    ) async throws(StageError) -> Value {
        do {
            return try await work()
        } catch {
            throw StageError(stage: stage, message: String(describing: error))
        }
    }
}

/// Which step of a tick failed, and why.
struct StageError: Error {
    var stage: LoopReport.Stage
    var message: String
}
