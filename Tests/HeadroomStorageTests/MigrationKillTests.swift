import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

/// A start can be killed, and the power can fail, between two migrations and within one; and a file may be as old as the
/// first of them.
@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct MigrationKillTests {
    /// Opens as a service does; the names of the migrations that were applied.
    private func open(_ directory: TemporaryDirectory) throws -> [String] {
        try Database(
            path: directory.file("headroom.db"), use: .service, coding: .unused, time: TimeSource { start }
        ).applied
    }

    private func names(after count: Int) -> [String] { Migration.all.dropFirst(count).map(\.fileName) }

    private func connection(in directory: TemporaryDirectory) throws -> SQLiteConnection {
        try SQLiteConnection(
            path: directory.file("headroom.db"), access: .readWrite, executor: DiskExecutor(label: "test"))
    }

    private func migrate(_ connection: SQLiteConnection, to count: Int) throws {
        _ = try connection.executor.performAndWait {
            try Migrator(connection: connection, migrations: Array(Migration.all.prefix(count))).migrate(at: start)
        }
    }

    @Test(arguments: 0...Migration.all.count)
    func `a file of each schema since the first opens, with a row in each table`(count: Int) throws {
        let directory = TemporaryDirectory()
        let rows: [String: Int64]
        do {
            let connection = try connection(in: directory)
            try migrate(connection, to: count)
            rows = try connection.executor.performAndWait {
                try fill(connection)
                // As a service leaves it that ended in order: all is in the file, and a start sees it before it opens it.
                try connection.truncateLog()
                return try counts(connection)
            }
        }
        #expect(rows.values.allSatisfy { $0 > 0 })
        #expect(try open(directory) == names(after: count))
        let connection = try connection(in: directory)
        let after = try connection.executor.performAndWait { try counts(connection) }
        for (table, number) in rows { #expect((after[table] ?? 0) >= number, "\(table)") }
    }

    @Test func `killed before it makes its first table, a start leaves a file that opens`() throws {
        let directory = TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: directory.file("headroom.db")))
        #expect(try open(directory) == names(after: 0))
    }

    @Test func `killed after any statement of any migration, the next start goes on where that one was`() throws {
        let directory = TemporaryDirectory()
        let connection = try connection(in: directory)
        var seen: Set<[UInt8]> = []
        var statements = 0
        for (done, migration) in Migration.all.enumerated() {
            try connection.executor.performAndWait { try connection.execute("BEGIN IMMEDIATE") }
            for statement in Self.statements(migration.sql) {
                statements += 1
                try connection.executor.performAndWait { try connection.execute(script: statement) }
                // As long as the kill leaves the same bytes, it leaves the same database.
                guard seen.insert(try files(in: directory)).inserted else { continue }
                #expect(try open(copy(of: directory)) == names(after: done), "\(migration.fileName)")
            }
            try connection.executor.performAndWait { try connection.execute("ROLLBACK") }
            try migrate(connection, to: done + 1)
            seen.insert(try files(in: directory))
            #expect(try open(copy(of: directory)) == names(after: done + 1), "\(migration.fileName)")
        }
        // Comments are cut away, and no statement with them.
        #expect(statements > 3 * Migration.all.count)
    }

    @Test func `killed between two bytes of a migration's commit, the next start goes on where that one was`() throws {
        let directory = TemporaryDirectory()
        let connection = try connection(in: directory)
        // The log of all of them: nothing empties it.
        try migrate(connection, to: Migration.all.count)
        let log = try Data(contentsOf: URL(fileURLWithPath: directory.file("headroom.db-wal")))
        // A header of 32 bytes, then frames of 24 and a page; bytes 4 to 8 of a frame are not 0 where a commit ends.
        let frame = 24 + 4096
        let commits = stride(from: 32, to: log.count, by: frame).filter { begin in
            log[begin + 4..<begin + 8] != Data(count: 4)
        }
        let ends = commits.map { $0 + frame }
        #expect(ends.count == Migration.all.count)
        for (done, end) in ends.enumerated() {
            for (length, applied) in [(end - 1, done), (end, done + 1)] {
                #expect(
                    try open(copy(of: directory, logBytes: length)) == names(after: applied),
                    "\(Migration.all[done].fileName), \(length) bytes")
            }
        }
    }

    // MARK: Files

    /// What a kill leaves behind at this moment, or when only a part of the log has reached the disk: the file and its
    /// log, without the shared memory.
    private func copy(of directory: TemporaryDirectory, logBytes: Int = .max) throws -> TemporaryDirectory {
        let copy = TemporaryDirectory()
        let path = directory.file("headroom.db")
        try FileManager.default.copyItem(atPath: path, toPath: copy.file("headroom.db"))
        try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).prefix(logBytes)
            .write(to: URL(fileURLWithPath: copy.file("headroom.db-wal")))
        return copy
    }

    private func files(in directory: TemporaryDirectory) throws -> [UInt8] {
        let path = directory.file("headroom.db")
        return SHA256.digest(
            of: try [path, path + "-wal"].flatMap { Array(try Data(contentsOf: URL(fileURLWithPath: $0))) })
    }

    /// The statements of a script. No migration has a semicolon within one.
    private static func statements(_ script: [UInt8]) -> [[UInt8]] {
        let lines = String(decoding: script, as: UTF8.self).split(separator: "\n")
        let code = lines.map { line in line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line }
        return code.joined(separator: "\n").split(separator: ";")
            .filter { $0.contains { !$0.isWhitespace } }.map { Array($0.utf8) }
    }

    // MARK: Rows

    /// A row in each table that has none, of values that fit the columns' types.
    private func fill(_ connection: SQLiteConnection) throws {
        var columns: [String: [(name: String, value: String)]] = [:]
        try connection.statement(
            """
            SELECT t.name, c.name, c.type FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid
            """
        ).forEachRow { row in
            let values = ["INTEGER": "1", "REAL": "1.5", "TEXT": "'x'", "BLOB": "x'01'"]
            columns[row.text(0), default: []].append((row.text(1), values[row.text(2)] ?? "NULL"))
        }
        let counts = try counts(connection)
        try connection.execute("PRAGMA foreign_keys = OFF")
        for (table, fields) in columns.sorted(by: { $0.key < $1.key }) where counts[table] == 0 {
            let names = fields.map { "\"\($0.name)\"" }.joined(separator: ", ")
            let values = fields.map(\.value).joined(separator: ", ")
            try connection.execute(script: Array("INSERT INTO \"\(table)\" (\(names)) VALUES (\(values))".utf8))
        }
    }

    /// Rows by table.
    private func counts(_ connection: SQLiteConnection) throws -> [String: Int64] {
        var tables: [String] = []
        try connection.statement(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ).forEachRow { tables.append($0.text(0)) }
        var counts: [String: Int64] = [:]
        try connection.execute("CREATE TEMP TABLE counted (name TEXT, number INTEGER)")
        for table in tables {
            try connection.execute(
                script: Array("INSERT INTO temp.counted SELECT '\(table)', count(*) FROM \"\(table)\"".utf8))
        }
        try connection.statement("SELECT name, number FROM temp.counted").forEachRow {
            counts[$0.text(0)] = $0.integer(1)
        }
        try connection.execute("DROP TABLE temp.counted")
        return counts
    }
}
