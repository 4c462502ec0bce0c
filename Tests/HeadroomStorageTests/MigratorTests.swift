import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct MigratorTests {
    private static let first = Migration(fileName: "0001_create_a.sql", sql: Array("CREATE TABLE a (x);".utf8))
    private static let second = Migration(
        fileName: "0002_create_b.sql", sql: Array("CREATE TABLE b (x); INSERT INTO a VALUES (1);".utf8))

    private let directory = TemporaryDirectory()

    private func migrate(_ migrations: [Migration]) throws -> [String] {
        let connection = try SQLiteConnection(
            path: directory.file("test.db"), access: .readWrite, executor: DiskExecutor(label: "test"))
        return try connection.executor.performAndWait {
            try Migrator(connection: connection, migrations: migrations).migrate(at: start)
        }
    }

    @Test func `the files in migrations are the ones built in, in their order`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../migrations")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == Migration.all.map(\.fileName))
        #expect(Migration.all.map(\.number) == (1...Int64(files.count)).map { $0 })
        for migration in Migration.all {
            let text = try Data(contentsOf: folder.appending(path: migration.fileName))
            #expect(Array(text) == migration.sql, "\(migration.fileName)")
        }
    }

    @Test func `each migration is applied once, in order`() throws {
        #expect(try migrate([Self.first]) == ["0001_create_a.sql"])
        #expect(try migrate([Self.first, Self.second]) == ["0002_create_b.sql"])
        #expect(try migrate([Self.first, Self.second]) == [])
    }

    @Test func `a migration that fails leaves nothing behind, and those before it stay`() throws {
        let broken = Migration(
            fileName: "0002_create_b.sql", sql: Array("CREATE TABLE b (x); INSERT INTO nowhere VALUES (1);".utf8))
        let error = storageError { _ = try migrate([Self.first, broken]) }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("no such table: nowhere") == true)
        #expect(try migrate([Self.first, Self.second]) == ["0002_create_b.sql"])
    }

    @Test func `an edited, a missing and a newer migration stop the start, each with its file's name`() throws {
        _ = try migrate([Self.first, Self.second])
        let edited = Migration(fileName: "0001_create_a.sql", sql: Array("CREATE TABLE a (x, y);".utf8))
        let cases: [([Migration], StorageError.Code, String)] = [
            ([edited, Self.second], .migrationEdited, "0001_create_a.sql"),
            ([Self.second], .migrationMissing, "0001_create_a.sql"),
            ([Self.first], .newerSchema, "0002_create_b.sql"),
        ]
        for (migrations, code, file) in cases {
            let error = storageError { _ = try migrate(migrations) }
            #expect(error?.code == code)
            #expect(error?.message.contains(file) == true)
            #expect(error?.message.contains("test.db") == true)
        }
    }

    @Test func `another program's database is refused and left as it is`() throws {
        let path = directory.file("test.db")
        do {
            let connection = try SQLiteConnection(
                path: path, access: .readWrite, executor: DiskExecutor(label: "test"))
            try connection.executor.performAndWait {
                try connection.execute("CREATE TABLE customer (name TEXT)")
            }
        }
        #expect(storageError { _ = try migrate(Migration.all) }?.code == .notHeadroom)
    }

    @Test func `a file that is no database is refused and left as it is`() throws {
        let text = Data(String(repeating: "This is a letter to my grandmother.\n", count: 300).utf8)
        try text.write(to: URL(filePath: directory.file("test.db")))
        let error = storageError { _ = try migrate(Migration.all) }
        #expect(error?.code == .notADatabase)
        #expect(try Data(contentsOf: URL(filePath: directory.file("test.db"))) == text)
    }
}
