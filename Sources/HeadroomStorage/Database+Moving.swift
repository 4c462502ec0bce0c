import HeadroomModel

extension Database {
    /// Copies a database file to a server's empty database: everything but raw telemetry and its line ids, so that a service goes
    /// on there with what people said, contracts, sums, the ledger and the audit log. No service may have the file open.
    /// - Returns: how many rows each table has, of those that have any.
    package static func copy(
        _ file: String, to server: String, at now: Timestamp
    ) throws(StorageError) -> [(table: String, rows: Int64)] {
        guard isServer(server) else {
            throw StorageError(
                code: .cannotOpen, message: "\(server): is no server's URL, as postgres://user@host/name is")
        }
        #if PostgreSQL
            return try PostgreSQLDatabase.fill(server, from: file, at: now)
        #else
            throw StorageError.withoutServers(server)
        #endif
    }
}

extension StorageError {
    /// Of a build without the trait.
    static func withoutServers(_ url: String) -> StorageError {
        StorageError(
            code: .cannotOpen,
            message: "\(Database.withoutPassword(url)): this program was built without PostgreSQL: build it with "
                + "\"swift build -c release --traits PostgreSQL\", or name a file")
    }
}
