#if PostgreSQL
    import HeadroomModel

    /// A database of a PostgreSQL server that is open: the connection that writes it, and one for each reader.
    final class PostgreSQLDatabase: Sendable {
        let writer: PostgreSQLConnection
        /// The migrations that opening it applied.
        let applied: [String]
        private let url: String

        private static let serviceBusyMilliseconds: Int32 = 1_000
        private static let commandBusyMilliseconds: Int32 = 5_000

        /// Blocks: call it when starting.
        init(url: String, use: Database.Use, auditKey: AuditKey?, at now: Timestamp) throws(StorageError) {
            self.url = url
            let writer = try PostgreSQLConnection(
                url: url, use: use == .service ? .serving : .writing, executor: DiskExecutor(label: "headroom.writer"),
                busyMilliseconds: use == .service ? Self.serviceBusyMilliseconds : Self.commandBusyMilliseconds)
            writer.auditKey = auditKey
            self.writer = writer
            applied = try writer.executor.performAndWait { try PostgreSQLSchema(writer).migrate(at: now) }
        }

        /// A connection that only reads, with a thread of its own.
        func reader(_ label: String) throws(StorageError) -> PostgreSQLConnection {
            let reader = try PostgreSQLConnection(url: url, use: .reading, executor: DiskExecutor(label: label))
            reader.auditKey = writer.auditKey
            return reader
        }
    }
#endif
