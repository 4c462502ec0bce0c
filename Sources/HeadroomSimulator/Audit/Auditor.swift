import HeadroomEnforcement
import HeadroomModel

/// Checks everything that is published, every step from one generation to the next, and what gateways and the loop make
/// of it, against ``AuditRule``.
///
/// It is written from the design and shares no code with what it audits: nothing here divides, decides or holds a lease
/// but to compare. It gets each event, in the order in which they happen, and throws at the first rule broken.
package struct Auditor: Sendable {
    /// Those of the last tick: what is published between two ticks was decided by them.
    private(set) var rules: Rules
    private(set) var now: Timestamp
    private(set) var tick = 0
    package private(set) var report = AuditReport()

    /// The newest of this term, and the one before it.
    private(set) var published: Publication?
    private(set) var before: Publication?
    /// As published last, for all gateways, living or not.
    private var inForce: [PoolAllocation] = []
    private var newest: SnapshotVersion?
    private var maxGeneration = Int64.min
    private var lastWritten: Snapshot?
    /// Seen before the ledger could take them, oldest first.
    private var unwritten: [SnapshotVersion] = []
    /// The last snapshot of the term before, and until when it may stay in force.
    private var inherited: (snapshot: Snapshot, until: Timestamp)?

    private var gateways: [GatewayID: SpendingAudit] = [:]
    private var reading = ReadingAudit()
    private(set) var room = RoomAudit()
    /// Of this term.
    private var floats: [PoolID: FloatAudit] = [:]

    /// How many publications the loop keeps in memory while the ledger takes none.
    private static let maxUnwritten = 64

    package init(rules: Rules, at now: Timestamp) {
        self.rules = rules
        self.now = now
    }

    package mutating func advance(to now: Timestamp) { self.now = now }

    // MARK: The loop

    /// A tick begins, under these rules.
    package mutating func beginTick(under rules: Rules) {
        tick += 1
        if rules.policy.pools != self.rules.policy.pools || rules.policy.capacity != self.rules.policy.capacity {
            reading.changeRules()
        }
        self.rules = rules
    }

    /// A new term has stored its epoch.
    package mutating func beginTerm() {
        published = nil
        before = nil
        floats = [:]
        room.beginTerm(at: now)
        if !unwritten.isEmpty, let lastWritten { room.resume(from: lastWritten, at: now) }
        unwritten = []
        inherited = lastWritten.map { ($0, now.adding(seconds: rules.policy.loop.learningSeconds)) }
    }

    /// The process of the loop was killed.
    package mutating func endTerm() {
        published = nil
        floats = [:]
        reading.endTerm()
    }

    /// The ledger has it.
    package mutating func write(_ snapshot: Snapshot) throws(AuditViolation) {
        if let oldest = unwritten.first {
            if snapshot.version == oldest {
                unwritten.removeFirst()
            } else if snapshot.version > oldest {
                throw broken(.ledger, "\(snapshot.version) was written and \(oldest), seen before it, was not")
            }
        }
        lastWritten = snapshot
    }

    /// Anyone can see it from now on.
    package mutating func publish(_ publication: Publication) throws(AuditViolation) {
        report.publications += 1
        before = published
        published = publication
        inForce = publication.whole.pools
        let version = publication.whole.version
        if let newest, version <= newest || version.epoch < newest.epoch || version.generation <= maxGeneration {
            throw broken(.version, "\(version) after \(newest)")
        }
        newest = version
        maxGeneration = max(maxGeneration, version.generation)

        let isWritten = lastWritten?.version == version
        try check(publication.whole, of: .whole)
        try checkParts(of: publication, isLowered: !isWritten)
        room.publish(
            publication, isRecorded: isWritten && unwritten.isEmpty, under: rules.policy.loop, at: now)
        for pool in publication.whole.pools {
            floats[pool.pool, default: FloatAudit(epoch: version.epoch, at: now)].follow(pool, at: now)
        }
        if let before, publication.enforcesNothingElse(than: before) {
            throw broken(.change, "\(version) is \(before.whole.version) again")
        }
        if isWritten {
            if lastWritten != publication.whole { throw broken(.ledger, "the ledger has other numbers for \(version)") }
        } else {
            try checkNothingRises(publication.whole)
            unwritten = (unwritten + [version]).suffix(Auditor.maxUnwritten)
        }
        for pool in publication.whole.pools where isNew(pool) {
            try checkPromises(pool, isLowered: !isWritten)
        }
    }

    /// A tick has ended.
    package mutating func endTick(_ outcome: LoopReport) throws(AuditViolation) {
        let failsToRead = outcome.failures.contains { $0.stage == .read }
        if !failsToRead, !outcome.hasBacklog, let missed = reading.unread {
            throw broken(.telemetry, "\(missed) records that were answered have not been read")
        }
        guard outcome.failures.isEmpty else { return }
        for pool in outcome.pools {
            if rules.policy.pools.count == 1, let fault = reading.miscounted(in: pool.calls) {
                throw broken(.telemetry, fault)
            }
            guard let allocation = published?.whole.pools.first(where: { $0.pool == pool.pool }) else { continue }
            for resource in Resource.allCases {
                guard let budget = allocation.budget[resource], let most = pool.estimated[resource] else { continue }
                if budget + (allocation.float[resource] ?? 0) > most {
                    throw broken(.decrease, "\(pool.pool) \(resource.name): budget \(budget), capacity now \(most)")
                }
            }
        }
    }

    // MARK: Telemetry

    /// The loop has stored its knowledge.
    package mutating func checkpoint() { reading.checkpoint() }

    /// A gateway got the answer that so many records are stored.
    package mutating func answer(records: Int) { reading.answer(records, at: now) }

    /// The loop was given these records, the first of which is the `first`-th of all that were ever stored.
    package mutating func read(_ records: [TelemetryRecord], from first: Int) throws(AuditViolation) {
        let oldest = now.adding(seconds: -rules.policy.telemetry.lateSeconds)
        // A start reads again what the windows of demand would hold.
        let window = now.adding(seconds: -rules.policy.demand.windowSeconds)
        if let fault = reading.read(records, from: first, liveSince: oldest, windowSince: window) {
            throw broken(.telemetry, fault)
        }
    }

    // MARK: Gateways

    /// A gateway has this in force, or its lease was renewed by it.
    package mutating func apply(
        _ part: Snapshot, at gateway: GatewayID, leaseUntil: Timestamp
    ) throws(AuditViolation) {
        if let applied = gateways[gateway]?.applied, part.version < applied {
            throw broken(.application, "\(gateway) has \(applied) and applies \(part.version)")
        }
        guard published?.parts.first(where: { $0.gateway == gateway })?.snapshot == part else {
            throw broken(.application, "\(gateway) applies a \(part.version) that was not published for it")
        }
        let most = now.adding(seconds: part.leaseSeconds)
        if leaseUntil > most { throw broken(.lease, "\(gateway) until \(leaseUntil), at most \(most)") }
        gateways[gateway, default: SpendingAudit()].apply(part, leaseUntil: leaseUntil, at: now)
        room.apply(part, at: gateway, leaseUntil: leaseUntil, now: now)
        try checkRoom()
    }

    /// Its process ended; the next one knows nothing.
    package mutating func stop(_ gateway: GatewayID) {
        gateways[gateway] = nil
        room.stop(gateway)
    }

    /// It said goodbye: its process has ended, and its name has nothing any more.
    package mutating func leave(_ gateway: GatewayID) {
        gateways[gateway] = nil
        room.leave(gateway)
    }

    package mutating func enqueue(_ estimate: Work, at gateway: GatewayID) {
        let place = place(of: gateway)
        gateways.values[place].enqueue(estimate)
    }

    /// In ``gateways``, by which it is changed where it stands; a gateway not heard of before comes in.
    private mutating func place(of gateway: GatewayID) -> [GatewayID: SpendingAudit].Index {
        if let known = gateways.index(forKey: gateway) { return known }
        gateways[gateway] = SpendingAudit()
        return gateways.index(forKey: gateway)!
    }

    /// A gateway sends a call to the provider.
    package mutating func dispatch(
        _ call: Int, _ estimate: Work, isDrawn: Bool = false, at gateway: GatewayID
    ) throws(AuditViolation) {
        report.dispatches += 1
        let place = place(of: gateway)
        let fault =
            isDrawn
            ? gateways.values[place].draw(call, estimate)
            : gateways.values[place].dispatch(call, estimate, at: now)
        if let fault {
            throw broken(.spending, "\(gateway), call \(call): \(fault)")
        }
    }

    /// A gateway sends a draw: what it returns is gone, and what was granted before is closed.
    package mutating func draw(_ request: DrawRequest) throws(AuditViolation) {
        let place = place(of: request.gateway)
        if let fault = gateways.values[place].note(request, at: now) {
            throw broken(.spending, "\(request.gateway), draw \(request.sequence): \(fault)")
        }
    }

    /// The control plane answers a draw: what it grants may be spent.
    package mutating func grant(_ answer: DrawAnswer, to request: DrawRequest) {
        guard let place = gateways.index(forKey: request.gateway) else { return }
        gateways.values[place].grant(answer, to: request)
    }

    // MARK: The float

    package mutating func answer(_ answer: DrawAnswer, to request: DrawRequest) throws(AuditViolation) {
        guard let index = floats.index(forKey: request.pool) else {
            throw broken(.float, "\(request.pool) is not published")
        }
        if let fault = floats.values[index].answer(answer, to: request, at: now) {
            throw broken(.float, "\(request.pool), \(request.gateway), draw \(request.sequence): \(fault)")
        }
    }

    package func refuse(_ refusal: DrawRefusal, of request: DrawRequest) throws(AuditViolation) {
        let fault = floats[request.pool].map { $0.refuse(refusal, of: request) }
        if let fault = fault ?? (refusal == .unknownPool ? nil : "no such pool is published") {
            throw broken(.float, "\(request.pool): \(fault)")
        }
    }

    /// The provider took the call, and this is what it cost. `nil`: it refused, and keeps what the attempt cost.
    package mutating func settle(_ call: Int, cost: Work?, at gateway: GatewayID) {
        guard let place = gateways.index(forKey: gateway) else { return }
        gateways.values[place].settle(call, cost: cost, at: now)
    }

    /// Once a second: what gateways may spend together just now, over what there is.
    package mutating func measure() throws(AuditViolation) {
        try checkRoom()
        for pool in inForce {
            for resource in Resource.allCases {
                guard let capacity = pool.capacity[resource], capacity > 0 else { continue }
                let inForce = gateways.values.reduce(0) { $0 + $1.inForce(resource, of: pool.pool, at: now) }
                report.maxCommitted = max(report.maxCommitted, inForce / capacity)
                if inForce > capacity {
                    report.overcommittedSeconds += 1
                    return
                }
            }
        }
    }

    private mutating func checkRoom() throws(AuditViolation) {
        if let fault = room.check(rules.policy.loop, at: now) { throw broken(.room, fault) }
    }

    // MARK: Parts of the checks

    func broken(_ rule: AuditRule, _ detail: String) -> AuditViolation {
        let state = [before, published].compactMap { $0?.auditText }.joined(separator: "\nthen ")
        return AuditViolation(rule: rule, at: now, tick: tick, detail: detail, state: state)
    }

    /// Less can be published from memory and written later; more cannot.
    private func checkNothingRises(_ whole: Snapshot) throws(AuditViolation) {
        guard let before = before?.whole else {
            throw broken(.ledger, "\(whole.version) was seen and is not in the ledger, and nothing was before it")
        }
        for pool in whole.pools {
            guard let old = before.pools.first(where: { $0.pool == pool.pool }) else {
                throw broken(.ledger, "\(whole.version) is not in the ledger and brings pool \(pool.pool)")
            }
            let risen = pool.rises(above: old)
            if let risen { throw broken(.ledger, "\(whole.version) is not in the ledger and raises \(risen)") }
        }
    }

    /// False for numbers that were judged when they were published first, maybe under other rules or from memory, and
    /// for those of the term before while the loop learns.
    private func isNew(_ pool: PoolAllocation) -> Bool {
        let old = before?.whole.pools.first { $0.pool == pool.pool }
        if let old, old.budget == pool.budget, old.tenants.isSame(as: pool.tenants) { return false }
        guard let inherited, now < inherited.until,
            let kept = inherited.snapshot.pools.first(where: { $0.pool == pool.pool })
        else { return true }
        return !kept.tenants.isSame(as: pool.tenants)
    }
}

extension [TenantAllocation] {
    /// Whatever their service clocks are.
    fileprivate func isSame(as other: [TenantAllocation]) -> Bool {
        guard count == other.count else { return false }
        let (rows, others) = (span, other.span)
        // The tenants that move most come first.
        for row in rows.indices where rows[row].assured != others[row].assured { return false }
        for row in rows.indices {
            var mine = rows[row]
            mine.serviceClock = others[row].serviceClock
            guard mine == others[row] else { return false }
        }
        return true
    }
}

extension Publication {
    /// Two of which this is true are one generation: only what rides along differs.
    fileprivate func enforcesNothingElse(than other: Publication) -> Bool {
        guard parts.count == other.parts.count, whole.enforcesNothingElse(than: other.whole) else { return false }
        return parts.indices.allSatisfy {
            parts[$0].gateway == other.parts[$0].gateway
                && parts[$0].snapshot.enforcesNothingElse(than: other.parts[$0].snapshot)
        }
    }
}

extension Snapshot {
    fileprivate func enforcesNothingElse(than other: Snapshot) -> Bool {
        pools.count == other.pools.count
            && pools.indices.allSatisfy { index in
                guard pools[index].budget == other.pools[index].budget,
                    pools[index].tenants.isSame(as: other.pools[index].tenants)
                else { return false }
                var mine = pools[index]
                mine.level = other.pools[index].level
                mine.capacity = other.pools[index].capacity
                mine.tenants = other.pools[index].tenants
                return mine == other.pools[index]
            }
    }
}
