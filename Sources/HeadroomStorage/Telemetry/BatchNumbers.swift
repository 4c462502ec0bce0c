import HeadroomModel

/// Which numbered batches of each gateway have been stored. Every call is made inside a transaction.
struct BatchNumbers {
    /// The standing of a batch that comes in.
    enum Standing: Equatable {
        case new
        /// It was stored, and answered like this.
        case answered(TelemetryReceipt)
        /// A batch of that number was stored, with other content.
        case conflict
        /// It was stored; the answer is not kept any more.
        case stored
        /// It lies so far back that it is not known whether it was stored.
        case forgotten
    }

    /// Gaps remembered for each gateway. Numbers that ascend with gaps on purpose (a clock, say) cost a row each.
    static let maxGaps: Int64 = 1_024
    /// Answers remembered for each gateway: more than one has in flight.
    static let maxReceipts: Int64 = 64
    /// A receipt with more faults than this is not kept.
    static let maxFaults = 1_000

    private let connection: SQLConnection

    init(connection: SQLConnection) {
        self.connection = connection
    }

    /// - Parameter content: its SHA-256; of batches whose answer is remembered, it is compared.
    func standing(of number: Int64, gateway: Int64, content: [UInt8]?) throws(StorageError) -> Standing {
        guard let progress = try progress(of: gateway), number <= progress.highest else { return .new }
        if try gap(around: number, gateway: gateway) != nil { return .new }
        if let known = try receipt(number, gateway: gateway) {
            if let content, let stored = known.content, content != stored { return .conflict }
            return .answered(known.receipt)
        }
        return number <= progress.forgotten ? .forgotten : .stored
    }

    /// Enters a batch whose standing is `new`, with the answer to it.
    func remember(
        _ number: Int64, gateway: Int64, receipt: TelemetryReceipt, content: [UInt8]?
    ) throws(StorageError) {
        let progress = try progress(of: gateway)
        let highest = progress?.highest ?? -1
        if number > highest {
            if number > highest + 1 { try addGap(highest + 1...number - 1, gateway: gateway) }
            let forgotten = try forgetOldGap(gateway: gateway) ?? progress?.forgotten ?? -1
            try connection.statement(BatchNumbers.setProgress)
                .bind(":gateway_id", gateway).bind(":highest", number).bind(":forgotten", forgotten).run()
        } else if let gap = try gap(around: number, gateway: gateway) {
            try connection.statement("DELETE FROM batch_gap WHERE gateway_id = :gateway_id AND first = :first")
                .bind(":gateway_id", gateway).bind(":first", gap.lowerBound).run()
            if gap.lowerBound < number { try addGap(gap.lowerBound...number - 1, gateway: gateway) }
            if number < gap.upperBound { try addGap(number + 1...gap.upperBound, gateway: gateway) }
        }
        try keep(receipt, number: number, gateway: gateway, content: content)
    }

    private func progress(of gateway: Int64) throws(StorageError) -> (highest: Int64, forgotten: Int64)? {
        try connection.statement("SELECT highest, forgotten FROM batch_progress WHERE gateway_id = :gateway_id")
            .bind(":gateway_id", gateway).first { ($0.integer(0), $0.integer(1)) }
    }

    private func gap(around number: Int64, gateway: Int64) throws(StorageError) -> ClosedRange<Int64>? {
        let below = try connection.statement(BatchNumbers.gapBelow)
            .bind(":gateway_id", gateway).bind(":number", number).first { $0.integer(0)...$0.integer(1) }
        return below.flatMap { $0.contains(number) ? $0 : nil }
    }

    private func addGap(_ gap: ClosedRange<Int64>, gateway: Int64) throws(StorageError) {
        try connection.statement(BatchNumbers.insertGap)
            .bind(":gateway_id", gateway).bind(":first", gap.lowerBound).bind(":last", gap.upperBound).run()
    }

    /// Drops the lowest gap when there are too many, and returns up to where nothing is known then.
    private func forgetOldGap(gateway: Int64) throws(StorageError) -> Int64? {
        let count =
            try connection.statement("SELECT count(*) FROM batch_gap WHERE gateway_id = :gateway_id")
            .bind(":gateway_id", gateway).first { $0.integer(0) } ?? 0
        guard count > BatchNumbers.maxGaps else { return nil }
        let lowest = try connection.statement(BatchNumbers.lowestGap)
            .bind(":gateway_id", gateway).first { $0.integer(0)...$0.integer(1) }
        guard let lowest else { return nil }
        try connection.statement("DELETE FROM batch_gap WHERE gateway_id = :gateway_id AND first = :first")
            .bind(":gateway_id", gateway).bind(":first", lowest.lowerBound).run()
        return lowest.upperBound
    }

    private func receipt(
        _ number: Int64, gateway: Int64
    ) throws(StorageError) -> (receipt: TelemetryReceipt, content: [UInt8]?)? {
        let found: (receipt: TelemetryReceipt, content: [UInt8]?)? =
            try connection.statement(BatchNumbers.findReceipt)
            .bind(":gateway_id", gateway).bind(":number", number)
            .first { row in
                let receipt = TelemetryReceipt(
                    accepted: Int(row.integer(0)), duplicate: Int(row.integer(1)), late: Int(row.integer(2)),
                    rejected: [])
                return (receipt, row.isNull(3) ? nil : row.bytes(3))
            }
        guard let found else { return nil }
        var receipt = found.receipt
        try connection.statement(BatchNumbers.findFaults)
            .bind(":gateway_id", gateway).bind(":number", number)
            .forEachRow { row in
                receipt.rejected.append(TelemetryReceipt.Fault(line: Int(row.integer(0)), detail: row.text(1)))
            }
        return (receipt, found.content)
    }

    private func keep(
        _ receipt: TelemetryReceipt, number: Int64, gateway: Int64, content: [UInt8]?
    ) throws(StorageError) {
        guard receipt.rejected.count <= BatchNumbers.maxFaults else { return }
        try connection.statement(BatchNumbers.insertReceipt)
            .bind(":gateway_id", gateway).bind(":number", number).bind(":accepted", Int64(receipt.accepted))
            .bind(":duplicate", Int64(receipt.duplicate)).bind(":late", Int64(receipt.late))
            .bind(":content_sha256", content).run()
        for fault in receipt.rejected {
            try connection.statement(BatchNumbers.insertFault)
                .bind(":gateway_id", gateway).bind(":number", number).bind(":line", Int64(fault.line))
                .bind(":detail", fault.detail).run()
        }
        let oldest = try connection.statement(BatchNumbers.oldestKept)
            .bind(":gateway_id", gateway).bind(":kept", BatchNumbers.maxReceipts).first { $0.integer(0) }
        guard let oldest else { return }
        for sql in [BatchNumbers.deleteFaults, BatchNumbers.deleteReceipts] {
            try connection.statement(sql).bind(":gateway_id", gateway).bind(":number", oldest).run()
        }
    }
}

extension BatchNumbers {
    private static let setProgress: StaticString = """
        INSERT INTO batch_progress (gateway_id, highest, forgotten) VALUES (:gateway_id, :highest, :forgotten)
        ON CONFLICT (gateway_id) DO UPDATE SET highest = excluded.highest, forgotten = excluded.forgotten
        """
    private static let gapBelow: StaticString = """
        SELECT first, last FROM batch_gap WHERE gateway_id = :gateway_id AND first <= :number
        ORDER BY first DESC LIMIT 1
        """
    private static let lowestGap: StaticString = """
        SELECT first, last FROM batch_gap WHERE gateway_id = :gateway_id ORDER BY first LIMIT 1
        """
    private static let insertGap: StaticString = """
        INSERT INTO batch_gap (gateway_id, first, last) VALUES (:gateway_id, :first, :last)
        """
    private static let findReceipt: StaticString = """
        SELECT accepted, duplicate, late, content_sha256 FROM batch_receipt
        WHERE gateway_id = :gateway_id AND number = :number
        """
    private static let findFaults: StaticString = """
        SELECT line, detail FROM batch_fault WHERE gateway_id = :gateway_id AND number = :number ORDER BY line
        """
    private static let insertReceipt: StaticString = """
        INSERT INTO batch_receipt (gateway_id, number, accepted, duplicate, late, content_sha256)
        VALUES (:gateway_id, :number, :accepted, :duplicate, :late, :content_sha256)
        """
    /// One fault a line is enough to answer with.
    private static let insertFault: StaticString = """
        INSERT INTO batch_fault (gateway_id, number, line, detail)
        VALUES (:gateway_id, :number, :line, :detail) ON CONFLICT DO NOTHING
        """
    private static let oldestKept: StaticString = """
        SELECT number FROM batch_receipt WHERE gateway_id = :gateway_id ORDER BY number DESC LIMIT 1 OFFSET :kept
        """
    private static let deleteFaults: StaticString = """
        DELETE FROM batch_fault WHERE gateway_id = :gateway_id AND number <= :number
        """
    private static let deleteReceipts: StaticString = """
        DELETE FROM batch_receipt WHERE gateway_id = :gateway_id AND number <= :number
        """
}
