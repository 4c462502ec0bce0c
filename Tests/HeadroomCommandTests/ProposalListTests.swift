import HeadroomModel
import HeadroomStorage
import Testing

/// Lists of questions that a person can read.
@Suite struct ProposalListTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    /// Asks for as many changes in the one pool, of which ten are worth naming.
    private func ask(_ count: Int, in house: House) async throws {
        let executor = DiskExecutor(label: "ask")
        let connection = try SQLiteConnection(path: house.database, access: .readWrite, executor: executor)
        _ = try executor.performAndWait { () throws(StorageError) in
            try Migrator(connection: connection).migrate(at: Self.start)
        }
        let changes = (1...count).reversed().map { number in
            Proposal.Change(
                tenant: TenantID(unchecked: "t\(100 + number)"), from: Rates(tpm: 50_000),
                to: Rates(tpm: 50_000 + Double(number.isMultiple(of: 3) ? number : -number) * 1000))
        }
        let question = Proposal(
            kind: .recommendation, pool: PoolID(unchecked: House.pool), changes: changes, movers: 10,
            evidence: ["demand", "Together they ask for more."],
            effects: [Proposal.Change(tenant: "beta", from: Rates(tpm: 2), to: Rates(tpm: 1))],
            authorship: Authorship(
                author: Authorship.automation, reason: "demand", at: Self.start,
                until: Self.start.adding(seconds: 14_400)))
        try await DecisionStore(connection: connection.portable).record(
            DecisionOutcome(questions: [question]), at: Self.start)
    }

    @Test
    func `of a recommendation for many tenants the largest changes are told in a line each, and the whole on demand`()
        async throws
    {
        let house = try House()
        try await ask(40, in: house)
        try await RunningService.run(house) { service in
            // Nobody asks for it any more, so that it has expired: it is listed all the same.
            let url = ["--url", "http://127.0.0.1:\(service.client.port)"]
            let list = try await HeadroomProgram.run(["recommendations", "--state", "all"] + url)
            let lines = list.output.split(separator: "\n")
            #expect(lines.count == 10, "\(list.output)\(list.errors)")
            #expect(
                lines.first?.hasPrefix(
                    "1, revision 1  test:model, 40 tenants, 13 more and 27 less: expired, recommendation")
                    == true,
                "\(list.output)")
            #expect(lines.count > 4 && lines[4].contains("t140") && lines[4].contains("tpm 10,000"), "\(list.output)")
            #expect(lines.last == "    and 35 more: headroom recommendations show 1")
            let whole = try await HeadroomProgram.run(["recommendations", "show", "1"] + url)
            #expect(whole.output.split(separator: "\n").count == 46, "\(whole.output)")
            #expect(whole.output.contains("t101") && whole.output.contains("beta"))
            let none = try await HeadroomProgram.run(["recommendations", "show", "7"] + url)
            #expect(none.code != 0 && none.errors.contains("there is no recommendation 7"), "\(none.errors)")
        }
    }
}
