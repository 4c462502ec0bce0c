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
        let error = await #expect(throws: StorageError.self) {
            try await store.replaceAll(with: next + next, at: start)
        }
        #expect(error?.code == .constraint)
        #expect(try await store.all() == Self.contracts)
        try await store.replaceAll(with: next, at: start)
        #expect(try await store.all() == next)
        try await store.replaceAll(with: [], at: start)
        #expect(try await store.all() == [])
    }

    @Test func `a running service notices an import by another process`() async throws {
        let database = try TemporaryDatabase()
        let service = ContractStore(connection: database.writer)
        let command = ContractStore(connection: try TemporaryDatabase(in: database.directory).writer)
        let before = try await service.foreignChangeCounter()
        try await command.replaceAll(with: Self.contracts, at: start)
        #expect(try await service.foreignChangeCounter() != before)
        #expect(try await service.all() == Self.contracts)
    }
}
