import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct ContractStoreTests {
    private static let contracts = [
        Contract(
            tenant: "acme", tier: "premium", isStrategic: true,
            terms: [
                Contract.Terms(pool: "azure:gpt-4o", floor: Rates(tpm: 5_000.5)),
                Contract.Terms(
                    pool: "openai:gpt-4o", floor: Rates(rpm: 1, tpm: 2, itpm: 3, otpm: 4), ceiling: Rates(rpm: 0)),
            ],
            cost: CostTerms(
                currency: "EUR", period: .day, most: 20_000_000,
                prices: [
                    CostTerms.Price(
                        perMillionInputTokens: 9, perMillionCachedInputTokens: 1, perMillionOutputTokens: 2,
                        perRequest: 3),
                    CostTerms.Price(pool: "azure:gpt-4o", perRequest: 4),
                ])),
        Contract(tenant: "zeta"),
    ]

    @Test func `contracts come back as they were imported, ascending by tenant and pool`() async throws {
        let store = ContractStore(connection: try TemporaryDatabase().writer)
        try await store.replaceAll(with: Self.contracts.reversed(), at: start)
        #expect(try await store.all() == Self.contracts)
    }

    @Test func `an import replaces the one before, or changes nothing when it fails`() async throws {
        let store = ContractStore(connection: try TemporaryDatabase().writer)
        try await store.replaceAll(with: Self.contracts, at: start)
        let next = [Contract(tenant: "beta", tier: "free")]
        let error = await #expect(throws: SteeringError.self) {
            try await store.replaceAll(with: next + next, at: start)
        }
        #expect(error?.code == .conflict)
        #expect(try await store.all() == Self.contracts)
        try await store.replaceAll(with: next, at: start)
        #expect(try await store.all() == next)
        try await store.replaceAll(with: [], at: start)
        #expect(try await store.all() == [])
    }

    @Test func `a running service notices a change, its own and another process's, and nothing else`() async throws {
        let database = try TemporaryDatabase()
        let service = ContractStore(connection: database.writer)
        let command = ContractStore(connection: try TemporaryDatabase(in: database.directory).writer)
        var counter = try await service.changeCounter()
        try await command.replaceAll(with: Self.contracts, at: start)
        #expect(try await service.changeCounter() != counter)
        #expect(try await service.all() == Self.contracts)
        counter = try await service.changeCounter()
        _ = try await database.telemetry().append(batch([call()]))
        #expect(try await service.changeCounter() == counter)
        try await service.put(Contract(tenant: "acme"))
        #expect(try await service.changeCounter() != counter)
    }

    @Test func `one contract is put in place of the tenant's earlier one, signed`() async throws {
        let database = try TemporaryDatabase()
        let store = ContractStore(connection: database.writer)
        try await store.replaceAll(with: Self.contracts, at: start)
        let changed = Contract(
            tenant: "acme", tier: "free", terms: [Contract.Terms(pool: "azure:gpt-4o", ceiling: Rates(rpm: 5))])
        try await store.put(changed)
        #expect(try await store.contracts() == [changed, Self.contracts[1]])
        let audit = try await database.auditReader().entries(after: 0, limit: 10)
        #expect(audit.map(\.action) == ["contracts.import", "contract.added", "contract.added", "contract.put"])
        #expect(audit.map(\.author) == ["command line", "command line", "command line", "ops"])
        #expect(audit[3].detail == #"{"tenant":"acme","tier":"free","is_strategic":0,"pools":1,"changes":1}"#)
    }

    @Test func `an import says in the log what it changed, and of whom`() async throws {
        let database = try TemporaryDatabase()
        let store = ContractStore(connection: database.writer)
        try await store.replaceAll(
            with: ["acme", "beta", "gone"].map { Contract(tenant: TenantID(unchecked: $0), tier: "free") }, at: start)
        try await store.replaceAll(
            with: [
                Contract(tenant: "acme", tier: "premium"), Contract(tenant: "beta", tier: "free"),
                Contract(tenant: "new"),
            ], by: "crm", at: start)
        let log = try await database.auditReader().entries(after: 4, limit: 10)
        #expect(log.map(\.action) == ["contracts.import", "contract.removed", "contract.changed", "contract.added"])
        #expect(log[0].detail == #"{"contracts":3,"added":1,"changed":1,"removed":1,"unchanged":1}"#)
        #expect(
            log.dropFirst().map(\.detail) == [
                #"{"tenant":"gone"}"#, #"{"tenant":"acme","tier":"premium","pools":0}"#,
                #"{"tenant":"new","tier":null,"pools":0}"#,
            ])
        // A tenant that is erased is in none of these rows any more.
        try await store.erase("acme", by: "dpo", at: start)
        let all = try await database.auditReader().entries(after: 0, limit: 20)
        #expect(!all.map(\.detail).joined().contains("acme"))
    }

    @Test func `of two contracts at once that fit each alone and not together one is refused`() async throws {
        let database = try TemporaryDatabase()
        let store = ContractStore(connection: database.writer)
        /// A pool with room for floors of 100.
        @Sendable func faults(in contracts: [Contract]) -> [String] {
            let sum = contracts.reduce(0) { $0 + ($1.terms[0].floor[.requests] ?? 0) }
            return sum > 100 ? ["\(sum) of 100"] : []
        }
        let answers = try await withThrowingTaskGroup(of: [String].self) { group in
            for tenant in ["a", "b"] as [TenantID] {
                let terms = Contract.Terms(pool: "p", floor: Rates(rpm: 60))
                group.addTask {
                    try await store.put(Contract(tenant: tenant, terms: [terms]), by: "ops", at: start) {
                        faults(in: $0)
                    }.faults
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.filter(\.isEmpty).count == 1)
        #expect(answers.contains(["120.0 of 100"]))
        #expect(try await store.all().count == 1)
        #expect(try await database.auditReader().entries(after: 0, limit: 10).count == 1)
    }
}
