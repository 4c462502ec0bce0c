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

@Suite struct DatabaseTests {
    private let directory = TemporaryDirectory()

    private func open(_ use: Database.Use) throws -> Database {
        try Database(path: directory.file("headroom.db"), use: use, coding: .unused, now: start)
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
            let revived = try Database(path: copy.file("headroom.db"), use: .service, coding: .unused, now: start)
            let records = try await revived.telemetryReader.page(after: .start, limit: 100).records
            #expect(records.count == number + 1)
        }
    }

    @Test func `the log stays bounded while commits go on without a pause, and nothing is lost by it`() async throws {
        let database = try TemporaryDatabase(in: directory)
        try SQLiteCheckpointer(writer: database.writer, pagesPerCheckpoint: 20, maxPages: 100)
        let store = try database.telemetry()
        var most = 0
        for round in 0..<200 {
            let lines = (0..<50).map { call(String(1_000_000 + round * 50 + $0)) }
            _ = try await store.append(batch(lines))
            let log = try FileManager.default.attributesOfItem(atPath: database.path + "-wal")
            most = max(most, log[.size] as? Int ?? 0)
        }
        // Without checkpoints 200 commits write some 2,500 pages.
        #expect(most < 150 * 4_120)
        #expect(try await database.telemetryRecords().count == 10_000)
    }
}
