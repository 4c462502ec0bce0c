import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

/// A process can be killed, and the power can fail, after any byte that it has written: SQLite appends a commit to the
/// log, so that what a kill leaves behind is the log up to some byte.
@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct KillTests {
    private static let pool: PoolID = "openai:gpt-4o"

    private static let acts: [(name: String, run: @Sendable (TemporaryDatabase) async throws -> Void)] = [
        (
            "an override",
            { database in
                _ = try await desk(database).set(
                    Override(tenant: "acme", weight: 2, authorship: authorship()), askingUntil: nil)
            }
        ),
        (
            "an approval",
            { database in
                _ = try await desk(database).decide(1, .approved, for: nil, readAt: nil, as: authorship(by: "sam"))
            }
        ),
        (
            "a decision",
            { database in
                let facts = Explanation.PoolFacts(pool: pool, nominal: .none, capacity: .none, shared: .none)
                try await DecisionStore(connection: database.writer).record(
                    DecisionOutcome(
                        questions: [Proposal(kind: .guardrail, tenant: "beta", pool: pool, authorship: authorship())],
                        withdrawn: [2], credits: [CreditBalance(tenant: "new", pool: pool, accrued: 3)],
                        explanations: [
                            PoolExplanation(
                                version: SnapshotVersion(epoch: 1, generation: 5), at: start, pool: facts, tenants: [])
                        ]), at: start)
            }
        ),
        (
            "a checkpoint",
            { database in
                try await RollupStore(connection: database.writer).save(
                    Checkpoint(at: start, cursor: .start, observer: Array(repeating: 7, count: 9_000), classifier: []),
                    rollups: [rollup(), rollup("new")])
            }
        ),
        (
            "an import",
            { database in
                try await ContractStore(connection: database.writer)
                    .replaceAll(with: [Contract(tenant: "new"), Contract(tenant: "newer")], at: start)
            }
        ),
        (
            "a token",
            { database in
                _ = try await TokenStore(connection: database.writer)
                    .create(name: "edge", role: .viewer, secret: "s", tenants: ["acme"], at: start)
            }
        ),
    ]

    private static func desk(_ database: TemporaryDatabase) -> SteeringStore {
        SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
    }

    /// All that the acts change, as one text.
    private func state(_ database: TemporaryDatabase) throws -> String {
        try database.writer.executor.performAndWait {
            try database.writer.statement(
                """
                SELECT (SELECT group_concat(tenant) FROM override) || ' ' || (SELECT group_concat(state) FROM proposal)
                    || ' ' || (SELECT count(*) FROM credit) || ' ' || (SELECT count(*) FROM explanation)
                    || ' ' || (SELECT total(ok) FROM rollup) || ' ' || (SELECT count(*) FROM checkpoint)
                    || ' ' || (SELECT group_concat(tenant) FROM contract) || ' ' || (SELECT count(*) FROM api_token)
                    || ' ' || (SELECT count(*) FROM api_token_scope) || ' ' || (SELECT count(*) FROM name)
                    || ' ' || (SELECT count(*) FROM audit) || ' ' || (SELECT contracts + steering FROM change_counter)
                """
            ).first { $0.text(0) } ?? ""
        }
    }

    @Test(arguments: KillTests.acts.indices)
    func `killed at any byte, an act and its row in the audit log are there whole or not at all`(act: Int) async throws
    {
        let database = try TemporaryDatabase()
        _ = try await Self.desk(database).set(
            Override(tenant: "acme", weight: 2, authorship: authorship()), askingUntil: nil)
        _ = try await Self.desk(database).set(
            Override(tenant: "acme", weight: 9, authorship: authorship()), askingUntil: start.adding(seconds: 14_400))
        _ = try await Self.desk(database).set(
            Override(tenant: "beta", weight: 9, authorship: authorship()), askingUntil: start.adding(seconds: 14_400))
        try await ContractStore(connection: database.writer).put(Contract(tenant: "old"))

        let files = FileManager.default
        let before = try state(database)
        let first = try Data(contentsOf: URL(filePath: database.path + "-wal")).count
        try await Self.acts[act].run(database)
        let after = try state(database)
        #expect(before != after)
        let log = try Data(contentsOf: URL(filePath: database.path + "-wal"))
        #expect(log.count > first)
        // A frame of the log is a header of 24 bytes and a page: after each byte of it would be the same as at its end.
        for length in stride(from: first, through: log.count, by: 2_060) {
            let copy = TemporaryDirectory()
            try files.copyItem(atPath: database.path, toPath: copy.file("headroom.db"))
            try log.prefix(length).write(to: URL(filePath: copy.file("headroom.db-wal")))
            let revived = try TemporaryDatabase(in: copy)
            let found = try state(revived)
            #expect(
                found == (length == log.count ? after : before), "\(Self.acts[act].name) at \(length) of \(log.count)")
            #expect(try await revived.auditReader().verify(at: start).fault == nil)
        }
    }
}
