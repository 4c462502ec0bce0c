import HeadroomControl
import HeadroomEnforcement
import HeadroomModel

/// Turns a decision into generations: numbered, written to the ledger before anyone can see them, divided over the
/// gateways that live, and handed to the board that they poll.
package actor AllocationPublisher {
    /// What is published when the step ends.
    package struct State: Sendable {
        package var version: SnapshotVersion?
        package var publishedAt: Timestamp?
        package var isLedgerWritable: Bool
    }

    /// Published from memory while the ledger cannot be written; the oldest go first when there are more.
    private static let maxUnwritten = 64

    private let ledger: any SnapshotLedger
    private let board: any SnapshotPublishing
    private var epoch: Int64?
    private var published: Publication?
    private var publishedAt: Timestamp?
    private var unwritten: [Publication] = []
    private var isLedgerWritable = true
    /// Where work arrives, by pool, as of the last decision.
    private var traffic: [PoolID: [GatewayShare]] = [:]

    package init(ledger: any SnapshotLedger, board: any SnapshotPublishing) {
        self.ledger = ledger
        self.board = board
    }

    /// Begins the control plane's term, once: nothing is published before its epoch is stored. Returns the last
    /// snapshot of the term before.
    package func begin(at now: Timestamp) async throws -> Snapshot? {
        guard epoch == nil else { return nil }
        let start = try await ledger.begin(at: now, rememberingSeconds: 0)
        epoch = start.epoch
        return start.last
    }

    /// Publishes the decision as a new generation if a number that gateways enforce has changed.
    package func publish(
        _ decision: PriorityPolicyEngine.Decision, classified: [TenantConsumptionClassifier.Classified],
        under policy: Policy, at now: Timestamp
    ) async throws -> State {
        for pool in classified { traffic[pool.demand.pool] = Self.shares(of: pool.demand) }
        let whole = Snapshot(
            version: SnapshotVersion(epoch: 0, generation: 0), issuedAt: now, leaseSeconds: policy.loop.leaseSeconds,
            policy: "\(policy.name)@\(policy.digest)", pools: decision.pools)
        try await publish(whole, under: policy.loop, at: now)
        board.update(
            serviceClocks: Dictionary(uniqueKeysWithValues: classified.map { ($0.demand.pool, $0.serviceClocks) }))
        return state
    }

    /// Divides the same numbers anew when other gateways live than when they were published.
    package func admitGateways(under policy: LoopPolicy, at now: Timestamp) async throws {
        guard var whole = published?.whole else { return }
        whole.issuedAt = now
        try await publish(whole, under: policy, at: now)
    }

    package func stop() async throws {
        try await ledger.end()
    }

    private var state: State {
        State(version: published?.whole.version, publishedAt: publishedAt, isLedgerWritable: isLedgerWritable)
    }

    // MARK: One generation

    private func publish(_ candidate: Snapshot, under policy: LoopPolicy, at now: Timestamp) async throws {
        guard let epoch else { return }
        await writeBacklog()
        var next = publication(of: candidate, under: policy, at: now)
        if let published, next.enforcesSame(as: published) {
            // What is in force is wanted, and the ledger has it.
            if unwritten.isEmpty { isLedgerWritable = true }
            return
        }

        let version = SnapshotVersion(epoch: epoch, generation: try await ledger.reserveGeneration())
        next.number(version)
        do {
            try await ledger.append(next)
            isLedgerWritable = true
        } catch {
            isLedgerWritable = false
            // Nobody may be given more than the ledger shows; less can be published and written later.
            guard let published else { throw error }
            next = publication(of: candidate.lowered(to: published.whole), under: policy, at: now)
            if next.enforcesSame(as: published) { return }
            next.number(version)
            unwritten = (unwritten + [next]).suffix(Self.maxUnwritten)
        }
        published = next
        publishedAt = now
        board.publish(next)
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

    /// The whole, and each living gateway's part of it.
    private func publication(of whole: Snapshot, under policy: LoopPolicy, at now: Timestamp) -> Publication {
        let living = board.gateways(since: now.adding(seconds: -policy.leaseSeconds - policy.graceSeconds))
            .map(\.gateway)
        var parts = living.map { gateway in
            (
                gateway: gateway,
                snapshot: Snapshot(
                    version: whole.version, issuedAt: whole.issuedAt, leaseSeconds: whole.leaseSeconds,
                    policy: whole.policy, pools: [])
            )
        }
        guard !parts.isEmpty else { return Publication(whole: whole, parts: []) }
        let division = Parts(maxParts: policy.maxParts)
        for pool in whole.pools {
            let shares = Self.shares(traffic[pool.pool] ?? [], of: living)
            for (index, part) in division.divide(pool, over: shares).enumerated() {
                parts[index].snapshot.pools.append(part.allocation)
            }
        }
        return Publication(whole: whole, parts: parts)
    }

    // MARK: Where work arrives

    private static func shares(of demand: PoolDemand) -> [GatewayShare] {
        var shares: [GatewayID: GatewayShare] = [:]
        for gateway in demand.gateways {
            shares[gateway.gateway] = GatewayShare(gateway: gateway.gateway, budgetWeight: gateway.weight)
        }
        for tenant in demand.tenants {
            for gateway in tenant.gateways {
                shares[gateway.gateway, default: GatewayShare(gateway: gateway.gateway, budgetWeight: 0)]
                    .demand[tenant.tenant] = gateway.weight
            }
        }
        return shares.keys.sorted().map { shares[$0]! }
    }

    /// One share for each living gateway, in their order; a newcomer has no traffic yet.
    private static func shares(_ known: [GatewayShare], of living: [GatewayID]) -> [GatewayShare] {
        let byGateway = Dictionary(uniqueKeysWithValues: known.map { ($0.gateway, $0) })
        return living.map { byGateway[$0] ?? GatewayShare(gateway: $0, budgetWeight: 0) }
    }
}

extension Publication {
    fileprivate mutating func number(_ version: SnapshotVersion) {
        whole.version = version
        for index in parts.indices { parts[index].snapshot.version = version }
    }

    /// True when no gateway would enforce anything else: level, capacity and service clocks ride along.
    fileprivate func enforcesSame(as other: Publication) -> Bool {
        whole.enforced == other.whole.enforced && parts.map(\.gateway) == other.parts.map(\.gateway)
            && zip(parts, other.parts).allSatisfy { $0.snapshot.enforced == $1.snapshot.enforced }
    }
}

extension Snapshot {
    /// Only what gateways enforce, for comparison.
    fileprivate var enforced: Snapshot {
        var copy = self
        copy.version = SnapshotVersion(epoch: 0, generation: 0)
        copy.issuedAt = Timestamp(milliseconds: 0)
        for pool in copy.pools.indices {
            copy.pools[pool].level = 0
            copy.pools[pool].capacity = .none
            for tenant in copy.pools[pool].tenants.indices { copy.pools[pool].tenants[tenant].serviceClock = 0 }
        }
        return copy
    }

    /// No budget and no rate above `other`'s; a pool or tenant that is not in it is left out.
    fileprivate func lowered(to other: Snapshot) -> Snapshot {
        var lowered = self
        let known = Dictionary(uniqueKeysWithValues: other.pools.map { ($0.pool, $0) })
        lowered.pools = pools.compactMap { pool in known[pool.pool].map { pool.lowered(to: $0) } }
        return lowered
    }
}

extension PoolAllocation {
    fileprivate func lowered(to other: PoolAllocation) -> PoolAllocation {
        var lowered = self
        lowered.budget = Rates.least(budget, other.budget)
        lowered.fallback = Rates.least(fallback, other.fallback)
        lowered.unlisted = Rates.least(unlisted, other.unlisted)
        let known = Dictionary(uniqueKeysWithValues: other.tenants.map { ($0.tenant, $0) })
        lowered.tenants = tenants.compactMap { tenant in known[tenant.tenant].map { tenant.lowered(to: $0) } }
        return lowered
    }
}

extension TenantAllocation {
    fileprivate func lowered(to other: TenantAllocation) -> TenantAllocation {
        var lowered = self
        lowered.assured = Rates.least(assured, other.assured)
        lowered.plain = Rates.least(plain, other.plain)
        lowered.safe = Rates.least(safe, other.safe)
        lowered.ceiling = Rates.least(ceiling, other.ceiling)
        lowered.criticality = lowered.assured == assured ? criticality : other.criticality
        if lowered.assured != assured, lowered.assured != other.assured {
            // Between the two: an order of service that sums to the rate, all of it first.
            lowered.criticality = PerCriticality(repeating: assured.map { _, _ in 0 })
            lowered.criticality.interactive = lowered.assured
        }
        return lowered
    }
}
