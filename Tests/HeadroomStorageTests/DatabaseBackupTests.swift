import Foundation
import HeadroomModel
import HeadroomStorage
import Synchronization
import Testing

/// Copies of a database, and databases made of them.
@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct DatabaseBackupTests {
    private let directory = TemporaryDirectory()
    private var copy: String { directory.file("copy.db") }
    private var path: String { directory.file("headroom.db") }
    private var kept: String { directory.file("kept.db") }

    private func backUp(_ path: String, replaces: Bool = false) async throws -> DatabaseBackup.Outcome {
        try await DatabaseBackup.make(of: path, to: copy, replaces: replaces, at: start)
    }

    private func error(_ work: () async throws -> Void) async -> StorageError? {
        do {
            try await work()
            return nil
        } catch {
            return error as? StorageError
        }
    }

    /// The files of the directory, but for the database's own.
    private func others() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasPrefix("headroom.db") }
            .sorted()
    }

    private func calls(in path: String) async throws -> Int {
        try await TelemetryReader(path: path).page(after: .start, limit: 1_000_000).records.count
    }

    @Test func `a copy is one file with all that was committed, also what is still in the log, for its owner only`()
        async throws
    {
        let database = try Database(path: path, use: .service, coding: .unused, time: TimeSource { start })
        _ = try await database.telemetry.append(batch((0..<100).map { call("\($0)") }))
        let outcome = try await backUp(path)
        _ = try await database.telemetry.append(batch([call("later")]))
        #expect(try others() == ["copy.db"])
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(outcome.bytes == (attributes[.size] as? NSNumber)?.int64Value)
        #expect(outcome.newest == start && outcome.auditEntries == 0)
        #expect(try await calls(in: copy) == 100)
        #expect(try await calls(in: path) == 101)
    }

    @Test func `writers go on while a copy is made, and it has the state of one moment`() async throws {
        let database = try Database(path: path, use: .service, coding: .unused, time: TimeSource { start })
        _ = try await database.telemetry.append(batch((0..<20_000).map { call("\($0)") }))
        let isDone = Atomic(false)
        async let written = {
            var count = 0
            while !isDone.load(ordering: .acquiring) {
                _ = try await database.telemetry.append(batch((0..<10).map { call("w\(count)-\($0)") }))
                count += 1
            }
            return count
        }()
        _ = try await backUp(path)
        isDone.store(true, ordering: .releasing)
        let batches = try await written
        let copied = try await calls(in: copy)
        #expect(batches > 0 && copied >= 20_000 && copied.isMultiple(of: 10))
        #expect(try await calls(in: path) == 20_000 + 10 * batches)
    }

    @Test func `what cannot be copied, or is not as it was written, leaves no file`() async throws {
        let database = try TemporaryDatabase(in: directory)
        let missing = await error { _ = try await backUp(directory.file("none.db")) }
        #expect(missing?.message.contains("no such database") == true)
        let itself = await error { _ = try await DatabaseBackup.make(of: path, to: path, replaces: true, at: start) }
        #expect(itself?.message.contains("is the database itself") == true)
        let nowhere = await error {
            _ = try await DatabaseBackup.make(of: path, to: directory.file("no/copy.db"), at: start)
        }
        #expect(nowhere?.code == .cannotOpen && nowhere?.message.contains("the directory must exist") == true)
        #expect(try others().isEmpty)

        try database.execute(
            """
            INSERT INTO audit (sequence, at_ms, author, action, detail_sha256, sha256) VALUES (1, 0, 'x', 'y', x'00', x'00')
            """)
        let changed = await error { _ = try await backUp(path) }
        #expect(
            changed?.code == .corrupt && changed?.message.contains("entry 1 of the audit log") == true,
            "\(changed as Any)")
        #expect(try others().isEmpty)
    }

    @Test func `a copy that is stopped leaves nothing, and one that a killed process left half is taken over`()
        async throws
    {
        _ = try TemporaryDatabase(in: directory)
        let stopped = await error { _ = try await DatabaseBackup.make(of: path, to: copy, at: start, while: { false }) }
        #expect(stopped?.message.contains("stopped half-way") == true)
        #expect(try others().isEmpty)
        try Data(repeating: 7, count: 9_999).write(to: URL(fileURLWithPath: copy + ".partial"))
        _ = try await backUp(path)
        #expect(try others() == ["copy.db"])
        let again = await error { _ = try await backUp(path) }
        #expect(again?.message.contains("is there already") == true)
        _ = try await backUp(path, replaces: true)
    }

    @Test
    func `a database that is restored outranks the one it replaces, also in the same second and with a clock behind`()
        async throws
    {
        do {
            let database = try Database(path: path, use: .service, coding: .unused, time: TimeSource { start })
            _ = try await database.telemetry.append(batch([call("kept")]))
            _ = try await backUp(path)
            _ = try await database.telemetry.append(batch([call("lost")]))
            let running = await error { _ = try await DatabaseBackup.restore(copy, to: path, keeping: kept, at: start) }
            #expect(running?.code == .instanceRunning)
        }
        let replaced = try await epoch(of: path, at: start.adding(seconds: 900))
        let (outcome, hasReplaced) = try await DatabaseBackup.restore(copy, to: path, keeping: kept, at: start)
        #expect(hasReplaced && outcome.epoch == replaced)
        #expect(try others() == ["copy.db", "kept.db"])
        #expect(try await calls(in: path) == 1)
        #expect(try await calls(in: kept) == 2)
        // By the clock alone it would be 15 minutes below.
        #expect(try await epoch(of: path, at: start) == replaced + 1)
    }

    @Test func `a copy becomes a database where there was none, above an epoch that a person names`() async throws {
        _ = try TemporaryDatabase(in: directory)
        _ = try await backUp(path)
        let other = directory.file("other.db")
        let above = start.milliseconds / 1000 + 5_000
        let (_, hasReplaced) = try await DatabaseBackup.restore(copy, to: other, keeping: kept, above: above, at: start)
        #expect(!hasReplaced)
        #expect(try await epoch(of: other, at: start) == above + 1)
    }

    @Test func `a database that is damaged is replaced as well, and stays`() async throws {
        do {
            let database = try TemporaryDatabase(in: directory)
            _ = try await backUp(database.path)
        }
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        let damaged = Data(repeating: 1, count: 5_000)
        try damaged.write(to: URL(fileURLWithPath: path))
        _ = try await DatabaseBackup.restore(copy, to: path, keeping: kept, at: start)
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == damaged)
        #expect(try await calls(in: path) == 0)
    }

    /// Of a start at `now`.
    private func epoch(of path: String, at now: Timestamp) async throws -> Int64 {
        let database = try Database(path: path, use: .service, coding: .unused, time: TimeSource { now })
        return try await database.snapshots.begin(at: now, rememberingSeconds: 60).epoch
    }
}
