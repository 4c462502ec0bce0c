import HeadroomModel
import Synchronization

/// The ports behind people's calls, in memory: it behaves as the stores do, and can be made to fail.
package final class MemoryDesk: SteeringDesk, ContractDesk, RecordReading, RuleSource, AlertDesk {
    package struct State: Sendable {
        package var policy = Policy(pools: [
            PoolPolicy(pool: "openai:gpt-4o", nominal: Rates(rpm: 10000, tpm: 2_000_000)),
            PoolPolicy(pool: "azure:gpt-4o", nominal: Rates(rpm: 1000)),
        ])
        package var steering = Steering()
        package var contracts: [Contract] = []
        /// Changes of contracts that nobody else approved.
        fileprivate var touched: [(author: String, tenant: TenantID, at: Timestamp)] = []
        package var audit: [AuditEntry] = []
        package var explanations: [Explanation] = []
        package var rollups: [Rollup] = []
        package var pools: [PoolRollup] = []
        package var levels = LevelRecords()
        package var uses: [ModelUse] = []
        package var taskTimes: [TaskTimeRollup] = []
        package var starved: [StarvedTenant] = []
        package var events: [PoolEvent] = []
        /// Ascending by id.
        package var alerts: [Alert] = []
        /// Ascending by generation.
        package var snapshots: [Snapshot] = []
        package var lastID: Int64 = 0
        /// The error that every call throws.
        package var failure: SteeringError?

        fileprivate mutating func newID() -> Int64 {
            lastID += 1
            return lastID
        }

        package mutating func note(_ action: String, by author: String, at now: Timestamp) {
            let sequence = Int64(audit.count + 1)
            audit.append(
                AuditEntry(
                    sequence: sequence, at: now, author: author, action: action, detail: "{\"n\":\(sequence)}",
                    hash: "\(sequence)"))
        }
    }

    private let state = Mutex(State())
    private let time: TimeSource

    /// - Parameter time: what has ended by it does not hold any more.
    package init(time: TimeSource) {
        self.time = time
    }

    package var now: State { state.withLock { $0 } }

    package func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    private func work<Value: Sendable>(
        _ body: (inout State) throws(SteeringError) -> Value
    ) throws(SteeringError) -> Value {
        let result: Result<Value, SteeringError> = state.withLock { state in
            if let failure = state.failure { return .failure(failure) }
            do throws(SteeringError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private func read<Value: Sendable>(_ body: (State) -> Value) throws(StorageError) -> Value {
        if let failure = state.withLock({ $0.failure }) {
            throw StorageError(code: .inputOutput, message: failure.message)
        }
        return state.withLock { body($0) }
    }

    // MARK: Steering

    package func steering() async throws(SteeringError) -> Steering {
        let now = time.now()
        return try work { $0.steering.holding(at: now) }
    }

    package func set(_ override: Override, askingUntil deadline: Timestamp?) async throws(SteeringError)
        -> OverrideOutcome
    {
        try work { state in
            guard let deadline else { return .set(state.enter(override)) }
            var question = Proposal(
                kind: .override, tenant: override.tenant, pool: override.pool, override: override,
                authorship: override.authorship)
            question.authorship.until = deadline
            question = state.ask(question, at: override.authorship.at)
            state.note("override.ask", by: override.authorship.author, at: override.authorship.at)
            return .awaitsApproval(question)
        }
    }

    package func endOverride(
        _ id: Int64, by author: String, mayEndOthers: Bool, at now: Timestamp
    ) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            let holding = state.steering.overrides.firstIndex { $0.id == id && $0.authorship.until > now }
            guard let index = holding else {
                throw SteeringError(.notFound, "no override \(id)")
            }
            guard mayEndOthers || state.steering.overrides[index].authorship.author == author else {
                throw SteeringError(.forbidden, "the override \(id) is not yours")
            }
            state.steering.overrides.remove(at: index)
            state.note("override.end", by: author, at: now)
        }
    }

    package func proposals(
        _ kinds: [Proposal.Kind], in wanted: Proposal.State?
    ) async throws(SteeringError) -> [Proposal] {
        let now = time.now()
        return try work { state in
            state.steering.proposals.map { $0.expiring(at: now) }
                .filter { kinds.contains($0.kind) && (wanted ?? $0.state) == $0.state }.reversed()
        }
    }

    package func proposal(_ id: Int64) async throws(SteeringError) -> Proposal? {
        let now = time.now()
        return try work { state in state.steering.proposals.first { $0.id == id }?.expiring(at: now) }
    }

    package func decide(
        _ id: Int64, _ decided: Proposal.State, for tenants: Set<TenantID>?, readAt revision: Int64?,
        as decision: Authorship
    ) async throws(SteeringError) -> Proposal {
        try work { (state) throws(SteeringError) in
            guard let index = state.steering.proposals.firstIndex(where: { $0.id == id }) else {
                throw SteeringError(.notFound, "no proposal \(id)")
            }
            var proposal = state.steering.proposals[index].expiring(at: decision.at)
            guard proposal.state == .pending else { throw SteeringError(.conflict, "\(id) has been decided") }
            guard proposal.authorship.author != decision.author else {
                throw SteeringError(.forbidden, "nobody decides on their own")
            }
            if let revision, let refusal = proposal.refusal(readAt: revision, for: tenants) { throw refusal }
            if let tenants {
                if let refusal = proposal.refusal(naming: tenants) { throw refusal }
                if let divided = proposal.divided(by: tenants) {
                    state.steering.proposals[index] = divided.rest.inPlace(of: proposal, at: decision.at)
                    var part = divided.part
                    (part.id, part.state, part.decision) = (state.newID(), decided, decision)
                    state.steering.proposals.append(part)
                    state.note(part, by: decision.author, at: decision.at)
                    return part
                }
            }
            proposal.state = decided
            proposal.decision = decision
            if decided == .approved, var override = proposal.override {
                // For as long as was asked for, from now on.
                let seconds = override.authorship.until.seconds(since: override.authorship.at)
                override.authorship.at = decision.at
                override.authorship.until = decision.at.adding(seconds: seconds)
                override = state.enter(override)
                proposal.override = override
                proposal.decision?.until = override.authorship.until
            }
            state.steering.proposals[index] = proposal
            state.note(proposal, by: decision.author, at: decision.at)
            return proposal
        }
    }

    package func pin(_ pin: CapacityPin) async throws(SteeringError) {
        try work { state in
            state.steering.pins.removeAll { $0.pool == pin.pool }
            state.steering.pins.append(pin)
            state.steering.pins.sort { $0.pool < $1.pool }
            state.note("capacity.pin", by: pin.authorship.author, at: pin.authorship.at)
        }
    }

    package func unpin(_ pool: PoolID, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard state.steering.pins.contains(where: { $0.pool == pool && $0.authorship.until > now }) else {
                throw SteeringError(.notFound, "the pool \(pool) is not pinned")
            }
            state.steering.pins.removeAll { $0.pool == pool }
            state.note("capacity.unpin", by: author, at: now)
        }
    }

    package func freeze(_ freeze: Freeze) async throws(SteeringError) -> Freeze {
        try work { (state) throws(SteeringError) in
            if let generation = freeze.generation, generation > 100 {
                throw SteeringError(.notFound, "generation \(generation) is not in the ledger")
            }
            var freeze = freeze
            freeze.id = state.newID()
            state.steering.freezes.append(freeze)
            state.note(
                freeze.generation == nil ? "freeze.set" : "rollback.set", by: freeze.authorship.author,
                at: freeze.authorship.at)
            return freeze
        }
    }

    package func lift(_ lift: CostLift) async throws(SteeringError) -> CostLift {
        try work { state in
            var lift = lift
            lift.id = state.newID()
            state.steering.costLifts.removeAll { $0.subject == lift.subject }
            state.steering.costLifts.append(lift)
            state.note("cost.lift", by: lift.authorship.author, at: lift.authorship.at)
            return lift
        }
    }

    package func rule(_ ruling: TaskRuling) async throws(SteeringError) -> TaskRuling {
        try work { state in
            var ruling = ruling
            ruling.id = state.newID()
            state.steering.taskRulings.removeAll { $0.name == ruling.name }
            state.steering.taskRulings.append(ruling)
            state.note("task.\(ruling.verdict.name)", by: ruling.authorship.author, at: ruling.authorship.at)
            return ruling
        }
    }

    package func endLift(_ id: Int64, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard state.steering.costLifts.contains(where: { $0.id == id && $0.authorship.until > now }) else {
                throw SteeringError(.notFound, "no lift \(id) of the cost breaker is in force")
            }
            state.steering.costLifts.removeAll { $0.id == id }
            state.note("cost.lift_end", by: author, at: now)
        }
    }

    package func endFreeze(_ id: Int64, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { (state) throws(SteeringError) in
            guard state.steering.freezes.contains(where: { $0.id == id && $0.authorship.until > now }) else {
                throw SteeringError(.notFound, "no freeze \(id) is in force")
            }
            state.steering.freezes.removeAll { $0.id == id }
            state.note("freeze.end", by: author, at: now)
        }
    }

    package func noteRelease(of gateway: GatewayID, by author: String, at now: Timestamp) async throws(SteeringError) {
        try work { $0.note("gateway.release", by: author, at: now) }
    }

    package func audit(after sequence: Int64, limit: Int) async throws(SteeringError) -> [AuditEntry] {
        try work { state in Array(state.audit.filter { $0.sequence > sequence }.prefix(limit)) }
    }

    // MARK: Contracts

    package func contracts() async throws(SteeringError) -> [Contract] { try work { $0.contracts } }

    package func put<Fault: Sendable>(
        _ contract: Contract, by author: String, at now: Timestamp, within limit: ContractLimit,
        checking check: @Sendable ([Contract]) -> [Fault]
    ) async throws(SteeringError) -> ContractPut<Fault> {
        try work { (state) throws(SteeringError) in
            let others = state.contracts.filter { $0.tenant != contract.tenant }
            let all = (others + [contract]).sorted { $0.tenant < $1.tenant }
            let faults = check(all)
            guard faults.isEmpty else { return .faulty(faults) }
            if let question = try state.permit(
                all, about: contract.tenant, "a contract", by: author, at: now, within: limit,
                fingerprint: "\(contract)")
            {
                return .awaitsApproval(question)
            }
            state.contracts = all
            state.note("contract.put", by: author, at: now)
            return .put
        }
    }

    package func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp
    ) async throws(SteeringError) {
        try work { state in
            state.contracts = contracts
            state.note("contracts.import", by: author, at: now)
        }
    }

    package func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp, within limit: ContractLimit
    ) async throws(SteeringError) -> ContractOutcome {
        try work { (state) throws(SteeringError) in
            let difference = ContractDifference(from: state.contracts, to: contracts)
            if let question = try state.permit(
                contracts, about: Proposal.allTenants, "an import of contracts", by: author, at: now, within: limit,
                fingerprint: "\(contracts)")
            {
                return .awaitsApproval(question)
            }
            state.contracts = contracts
            state.note("contracts.import", by: author, at: now)
            return .replaced(difference)
        }
    }

    package func erase(
        _ tenant: TenantID, by author: String, at now: Timestamp, within limit: ContractLimit
    ) async throws(SteeringError) -> Proposal? {
        try work { (state) throws(SteeringError) in
            guard state.contracts.contains(where: { $0.tenant == tenant }) else {
                throw SteeringError(.notFound, "nothing is stored of \(tenant)")
            }
            let left = state.contracts.filter { $0.tenant != tenant }
            if let question = try state.permit(
                left, about: tenant, "an erasure", by: author, at: now, within: limit, fingerprint: "erasure")
            {
                return question
            }
            state.contracts = left
            state.note("contract.removed", by: author, at: now)
            state.note("tenant.erase", by: author, at: now)
            return nil
        }
    }

    // MARK: Alerts

    package func alerts(in states: Set<AlertState>?, limit: Int) async throws(SteeringError) -> [Alert] {
        try work { state in
            Array(state.alerts.reversed().filter { states?.contains($0.state) ?? true }.prefix(limit))
        }
    }

    package func acknowledge(_ id: Int64, as authorship: Authorship) async throws(SteeringError) -> Alert {
        try act(on: id, "alert.acknowledge", authorship) { $0.acknowledgement = authorship }
    }

    package func mute(_ id: Int64, as authorship: Authorship) async throws(SteeringError) -> Alert {
        try act(on: id, "alert.mute", authorship) { $0.mute = authorship }
    }

    private func act(
        on id: Int64, _ action: String, _ authorship: Authorship, _ change: (inout Alert) -> Void
    ) throws(SteeringError) -> Alert {
        try work { (state) throws(SteeringError) in
            guard let place = state.alerts.firstIndex(where: { $0.id == id }) else {
                throw SteeringError(.notFound, "there is no alert \(id)")
            }
            guard state.alerts[place].closedAt == nil else {
                throw SteeringError(.conflict, "alert \(id) is closed: its cause is gone")
            }
            change(&state.alerts[place])
            state.note(action, by: authorship.author, at: authorship.at)
            return state.alerts[place]
        }
    }

    // MARK: Records and rules

    package func explanation(of tenant: TenantID, in pool: PoolID, generation: Int64?) async throws(StorageError)
        -> Explanation?
    {
        try read { state in
            state.explanations.last {
                $0.tenant.tenant == tenant && $0.pool.pool == pool && $0.version.generation <= generation ?? .max
            }
        }
    }

    package func rollups(
        pool: PoolID, tenant: TenantID?, from: Timestamp, to: Timestamp, limit: Int
    ) async throws(StorageError) -> [Rollup] {
        try read { state in
            Array(
                state.rollups.filter {
                    $0.pool == pool && (tenant ?? $0.tenant) == $0.tenant && from <= $0.start && $0.start < to
                }.prefix(limit))
        }
    }

    package func history(_ query: HistoryQuery) async throws(StorageError) -> HistoryRecords {
        let range = query.from..<query.to
        return try read { state in
            let rollups = state.rollups.filter { $0.pool == query.pool && range.contains($0.start) }
            var records = HistoryRecords(
                events: state.events.filter { range.contains($0.at) && ($0.pool ?? query.pool) == query.pool },
                acts: state.audit.filter { range.contains($0.at) })
            if let tenant = query.tenant {
                records.tenant = rollups.filter { $0.tenant == tenant }
                return records
            }
            let capacities = state.pools.filter { $0.pool == query.pool && range.contains($0.start) }
            let sums = rollups.map { PoolRollup(start: $0.start, pool: $0.pool, sums: $0.sums) }
            records.pools = (capacities + sums).sorted { $0.start < $1.start }
            guard query.leaders > 0 else { return records }
            let tenants = Dictionary(grouping: rollups, by: \.tenant)
            func served(_ tenant: TenantID) -> Int64 {
                tenants[tenant, default: []].reduce(0) { $0 + $1.countedTokens }
            }
            let order = tenants.keys.sorted { (served($1), $0) < (served($0), $1) }
            records.leaders = order.prefix(query.leaders).map { .init(tenant: $0, rollups: tenants[$0] ?? []) }
            records.tenantCount = order.count
            return records
        }
    }

    package func generations(
        from: Timestamp, to: Timestamp, limit: Int
    ) async throws(StorageError) -> [GenerationSummary] {
        try read { state in
            let found = state.snapshots.filter { from <= $0.issuedAt && $0.issuedAt < to }
            return found.reversed().prefix(limit).map { snapshot in
                let chains = state.explanations.filter { $0.version == snapshot.version }
                let changes = Dictionary(grouping: chains, by: \.pool.pool).map { pool, chains in
                    GenerationSummary.Change(pool: pool, tenants: chains.count)
                }
                return GenerationSummary(
                    version: snapshot.version, issuedAt: snapshot.issuedAt,
                    changes: changes.sorted { $0.pool < $1.pool })
            }
        }
    }

    package func usage(from: Timestamp, to: Timestamp) async throws(StorageError) -> [ModelUse] {
        try read { state in
            state.uses.filter { from <= $0.start && $0.start < to }.map { use in
                var use = use
                use.start = from
                return use
            }
        }
    }

    package func taskTimes(
        from: Timestamp, to: Timestamp, tenant: TenantID?
    ) async throws(StorageError) -> [TaskTimeRollup] {
        try read { state in
            var found: [TaskTimeRollup] = []
            for rollup in state.taskTimes where from <= rollup.start && rollup.start < to {
                guard tenant ?? rollup.tenant == rollup.tenant else { continue }
                if let place = found.firstIndex(where: { $0.tenant == rollup.tenant && $0.kind == rollup.kind }) {
                    found[place].times.add(rollup.times)
                } else {
                    found.append(
                        TaskTimeRollup(start: from, tenant: rollup.tenant, kind: rollup.kind, times: rollup.times))
                }
            }
            return found.sorted { ($0.tenant, $0.kind ?? "") < ($1.tenant, $1.kind ?? "") }
        }
    }

    package func starvation(
        from: Timestamp, to: Timestamp, ongoing: [OngoingStarvation]
    ) async throws(StorageError) -> [StarvedTenant] {
        try read { state in
            var starved = state.starved.filter { $0.first < to && from < $0.last }
            for spell in ongoing.compactMap({ $0.clipped(from: from, to: to) }) {
                let place = starved.firstIndex { $0.tenant == spell.tenant && $0.pool == spell.pool }
                var tenant =
                    place.map { starved.remove(at: $0) }
                    ?? StarvedTenant(tenant: spell.tenant, pool: spell.pool, spell: spell.spell(without: 0))
                if place != nil { tenant.add(spell.spell(without: 0)) }
                tenant.starvedSince = spell.since
                starved.append(tenant)
            }
            return starved.sorted(by: StarvedTenant.isLonger)
        }
    }

    package func levels(at now: Timestamp) async throws(StorageError) -> LevelRecords {
        try read { $0.levels }
    }

    package func snapshot(generation: Int64) async throws(StorageError) -> Snapshot? {
        try read { state in state.snapshots.last { $0.version.generation == generation } }
    }

    package func current() async throws(StorageError) -> Rules {
        try read { state in
            Rules(
                policy: state.policy,
                contracts: Dictionary(state.contracts.map { ($0.tenant, $0) }, uniquingKeysWith: { $1 }),
                steering: state.steering)
        }
    }

}

extension Proposal {
    /// A pending one whose time has passed counts as expired.
    fileprivate func expiring(at now: Timestamp) -> Proposal {
        guard state == .pending, authorship.until <= now else { return self }
        var expired = self
        expired.state = .expired
        return expired
    }
}

extension MemoryDesk.State {
    /// A decision, and each of its tenants where it has several.
    fileprivate mutating func note(_ proposal: Proposal, by author: String, at now: Timestamp) {
        note(proposal.decisionAction, by: author, at: now)
        guard proposal.changes.count > 1 else { return }
        for _ in proposal.changes { note(proposal.tenantAction, by: author, at: now) }
    }

    /// `nil` when `contracts` may be those from now on; else the question to a second person.
    fileprivate mutating func permit(
        _ new: [Contract], about tenant: TenantID, _ what: String, by author: String, at now: Timestamp,
        within limit: ContractLimit, fingerprint: String
    ) throws(SteeringError) -> Proposal? {
        let difference = ContractDifference(from: contracts, to: new)
        let own = Set(difference.changed + difference.removed)
        let start = now.adding(seconds: -limit.windowSeconds)
        let earlier = Set(touched.filter { $0.author == author && $0.at > start }.map(\.tenant)).subtracting(own)
        guard let reason = limit.reason(for: difference, of: contracts.count, earlier: earlier.count) else {
            touched += own.map { (author, $0, now) }
            return nil
        }
        let questions = steering.proposals.indices.filter { index in
            let question = steering.proposals[index]
            return question.kind == .contracts && question.tenant == tenant
                && (question.state == .pending ? question.authorship : question.decision)?.holds(at: now) ?? false
        }
        if let known = questions.last(where: { steering.proposals[$0].evidence.last == fingerprint }) {
            switch steering.proposals[known].state {
            case .pending: return steering.proposals[known]
            case .denied, .expired: throw SteeringError(.conflict, "this change was denied")
            case .approved:
                steering.proposals[known].decision?.until = now
                return nil
            }
        }
        for index in questions where steering.proposals[index].state == .pending {
            steering.proposals[index].state = .expired
        }
        let question = ask(
            Proposal(
                changing: difference, of: tenant, because: reason, fingerprint: fingerprint,
                authorship: Authorship(
                    author: author, reason: what, at: now, until: now.adding(seconds: limit.pendingSeconds))), at: now)
        note("contracts.ask", by: author, at: now)
        return question
    }

    /// In place of the pending one of its kind, tenant and pool, if there is one.
    fileprivate mutating func ask(_ question: Proposal, at now: Timestamp) -> Proposal {
        var question = question
        let pending = steering.proposals.firstIndex { old in
            old.expiring(at: now).state == .pending && old.kind == question.kind && old.tenant == question.tenant
                && old.pool == question.pool
        }
        if let pending {
            question = question.inPlace(of: steering.proposals[pending], at: now)
            question.id = steering.proposals[pending].id
            steering.proposals[pending] = question
        } else {
            question.id = newID()
            steering.proposals.append(question)
        }
        return question
    }

    fileprivate mutating func enter(_ override: Override) -> Override {
        var override = override
        override.id = newID()
        steering.overrides.append(override)
        note("override.set", by: override.authorship.author, at: override.authorship.at)
        return override
    }
}
