import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct FreezeTests {
    /// Keeps the generation and each pool's budget.
    private static let coding = SnapshotStore.Coding(
        encode: { snapshot in
            var writer = ByteWriter()
            writer.write(snapshot.version.generation)
            writer.write(snapshot.pools) { writer, pool in
                writer.write(pool.pool.text)
                writer.write(pool.budget)
            }
            return writer.bytes
        },
        decode: { bytes in
            var reader = ByteReader(bytes)
            let version = SnapshotVersion(epoch: 1, generation: try reader.read())
            let pools = try reader.readArray { reader in
                FreezeTests.allocation(try reader.readIdentifier(), try reader.readRates())
            }
            return FreezeTests.snapshot(version.generation, pools)
        })

    private static func allocation(_ pool: PoolID, _ budget: Rates) -> PoolAllocation {
        PoolAllocation(pool: pool, capacity: Rates(tpm: 1), nominal: Rates(tpm: 1), budget: budget)
    }

    private static func snapshot(_ generation: Int64, _ pools: [PoolAllocation]) -> Snapshot {
        Snapshot(
            version: SnapshotVersion(epoch: 1, generation: generation), issuedAt: start, leaseSeconds: 15, policy: "p",
            pools: pools)
    }

    private let database: TemporaryDatabase
    private let desk: SteeringStore
    private let pools = [
        FreezeTests.allocation("azure:gpt-4o", Rates(tpm: 10)), FreezeTests.allocation("openai:gpt-4o", Rates(tpm: 20)),
    ]

    init() async throws {
        database = try TemporaryDatabase()
        desk = SteeringStore(connection: database.writer, coding: Self.coding, time: TimeSource { start })
        let ledger = SnapshotStore(connection: database.writer, coding: Self.coding)
        try await ledger.append(Publication(whole: Self.snapshot(7, pools), parts: []))
    }

    @Test func `a freeze holds until it ends or somebody ends it`() async throws {
        let one = try await desk.freeze(Freeze(pool: "openai:gpt-4o", authorship: authorship()))
        let all = try await desk.freeze(Freeze(authorship: authorship(by: "bob")))
        #expect(try await desk.steering().freezes == [one, all])
        #expect(one.numbers == [] && all.id == one.id + 1)
        try await desk.endFreeze(one.id, by: "bob", at: start)
        #expect(try await desk.steering().freezes == [all])
        let error = await #expect(throws: SteeringError.self) { try await desk.endFreeze(one.id, by: "bob", at: start) }
        #expect(error?.code == .notFound)
        #expect(try await desk.audit(after: 0, limit: 9).map(\.action) == ["freeze.set", "freeze.set", "freeze.end"])
    }

    @Test func `a roll-back has the old generation's numbers, also when the ledger has forgotten it`() async throws {
        let all = try await desk.freeze(Freeze(generation: 7, authorship: authorship()))
        let one = try await desk.freeze(Freeze(pool: "openai:gpt-4o", generation: 7, authorship: authorship()))
        #expect(all.numbers == pools)
        #expect(one.numbers == [pools[1]])
        try database.execute("DELETE FROM snapshot")
        let restarted = SteeringStore(connection: database.writer, coding: Self.coding, time: TimeSource { start })
        #expect(try await restarted.steering().freezes == [all, one])
        for freeze in [
            Freeze(generation: 8, authorship: authorship()), Freeze(generation: 7, authorship: authorship()),
        ] {
            let error = await #expect(throws: SteeringError.self) { try await desk.freeze(freeze) }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `a pool that the generation did not have cannot be rolled back to it`() async throws {
        let error = await #expect(throws: SteeringError.self) {
            try await desk.freeze(Freeze(pool: "other:pool", generation: 7, authorship: authorship()))
        }
        #expect(error?.code == .notFound && error?.message.contains("other:pool") == true)
    }
}
