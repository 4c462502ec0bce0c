import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct SQLiteConnectionTests {
    @Test func `what a transaction did is gone when its body throws`() throws {
        let database = try TemporaryDatabase()
        let writer = database.writer
        let fault = StorageError(code: .misuse, message: "stop here")
        let error = storageError {
            try writer.executor.performAndWait {
                try writer.transaction {
                    try writer.execute("INSERT INTO name (kind, text) VALUES (0, 'acme')")
                    throw fault
                }
            }
        }
        #expect(error == fault)
        #expect(try database.number("SELECT count(*) FROM name") == 0)
        try database.execute("INSERT INTO name (kind, text) VALUES (0, 'acme')")
        #expect(try database.number("SELECT count(*) FROM name") == 1)
    }

    @Test func `texts and bytes come back as they went in, also empty ones and those with a zero`() throws {
        let database = try TemporaryDatabase()
        let writer = database.writer
        for text in [
            "", "a", "exactly 15 byte", "sixteen bytes 16", "nul\0inside", "Ünïcødé 🏔",
            String(repeating: "x", count: 70_000),
        ] {
            let bytes = Array(text.utf8)
            try writer.executor.performAndWait {
                let row = try writer.statement("SELECT :text, :bytes, :missing IS NULL")
                    .bind(":text", text).bind(":bytes", bytes).bind(":missing", nil as String?)
                    .first { ($0.text(0), $0.bytes(1), $0.integer(2)) }
                #expect(row?.0 == text)
                #expect(row?.1 == bytes)
                #expect(row?.2 == 1)
            }
        }
    }

    @Test func `a database that another connection holds is busy, and says what to do`() throws {
        let database = try TemporaryDatabase()
        try database.execute("BEGIN IMMEDIATE")
        let other = try SQLiteConnection(
            path: database.path, access: .readWrite, executor: DiskExecutor(label: "other"), busyMilliseconds: 0)
        let error = storageError {
            try other.executor.performAndWait {
                try other.transaction {}
            }
        }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("try again") == true)
    }

    @Test func `a reader cannot write`() throws {
        let database = try TemporaryDatabase()
        let reader = try SQLiteConnection(
            path: database.path, access: .readOnly, executor: DiskExecutor(label: "reader"))
        let error = storageError {
            try reader.executor.performAndWait {
                try reader.execute("DELETE FROM name")
            }
        }
        #expect(error?.code == .readOnly)
    }

    @Test func `a path that cannot be opened is named`() throws {
        let error = storageError {
            _ = try SQLiteConnection(
                path: "/nowhere/at/all/headroom.db", access: .readWrite, executor: DiskExecutor(label: "test"))
        }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains("/nowhere/at/all/headroom.db") == true)
    }

    @Test func `damage in the middle of the file is found at the start`() throws {
        let directory = TemporaryDirectory()
        do {
            let database = try TemporaryDatabase(in: directory)
            try database.execute(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO name (kind, text) SELECT 0, 'tenant-' || i FROM n
                """)
        }
        let path = directory.file("headroom.db")
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size / 2)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 8_192))
        try file.close()
        let error = storageError {
            _ = try Database(path: path, use: .service, coding: .unused, time: TimeSource { start })
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("restore it from a backup") == true)
    }

    @Test func `the counter moves when another connection commits, and not for one's own commits`() throws {
        let database = try TemporaryDatabase()
        let other = try TemporaryDatabase(in: database.directory)
        let first = try database.number("PRAGMA data_version")
        try database.execute("INSERT INTO name (kind, text) VALUES (0, 'own')")
        #expect(try database.number("PRAGMA data_version") == first)
        try other.execute("INSERT INTO name (kind, text) VALUES (0, 'other')")
        #expect(try database.number("PRAGMA data_version") != first)
    }
}
