import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct GenerationTests {
    /// A generation's number stands for its snapshot.
    private static let coding = SnapshotStore.Coding(
        encode: { [UInt8($0.version.generation)] },
        decode: { bytes in
            guard let first = bytes.first, first != 13 else { throw StorageError(code: .corrupt, message: "13") }
            return snapshot(Int64(first), at: start)
        })

    private static func snapshot(_ generation: Int64, at issuedAt: Timestamp) -> Snapshot {
        Snapshot(
            version: SnapshotVersion(epoch: 7, generation: generation), issuedAt: issuedAt, leaseSeconds: 15,
            policy: "p@1", pools: [])
    }

    @Test func `generations are listed newest first with what they changed, found by time, and read back`() async throws
    {
        let database = try TemporaryDatabase()
        let ledger = SnapshotStore(connection: database.writer, coding: Self.coding)
        for generation in [10, 12, 13] as [Int64] {
            let issuedAt = start.adding(seconds: Double(generation))
            try await ledger.append(Publication(whole: Self.snapshot(generation, at: issuedAt), parts: []))
        }
        let facts = Explanation.PoolFacts(
            pool: "a:pool", nominal: Rates(tpm: 9), capacity: Rates(tpm: 9), shared: Rates(tpm: 9))
        let tenants = (["acme", "beta"] as [TenantID]).map { tenant in
            Explanation.TenantFacts(
                tenant: tenant, tier: "free", weight: 1, demand: Rates(tpm: 1),
                credibleDemand: PerCriticality(repeating: .none), direction: Rates(rpm: 1), target: 1, mean: 1,
                before: 1,
                least: 0, leastConstraint: .level, most: 2, mostConstraint: .level, fill: 1, assured: Rates(tpm: 1),
                constraint: .level)
        }
        let chain = PoolExplanation(
            version: SnapshotVersion(epoch: 7, generation: 12), at: start, pool: facts, tenants: tenants)
        try await DecisionStore(connection: database.writer)
            .record(DecisionOutcome(explanations: [chain]), at: start)
        let records = try database.records(coding: Self.coding)

        let all = try await records.generations(from: start, to: start.adding(seconds: 99), limit: 9)
        #expect(all.map(\.version.generation) == [13, 12, 10])
        #expect(all.map(\.changes) == [[], [GenerationSummary.Change(pool: "a:pool", tenants: 2)], []])
        #expect(all[1].issuedAt == start.adding(seconds: 12) && all[1].version.epoch == 7)
        // The one in force at a moment between two.
        let inForce = try await records.generations(
            from: Timestamp(milliseconds: 0), to: start.adding(seconds: 12.5), limit: 1)
        #expect(inForce.map(\.version.generation) == [12])
        #expect(try await records.generations(from: start, to: start.adding(seconds: 9), limit: 9) == [])

        #expect(try await records.snapshot(generation: 12)?.version.generation == 12)
        #expect(try await records.snapshot(generation: 11) == nil)
        let error = await #expect(throws: StorageError.self) { try await records.snapshot(generation: 13) }
        #expect(error?.code == .corrupt)
    }
}
