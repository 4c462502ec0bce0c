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
        #expect(
            await code { _ = try await desk.decide(question.id, .approved, for: nil, readAt: nil, as: own) }
                == .forbidden)
        // An override is about one tenant: there is no part of it to decide on.
        #expect(
            await code { _ = try await desk.decide(question.id, .approved, for: ["acme"], readAt: nil, as: decision) }
                == .invalid)
        #expect(try await desk.proposal(question.id) == question)
        #expect(try await desk.proposal(99) == nil)
        #expect(
            await code { _ = try await desk.decide(99, .approved, for: nil, readAt: nil, as: decision) } == .notFound)
        let decided = try await desk.decide(question.id, .approved, for: nil, readAt: nil, as: decision)
        #expect(decided.state == .approved && decided.decision?.author == "bob")
        let holding = try await desk.steering().overrides
        #expect(holding.count == 1 && holding == [decided.override].compactMap { $0 })
        #expect(holding.first?.authorship.at == now)
        #expect(holding.first?.authorship.until == now.adding(seconds: 600))
        #expect(decided.decision?.until == holding.first?.authorship.until)
        #expect(
            await code { _ = try await desk.decide(question.id, .denied, for: nil, readAt: nil, as: decision) }
                == .conflict)
        #expect(try await actions(desk) == ["override.ask", "override.set", "approval.approve"])
        #expect(try await desk.proposals([.override], in: .approved).map(\.id) == [question.id])
        #expect(try await desk.proposals([.override], in: .pending) == [])
    }

    @Test(arguments: StoreKind.allCases)
    func `a decision is on what was read: after a change it is refused, and says what changed`(kind: StoreKind)
        async throws
    {
        let desk = try desk(kind)
        let deadline = start.adding(seconds: 3_600)
        func ask(weight: Double, by author: String = "ann") async throws -> Proposal? {
            let outcome = try await desk.set(override(by: author, weight: weight), askingUntil: deadline)
            if case .awaitsApproval(let question) = outcome { return question }
            return nil
        }
        let first = try #require(try await ask(weight: 2))
        #expect(first.revision == 1)
        #expect(try await ask(weight: 2) == first, "asking for the same is no change")
        let second = try #require(try await ask(weight: 1000))
        #expect(second.id == first.id && second.revision == 2)
        #expect(try await ask(weight: 1000, by: "eve")?.revision == 3)
        let decision = authorship(by: "bob", reason: "fine", at: start)
        for (revision, words) in [
            (1, "weight 1000 for 10 min, where it was weight 2 for 10 min"), (2, "eve asks, where it was ann"),
            (4, "no revision 4"),
        ] as [(Int64, String)] {
            let refused = await #expect(throws: SteeringError.self) {
                try await desk.decide(first.id, .approved, for: nil, readAt: revision, as: decision)
            }
            #expect(refused?.code == .conflict)
            #expect(refused?.message.contains(words) == true, "\(refused?.message ?? "")")
        }
        #expect(try await desk.steering().overrides == [])
        let decided = try await desk.decide(first.id, .approved, for: nil, readAt: 3, as: decision)
        #expect(decided.state == .approved && decided.override?.weight == 1000)
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
        #expect(
            await code { _ = try await desk.decide(first.id, .approved, for: nil, readAt: nil, as: decision) }
                == .conflict)
        _ = try await desk.decide(second.id, .denied, for: nil, readAt: nil, as: decision)
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
                question.id, .approved, for: nil, readAt: nil,
                as: Authorship(author: "sync", reason: "r", at: start, until: start.adding(seconds: 60)))
        }
        #expect(own?.code == .forbidden)
        // Other contracts are another question, and the first one cannot be approved unseen.
        let other = try #require(try proposal(await desks.replace([Contract(tenant: "b")])))
        #expect(other.id != question.id)
        let late = await #expect(throws: SteeringError.self) {
            try await desks.steering.decide(
                question.id, .approved, for: nil, readAt: nil,
                as: Authorship(author: "ann", reason: "r", at: start, until: start.adding(seconds: 60)))
        }
        #expect(late?.code == .conflict)
        _ = try await desks.steering.decide(
            other.id, .approved, for: nil, readAt: nil,
            as: Authorship(author: "ann", reason: "r", at: start, until: start.adding(seconds: 60)))
        #expect(try proposal(await desks.replace([Contract(tenant: "b")], seconds: 1)) == nil)
        #expect(try await desks.contracts.contracts() == [Contract(tenant: "b")])
        _ = try await desks.contracts.replaceAll(with: Self.old, by: "ann", at: start.adding(seconds: 2))
        #expect(try proposal(await desks.replace([Contract(tenant: "b")], seconds: 3)) != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `many small changes of one person are as large as one, also across imports and erasures`(kind: StoreKind)
        async throws
    {
        let desks = try Desks(kind)
        let all = (0..<10).map { Contract(tenant: TenantID(unchecked: "t\($0)")) }
        try await desks.contracts.replaceAll(with: all, by: "setup", at: start)
        let limit = ContractLimit(share: 0.3, pendingSeconds: 1000)
        func put(_ index: Int, _ tier: String = "gold", by author: String = "ann", seconds: Double = 1) async throws
            -> Proposal?
        {
            let outcome = try await desks.contracts.put(
                Contract(tenant: TenantID(unchecked: "t\(index)"), tier: tier), by: author,
                at: start.adding(seconds: seconds), within: limit, checking: { _ in [Never]() })
            if case .awaitsApproval(let question) = outcome { return question }
            return nil
        }
        for index in 0..<3 { #expect(try await put(index) == nil) }
        // The same contract again is one contract, and a new one changes nobody's.
        #expect(try await put(0, "free") == nil)
        #expect(try await put(10) == nil)
        let question = try #require(try await put(3))
        #expect(question.tenant == "t3" && question.kind == .contracts)
        #expect(question.evidence.first?.contains("beside 3 that the same person has changed or removed") == true)
        let erasure = try await desks.contracts.erase(
            "t4", by: "ann", at: start.adding(seconds: 1), within: limit)
        #expect(erasure?.tenant == "t4" && erasure?.id != question.id)
        let imported = try await desks.contracts.replaceAll(
            with: try await desks.contracts.contracts().dropLast(), by: "ann", at: start.adding(seconds: 2),
            within: limit)
        #expect(try #require(proposal(imported)).tenant == Proposal.allTenants)
        #expect(try await desks.contracts.contracts().count == 11)

        // Another person has a count of their own.
        #expect(try await put(5, by: "eve") == nil)
        #expect(try await put(3)?.id == question.id, "the questions about others did not withdraw it")
        _ = try await desks.steering.decide(
            question.id, .approved, for: nil, readAt: 1,
            as: Authorship(author: "bob", reason: "r", at: start.adding(seconds: 3), until: start.adding(seconds: 900)))
        #expect(try await put(3, seconds: 4) == nil)
        #expect(try await put(3, "free", seconds: 5) != nil, "an approval is for one contract, once")
        // A day later all of that is past, and what was approved never counted.
        let day = ContractLimit.standardWindowSeconds
        for index in 6..<9 { #expect(try await put(index, seconds: day + 10) == nil) }
        #expect(try await put(9, seconds: day + 11) != nil)
    }

    @Test(arguments: StoreKind.allCases)
    func `an import that was denied is refused for as long as that holds`(kind: StoreKind) async throws {
        let desks = try Desks(kind)
        _ = try await desks.replace(Self.old)
        let question = try #require(try proposal(await desks.replace(Self.new)))
        _ = try await desks.steering.decide(
            question.id, .denied, for: nil, readAt: nil,
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
            try await desk.put(contract, by: "ann", at: start, within: .none) { _ in faults }.faults
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
        let seen = try await desk.put(Contract(tenant: "b", tier: "gold"), by: "ann", at: start, within: .none) { all in
            all.map { "\($0.tenant) \($0.tier ?? "-")" }
        }
        #expect(seen.faults == ["acme -", "b gold", "beta -"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an erased tenant has no contract, and one that is not known is not found`(kind: StoreKind) async throws {
        let desk = try desk(kind)
        try await desk.replaceAll(with: [Contract(tenant: "acme"), Contract(tenant: "beta")], by: "ann", at: start)
        #expect(try await desk.erase("acme", by: "ann", at: start, within: .none) == nil)
        #expect(try await desk.contracts() == [Contract(tenant: "beta")])
        let again = await #expect(throws: SteeringError.self) {
            try await desk.erase("acme", by: "ann", at: start, within: .none)
        }
        #expect(again?.code == .notFound)
    }
}
