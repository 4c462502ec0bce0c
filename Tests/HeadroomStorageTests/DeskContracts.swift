import HeadroomMemoryStores
import HeadroomModel
import HeadroomStorage
import Testing

/// Where people steer, on SQLite and in memory: the tests of the HTTP edge rest on the latter.
@Suite struct SteeringDeskContract {
    private let time = SettableTime()

    private func desk(_ kind: StoreKind) throws -> any SteeringDesk {
        switch kind {
        case .memory: MemoryDesk(time: time.source)
        case .sqlite:
            SteeringStore(connection: try TemporaryDatabase().writer, coding: .unused, time: time.source)
        }
    }

    private func override(
        _ tenant: TenantID = "acme", by author: String = "ann", weight: Double = 2, seconds: Double = 600
    ) -> Override {
        Override(tenant: tenant, weight: weight, authorship: authorship(by: author, seconds: seconds))
    }

    private func code(_ work: () async throws -> Void) async -> SteeringError.Code? {
        await (#expect(throws: SteeringError.self) { try await work() })?.code
    }

    private func actions(_ desk: any SteeringDesk) async throws -> [String] {
        try await desk.audit(after: 0, limit: 100).map(\.action)
    }

    @Test(arguments: StoreKind.allCases)
    func `an override holds until it ends by itself or somebody who may ends it`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        #expect(try await desk.steering() == .none)
        guard case .set(let first) = try await desk.set(override(), askingUntil: nil),
            case .set(let second) = try await desk.set(override("beta", by: "bob", seconds: 60), askingUntil: nil)
        else {
            Issue.record("both are set at once")
            return
        }
        #expect(first.id != second.id)
        #expect(try await desk.steering().overrides == [first, second])
        time.set(start.adding(seconds: 60))
        #expect(try await desk.steering().overrides == [first])
        let now = start.adding(seconds: 60)
        #expect(
            await code { try await desk.endOverride(first.id, by: "bob", mayEndOthers: false, at: now) } == .forbidden)
        #expect(
            await code { try await desk.endOverride(second.id, by: "bob", mayEndOthers: true, at: now) } == .notFound)
        #expect(await code { try await desk.endOverride(77, by: "ann", mayEndOthers: true, at: now) } == .notFound)
        try await desk.endOverride(first.id, by: "bob", mayEndOthers: true, at: now)
        #expect(try await desk.steering().overrides == [])
        #expect(
            await code { try await desk.endOverride(first.id, by: "ann", mayEndOthers: true, at: now) } == .notFound)
        #expect(try await actions(desk) == ["override.set", "override.set", "override.end"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a lift of the cost breaker holds until it ends, and replaces the one before it`(kind: StoreKind) async throws
    {
        let desk = try desk(kind)
        func lift(_ subject: CostSubject, seconds: Double = 600) async throws -> CostLift {
            try await desk.lift(CostLift(subject: subject, authorship: authorship(by: "ann", seconds: seconds)))
        }
        _ = try await lift(.tenant("acme"))
        let research = try await lift(.taskKind("acme"), seconds: 60)
        let acme = try await lift(.tenant("acme"))
        #expect(try await desk.steering().costLifts.sorted { $0.id < $1.id } == [research, acme])
        let now = start.adding(seconds: 60)
        time.set(now)
        #expect(try await desk.steering().costLifts == [acme])
        #expect(await code { try await desk.endLift(research.id, by: "bob", at: now) } == .notFound)
        try await desk.endLift(acme.id, by: "bob", at: now)
        #expect(try await desk.steering().costLifts == [])
        #expect(await code { try await desk.endLift(acme.id, by: "bob", at: now) } == .notFound)
        #expect(try await actions(desk) == ["cost.lift", "cost.lift", "cost.lift", "cost.lift_end"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a person's word on a task holds until it ends, and replaces the one before it`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        func rule(_ task: String, _ verdict: TaskRuling.Verdict, seconds: Double = 600) async throws -> TaskRuling {
            try await desk.rule(
                TaskRuling(
                    name: TaskName(task, of: "acme"), verdict: verdict,
                    authorship: authorship(by: "ann", seconds: seconds)))
        }
        _ = try await rule("a/1 \u{3C0}", .stop)
        let other = try await rule("b", .stop, seconds: 60)
        let lift = try await rule("a/1 \u{3C0}", .lift)
        #expect(try await desk.steering().taskRulings.sorted { $0.id < $1.id } == [other, lift])
        time.set(start.adding(seconds: 60))
        #expect(try await desk.steering().taskRulings == [lift])
        #expect(try await actions(desk) == ["task.stop", "task.stop", "task.lift"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an override that needs a second person holds from the approval on, for as long as was asked for`(
        kind: StoreKind
    ) async throws {
        let desk = try desk(kind)
        let deadline = start.adding(seconds: 3_600)
        guard case .awaitsApproval(let question) = try await desk.set(override(), askingUntil: deadline) else {
            Issue.record("it must wait")
            return
        }
        #expect(question.state == .pending && question.authorship.until == deadline)
        #expect(try await desk.steering().overrides == [])
        #expect(try await desk.proposals([.override], in: .pending) == [question])
        #expect(try await desk.proposals([.guardrail], in: nil) == [])

        let now = start.adding(seconds: 1_000)
        time.set(now)
        let decision = authorship(by: "bob", reason: "fine", at: now)
        let own = authorship(at: now)
        #expect(await code { _ = try await desk.decide(question.id, .approved, for: nil, as: own) } == .forbidden)
        // An override is about one tenant: there is no part of it to decide on.
        #expect(
            await code { _ = try await desk.decide(question.id, .approved, for: ["acme"], as: decision) } == .invalid)
        #expect(try await desk.proposal(question.id) == question)
        #expect(try await desk.proposal(99) == nil)
        #expect(await code { _ = try await desk.decide(99, .approved, for: nil, as: decision) } == .notFound)
        let decided = try await desk.decide(question.id, .approved, for: nil, as: decision)
        #expect(decided.state == .approved && decided.decision?.author == "bob")
        let holding = try await desk.steering().overrides
        #expect(holding.count == 1 && holding == [decided.override].compactMap { $0 })
        #expect(holding.first?.authorship.at == now)
        #expect(holding.first?.authorship.until == now.adding(seconds: 600))
        #expect(decided.decision?.until == holding.first?.authorship.until)
        #expect(await code { _ = try await desk.decide(question.id, .denied, for: nil, as: decision) } == .conflict)
        #expect(try await actions(desk) == ["override.ask", "override.set", "approval.approve"])
        #expect(try await desk.proposals([.override], in: .approved).map(\.id) == [question.id])
        #expect(try await desk.proposals([.override], in: .pending) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a question that nobody decides expires, and is not decided after that`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        guard
            case .awaitsApproval(let first) = try await desk.set(
                override(), askingUntil: start.adding(seconds: 60)),
            case .awaitsApproval(let second) = try await desk.set(
                override("beta"), askingUntil: start.adding(seconds: 90))
        else {
            Issue.record("both must wait")
            return
        }
        #expect(try await desk.proposals([.override], in: nil).map(\.id) == [second.id, first.id])
        let now = start.adding(seconds: 60)
        time.set(now)
        #expect(try await desk.proposals([.override], in: .pending).map(\.id) == [second.id])
        #expect(try await desk.proposals([.override], in: .expired).map(\.id) == [first.id])
        #expect(try await desk.steering().proposals.map(\.id) == [second.id])
        let decision = authorship(by: "bob", at: now)
        #expect(await code { _ = try await desk.decide(first.id, .approved, for: nil, as: decision) } == .conflict)
        _ = try await desk.decide(second.id, .denied, for: nil, as: decision)
        #expect(try await desk.steering().overrides == [])
        #expect(try await actions(desk).last == "approval.deny")
    }

    @Test(arguments: StoreKind.allCases)
    func `a capacity is pinned once a pool, and a freeze holds until it is ended`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        func pin(_ pool: PoolID, _ rpm: Double, seconds: Double = 600) -> CapacityPin {
            CapacityPin(pool: pool, capacity: Rates(rpm: rpm), authorship: authorship(seconds: seconds))
        }
        for next in [pin("q", 1), pin("p", 2), pin("q", 3), pin("r", 4, seconds: 60)] { try await desk.pin(next) }
        #expect(try await desk.steering().pins == [pin("p", 2), pin("q", 3), pin("r", 4, seconds: 60)])
        let frozen = try await desk.freeze(Freeze(pool: "p", authorship: authorship(seconds: 600)))
        let all = try await desk.freeze(Freeze(authorship: authorship(seconds: 60)))
        #expect(try await desk.steering().freezes == [frozen, all])

        let now = start.adding(seconds: 60)
        time.set(now)
        #expect(try await desk.steering().pins.map(\.pool) == ["p", "q"])
        #expect(try await desk.steering().freezes == [frozen])
        try await desk.unpin("p", by: "bob", at: now)
        try await desk.endFreeze(frozen.id, by: "bob", at: now)
        for pool in ["p", "r", "none"] as [PoolID] {
            #expect(await code { try await desk.unpin(pool, by: "bob", at: now) } == .notFound)
        }
        for id in [frozen.id, all.id, 99] {
            #expect(await code { try await desk.endFreeze(id, by: "bob", at: now) } == .notFound)
        }
        #expect(
            try await actions(desk) == [
                "capacity.pin", "capacity.pin", "capacity.pin", "capacity.pin", "freeze.set", "freeze.set",
                "capacity.unpin", "freeze.end",
            ])
        #expect(try await desk.audit(after: 6, limit: 1).map(\.action) == ["capacity.unpin"])
    }
}

@Suite struct ImportLimitContract {
    private struct Desks {
        let contracts: any ContractDesk
        let steering: any SteeringDesk

        init(_ kind: StoreKind) throws {
            switch kind {
            case .memory:
                let desk = MemoryDesk(time: TimeSource { start })
                (contracts, steering) = (desk, desk)
            case .sqlite:
                let writer = try TemporaryDatabase().writer
                contracts = ContractStore(connection: writer)
                steering = SteeringStore(connection: writer, coding: .unused, time: TimeSource { start })
            }
        }

        func replace(_ contracts: [Contract], seconds: Double = 0) async throws -> ContractOutcome {
            try await self.contracts.replaceAll(
                with: contracts, by: "sync", at: start.adding(seconds: seconds),
                within: ContractLimit(share: 0.5, pendingSeconds: 100))
        }
    }

    private static let old = ["a", "b", "c", "d"].map { Contract(tenant: TenantID(unchecked: $0)) }
    private static let new = [Contract(tenant: "a")]

    private func proposal(_ outcome: ContractOutcome) -> Proposal? {
        if case .awaitsApproval(let proposal) = outcome { return proposal }
        return nil
    }

    @Test(arguments: StoreKind.allCases)
    func `an import beyond the limit is taken once somebody else has approved it, and once only`(kind: StoreKind)
        async throws
    {
        let desks = try Desks(kind)
        #expect(try proposal(await desks.replace(Self.old)) == nil)
        // Half of them may change.
        #expect(try proposal(await desks.replace(Array(Self.old.dropLast(2)))) == nil)
        #expect(try proposal(await desks.replace(Self.old)) == nil)
        let question = try #require(try proposal(await desks.replace(Self.new)))
        #expect(question.kind == .contracts && question.tenant == Proposal.allTenants)
        #expect(question.authorship.until == start.adding(seconds: 100))
        #expect(try await desks.contracts.contracts() == Self.old)
        #expect(try proposal(await desks.replace(Self.new, seconds: 50))?.id == question.id)
        let own = await #expect(throws: SteeringError.self) {
            try await desks.steering.decide(
                question.id, .approved, for: nil,
                as: Authorship(author: "sync", reason: "r", at: start, until: start.adding(seconds: 60)))
        }
        #expect(own?.code == .forbidden)
        // Other contracts are another question, and the first one cannot be approved unseen.
        let other = try #require(try proposal(await desks.replace([Contract(tenant: "b")])))
        #expect(other.id != question.id)
        let late = await #expect(throws: SteeringError.self) {
            try await desks.steering.decide(
                question.id, .approved, for: nil,
                as: Authorship(author: "ann", reason: "r", at: start, until: start.adding(seconds: 60)))
        }
        #expect(late?.code == .conflict)
        _ = try await desks.steering.decide(
            other.id, .approved, for: nil,
            as: Authorship(author: "ann", reason: "r", at: start, until: start.adding(seconds: 60)))
        #expect(try proposal(await desks.replace([Contract(tenant: "b")], seconds: 1)) == nil)
        #expect(try await desks.contracts.contracts() == [Contract(tenant: "b")])
        _ = try await desks.contracts.replaceAll(with: Self.old, by: "ann", at: start.adding(seconds: 2))
        #expect(try proposal(await desks.replace([Contract(tenant: "b")], seconds: 3)) != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `an import that was denied is refused for as long as that holds`(kind: StoreKind) async throws {
        let desks = try Desks(kind)
        _ = try await desks.replace(Self.old)
        let question = try #require(try proposal(await desks.replace(Self.new)))
        _ = try await desks.steering.decide(
            question.id, .denied, for: nil,
            as: Authorship(author: "ann", reason: "half is missing", at: start, until: start.adding(seconds: 60)))
        let refused = await #expect(throws: SteeringError.self) { try await desks.replace(Self.new, seconds: 1) }
        #expect(refused?.code == .conflict)
        #expect(try proposal(await desks.replace(Self.new, seconds: 61)) != nil)
        #expect(try await desks.contracts.contracts() == Self.old)
    }
}

@Suite struct ContractDeskContract {
    private func desk(_ kind: StoreKind) throws -> any ContractDesk {
        switch kind {
        case .memory: MemoryDesk(time: TimeSource { start })
        case .sqlite: ContractStore(connection: try TemporaryDatabase().writer)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `contracts are put one by one or replaced as a whole, and a fault changes nothing`(kind: StoreKind)
        async throws
    {
        let desk = try desk(kind)
        func put(_ contract: Contract, faults: [String] = []) async throws -> [String] {
            try await desk.put(contract, by: "ann", at: start) { _ in faults }
        }
        let terms = Contract.Terms(pool: "p", floor: Rates(rpm: 5, tpm: 500), ceiling: Rates(rpm: 50))
        let cost = CostTerms(
            currency: "EUR", period: .month, most: 9_000_000, prices: [CostTerms.Price(perMillionInputTokens: 7)])
        let acme = Contract(tenant: "acme", tier: "gold", isStrategic: true, terms: [terms], cost: cost)
        #expect(try await put(Contract(tenant: "beta")) == [])
        #expect(try await put(acme) == [])
        #expect(try await desk.contracts() == [acme, Contract(tenant: "beta")])
        #expect(try await put(Contract(tenant: "acme"), faults: ["no"]) == ["no"])
        #expect(try await desk.contracts() == [acme, Contract(tenant: "beta")])
        #expect(try await put(Contract(tenant: "acme", tier: "free")) == [])
        #expect(try await desk.contracts() == [Contract(tenant: "acme", tier: "free"), Contract(tenant: "beta")])
        try await desk.replaceAll(with: [acme, Contract(tenant: "zeta")], by: "ann", at: start)
        #expect(try await desk.contracts() == [acme, Contract(tenant: "zeta")])
    }

    @Test(arguments: StoreKind.allCases)
    func `what the check sees is what would be stored, ascending by tenant`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        try await desk.replaceAll(
            with: [Contract(tenant: "acme"), Contract(tenant: "beta")], by: "ann", at: start)
        let seen = try await desk.put(Contract(tenant: "b", tier: "gold"), by: "ann", at: start) { all in
            all.map { "\($0.tenant) \($0.tier ?? "-")" }
        }
        #expect(seen == ["acme -", "b gold", "beta -"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an erased tenant has no contract, and one that is not known is not found`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        try await desk.replaceAll(with: [Contract(tenant: "acme"), Contract(tenant: "beta")], by: "ann", at: start)
        try await desk.erase("acme", by: "ann", at: start)
        #expect(try await desk.contracts() == [Contract(tenant: "beta")])
        let again = await #expect(throws: SteeringError.self) {
            try await desk.erase("acme", by: "ann", at: start)
        }
        #expect(again?.code == .notFound)
    }
}
