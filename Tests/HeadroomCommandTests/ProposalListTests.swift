import HeadroomModel
import HeadroomStorage
import Testing

/// Lists of questions that a person can read.
@Suite struct ProposalListTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    /// Asks for as many changes in the one pool, the later ones the larger.
    private func ask(_ count: Int, in house: House) async throws {
        let executor = DiskExecutor(label: "ask")
        let connection = try SQLiteConnection(path: house.database, access: .readWrite, executor: executor)
        _ = try executor.performAndWait { () throws(StorageError) in
            try Migrator(connection: connection).migrate(at: Self.start)
        }
        let questions = (1...count).map { number in
            let raises = number.isMultiple(of: 3)
            return Proposal(
                kind: .recommendation, tenant: TenantID(unchecked: "t\(100 + number)"),
                pool: PoolID(unchecked: House.pool),
                from: Rates(tpm: 50_000), to: Rates(tpm: 50_000 + Double(raises ? number : -number) * 1000),
                evidence: (1...50).map { "evidence \($0)" },
                effects: (1...50).map {
                    Proposal.Effect(tenant: TenantID(unchecked: "e\($0)"), from: Rates(tpm: 2), to: Rates(tpm: 1))
                },
                authorship: Authorship(
                    author: Authorship.automation, reason: "demand", at: Self.start,
                    until: Self.start.adding(seconds: 14_400)))
        }
        try await DecisionStore(connection: connection).record(DecisionOutcome(questions: questions), at: Self.start)
    }

    @Test func `of many recommendations in a pool the largest are told in a line each, and the whole on demand`()
        async throws
    {
        let house = try House()
        try await ask(40, in: house)
        try await RunningService.run(house) { service in
            // Nobody asks for them any more, so that they have expired: they are listed all the same.
            let words = ["recommendations", "--state", "all", "--url", "http://127.0.0.1:\(service.client.port)"]
            let summary = try await HeadroomProgram.run(words)
            let lines = summary.output.split(separator: "\n")
            #expect(lines.count == 8, "\(summary.output)\(summary.errors)")
            #expect(
                lines.first == "test:model: 40 recommendations, 13 raise a tenant and 27 lower one; the largest:",
                "\(summary.output)")
            #expect(
                lines.count > 2 && lines[2].contains("t140") && lines[2].contains("tpm 10,000"), "\(summary.output)")
            #expect(
                lines.last?.hasSuffix(
                    "and 35 more; the whole with its evidence: headroom recommendations --pool test:model --full")
                    == true)
            #expect(!summary.output.contains("evidence 1"))
            let whole = try await HeadroomProgram.run(words + ["--full"])
            #expect(whole.output.split(separator: "\n").count > 4000)
        }
    }
}
