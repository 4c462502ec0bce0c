import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

extension SnapshotStore.Coding {
    /// For tests that store no snapshot.
    static let unused = SnapshotStore.Coding(
        encode: { _ in preconditionFailure("no snapshot expected") },
        decode: { _ in preconditionFailure("no snapshot expected") })
}

@Suite(.enabled(if: TestEngine.isSQLite, "of files")) struct DatabaseTests {
    private let directory = TemporaryDirectory()

    private func open(_ use: Database.Use) throws -> Database {
        try Database(path: directory.file("headroom.db"), use: use, coding: .unused, time: TimeSource { start })
    }

    @Test func `a second service on the same file is refused, a command is not, and the end of the first frees it`()
        throws
    {
        do {
            let service = try open(.service)
            let error = storageError { _ = try open(.service) }
            #expect(error?.code == .instanceRunning)
            #expect(error?.message.contains(service.path) == true)
            _ = try open(.command)
        }
        _ = try open(.service)
    }

    @Test(arguments: [
        ("postgres://ops:secret@db/headroom", "postgres://ops@db/headroom"),
        ("postgresql://ops:a:b@c@db:5432/x?sslmode=require", "postgresql://ops@db:5432/x?sslmode=require"),
        ("postgres:///x?host=/run&user=ops", "postgres:///x?host=/run&user=ops"),
        ("dir/a:b@c.sqlite", "dir/a:b@c.sqlite"),
    ])
    func `of a server's URL the password is told to nobody`(url: String, shown: String) {
        #expect(Database.withoutPassword(url) == shown)
    }

    @Test func `a server is no file that could be copied, and a build without it says how to get one`() async {
        let url = "postgres://ops:secret@db/headroom"
        let copied = await #expect(throws: StorageError.self) {
            try await DatabaseBackup.make(of: url, to: directory.file("copy"), at: start)
        }
        #expect(copied?.message.contains("pg_dump") == true && copied?.message.contains("secret") == false)
        #if !PostgreSQL
            let error = storageError {
                _ = try Database(path: url, use: .command, coding: .unused, time: TimeSource { start })
            }
            #expect(
                error?.message.contains("--traits PostgreSQL") == true && error?.message.contains("secret") == false)
        #endif
    }

    @Test
    func `a second service is refused by whatever name it comes, also when files beside the database were removed`()
        throws
    {
        let service = try open(.service)
        let files = FileManager.default
        let link = directory.file("link.db")
        try files.createSymbolicLink(atPath: link, withDestinationPath: service.path)
        let hardLink = directory.file("hard.db")
        try files.linkItem(atPath: service.path, toPath: hardLink)
        for name in try files.contentsOfDirectory(atPath: directory.path) where name.hasSuffix(".lock") {
            try files.removeItem(atPath: directory.file(name))
        }
        for path in [link, hardLink, service.path] {
            let error = storageError {
                _ = try Database(path: path, use: .service, coding: .unused, time: TimeSource { start })
            }
            #expect(error?.code == .instanceRunning, "\(path)")
        }
    }

    @Test func `only the owner may read the database and what lies beside it`() async throws {
        let path = directory.file("headroom.db")
        for use in [Database.Use.command, .service] {
            do {
                let database = try open(use)
                _ = try await database.telemetry.append(batch([call()]))
                for suffix in ["", "-wal", "-shm"] {
                    let permissions = try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions]
                    #expect(permissions as? Int == 0o600, "\(use) \(suffix)")
                }
            }
            // As an earlier version left it.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
    }

    @Test func `after a clean end the log is empty and the file alone is whole`() async throws {
        let database = try open(.service)
        _ = try await database.telemetry.append(batch([call("a"), call("b")]))
        try database.finish()
        let log = try FileManager.default.attributesOfItem(atPath: database.path + "-wal")
        #expect(log[.size] as? Int == 0)
        let copy = TemporaryDirectory()
        try FileManager.default.copyItem(atPath: database.path, toPath: copy.file("headroom.db"))
        let reader = try TelemetryReader(path: copy.file("headroom.db"))
        #expect(try await reader.page(after: .start, limit: 10).records.count == 2)
    }

    @Test func `files that are removed or replaced under a service are noticed, each by its name`() async throws {
        let database = try open(.service)
        _ = try await database.telemetry.append(batch([call()]))
        #expect(database.fileFault == nil)
        let files = FileManager.default
        for suffix in ["", "-wal", "-shm"] {
            try files.moveItem(atPath: database.path + suffix, toPath: directory.file("away"))
            #expect(database.fileFault?.contains("headroom.db\(suffix): removed or replaced") == true, "\(suffix)")
            try Data().write(to: URL(fileURLWithPath: database.path + suffix))
            #expect(database.fileFault?.contains("headroom.db\(suffix): removed or replaced") == true, "\(suffix)")
            try files.removeItem(atPath: database.path + suffix)
            try files.moveItem(atPath: directory.file("away"), toPath: database.path + suffix)
            #expect(database.fileFault == nil, "\(suffix)")
        }
    }

    @Test(arguments: ["DELETE", "WAL"], [Database.Use.command, .service])
    func `another program's database stays as it is, to the byte`(journal: String, use: Database.Use) throws {
        let path = directory.file("headroom.db")
        do {
            let other = try SQLiteConnection(path: path, access: .readWrite, executor: DiskExecutor(label: "other"))
            try other.executor.performAndWait {
                try other.execute("CREATE TABLE recipe (id INTEGER PRIMARY KEY)")
                try other.truncateLog()
                if journal == "DELETE" { try other.execute("PRAGMA journal_mode = DELETE") }
            }
        }
        func contents() throws -> [String: Data] {
            var contents: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                contents[name] = try Data(contentsOf: URL(fileURLWithPath: directory.file(name)))
            }
            return contents
        }
        let before = try contents()
        #expect(before.count == 1)
        #expect(storageError { _ = try open(use) }?.code == .notHeadroom)
        #expect(try contents() == before)
    }

    @Test func `a file with another program's mark is refused, whatever tables it has`() throws {
        do { _ = try open(.command) }
        let connection = try SQLiteConnection(
            path: directory.file("headroom.db"), access: .readWrite, executor: DiskExecutor(label: "other"))
        try connection.executor.performAndWait {
            try connection.execute("PRAGMA application_id = 7")
            try connection.truncateLog()
        }
        #expect(storageError { _ = try open(.service) }?.code == .notHeadroom)
    }

    @Test
    func `while another program keeps the write lock, all who write are answered after one wait, and readers go on`()
        async throws
    {
        let database = try open(.service)
        let desk = database.steering
        _ = try await database.telemetry.append(batch([call()]))
        let other = try SQLiteConnection(
            path: database.path, access: .readWrite, executor: DiskExecutor(label: "other"))
        try other.executor.performAndWait { try other.execute("BEGIN IMMEDIATE") }
        let began = ContinuousClock.now
        for _ in 0..<20 {
            let refused = await #expect(throws: TelemetryError.self) {
                _ = try await database.telemetry.append(batch([call()]))
            }
            #expect(refused?.code == .unavailable)
            let pin = CapacityPin(
                pool: "a", capacity: Rates(rpm: 1),
                authorship: Authorship(author: "o", reason: "r", at: start, until: start.adding(seconds: 60)))
            let act = await #expect(throws: SteeringError.self) { try await desk.pin(pin) }
            #expect(act?.code == .unavailable)
            #expect(try await desk.steering() == .none)
            #expect(try await database.telemetryReader.page(after: .start, limit: 10).records.count == 1)
        }
        // One wait is a second, and forty would be forty; the rest is for a machine that is busy with other tests.
        #expect(began.duration(to: .now) < .seconds(20))
        try other.executor.performAndWait { try other.execute("ROLLBACK") }
        #expect(try await database.telemetry.append(batch([call()])).accepted == 1)
    }

    @Test func `a start waits for a program that writes, says so once, and a service that serves does not`()
        async throws
    {
        _ = try open(.service)
        let path = directory.file("headroom.db")
        let other = try SQLiteConnection(path: path, access: .readWrite, executor: DiskExecutor(label: "other"))
        try other.executor.performAndWait { try other.execute("BEGIN IMMEDIATE") }
        // Without anybody who is told, it is as for a service that serves.
        #expect(storageError { _ = try open(.service) }?.code == .busy)
        var sentences: [String] = []
        let database = try Database(
            path: path, use: .service, coding: .unused, time: TimeSource { start },
            onLock: { sentence in
                sentences.append(sentence)
                // It ends while the start waits.
                Thread.detachNewThread {
                    try? other.executor.performAndWait { try other.execute("ROLLBACK") }
                }
            })
        #expect(sentences == ["\(path): another program writes; the start waits for it, 30 seconds at most"])
        try await database.clockMark.trust(start)
        try database.beginServing()
        try other.executor.performAndWait { try other.execute("BEGIN IMMEDIATE") }
        let began = ContinuousClock.now
        let refused = await #expect(throws: StorageError.self) { try await database.clockMark.trust(start) }
        #expect(refused?.code == .busy)
        #expect(began.duration(to: .now) < .seconds(20))
        try other.executor.performAndWait { try other.execute("ROLLBACK") }
    }

    @Test func `what a person sets holds at once, by the one clock of the process`() async throws {
        // The time that the start took is not lost to the stores.
        let now = start.adding(seconds: 3)
        let database = try Database(
            path: directory.file("headroom.db"), use: .service, coding: .unused, time: TimeSource { now })
        let pin = CapacityPin(
            pool: "a", capacity: Rates(rpm: 1),
            authorship: Authorship(author: "o", reason: "r", at: now, until: now.adding(seconds: 60)))
        try await database.steering.pin(pin)
        #expect(try await database.steering.steering().pins == [pin])
    }

    @Test func `the clock is compared with the last that was believed, also after rows of a wrong one`() async throws {
        let wrong = start.adding(seconds: 400 * 86_400)
        do {
            let database = try open(.service)
            #expect(try await database.clockMark.seconds(until: start) == nil)
            try await database.clockMark.trust(start)
        }
        let database = try Database(
            path: directory.file("headroom.db"), use: .service, coding: .unused, time: TimeSource { wrong })
        _ = try await database.telemetry.append(batch([call(at: wrong)], received: wrong))
        #expect(try await database.clockMark.seconds(until: wrong) == 400 * 86_400)
        try await database.clockMark.trust(wrong)
        #expect(try await database.clockMark.seconds(until: wrong) == 0)
        // A clock that has gone back makes nothing too old.
        try await database.clockMark.trust(start)
        #expect(try await database.clockMark.seconds(until: start) == -400 * 86_400)
    }

    @Test func `opening again applies nothing and keeps what was stored`() async throws {
        do {
            let database = try open(.service)
            #expect(database.applied == Migration.all.map(\.fileName))
            _ = try await database.telemetry.append(batch([call("a")]))
        }
        let database = try open(.service)
        #expect(database.applied == [])
        #expect(try await database.telemetryReader.page(after: .start, limit: 10).records.count == 1)
    }

    @Test func `after any kill, what was acknowledged is there`() async throws {
        let database = try open(.service)
        for number in 0..<50 {
            _ = try await database.telemetry.append(batch([call("id-\(number)", tokens: Int64(number))]))
            // What a kill leaves behind at this moment: the file and its log, without the shared memory.
            let copy = TemporaryDirectory()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(
                    atPath: database.path + suffix, toPath: copy.file("headroom.db") + suffix)
            }
            let revived = try Database(
                path: copy.file("headroom.db"), use: .service, coding: .unused, time: TimeSource { start })
            let records = try await revived.telemetryReader.page(after: .start, limit: 100).records
            #expect(records.count == number + 1)
        }
    }

    @Test func `the log stays bounded while commits go on without a pause, and nothing is lost by it`() async throws {
        let database = try TemporaryDatabase(in: directory)
        try SQLiteCheckpointer(writer: #require(database.writer.sqlite), pagesPerCheckpoint: 20, maxPages: 100)
        let store = try database.telemetry()
        func logSize() throws -> Int {
            let log = try FileManager.default.attributesOfItem(atPath: database.path + "-wal")
            return log[.size] as? Int ?? 0
        }
        // The migrations' pages. Commits are written behind them until the first checkpoint, then from the file's begin.
        let atStart = try logSize()
        var most = 0
        for round in 0..<200 {
            let lines = (0..<50).map { call(String(1_000_000 + round * 50 + $0)) }
            _ = try await store.append(batch(lines))
            most = max(most, try logSize())
        }
        // Without checkpoints 200 commits write some 2,500 pages.
        #expect(most <= atStart + 100 * 4_120)
        #expect(try await database.telemetryRecords().count == 10_000)
    }
}
