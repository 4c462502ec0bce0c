import HeadroomHTTP
import HeadroomModel
import Synchronization

/// The ports behind people's calls, in memory: it behaves as the stores do, and fails when told to.
final class MemoryDesk: SteeringDesk, ContractDesk, RecordReading, RuleSource {
    struct State {
        var policy = Policy(pools: [
            PoolPolicy(pool: "openai:gpt-4o", nominal: Rates(rpm: 10000, tpm: 2_000_000)),
            PoolPolicy(pool: "azure:gpt-4o", nominal: Rates(rpm: 1000)),
        ])
        var steering = Steering()
        var contracts: [Contract] = []
        var audit: [AuditEntry] = []
        var explanations: [Explanation] = []
        var rollups: [Rollup] = []
        var lastID: Int64 = 0
        /// What every call throws.
        var failure: SteeringError?

        mutating func newID() -> Int64 {
            lastID += 1
            return lastID
        }

        mutating func note(_ action: String, by author: String, at now: Timestamp) {
            let sequence = Int64(audit.count + 1)
            audit.append(
                AuditEntry(
                    sequence: sequence, at: now, author: author, action: action, detail: "{\"n\":\(sequence)}",
                    hash: "\(sequence)"))
        }
    }

    private let state = Mutex(State())

    var ports: PeoplePorts { PeoplePorts(steering: self, contracts: self, records: self, rules: self) }

    var now: State { state.withLock { $0 } }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    private func work<Value: Sendable>(
        _ body: (inout State) throws(SteeringError) -> Value
    ) throws(SteeringError) -> Value {
        let result: Result<Value, SteeringError> = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            do throws(SteeringError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    // MARK: Steering

    func steering() async throws(SteeringError) -> Steering { try work { $0.steering } }

    func set(_ override: Override, askingUntil deadline: Timestamp?) async throws(SteeringError) -> OverrideOutcome {
        try work { state in
            var override = override
            override.id = state.newID()
            guard let deadline else {
                state.steering.overrides.append(override)
                state.note("override.set", by: override.authorship.author, at: override.authorship.at)
                return .set(override)
            }
            var proposal = Proposal(
                id: override.id, kind: .override, tenant: override.tenant, pool: override.pool, override: override,
                authorship: override.authorship)
            proposal.authorship.until = deadline
            state.steering.proposals.append(proposal)
            return .awaitsApproval(proposal)
        }
    }

    func endOverride(
        _ id: Int64, by author: String, mayEndOthers: Bool, at now: Timestamp
    ) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard let index = state.steering.overrides.firstIndex(where: { $0.id == id }) else {
                throw SteeringError(.notFound, "no override \(id)")
            }
            guard mayEndOthers || state.steering.overrides[index].authorship.author == author else {
                throw SteeringError(.forbidden, "the override \(id) is not yours")
            }
            state.steering.overrides.remove(at: index)
            state.note("override.end", by: author, at: now)
        }
    }

    func proposals(_ kinds: [Proposal.Kind], in wanted: Proposal.State?) async throws(SteeringError) -> [Proposal] {
        try work { state in
            state.steering.proposals.filter { kinds.contains($0.kind) && (wanted ?? $0.state) == $0.state }.reversed()
        }
    }

    func decide(
        _ id: Int64, _ decided: Proposal.State, as decision: Authorship
    ) async throws(SteeringError) -> Proposal {
        try work { (state) throws(SteeringError) in
            guard let index = state.steering.proposals.firstIndex(where: { $0.id == id }) else {
                throw SteeringError(.notFound, "no proposal \(id)")
            }
            var proposal = state.steering.proposals[index]
            guard proposal.state == .pending else { throw SteeringError(.conflict, "\(id) has been decided") }
            guard proposal.authorship.author != decision.author else {
                throw SteeringError(.forbidden, "nobody decides on their own")
            }
            proposal.state = decided
            proposal.decision = decision
            state.steering.proposals[index] = proposal
            if decided == .approved, let override = proposal.override { state.steering.overrides.append(override) }
            return proposal
        }
    }

    func pin(_ pin: CapacityPin) async throws(SteeringError) {
        try work { state in
            state.steering.pins.removeAll { $0.pool == pin.pool }
            state.steering.pins.append(pin)
        }
    }

    func unpin(_ pool: PoolID, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard state.steering.pins.contains(where: { $0.pool == pool }) else {
                throw SteeringError(.notFound, "the pool \(pool) is not pinned")
            }
            state.steering.pins.removeAll { $0.pool == pool }
        }
    }

    func freeze(_ freeze: Freeze) async throws(SteeringError) -> Freeze {
        try work { (state) throws(SteeringError) in
            if let generation = freeze.generation, generation > 100 {
                throw SteeringError(.notFound, "generation \(generation) is not in the ledger")
            }
            var freeze = freeze
            freeze.id = state.newID()
            state.steering.freezes.append(freeze)
            return freeze
        }
    }

    func endFreeze(_ id: Int64, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { state in state.steering.freezes.removeAll { $0.id == id } }
    }

    func audit(after sequence: Int64, limit: Int) async throws(SteeringError) -> [AuditEntry] {
        try work { state in Array(state.audit.filter { $0.sequence > sequence }.prefix(limit)) }
    }

    // MARK: Contracts

    func contracts() async throws(SteeringError) -> [Contract] { try work { $0.contracts } }

    func put<Fault: Sendable>(
        _ contract: Contract, by author: String, at now: Timestamp, checking check: @Sendable ([Contract]) -> [Fault]
    ) async throws(SteeringError) -> [Fault] {
        try work { state in
            let others = state.contracts.filter { $0.tenant != contract.tenant }
            let all = (others + [contract]).sorted { $0.tenant < $1.tenant }
            let faults = check(all)
            guard faults.isEmpty else { return faults }
            state.contracts = all
            state.note("contract.put", by: author, at: now)
            return []
        }
    }

    func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp
    ) async throws(SteeringError) {
        try work { state in
            state.contracts = contracts
            state.note("contracts.import", by: author, at: now)
        }
    }

    func erase(_ tenant: TenantID, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard state.contracts.contains(where: { $0.tenant == tenant }) else {
                throw SteeringError(.notFound, "nothing is stored of \(tenant)")
            }
            state.contracts.removeAll { $0.tenant == tenant }
            state.note("tenant.erase", by: author, at: now)
        }
    }

    // MARK: Records and rules

    func explanation(of tenant: TenantID, in pool: PoolID, generation: Int64?) async throws -> Explanation? {
        try work { state in
            state.explanations.last {
                $0.tenant.tenant == tenant && $0.pool.pool == pool && $0.version.generation <= generation ?? .max
            }
        }
    }

    func rollups(
        pool: PoolID, tenant: TenantID?, from: Timestamp, to: Timestamp, limit: Int
    ) async throws -> [Rollup] {
        try work { state in
            Array(
                state.rollups.filter {
                    $0.pool == pool && (tenant ?? $0.tenant) == $0.tenant && from <= $0.start && $0.start < to
                }.prefix(limit))
        }
    }

    func current() async throws -> Rules {
        try work { state in
            Rules(
                policy: state.policy,
                contracts: Dictionary(state.contracts.map { ($0.tenant, $0) }, uniquingKeysWith: { $1 }),
                steering: state.steering)
        }
    }
}
