import Foundation
import HeadroomModel
import HeadroomStorage
import Synchronization

/// A directory that goes with the test.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = NSTemporaryDirectory() + "headroom-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }
}

/// What the suite runs on: SQLite, or in a build with the trait `PostgreSQL` the server that `HEADROOM_TEST_POSTGRESQL` names
/// by the directory of its socket. A test of what one engine alone has is enabled for it only.
enum TestEngine {
    private static let server = ProcessInfo.processInfo.environment["HEADROOM_TEST_POSTGRESQL"]

    private static let names = Mutex<Set<String>>([])

    static var isSQLite: Bool { server == nil }

    /// Of the database for the tests of one directory, which is empty at first. A server's goes with the server.
    static func path(in directory: TemporaryDirectory) throws -> String {
        guard let server else { return directory.file("headroom.db") }
        let name = String(directory.path.suffix(36)).lowercased()
        let isNew = names.withLock { $0.insert(name).inserted }
        if isNew { try run("createdb", server, name) }
        return "postgres:///\(name)?host=\(server)&user=postgres"
    }

    private static func run(_ program: String, _ server: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program, "-h", server, "-U", "postgres"] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw StorageError(code: .cannotOpen, message: "\(program) \(arguments) failed")
        }
    }
}

/// A migrated database with one writing connection.
struct TemporaryDatabase: Sendable {
    let directory: TemporaryDirectory
    let writer: SQLConnection
    /// A file, or a URL.
    let path: String

    init(in directory: TemporaryDirectory = TemporaryDirectory()) throws {
        self.directory = directory
        path = try TestEngine.path(in: directory)
        let writer = try SQLConnection(path: path, access: .readWrite, executor: DiskExecutor(label: "test"))
        self.writer = writer
        _ = try writer.executor.performAndWait { try writer.migrate(at: start) }
    }

    func telemetry(_ settings: TelemetrySettings = TelemetrySettings(), now: Timestamp = start) throws -> TelemetryStore
    {
        try TelemetryStore(connection: writer, settings: settings, now: now)
    }

    func auditReader() throws -> AuditReader { AuditReader(connection: try reader()) }

    func records(coding: SnapshotStore.Coding = .unused) throws -> RecordReader {
        try RecordReader(connection: try reader(), coding: coding)
    }

    private func reader() throws -> SQLConnection {
        try SQLConnection(path: path, access: .readOnly, executor: DiskExecutor(label: "test.reader"))
    }

    /// All rows, in the order in which they are read.
    func telemetryRecords() async throws -> [TelemetryRecord] {
        let reader = try TelemetryReader(path: path)
        return try await reader.page(after: .start, limit: 1_000_000).records
    }

    /// The number in the first column of the first row.
    func number(_ sql: StaticString) throws -> Int64 {
        try writer.executor.performAndWait {
            try writer.statement(sql).first { $0.integer(0) } ?? 0
        }
    }

    func execute(_ sql: StaticString) throws {
        try writer.executor.performAndWait { try writer.execute(sql) }
    }
}

/// Where the tests' time begins.
let start = Timestamp(milliseconds: 1_793_000_000_000)

/// The error that `work` throws.
func storageError(_ work: () throws -> Void) -> StorageError? {
    do {
        try work()
        return nil
    } catch {
        return error as? StorageError
    }
}

/// A call with defaults for what a test does not look at.
func call(
    _ id: String? = nil, tenant: TenantID = "acme", gateway: GatewayID = "gw-1", pool: PoolID = "openai:gpt-4o",
    at: Timestamp = start, tokens: Int64 = 100
) -> TelemetryBatch.Line {
    let record = CallRecord(at: at, gateway: gateway, tenant: tenant, pool: pool, outcome: .ok, inputTokens: tokens)
    return TelemetryBatch.Line(number: 1, id: id, record: .call(record))
}

func window(tenant: TenantID = "acme", gateway: GatewayID = "gw-1", at: Timestamp = start) -> TelemetryBatch.Line {
    let record = WindowRecord(
        start: at.adding(seconds: -10), seconds: 10, gateway: gateway, tenant: tenant, pool: "openai:gpt-4o",
        requests: 1, ok: 1)
    return TelemetryBatch.Line(number: 1, record: .window(record))
}

/// A batch of `lines`, numbered from 1.
func batch(
    _ lines: [TelemetryBatch.Line], gateway: GatewayID = "gw-1", number: Int64? = nil, received: Timestamp = start
) -> TelemetryBatch {
    let numbered = lines.enumerated().map { index, line in
        TelemetryBatch.Line(number: index + 1, id: line.id, record: line.record, isLate: line.isLate)
    }
    return TelemetryBatch(gateway: gateway, number: number, received: received, lines: numbered)
}

extension ContractPut {
    /// Empty also where a second person is asked.
    var faults: [Fault] {
        if case .faulty(let faults) = self { faults } else { [] }
    }
}

extension ContractStore {
    func put(_ contract: Contract, at now: Timestamp = start) throws {
        _ = try put(contract, by: "ops", at: now) { _ in [Never]() }
    }
}

extension TelemetryReader {
    /// Opens `path`, which must have been migrated.
    init(path: String) throws(StorageError) {
        try self.init(
            connection: SQLConnection(path: path, access: .readOnly, executor: DiskExecutor(label: "test.reader")))
    }
}
