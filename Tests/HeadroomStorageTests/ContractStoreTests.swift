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
            ]),
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
        try await service.put(Contract(tenant: "acme"), by: "ops", at: start)
        #expect(try await service.changeCounter() != counter)
    }

    @Test func `one contract is put in place of the tenant's earlier one, signed`() async throws {
        let database = try TemporaryDatabase()
        let store = ContractStore(connection: database.writer)
        try await store.replaceAll(with: Self.contracts, at: start)
        let changed = Contract(
            tenant: "acme", tier: "free", terms: [Contract.Terms(pool: "azure:gpt-4o", ceiling: Rates(rpm: 5))])
        try await store.put(changed, by: "ops", at: start)
        #expect(try await store.contracts() == [changed, Self.contracts[1]])
        let audit = try await database.auditReader().entries(after: 0, limit: 10)
        #expect(audit.map(\.action) == ["contracts.import", "contract.put"])
        #expect(audit.map(\.author) == ["command line", "ops"])
        #expect(audit[1].detail == #"{"tenant":"acme","tier":"free","is_strategic":0,"pools":1}"#)
    }
}
