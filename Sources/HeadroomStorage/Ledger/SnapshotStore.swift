import HeadroomModel

/// The ledger of snapshots in SQLite.
package actor SnapshotStore: SnapshotLedger {
    /// How a snapshot becomes bytes and comes back; the composition root knows the format.
    package struct Coding: Sendable {
        package var encode: @Sendable (Snapshot) throws -> [UInt8]
        package var decode: @Sendable ([UInt8]) throws -> Snapshot

        package init(
            encode: @escaping @Sendable (Snapshot) throws -> [UInt8],
            decode: @escaping @Sendable ([UInt8]) throws -> Snapshot
        ) {
            self.encode = encode
            self.decode = decode
        }
    }

    /// Numbers that a crash skips at most. The block is filled up when half of it is left, while the disk still takes
    /// it: one that is full leaves numbers for 18 hours of nothing but decreases, one every 2 s.
    package static let blockSize: Int64 = 65_536

    private let connection: SQLConnection
    private let coding: Coding
    /// Numbers reserved on the disk and not handed out.
    private var block: Range<Int64> = 0..<0
    private let sent: SentBudgetTable
    private var rememberingSeconds = 0.0

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection, coding: Coding) {
        self.connection = connection
        self.coding = coding
        sent = SentBudgetTable(connection: connection)
    }

    /// The epoch is above every earlier one, and not below the seconds since 1970, so that a restored or standby copy
    /// outranks what it replaces.
    package func begin(at now: Timestamp, rememberingSeconds: Double) throws(StorageError) -> LedgerStart {
        let epoch = try connection.transaction {
            let stored = try connection.statement("SELECT epoch FROM ledger").first { $0.integer(0) } ?? 0
            let epoch = max(stored + 1, now.milliseconds / 1000)
            try connection.statement("UPDATE ledger SET epoch = :epoch").bind(":epoch", epoch).run()
            return epoch
        }
        self.rememberingSeconds = rememberingSeconds
        return LedgerStart(epoch: epoch, last: try last(), budgets: try sent.all())
    }

    package func reserveGeneration() throws(StorageError) -> Int64 {
        if block.count <= SnapshotStore.blockSize / 2 {
            do {
                try fillBlock()
            } catch {
                if block.isEmpty { throw error }
            }
        }
        return block.removeFirst()
    }

    private func fillBlock() throws(StorageError) {
        block = try connection.transaction {
            let first = block.isEmpty ? try reservedGeneration() + 1 : block.lowerBound
            try setReservedGeneration(first + SnapshotStore.blockSize - 1)
            return first..<first + SnapshotStore.blockSize
        }
    }

    package func append(_ publication: Publication) throws(StorageError) {
        let snapshot = publication.whole
        let body: [UInt8]
        do {
            body = try coding.encode(snapshot)
        } catch {
            throw StorageError(code: .misuse, message: "snapshot \(snapshot.version) cannot be encoded: \(error)")
        }
        try connection.transaction {
            try connection.statement(SnapshotStore.insertSnapshot)
                .bind(":generation", snapshot.version.generation)
                .bind(":epoch", snapshot.version.epoch)
                .bind(":issued_at_ms", snapshot.issuedAt.milliseconds)
                .bind(":body_bytes", Int64(body.count))
                .bind(":body", body)
                .run()
            // Twice: a policy may lengthen the lease meanwhile.
            try sent.replace(by: publication, rememberingSeconds: 2 * rememberingSeconds)
        }
    }

    /// Gives back the numbers that were reserved and not handed out.
    package func end() throws(StorageError) {
        guard !block.isEmpty else { return }
        try connection.transaction {
            try setReservedGeneration(block.lowerBound - 1)
        }
        block = 0..<0
    }

    /// The newest snapshot.
    package func last() throws(StorageError) -> Snapshot? {
        let body = try connection.statement("SELECT body FROM snapshot ORDER BY generation DESC LIMIT 1")
            .first { $0.bytes(0) }
        return try body.map(decode)
    }

    /// Those issued at or after `instant`, ascending by generation, at most the newest `limit`.
    package func recent(since instant: Timestamp, limit: Int) throws(StorageError) -> [Snapshot] {
        var bodies: [[UInt8]] = []
        try connection.statement(SnapshotStore.selectRecent)
            .bind(":issued_at_ms", instant.milliseconds).bind(":limit", Int64(limit))
            .forEachRow { bodies.append($0.bytes(0)) }
        return try bodies.reversed().map(decode)
    }

    /// Deletes at most `limit` of the oldest snapshots: those issued before `instant`, and as many more as exceed
    /// `maxBytes` in sum. The newest stays. Returns how many it deleted: call again until that is none.
    package func prune(before instant: Timestamp, maxBytes: Int64, limit: Int = 100) throws(StorageError) -> Int {
        try connection.transaction {
            let total = try connection.statement(SnapshotStore.sumBytes).first { $0.integer(0) } ?? 0
            var excess = total - maxBytes
            var last: Int64?
            try connection.statement(SnapshotStore.selectOldest).bind(":limit", Int64(limit)).forEachRow { row in
                guard row.integer(1) < instant.milliseconds || excess > 0 else { return }
                last = row.integer(0)
                excess -= row.integer(2)
            }
            guard let last else { return 0 }
            try connection.statement("DELETE FROM snapshot WHERE generation <= :last").bind(":last", last).run()
            return connection.changedRows
        }
    }

    private func reservedGeneration() throws(StorageError) -> Int64 {
        try connection.statement("SELECT reserved_generation FROM ledger").first { $0.integer(0) } ?? 0
    }

    private func setReservedGeneration(_ generation: Int64) throws(StorageError) {
        try connection.statement("UPDATE ledger SET reserved_generation = :generation")
            .bind(":generation", generation).run()
    }

    private func decode(_ body: [UInt8]) throws(StorageError) -> Snapshot {
        do {
            return try coding.decode(body)
        } catch {
            throw StorageError(
                code: .corrupt, message: "\(connection.path): a stored snapshot cannot be read: \(error)")
        }
    }

    private static let insertSnapshot: StaticString = """
        INSERT INTO snapshot (generation, epoch, issued_at_ms, body_bytes, body)
        VALUES (:generation, :epoch, :issued_at_ms, :body_bytes, :body)
        """
    private static let selectRecent: StaticString = """
        SELECT body FROM snapshot INDEXED BY snapshot_issued WHERE issued_at_ms >= :issued_at_ms
        ORDER BY generation DESC LIMIT :limit
        """
    private static let sumBytes: StaticString = "SELECT CAST(coalesce(sum(body_bytes), 0) AS BIGINT) FROM snapshot"
    private static let selectOldest: StaticString = """
        SELECT generation, issued_at_ms, body_bytes FROM snapshot
        WHERE generation < (SELECT max(generation) FROM snapshot) ORDER BY generation LIMIT :limit
        """
}
