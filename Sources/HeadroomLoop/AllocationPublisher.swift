import HeadroomEnforcement
import HeadroomModel
import Synchronization

/// Turns a decision into generations: numbered, written to the ledger before anyone can see them, divided over the
/// gateways that live, and handed to the board that they poll.
///
/// Publications wait for each other (``PublicationQueue``): each reads what is published, waits for the ledger and
/// replaces it, and none begins in between.
package actor AllocationPublisher {
    /// The state to publish when the step ends.
    package struct State: Sendable {
        package var version: SnapshotVersion?
        package var publishedAt: Timestamp?
        /// The generation that this step published; `nil`: what was in force stays.
        package var newVersion: SnapshotVersion?
        package var isLedgerWritable: Bool
        /// By which budgets in effect exceeded capacity, by pool, since the start.
        package var overcommittedTokens: [PoolID: Double]
        /// Budgets that vanished gateways may still be using; ascending by pool, then gateway.
        package var withheld: [WithheldBudget]
        package var gateways: [PoolID: GatewayCounts]
        /// Ascending by pool, then gateway.
        package var grantUses: [GrantUse]
    }

    /// Published from memory while the ledger cannot be written; the oldest go first when there are more.
    private static let maxUnwritten = 64

    private let ledger: any SnapshotLedger
    private let board: any SnapshotPublishing
    private var queue = PublicationQueue()
    private var epoch: Int64?
    /// A number that was reserved and is not used yet.
    private var spareGeneration: Int64?
    private var published: Publication?
    private var publishedAt: Timestamp?
    private var unwritten: [Publication] = []
    private var isLedgerWritable = true
    private var division = GatewayDivision()
    /// Held for as long as it takes to follow a generation or to answer a draw.
    let floats = Mutex(PoolFloats())

    package init(ledger: any SnapshotLedger, board: any SnapshotPublishing) {
        self.ledger = ledger
        self.board = board
    }

    /// Begins the control plane's term, once: nothing is published before its epoch is stored. Returns the last
    /// snapshot of the term before.
    package func begin(under policy: LoopPolicy, at now: Timestamp) async throws(StorageError) -> Snapshot? {
        await enter()
        defer { queue.leave() }
        guard epoch == nil else { return nil }
        let start = try await ledger.begin(at: now, rememberingSeconds: policy.leaseSeconds + policy.graceSeconds)
        epoch = start.epoch
        division.remember(start, under: policy, at: now)
        return start.last
    }

    /// Publishes the decision as a new generation if a number that gateways enforce has changed.
    package func publish(
        _ decision: PriorityPolicyEngine.Decision, classified: [TenantConsumptionClassifier.Classified],
        under policy: Policy, at now: Timestamp
    ) async throws(StorageError) -> State {
        await enter()
        defer { queue.leave() }
        division.follow(classified.map(\.demand))
        let before = published?.whole.version
        let whole = Snapshot(
            version: SnapshotVersion(epoch: 0, generation: 0), issuedAt: now, leaseSeconds: policy.loop.leaseSeconds,
            policy: policy.label, pools: decision.pools)
        try await publish(whole, under: policy.loop, at: now)
        floats.withLock {
            $0.follow(classified, at: now)
            $0.follow(leastShares: decision.pools, at: now)
        }
        board.update(
            serviceClocks: Dictionary(uniqueKeysWithValues: classified.map { ($0.demand.pool, $0.serviceClocks) }))
        return state(since: before, at: now)
    }

    /// Divides the same numbers anew, over the gateways that live now and within the room that they leave now.
    package func divideAnew(at now: Timestamp) async throws(StorageError) -> State {
        await enter()
        defer { queue.leave() }
        let before = published?.whole.version
        if var whole = published?.whole {
            whole.issuedAt = now
            try await publish(whole, under: division.policy, at: now)
        }
        return state(since: before, at: now)
    }

    package func stop() async throws(StorageError) {
        await enter()
        defer { queue.leave() }
        try await ledger.end()
    }

    /// Waits until all calls before this one have left the queue. Each call that enters leaves it.
    private func enter() async {
        if queue.enter() { return }
        await withCheckedContinuation { queue.append($0) }
    }

    private func state(since before: SnapshotVersion?, at now: Timestamp) -> State {
        let version = published?.whole.version
        return State(
            version: version, publishedAt: publishedAt, newVersion: version == before ? nil : version,
            isLedgerWritable: isLedgerWritable, overcommittedTokens: division.overcommittedTokens,
            withheld: published.map { division.withheld(of: $0.whole) } ?? [], gateways: gatewayCounts(at: now),
            grantUses: floats.withLock { $0.grantUses(at: now) })
    }

    private func gatewayCounts(at now: Timestamp) -> [PoolID: GatewayCounts] {
        division.workingGateways.reduce(into: [:]) { counts, pool in
            let drawing = floats.withLock { $0.drawingGateways(of: pool.key, at: now) }
            counts[pool.key] = GatewayCounts(
                drawing: drawing.count, lending: pool.value.count { !drawing.contains($0) })
        }
    }

    // MARK: One generation

    private func publish(_ candidate: Snapshot, under policy: LoopPolicy, at now: Timestamp) async throws(StorageError)
    {
        guard let epoch else { return }
        await writeBacklog()
        let since = now.adding(seconds: -policy.forgottenSeconds)
        division.observe(board.gateways(since: since), under: policy, at: now)
        var next = division.publication(of: candidate)
        if let published, next.enforcesSame(as: published) {
            // The publication in force is the wanted one, and the ledger has it.
            if unwritten.isEmpty { isLedgerWritable = true }
            return
        }

        let generation = try await takeGeneration()
        let version = SnapshotVersion(epoch: epoch, generation: generation)
        next.number(version)
        do {
            try await write(next)
            isLedgerWritable = true
        } catch {
            isLedgerWritable = false
            // Nobody may be given more than the ledger shows; less can be published and written later.
            guard let published else { throw error }
            next = division.publication(of: candidate.lowered(to: published.whole), within: published)
            if next.enforcesSame(as: published) { return }
            next.number(version)
            unwritten = (unwritten + [next]).suffix(Self.maxUnwritten)
        }
        spareGeneration = nil
        published = next
        publishedAt = now
        division.publish(next, at: now)
        floats.withLock { $0.follow(next, at: now) }
        board.publish(next)
    }

    /// The same again until it has been used: a tick that publishes nothing uses up no number, and so a ledger that
    /// cannot be written has enough of them for as long as there is anything to lower.
    private func takeGeneration() async throws(StorageError) -> Int64 {
        if let spareGeneration { return spareGeneration }
        let generation = try await ledger.reserveGeneration()
        spareGeneration = generation
        return generation
    }

    /// Fails while an earlier publication is not written yet.
    private func write(_ publication: Publication) async throws(StorageError) {
        guard unwritten.isEmpty else {
            throw StorageError(
                code: .busy, message: "\(unwritten.count) generations published from memory are not in the ledger yet")
        }
        try await ledger.append(publication)
    }

    /// Writes what was published from memory, oldest first, as far as the ledger takes it.
    private func writeBacklog() async {
        while let oldest = unwritten.first {
            do {
                try await ledger.append(oldest)
                unwritten.removeAll { $0.whole.version == oldest.whole.version }
                isLedgerWritable = true
            } catch {
                return  // Still not writable; `State.isLedgerWritable` says so.
            }
        }
    }
}
