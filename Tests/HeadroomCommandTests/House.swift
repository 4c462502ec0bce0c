import HeadroomModel
import HeadroomStorage

/// What a service needs: a directory with policies and a database.
struct House: Sendable {
    let directory = TemporaryDirectory()

    var database: String { directory.file("headroom.sqlite") }
    var policies: String { directory.file("policies") }
    var options: [String] { ["--database", database, "--policies", policies] }

    /// The pool that there is.
    static let pool = "test:model"

    init() throws {
        try writeRules()
        try directory.write(
            #"{ pool: "\#(House.pool)", provider: "openai", nominal: { rpm: 600, tpm: 600000 } }"#,
            to: "policies/pools/test.json5")
    }

    /// A loop that turns ten times a second, and learns for no longer than it takes.
    func writeRules(name: String = "test", _ more: String = "") throws {
        try directory.write(
            #"{ name: "\#(name)", loop: { period_seconds: 0.1, learning_seconds: 0 }, \#(more) }"#,
            to: "policies/rules.json5")
    }

    /// Every line of telemetry that is stored, while a service runs or after it.
    func storedRecords() async throws -> [TelemetryRecord] {
        try await TelemetryReader(path: database).page(after: .start, limit: 1_000_000).records
    }

    /// Changes the database as no Headroom would.
    func tamper(_ sql: StaticString) throws {
        let executor = DiskExecutor(label: "tamper")
        let connection = try SQLiteConnection(path: database, access: .readWrite, executor: executor)
        try executor.performAndWait { try connection.execute(sql) }
    }
}

extension TelemetryReader {
    /// Opens `path`, which must have been migrated.
    init(path: String) throws(StorageError) {
        try self.init(
            connection: SQLConnection(path: path, access: .readOnly, executor: DiskExecutor(label: "test.reader")))
    }
}
