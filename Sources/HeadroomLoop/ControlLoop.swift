import HeadroomEnforcement
import HeadroomModel

/// The dampened feedback loop: observe what the upstream delivers, classify what each tenant needs, decide who gets
/// what, publish it.
///
/// Start reading here. ``tick(at:)`` is those steps over the telemetry that is new since the last tick, and
/// nothing else; the service, the tests and the simulator all call it. Each step is an actor that owns state and calls
/// pure functions of `HeadroomCapacity`, `HeadroomDemand`, `HeadroomDecision` and `HeadroomEnforcement`; what must
/// outlive the process is kept by ``LoopMemory``. A step that
/// fails leaves the last decision in force, is counted, and is shown in the report; the next tick tries again.
package actor ControlLoop {
    private let rules: any RuleSource
    private let board: any SnapshotPublishing
    private let records: any DecisionRecords
    private let memory: LoopMemory
    private let observer = UpstreamCapacityObserver()
    private let classifier = TenantConsumptionClassifier()
    private let engine = PriorityPolicyEngine()
    private let publisher: AllocationPublisher
    private var events = EventWatch()
    private var report: LoopReport

    package init(
        telemetry: any TelemetrySource, rules: any RuleSource, ledger: any SnapshotLedger,
        board: any SnapshotPublishing, records: any DecisionRecords, checkpoints: any CheckpointStore, at now: Timestamp
    ) {
        self.rules = rules
        self.board = board
        self.records = records
        publisher = AllocationPublisher(ledger: ledger, board: board)
        memory = LoopMemory(
            telemetry: telemetry, checkpoints: checkpoints, observer: observer, classifier: classifier,
            publisher: publisher, at: now)
        report = LoopReport(at: now)
    }

    /// One round of the loop. Returns what it saw and did; never throws, since the loop goes on.
    @discardableResult
    package func tick(at now: Timestamp) async -> LoopReport {
        var failures: [StageError] = []
        do throws(StageError) {
            var rules = try await stage(.read) { try await self.readRules(at: now) }
            try await stage(.read) { try await self.memory.restore(under: rules.policy, at: now) }
            await follow(rules, at: now)
            report.hasBacklog = try await stage(.read) { [rules] in
                try await self.memory.read(under: rules, at: now)
            }
            if !report.hasBacklog { report.caughtUpAt = now }
            failures += await failing(.read) { try await self.memory.forgetErased(at: now) }
            report.costBreaks = await memory.costBreaks(under: rules, at: now)
            rules.costBreaks = report.costBreaks.filter(\.state.isHeld)
            report.tasks = await memory.tasks(under: rules, at: now)
            rules.heldTasks = report.tasks.held

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
            if report.isLedgerWritable { report.confirmedAt = now }
            report.memory = [
                MemoryShare(owner: "demand", bytes: await classifier.memoryBytes),
                MemoryShare(owner: "floats", bytes: publisher.floatBytes),
            ]

            events.note(report, policy: rules.policy.label, at: now)
            await memory.note(report.pools, at: now)
            failures += await failing(.record) {
                try await self.record(decision.outcome(publishedAs: published.newVersion, at: now), at: now)
            }
            failures += await failing(.record) { try await self.memory.saveCheckpointIfDue(under: rules, at: now) }
            report.ticksSucceeded += 1
        } catch {
            failures.append(error)
            report.ticksFailed += 1
            if error.stage == .read { failures += await divideAnew(at: now) }
        }
        report.at = now
        report.failures = failures.map { ($0.stage, $0.message) }
        board.report(report)
        return report
    }

    /// Makes room for gateways that have joined since the last publication, and gives the others what one that has left
    /// had, without waiting for the next tick.
    package func admitGateways(at now: Timestamp) async {
        report.failures += await divideAnew(at: now).map { ($0.stage, $0.message) }
        board.report(report)
    }

    /// A gateway's draw from the float, answered from memory on the caller's thread, whatever the loop is at.
    package nonisolated func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        try publisher.draw(request, at: now)
    }

    /// Counts a tick that was skipped because the one before it overran its period.
    package func noteSkippedTick() {
        report.ticksSkipped += 1
    }

    package func noteDuration(seconds: Double) {
        report.lastTickSeconds = seconds
    }

    /// Stores what the next start goes on from, and gives back the generations that were reserved and not used.
    package func stop(at now: Timestamp) async throws(StorageError) {
        // They are given back whatever becomes of the checkpoint.
        var failure: StorageError?
        do throws(StorageError) {
            try await memory.saveCheckpoint(under: rules.current().holding(at: now), at: now)
        } catch {
            failure = error
        }
        try await publisher.stop()
        if let failure { throw failure }
    }

    // MARK: Steps of a tick

    /// Those that hold at `now`, with what tenants whose use is priced may still spend.
    private func readRules(at now: Timestamp) async throws(StorageError) -> Rules {
        var rules = try await rules.current().holding(at: now)
        rules.allowances = try await memory.allowances(under: rules, at: now)
        report.rulesRefusal = rules.refusal
        report.allowances = rules.allowances
        report.periodSeconds = rules.policy.loop.periodSeconds
        return rules
    }

    /// Both actors watch the pools of the policy, under its terms, from this tick on.
    private func follow(_ rules: Rules, at now: Timestamp) async {
        await observer.follow(rules, at: now)
        await classifier.follow(rules, at: now)
    }

    /// Once, before the first decision: what the term before published last stays in force while the loop learns.
    private func beginTerm(under policy: LoopPolicy, at now: Timestamp) async throws(StorageError) {
        guard let last = try await publisher.begin(under: policy, at: now) else { return }
        await engine.learn(from: last.pools, until: now.adding(seconds: policy.learningSeconds))
    }

    /// Stores what a decision leaves behind. A failure never holds up what was decided.
    private func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws(StorageError) {
        if await !engine.knowsCredits { await engine.restore(try await records.credits(), at: now) }
        var outcome = outcome
        outcome.events = events.unstored
        guard !outcome.isEmpty else { return }
        try await records.record(outcome, at: now)
        events.removeAll()
    }

    /// The last decision stays. Each gateway's part of it goes on following which gateways live, what they have
    /// acknowledged and which went over to a fallback, also while nothing can be decided anew. Returns what failed.
    private func divideAnew(at now: Timestamp) async -> [StageError] {
        await failing(.publish) { self.report.note(try await self.publisher.divideAnew(at: now)) }
    }

    // MARK: Failures

    /// Work without which the tick ends.
    private func stage<Value: Sendable>(
        _ stage: LoopReport.Stage, _ work: () async throws -> Value
    ) async throws(StageError) -> Value {
        do {
            return try await work()
        } catch {
            throw StageError(stage: stage, message: String(describing: error))
        }
    }

    /// Work without which the tick goes on. Returns what failed.
    private func failing(_ stage: LoopReport.Stage, _ work: () async throws -> Void) async -> [StageError] {
        do {
            try await work()
            return []
        } catch {
            return [StageError(stage: stage, message: String(describing: error))]
        }
    }
}

/// Which step of a tick failed, and why.
struct StageError: Error {
    var stage: LoopReport.Stage
    var message: String
}
