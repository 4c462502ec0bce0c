import HeadroomDecision
import HeadroomEnforcement
import HeadroomModel

/// The dampened feedback loop: observe what the upstream delivers, classify what each tenant needs, decide who gets
/// what, publish it; and keep what must outlive the process.
///
/// Start reading here. ``tick(at:)`` is those steps over the telemetry that is new since the last tick, and
/// nothing else; the daemon, the tests and the simulator all call it. Each step is an actor that owns state and calls
/// pure functions of the three decision targets. A step that fails leaves the last decision in force, is counted, and is
/// shown in the report; the next tick tries again.
package actor ControlLoop {
    /// Rows are read in pages, and at most this many pages a tick: a flood delays telemetry, never the loop.
    private static let pageSize = 20_000
    private static let maxPages = 25

    private let telemetry: any TelemetrySource
    private let rules: any RuleSource
    private let board: any SnapshotPublishing
    private let records: any DecisionRecords
    private let observer = UpstreamCapacityObserver()
    private let classifier = TenantConsumptionClassifier()
    private let engine = PriorityPolicyEngine()
    private let publisher: AllocationPublisher

    private let checkpoints: any CheckpointStore
    private var cursor: TelemetryCursor?
    private var checkpointedAt: Timestamp
    /// The last erasure that the actors know of, and the last that the stored checkpoint knows of.
    private var erasedThrough: (known: Int64, stored: Int64) = (0, 0)
    /// Of tenants whose use is priced; `nil` before it was read.
    private var spend: SpendBook?
    private var report: LoopReport

    package init(
        telemetry: any TelemetrySource, rules: any RuleSource, ledger: any SnapshotLedger,
        board: any SnapshotPublishing, records: any DecisionRecords, checkpoints: any CheckpointStore, at now: Timestamp
    ) {
        self.telemetry = telemetry
        self.checkpoints = checkpoints
        checkpointedAt = now
        self.rules = rules
        self.board = board
        self.records = records
        publisher = AllocationPublisher(ledger: ledger, board: board)
        report = LoopReport(at: now)
    }

    /// One turn of the loop. Returns what it saw and did; never throws, since the loop goes on.
    @discardableResult
    package func tick(at now: Timestamp) async -> LoopReport {
        var failures: [(stage: LoopReport.Stage, message: String)] = []
        do {
            var rules = try await stage(.read) { try await self.rules.current() }.holding(at: now)
            rules.allowances = try await stage(.read) { try await self.allowances(under: rules, at: now) }
            report.rulesRefusal = rules.refusal
            report.periodSeconds = rules.policy.loop.periodSeconds
            report.hasBacklog = try await stage(.read) { try await self.readTelemetry(under: rules, at: now) }

            await forgetErased(&failures, at: now)
            let capacities = await observer.estimate(at: now)
            let classified = await classifier.estimate(capacities: capacities, at: now)

            try await stage(.publish) { try await self.beginTerm(under: rules.policy.loop, at: now) }
            let decision = await engine.decide(
                capacities: capacities, classified: classified, under: rules, at: now)
            report.decidedAt = now
            await classifier.note(decision)

            let published = try await stage(.publish) {
                try await self.publisher.publish(decision, classified: classified, under: rules.policy, at: now)
            }
            report.describe(capacities, classified, decision, published, rules.steering)
            await record(decision.outcome(publishedAs: published.newVersion, at: now), &failures, at: now)
            await saveCheckpointIfDue(under: rules, &failures, at: now)
            report.ticksSucceeded += 1
        } catch {
            failures.append((error.stage, error.message))
            report.ticksFailed += 1
            if error.stage == .read { failures += await divideAnew(at: now) }
        }
        report.at = now
        report.failures = failures
        board.report(report)
        return report
    }

    /// Makes room for gateways that have joined since the last publication, without waiting for the next tick.
    package func admitGateways(at now: Timestamp) async {
        let failures = await divideAnew(at: now)
        guard !failures.isEmpty else { return }
        report.failures += failures
        board.report(report)
    }

    /// What was decided last stays. Each gateway's part of it goes on following which gateways live, what they have
    /// acknowledged and which went over to a fallback, also while nothing can be decided anew. Returns what failed.
    private func divideAnew(at now: Timestamp) async -> [(stage: LoopReport.Stage, message: String)] {
        do {
            try await publisher.divideAnew(at: now)
            return []
        } catch {
            return [(.publish, String(describing: error))]
        }
    }

    /// A gateway's draw from the float, answered from memory on the caller's thread, whatever the loop is at.
    package nonisolated func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        try publisher.draw(request, at: now)
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
        guard let last = try await publisher.begin(under: policy, at: now) else { return }
        await engine.hold(last.pools, until: now.adding(seconds: policy.learningSeconds))
    }

    /// What a decision leaves behind never holds up what it decided: a failure is counted, and the loop goes on.
    private func record(
        _ outcome: DecisionOutcome, _ failures: inout [(stage: LoopReport.Stage, message: String)], at now: Timestamp
    ) async {
        do {
            if await !engine.knowsCredits { await engine.restore(try await records.credits(), at: now) }
            if !outcome.isEmpty { try await records.record(outcome, at: now) }
        } catch {
            failures.append((.record, String(describing: error)))
        }
    }

    /// Folds all rows behind the cursor into both actors. Returns true when more wait.
    private func readTelemetry(under rules: Rules, at now: Timestamp) async throws -> Bool {
        var next: TelemetryCursor
        if let cursor { next = cursor } else { next = try await restore(under: rules.policy, at: now) }
        cursor = next
        await observer.follow(rules, at: now)
        await classifier.follow(rules, at: now)
        let oldest = now.adding(seconds: -rules.policy.telemetry.lateSeconds)
        for _ in 0..<ControlLoop.maxPages {
            let page = try await telemetry.page(after: next, limit: ControlLoop.pageSize)
            await observer.fold(page.records.living(since: oldest), at: now)
            // The roll-ups take the late ones as well.
            await classifier.fold(page.records, at: now)
            next = page.next
            cursor = next
            if page.isLast { return false }
        }
        return true
    }

    /// What tenants whose use is priced may still spend, by what was saved.
    private func allowances(under rules: Rules, at now: Timestamp) async throws -> [TenantID: CostAllowance] {
        if spend == nil {
            let first = CostTerms.Period.month.days(around: now).lowerBound
            let uses = try await checkpoints.uses(since: first)
            if spend == nil { spend = SpendBook(uses) }
        }
        return spend?.allowances(under: rules.contracts, at: now) ?? [:]
    }

    /// Once, before the first row is read: the state of the last checkpoint. Returns where the rows since begin.
    private func restore(under policy: Policy, at now: Timestamp) async throws -> TelemetryCursor {
        guard let checkpoint = try await checkpoints.latest() else {
            // Without one, the windows are built from the rows that they would hold. A process that ended before its first
            // checkpoint left rows that are as old as that would be.
            let seconds = 2 * max(policy.demand.windowSeconds, policy.telemetry.checkpointSeconds)
            return try await telemetry.cursor(at: now.adding(seconds: -seconds))
        }
        await observer.restore(checkpoint.observer)
        await classifier.restore(checkpoint.classifier, at: checkpoint.at)
        return checkpoint.cursor
    }

    /// Tenants that were erased since the last turn, or before a start: neither the decision nor the next checkpoint knows
    /// them any more. Behind the rows of the turn, among which may be some of theirs.
    private func forgetErased(_ failures: inout [(stage: LoopReport.Stage, message: String)], at now: Timestamp) async {
        do {
            let erased = try await checkpoints.erasures(after: erasedThrough.known)
            guard let last = erased.last else { return }
            await classifier.erase(Set(erased.map(\.fingerprint)), at: now)
            spend?.forget(Set(erased.map(\.fingerprint)))
            erasedThrough.known = max(erasedThrough.known, last.id)
        } catch {
            failures.append((.read, String(describing: error)))
        }
    }

    /// Stores what both actors know, how far they have read, and what is new in the roll-ups, in one transaction: however
    /// the process ends, each row counts once. What cannot be stored now is stored with the next checkpoint. One that still
    /// knows an erased tenant is replaced at once.
    private func saveCheckpointIfDue(
        under rules: Rules, _ failures: inout [(stage: LoopReport.Stage, message: String)],
        at now: Timestamp
    ) async {
        let erased = erasedThrough.known
        let isDue =
            now.seconds(since: checkpointedAt) >= rules.policy.telemetry.checkpointSeconds
            || erased > erasedThrough.stored
        guard let cursor, isDue else { return }
        do {
            let checkpoint = Checkpoint(
                at: now, cursor: cursor, observer: await observer.checkpoint(),
                classifier: await classifier.checkpoint())
            let rollups = await classifier.unstoredRollups()
            let priced = Set(rules.contracts.values.lazy.filter { $0.cost != nil }.map(\.tenant))
            try await checkpoints.save(checkpoint, rollups: rollups, priced: priced, erasedThrough: erased)
            spend?.add(rollups.filter { priced.contains($0.tenant) }.map(TenantUse.init))
            await classifier.forgetRollups()
            erasedThrough.stored = erased
            checkpointedAt = now
        } catch {
            failures.append((.record, String(describing: error)))
        }
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

extension [TelemetryRecord] {
    /// Nearly always all of them. A record is a large value: looked at where it stands.
    fileprivate func living(since oldest: Timestamp) -> [TelemetryRecord] {
        let records = span
        for index in records.indices where records[index].at < oldest { return filter { $0.at >= oldest } }
        return self
    }
}
