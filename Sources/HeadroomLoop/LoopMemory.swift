import HeadroomDecision
import HeadroomModel

/// The loop's knowledge of telemetry, between ticks and across starts: how far it has read, the checkpoint from which a
/// start goes on, who was erased, what was spent, whom the cost breaker holds, and how agent tasks stand.
///
/// The observer and the classifier hold what they made of the rows; this feeds them, and stores and restores their state
/// together with the place up to which it counts.
actor LoopMemory {
    /// Rows are read in pages, and at most this many pages a tick: a flood delays telemetry, never the loop.
    private static let pageSize = 20_000
    private static let maxPages = 25

    private let telemetry: any TelemetrySource
    private let checkpoints: any CheckpointStore
    private let observer: UpstreamCapacityObserver
    private let classifier: TenantConsumptionClassifier
    private let publisher: AllocationPublisher

    /// In front of the first row that was not read; `nil` before the first checkpoint was looked for.
    private var cursor: TelemetryCursor?
    private var checkpointedAt: Timestamp
    /// The last erasure that the actors know of, and the last that the stored checkpoint knows of.
    private var erasedThrough: (known: Int64, stored: Int64) = (0, 0)
    /// Not stored yet.
    private var capacities = CapacityBook()
    /// Of tenants whose use is priced; `nil` before it was read.
    private var spend: SpendBook?
    private var breaker = CostBreaker()
    private var watch = TaskWatch()

    init(
        telemetry: any TelemetrySource, checkpoints: any CheckpointStore, observer: UpstreamCapacityObserver,
        classifier: TenantConsumptionClassifier, publisher: AllocationPublisher, at now: Timestamp
    ) {
        self.telemetry = telemetry
        self.checkpoints = checkpoints
        self.observer = observer
        self.classifier = classifier
        self.publisher = publisher
        checkpointedAt = now
    }

    /// The money that tenants whose use is priced may still spend, by what was saved.
    func allowances(under rules: Rules, at now: Timestamp) async throws(StorageError) -> [TenantID: CostAllowance] {
        if spend == nil {
            let first = CostTerms.Period.month.days(around: now).lowerBound
            let uses = try await checkpoints.uses(since: first)
            if spend == nil { spend = SpendBook(uses) }
        }
        return spend?.allowances(under: rules.contracts, at: now) ?? [:]
    }

    /// Once, before the actors follow any rules: gives them the state of the last checkpoint, and finds where the rows
    /// since begin.
    func restore(under policy: Policy, at now: Timestamp) async throws(StorageError) {
        guard cursor == nil else { return }
        guard let checkpoint = try await checkpoints.latest() else {
            // Without one, the windows are built from the rows that they would hold. A process that ended before its
            // first checkpoint left rows that are as old as that would be.
            let seconds = 2 * max(policy.demand.windowSeconds, policy.telemetry.checkpointSeconds)
            cursor = try await telemetry.cursor(at: now.adding(seconds: -seconds))
            return
        }
        await observer.restore(checkpoint.observer)
        await classifier.restore(checkpoint.classifier, at: checkpoint.at)
        publisher.restoreFloats(checkpoint.floats)
        breaker.restore(checkpoint.breaker)
        watch.restore(checkpoint.tasks)
        cursor = checkpoint.cursor
    }

    /// Gives both actors all rows after the cursor. Call it after ``restore(under:at:)``. Returns true when more rows
    /// wait.
    func read(under rules: Rules, at now: Timestamp) async throws(StorageError) -> Bool {
        let policy = rules.policy
        guard var next = cursor else { preconditionFailure("rows are read behind what was restored") }
        let oldest = now.adding(seconds: -policy.telemetry.lateSeconds)
        for _ in 0..<LoopMemory.maxPages {
            let page = try await telemetry.page(after: next, limit: LoopMemory.pageSize)
            let living = page.records.living(since: oldest)
            await observer.fold(living, at: now)
            if policy.costBreaker.isOn {
                for index in living.indices { breaker.fold(living[index], under: rules) }
            }
            for index in living.indices { watch.fold(living[index], under: rules) }
            // The roll-ups take the late ones as well.
            await classifier.fold(page.records, at: now)
            next = page.next
            cursor = next
            if page.isLast { return false }
        }
        return true
    }

    /// Whom the cost breaker holds, and who is near it, by the telemetry that was read.
    func costBreaks(under rules: Rules, at now: Timestamp) -> [CostBreak] { breaker.step(under: rules, at: now) }

    /// How agent tasks stand, by the telemetry that was read.
    func tasks(under rules: Rules, at now: Timestamp) -> TaskReports { watch.step(under: rules, at: now) }

    /// Tenants that were erased since the last tick, or before a start: neither the decision nor the next checkpoint knows
    /// them any more. Call it after the rows of the tick were read: some of them may be theirs.
    func forgetErased(at now: Timestamp) async throws(StorageError) {
        let erased = try await checkpoints.erasures(after: erasedThrough.known)
        guard let last = erased.last else { return }
        let fingerprints = Set(erased.map(\.fingerprint))
        await classifier.erase(fingerprints, at: now)
        spend?.forget(fingerprints)
        breaker.forget(fingerprints)
        watch.forget(fingerprints)
        erasedThrough.known = max(erasedThrough.known, last.id)
    }

    /// Takes in the pools as a tick saw them: stored with the next checkpoint.
    func note(_ pools: [PoolReport], at now: Timestamp) { capacities.note(pools, at: now) }

    /// Stores what both actors know, how far they have read, and what is new in the roll-ups, in one transaction: however
    /// the process ends, each row counts once. What cannot be stored now is stored with the next checkpoint. One that still
    /// knows an erased tenant is replaced at once.
    func saveCheckpointIfDue(under rules: Rules, at now: Timestamp) async throws(StorageError) {
        let isDue =
            now.seconds(since: checkpointedAt) >= rules.policy.telemetry.checkpointSeconds
            || erasedThrough.known > erasedThrough.stored
        if isDue { try await saveCheckpoint(under: rules, at: now) }
    }

    /// The same, due or not.
    func saveCheckpoint(under rules: Rules, at now: Timestamp) async throws(StorageError) {
        guard let cursor else { return }
        let erased = erasedThrough.known
        let checkpoint = Checkpoint(
            at: now, cursor: cursor, observer: await observer.checkpoint(), classifier: await classifier.checkpoint(),
            floats: publisher.checkpointFloats(), breaker: breaker.checkpoint(),
            tasks: watch.checkpoint())
        let rollups = await classifier.unstoredRollups()
        let priced = Set(rules.contracts.values.lazy.filter { $0.cost != nil }.map(\.tenant))
        try await checkpoints.save(
            checkpoint, rollups: rollups, capacities: capacities.rollups, uses: await classifier.unstoredUses(),
            taskTimes: watch.unstoredTimes,
            priced: priced, erasedThrough: erased)
        capacities.removeAll()
        watch.forgetUnstoredTimes()
        spend?.add(rollups.filter { priced.contains($0.tenant) }.map(TenantUse.init))
        await classifier.forgetRollups()
        erasedThrough.stored = erased
        checkpointedAt = now
    }
}

extension [TelemetryRecord] {
    /// Nearly always all of them. A record is a large value: looked at where it stands.
    fileprivate func living(since oldest: Timestamp) -> [TelemetryRecord] {
        let records = span
        for index in records.indices where records[index].at < oldest { return filter { $0.at >= oldest } }
        return self
    }
}
