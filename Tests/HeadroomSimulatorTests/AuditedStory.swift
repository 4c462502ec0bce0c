import HeadroomEnforcement
import HeadroomModel
import HeadroomSimulator

/// Two gateways, three tenants, three generations two seconds apart, told to an auditor as a run would tell it.
struct AuditedStory {
    static let start = Timestamp(milliseconds: 1_800_000_000_000)
    static let gateways: [GatewayID] = ["g-1", "g-2"]

    var rules: Rules
    /// Until the third generation, where other rules come into force; `nil`: the same.
    var rulesAtFirst: Rules?
    var publications: [Publication]
    /// Generations that the ledger takes before they are seen, and those that it is given before the next one.
    var written: Set<Int64> = [1, 2, 3]
    var writtenLate: Set<Int64> = []
    var writesOthers = false
    /// The process is killed after the last publication, and begins again with its numbers.
    var startsAgainAfterSeconds: Double?
    /// What the loop takes capacity to be when the last tick ends.
    var estimated = Rates(rpm: 1000, tpm: 100_000)
    /// Tick, gateway and generation of the polls.
    var applied: [(tick: Int, gateway: Int, generation: Int)] = [(1, 0, 1), (1, 1, 1), (2, 0, 2), (3, 0, 3), (3, 1, 3)]
    /// A gateway takes the whole for its part.
    var appliesWhole = false
    var leaseSeconds = 15.0
    /// What the loop reads of ten records, by tick.
    var reads = [0..<5, 5..<10]
    var countedTwice = 0
    /// At the first gateway, for half a minute: calls a second, and how many at once at its beginning. Its budget is
    /// 500 a minute, five seconds of it at once.
    var requestsPerSecond = 8.0
    var burst = 40

    /// Draws of the first gateway: what it has returned by the second one, how many calls of tenant a wait then, what
    /// it is granted, and for whom; `nil` totals are what that sums to.
    var returned = Work(requests: 3, tokens: 300)
    var waiting = 3
    var granted = (tenant: TenantID("a"), calls: 2)
    var grantedTotal: Work?
    /// How the third draw is refused, and in which term it was made.
    var refusal: (DrawRefusal, epoch: Int64) = (.otherEpoch(5), 4)
    /// A gateway tells what it has used of what it drew.
    var tellsUsed = true
    /// What the gateway itself has returned by then, of what its bucket could not hold.
    var overflow = Work.zero

    init() {
        rules = Rules(
            policy: Policy(pools: [PoolPolicy(pool: "p", nominal: Rates(rpm: 1200, tpm: 120_000))]),
            contracts: [:])
        publications = (1...3).map(AuditedStory.publication)
        contract("a", tier: "critical")
        contract("b", tier: "standard", isStrategic: true)
    }

    /// The first rule broken; `nil` when all is well.
    var violation: AuditViolation? {
        do throws(AuditViolation) {
            try tell()
            return nil
        } catch {
            return error
        }
    }

    private func tell() throws(AuditViolation) {
        var auditor = Auditor(rules: rulesAtFirst ?? rules, at: Self.start)
        auditor.beginTerm()
        for (index, publication) in publications.enumerated() {
            let tick = index + 1
            let now = Self.start.adding(seconds: 2 * Double(index))
            auditor.advance(to: now)
            try readTelemetry(tick, &auditor, at: now)
            try write(publication, &auditor)
            try auditor.publish(publication)
            try auditor.endTick(report(isLast: tick == publications.count, tick))
            for poll in applied where poll.tick == tick {
                let publication = publications[min(poll.generation, publications.count) - 1]
                let part = appliesWhole ? publication.whole : publication.parts[poll.gateway].snapshot
                try auditor.apply(
                    part, at: Self.gateways[poll.gateway], leaseUntil: now.adding(seconds: leaseSeconds))
            }
        }
        if let seconds = startsAgainAfterSeconds { return try startAgain(afterSeconds: seconds, &auditor) }
        try spend(&auditor)
        try draw(&auditor)
    }

    private func readTelemetry(_ tick: Int, _ auditor: inout Auditor, at now: Timestamp) throws(AuditViolation) {
        auditor.beginTick(under: tick < 3 ? rulesAtFirst ?? rules : rules)
        guard tick <= reads.count else { return }
        auditor.answer(records: 5)
        let call = CallRecord(at: now, gateway: "g-1", tenant: "a", pool: "p", outcome: .ok)
        try auditor.read(reads[tick - 1].map { _ in .call(call) }, from: reads[tick - 1].lowerBound)
    }

    private func write(_ publication: Publication, _ auditor: inout Auditor) throws(AuditViolation) {
        for late in publications where writtenLate.contains(late.whole.version.generation) {
            if late.whole.version < publication.whole.version { try auditor.write(late.whole) }
        }
        guard written.contains(publication.whole.version.generation) else { return }
        var snapshot = publication.whole
        if writesOthers { snapshot.leaseSeconds += 1 }
        try auditor.write(snapshot)
    }

    private func report(isLast: Bool, _ tick: Int) -> LoopReport {
        let read = reads.prefix(tick).reduce(0) { $0 + $1.count }
        let capacity = isLast ? estimated : Rates(rpm: 1000, tpm: 100_000)
        return LoopReport(
            at: Self.start,
            pools: [
                PoolReport(
                    pool: "p", state: .healthy, nominal: Rates(rpm: 1200, tpm: 120_000), estimated: capacity,
                    capacityReason: .contract, confidence: 1, budget: capacity, assured: capacity, consumed: .none,
                    calls: [.ok: read + (tick == 2 ? countedTwice : 0)], tenants: [])
            ])
    }

    private func startAgain(afterSeconds seconds: Double, _ auditor: inout Auditor) throws(AuditViolation) {
        auditor.endTerm()
        auditor.beginTerm()
        auditor.advance(to: Self.start.adding(seconds: 2 + seconds))
        auditor.beginTick(under: rules)
        var again = publications[publications.count - 1]
        again.renumber(6, 100)
        try auditor.write(again.whole)
        try auditor.publish(again)
    }

    private func spend(_ auditor: inout Auditor) throws(AuditViolation) {
        let estimate = Work(requests: 1, tokens: 50)
        var calls = 0
        func send(_ auditor: inout Auditor) throws(AuditViolation) {
            calls += 1
            auditor.enqueue(estimate, at: "g-1")
            try auditor.dispatch(calls, estimate, at: "g-1")
            auditor.settle(calls, cost: estimate, at: "g-1")
        }
        for _ in 0..<burst { try send(&auditor) }
        for second in 5..<15 {
            auditor.advance(to: Self.start.adding(seconds: Double(second)))
            for _ in 0..<Int(requestsPerSecond) { try send(&auditor) }
        }
    }

    private func draw(_ auditor: inout Auditor) throws(AuditViolation) {
        let estimate = Work(requests: 1, tokens: 50)
        let first = request(1, epoch: 5, returned: .zero, used: .zero)
        try auditor.draw(first)
        try auditor.answer(DrawAnswer(sequence: 1, waitMilliseconds: 100), to: first)
        var second = request(2, epoch: 5, returned: returned, used: .zero)
        second.waiting = [
            DrawRequest.Queue(
                tenant: "a", heads: [DrawRequest.Head](repeating: .init(estimate: estimate), count: waiting))
        ]
        let answer = DrawAnswer(
            sequence: 2, granted: [DrawAnswer.Granted(tenant: granted.tenant, calls: granted.calls)],
            grantedTotal: grantedTotal ?? estimate * Double(granted.calls), waitMilliseconds: 100)
        try auditor.answer(answer, to: second)
        try auditor.refuse(refusal.0, of: request(3, epoch: refusal.epoch, returned: returned, used: .zero))
        // At the gateway itself.
        second.totals.returned = overflow
        try auditor.draw(second)
        auditor.grant(answer, to: second)
        try auditor.dispatch(10_000, estimate, isDrawn: true, at: "g-1")
        try auditor.draw(request(3, epoch: 5, returned: overflow, used: tellsUsed ? estimate : .zero))
    }

    private func request(_ sequence: Int64, epoch: Int64, returned: Work, used: Work) -> DrawRequest {
        DrawRequest(
            gateway: "g-1", boot: "1", sequence: sequence, pool: "p", epoch: epoch,
            totals: DrawRequest.Totals(returned: returned, grantedUsed: used))
    }

    // MARK: Changes

    mutating func contract(
        _ tenant: TenantID, tier: String? = nil, isStrategic: Bool? = nil, floor: Rates = .none,
        ceiling: Rates = .none
    ) {
        var contract = rules.contracts[tenant] ?? Contract(tenant: tenant)
        contract.tier = tier ?? contract.tier
        contract.isStrategic = isStrategic ?? contract.isStrategic
        contract.terms = [Contract.Terms(pool: "p", floor: floor, ceiling: ceiling)]
        rules.contracts[tenant] = contract
    }

    /// In the whole of the generation at `index` from 0.
    mutating func edit(_ index: Int, _ change: (inout PoolAllocation) -> Void) {
        change(&publications[index].whole.pools[0])
    }

    mutating func editPart(_ index: Int, _ part: Int, _ change: (inout PoolAllocation) -> Void) {
        change(&publications[index].parts[part].snapshot.pools[0])
    }

    /// In the whole and in every part.
    mutating func editAll(_ index: Int, _ change: (inout PoolAllocation) -> Void) {
        edit(index, change)
        for part in publications[index].parts.indices { editPart(index, part, change) }
    }

    /// An assured rate in all generations, half of it at each gateway; even numbers only.
    mutating func give(_ tenant: TenantID, _ rates: Rates) {
        for index in publications.indices {
            for (scale, part) in [(1.0, nil), (0.5, 0), (0.5, 1)] as [(Double, Int?)] {
                let change: (inout PoolAllocation) -> Void = { pool in
                    for entry in pool.tenants.indices where pool.tenants[entry].tenant == tenant {
                        pool.tenants[entry].assured = rates * scale
                        pool.tenants[entry].criticality = PerCriticality(
                            interactive: rates * scale, nearRealTime: rates * 0, batch: rates * 0)
                    }
                }
                if let part { editPart(index, part, change) } else { edit(index, change) }
            }
        }
    }

    /// Only the first gateway has come, and has so much of the budget, all of it assured as far as it goes.
    mutating func keepFirstGateway(budget: Double) {
        var part = publications[0].whole
        part.pools[0].budget = Rates(rpm: budget, tpm: budget * 100)
        part.pools[0].tenants = publications[0].parts[0].snapshot.pools[0].tenants
        let assured = part.pools[0].tenants.reduce(0) { $0 + ($1.assured[.requests] ?? 0) }
        part.pools[0].unlisted = Rates(rpm: budget - assured, tpm: (budget - assured) * 100)
        for index in part.pools[0].tenants.indices {
            let whole = publications[0].whole.pools[0].tenants[index]
            part.pools[0].tenants[index].ceiling = whole.ceiling
            part.pools[0].tenants[index].plain = whole.plain
            part.pools[0].tenants[index].safe = whole.safe
        }
        publications = [publications[0]]
        publications[0].parts = [(Self.gateways[0], part)]
        applied = []
        reads = [0..<5]
        burst = 0
        requestsPerSecond = 0
    }

    /// The second generation below the first.
    mutating func lower() {
        editAll(1) { pool in
            pool.unlisted = Rates(rpm: 0, tpm: 0)
        }
    }

    /// Σ assured 850 of 1000, and unlisted 100, 120 and 140 in the three generations.
    private static func publication(_ generation: Int) -> Publication {
        func snapshot(_ scale: Double) -> Snapshot {
            func rates(_ requests: Double) -> Rates { Rates(rpm: requests * scale, tpm: requests * 100 * scale) }
            func tenant(
                _ id: TenantID, _ tier: String, _ weight: Double, _ assured: Double, ceiling: Double?
            ) -> TenantAllocation {
                TenantAllocation(
                    tenant: id, assured: rates(assured), ceiling: ceiling.map(rates) ?? .none,
                    plain: rates(min(2 * assured, ceiling ?? .infinity)), safe: rates(assured * 0.8), weight: weight,
                    tier: tier,
                    criticality: PerCriticality(
                        interactive: rates(assured - 60), nearRealTime: rates(0), batch: rates(60)))
            }
            var pool = PoolAllocation(
                pool: "p", capacity: Rates(rpm: 1000, tpm: 100_000), nominal: Rates(rpm: 1200, tpm: 120_000),
                budget: rates(1000), float: rates(0), fallback: rates(950),
                unlisted: rates(80 + 20 * Double(generation)))
            pool.tenants = [
                tenant("a", "critical", 8, 400, ceiling: nil), tenant("b", "standard", 3, 300, ceiling: 600),
                tenant("c", "standard", 2, 150, ceiling: 600),
            ]
            return Snapshot(
                version: SnapshotVersion(epoch: 5, generation: Int64(generation)),
                issuedAt: start.adding(seconds: 2 * Double(generation - 1)), leaseSeconds: 15, policy: "default@",
                pools: [pool])
        }
        return Publication(whole: snapshot(1), parts: gateways.map { ($0, snapshot(0.5)) })
    }
}

extension Publication {
    mutating func renumber(_ epoch: Int64, _ generation: Int64) {
        whole.version = SnapshotVersion(epoch: epoch, generation: generation)
        for index in parts.indices { parts[index].snapshot.version = whole.version }
    }
}
