import Glibc
import HeadroomModel

/// Brings a database's schema to that of this program, and refuses one that it does not know.
package struct Migrator {
    /// A row of `schema_migration`: a migration that has been applied.
    struct Applied {
        let number: Int64
        let fileName: String
        let checksum: String
    }

    private let connection: SQLiteConnection
    private let migrations: [Migration]

    /// `migrations` ascend by number.
    package init(connection: SQLiteConnection, migrations: [Migration] = Migration.all) {
        self.connection = connection
        self.migrations = migrations
    }

    /// Applies what is missing, one transaction each, and returns the names of the files applied. On an error those
    /// before the one that failed stay applied.
    package func migrate(at now: Timestamp) throws(StorageError) -> [String] {
        try refuseForeignDatabase()
        try Migrator.verify(try applied(), migrations: migrations, path: connection.path)
        var names: [String] = []
        for migration in migrations {
            if try apply(migration, at: now) { names.append(migration.fileName) }
        }
        return names
    }

    /// The names of the files that ``migrate(at:)`` would apply.
    package func pending() throws(StorageError) -> [String] {
        try refuseForeignDatabase()
        let applied = try applied()
        try Migrator.verify(applied, migrations: migrations, path: connection.path)
        let numbers = Set(applied.map(\.number))
        return migrations.filter { !numbers.contains($0.number) }.map(\.fileName)
    }

    /// False when another process has applied it since.
    private func apply(_ migration: Migration, at now: Timestamp) throws(StorageError) -> Bool {
        try connection.transaction {
            if try applied().contains(where: { $0.number == migration.number }) { return false }
            if try !hasRecords() { try connection.execute(Migrator.createRecords) }
            try connection.execute(script: migration.sql)
            try connection.statement(Migrator.record)
                .bind(":number", migration.number)
                .bind(":file_name", migration.fileName)
                .bind(":checksum", migration.checksum)
                .bind(":applied_at_ms", now.milliseconds)
                .run()
            return true
        }
    }

    /// Every migration that was applied must be here, unchanged.
    static func verify(_ applied: [Applied], migrations: [Migration], path: String) throws(StorageError) {
        let newest = migrations.last?.number ?? 0
        for known in applied {
            guard let migration = migrations.first(where: { $0.number == known.number }) else {
                if known.number > newest {
                    throw StorageError(
                        code: .newerSchema,
                        message: "\(path): a newer Headroom has written this database (migration "
                            + "\(known.fileName)); run that version, or one that is newer still")
                }
                throw StorageError(
                    code: .migrationMissing,
                    message: "\(path): migration \(known.fileName) has been applied, but this program "
                        + "does not have it; run the build that the database was made with")
            }
            guard migration.checksum == known.checksum, migration.fileName == known.fileName else {
                throw StorageError(
                    code: .migrationEdited,
                    message: "\(path): migration \(known.fileName) was edited after it had been applied "
                        + "(SHA-256 \(known.checksum.prefix(12))… then, \(migration.checksum.prefix(12))… now in "
                        + "\(migration.fileName)); restore the file and put the change into a new migration")
            }
        }
    }

    /// What migrations write into the file's header: the first one "HdRm", the one that follows 0016 "Hdrm". A start that
    /// was killed between the two leaves the first.
    private static let applicationIDs: Set<Int64> = [1_214_534_253, 1_214_542_445]

    /// Refuses another program's database at `path` before a byte of it, or a file beside it, is written.
    ///
    /// Looks at the file without its log: what else is wrong, and what only the log shows, is found when it is opened.
    static func refuseForeignFile(_ path: String) throws(StorageError) {
        guard unsafe access(path, F_OK) == 0 else { return }
        do throws(StorageError) {
            let connection = try SQLiteConnection(
                path: path, access: .inspection, executor: DiskExecutor(label: "headroom.inspection"))
            try connection.executor.performAndWait {
                try Migrator(connection: connection).refuseForeignDatabase()
            }
        } catch {
            if error.code == .notHeadroom || error.code == .notADatabase { throw error }
        }
    }

    /// A database with another program's mark, or with tables but without records of migrations, is not Headroom's.
    private func refuseForeignDatabase() throws(StorageError) {
        let mark = try connection.statement("PRAGMA application_id").first { $0.integer(0) } ?? 0
        if Migrator.applicationIDs.contains(mark) { return }
        if mark == 0, try hasRecords() { return }
        let tables = try connection.statement("SELECT count(*) FROM sqlite_schema").first { $0.integer(0) } ?? 0
        if mark != 0 || tables > 0 {
            throw StorageError(
                code: .notHeadroom,
                message: "\(connection.path): this is another program's database (\(tables) tables and indexes, "
                    + "none of them Headroom's); name another file")
        }
    }

    private func hasRecords() throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'")
            .first { _ in true } ?? false
    }

    private func applied() throws(StorageError) -> [Applied] {
        guard try hasRecords() else { return [] }
        var applied: [Applied] = []
        try connection.statement("SELECT number, file_name, checksum FROM schema_migration ORDER BY number")
            .forEachRow { row in
                applied.append(Applied(number: row.integer(0), fileName: row.text(1), checksum: row.text(2)))
            }
        return applied
    }

    private static let createRecords: StaticString = """
        CREATE TABLE schema_migration (
            number INTEGER PRIMARY KEY,
            file_name TEXT NOT NULL,
            checksum TEXT NOT NULL,
            applied_at_ms INTEGER NOT NULL
        ) STRICT
        """

    static let record: StaticString = """
        INSERT INTO schema_migration (number, file_name, checksum, applied_at_ms)
        VALUES (:number, :file_name, :checksum, :applied_at_ms)
        """
}

extension SQLiteConnection {
    /// Brings the schema to that of this program; returns the names of the migrations applied.
    package func migrate(at now: Timestamp) throws(StorageError) -> [String] {
        try Migrator(connection: self).migrate(at: now)
    }
}
