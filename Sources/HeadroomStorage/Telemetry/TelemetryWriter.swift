import HeadroomModel

/// Puts batches into the tables of telemetry. Every call is made inside a transaction, after which ``committed()`` or
/// ``rolledBack()`` tells it what became of that.
final class TelemetryWriter {
    private let settings: TelemetrySettings
    private let names: NameTable
    private let seenLines: SeenLines
    private let batchNumbers: BatchNumbers
    private let arrivals: ArrivalMarks
    private let calls: CallTable
    private let windows: WindowTable
    private let responses: ResponseTable
    private let events: EventTables
    private var kinds = ReportingKinds()
    private var newestMark: Timestamp?
    /// Line ids entered in the present transaction.
    private var remembered = 0

    init(connection: SQLConnection, settings: TelemetrySettings) throws(StorageError) {
        self.settings = settings
        names = try NameTable(connection: connection)
        seenLines = try SeenLines(connection: connection)
        batchNumbers = BatchNumbers(connection: connection)
        arrivals = ArrivalMarks(connection: connection)
        calls = try CallTable(connection: connection)
        windows = try WindowTable(connection: connection)
        responses = try ResponseTable(connection: connection)
        events = try EventTables(connection: connection)
    }

    /// Fails, and writes nothing, when the batch's number has been used for other content.
    func write(_ batch: TelemetryBatch) throws(StorageError) -> Result<TelemetryReceipt, TelemetryError> {
        guard let gateway = batch.gateway, let number = batch.number else { return .success(try store(batch)) }
        let gatewayNumber = try names.id(of: gateway.text, .gateway)
        switch try batchNumbers.standing(of: number, gateway: gatewayNumber, content: batch.contentDigest) {
        case .answered(let receipt):
            return .success(receipt)
        case .conflict:
            return .failure(
                TelemetryError(
                    .conflict,
                    "batch \(number) of gateway \(gateway) was stored before, with other content; nothing of this one "
                        + "was: send it under a new, ascending number"))
        case .stored:
            return .success(
                TelemetryReceipt(accepted: 0, duplicate: batch.lines.count, late: 0, rejected: batch.faults))
        case .forgotten:
            let detail =
                "batch \(number) lies further back than the \(BatchNumbers.maxGaps) newest gaps in this gateway's "
                + "batch numbers; send its lines under a new, ascending number"
            return .success(refusal(of: batch, detail: detail))
        case .new:
            let receipt = try store(batch)
            try batchNumbers.remember(
                number, gateway: gatewayNumber, receipt: receipt, content: batch.contentDigest)
            return .success(receipt)
        }
    }

    /// Once a transaction, before its first batch: notes the arrival, and forgets some of what is past the horizon.
    func begin(at received: Timestamp) throws(StorageError) {
        try names.begin()
        if newestMark == nil { newestMark = try arrivals.newest() }
        if let newestMark, newestMark <= received,
            received.milliseconds - newestMark.milliseconds < ArrivalMarks.spacingMilliseconds
        {
            return
        }
        try arrivals.mark(received)
        newestMark = received
    }

    /// Once a transaction, after its last batch: looks at twice as many line ids as came in, so that the table stays
    /// below twice the horizon's worth, in steps that grow with the transaction only.
    func finish(at received: Timestamp) throws(StorageError) {
        let horizon = received.adding(seconds: -settings.dedupeSeconds)
        try seenLines.sweep(2 * remembered + 100, before: horizon)
    }

    /// What is held of gateways that report call by call or in windows, in bytes.
    var kindsBytes: Int { kinds.memoryBytes }

    func committed() {
        names.keepAdded()
        kinds.keepReplaced()
        remembered = 0
    }

    func rolledBack() {
        names.forgetAdded()
        kinds.restoreReplaced()
        newestMark = nil
        remembered = 0
    }

    /// Enters the pairs of rows that were stored before the start.
    func restoreKinds(
        _ pairs: [(pair: ReportingKinds.Pair, kind: ReportingKinds.Kind, at: Timestamp)]
    ) {
        for (pair, kind, at) in pairs { _ = kinds.claim(pair, by: kind, at: at) }
        kinds.keepReplaced()
    }

    private func store(_ batch: TelemetryBatch) throws(StorageError) -> TelemetryReceipt {
        var receipt = TelemetryReceipt(accepted: 0, duplicate: 0, late: 0, rejected: batch.faults)
        for index in batch.lines.indices {
            if let detail = refusal(of: batch.lines[index], in: batch) {
                receipt.rejected.append(TelemetryReceipt.Fault(line: batch.lines[index].number, detail: detail))
                continue
            }
            switch try store(batch.lines[index], received: batch.received) {
            case .accepted:
                receipt.accepted += 1
                if batch.lines[index].isLate { receipt.late += 1 }
            case .duplicate:
                receipt.duplicate += 1
            case .refused(let detail):
                receipt.rejected.append(TelemetryReceipt.Fault(line: batch.lines[index].number, detail: detail))
            }
        }
        receipt.rejected.sort { $0.line < $1.line }
        return receipt
    }

    private enum Fate {
        case accepted, duplicate
        case refused(String)
    }

    private func store(_ line: TelemetryBatch.Line, received: Timestamp) throws(StorageError) -> Fate {
        switch line.record {
        case .call(let call):
            let numbers = CallTable.Names(
                gateway: try names.id(of: call.gateway.text, .gateway),
                tenant: try names.id(of: call.tenant.text, .tenant),
                pool: try names.id(of: call.pool.text, .pool),
                model: try names.optionalID(of: call.model, .model),
                endpoint: try names.optionalID(of: call.endpoint, .endpoint),
                taskKind: try names.optionalID(of: call.taskKind, .taskKind))
            let pair = ReportingKinds.Pair(gateway: numbers.gateway, tenant: numbers.tenant, pool: numbers.pool)
            if let holder = kinds.claim(pair, by: .calls, at: received) {
                return .refused(conflict(line.record, holder: holder))
            }
            guard try isNew(line, gateway: numbers.gateway, received: received) else { return .duplicate }
            try calls.add(call, numbers)
        case .window(let window):
            let gateway = try names.id(of: window.gateway.text, .gateway)
            let tenant = try names.id(of: window.tenant.text, .tenant)
            let pool = try names.id(of: window.pool.text, .pool)
            let pair = ReportingKinds.Pair(gateway: gateway, tenant: tenant, pool: pool)
            if let holder = kinds.claim(pair, by: .windows, at: received) {
                return .refused(conflict(line.record, holder: holder))
            }
            guard try isNew(line, gateway: gateway, received: received) else { return .duplicate }
            try windows.add(window, gateway: gateway, tenant: tenant, pool: pool)
        case .queue(let queue):
            guard try isNew(line, received: received) else { return .duplicate }
            try events.add(queue, names: names)
        case .response(let response):
            guard try isNew(line, received: received) else { return .duplicate }
            try responses.add(response, names: names)
        case .task(let task):
            guard try isNew(line, received: received) else { return .duplicate }
            try events.add(task, names: names)
        case .model(let model):
            guard try isNew(line, received: received) else { return .duplicate }
            try events.add(model, names: names)
        }
        return .accepted
    }

    private func isNew(_ line: TelemetryBatch.Line, received: Timestamp) throws(StorageError) -> Bool {
        guard line.id != nil, let gateway = line.record.gateway else { return true }
        return try isNew(line, gateway: try names.id(of: gateway.text, .gateway), received: received)
    }

    private func isNew(
        _ line: TelemetryBatch.Line, gateway: Int64, received: Timestamp
    ) throws(StorageError) -> Bool {
        guard let id = line.id else { return true }
        guard try seenLines.remember(id, gateway: gateway, received: received) else { return false }
        remembered += 1
        return true
    }

    /// Why `line` is too old to be taken.
    private func refusal(of line: TelemetryBatch.Line, in batch: TelemetryBatch) -> String? {
        let age = batch.received.seconds(since: line.record.at)
        if age > settings.retentionHours * 3600 {
            return "the line is \(Int(age / 3600)) h old; raw telemetry is kept for "
                + "\(Int(settings.retentionHours)) h, and older lines are not taken"
        }
        if age > settings.dedupeSeconds && batch.number == nil {
            return "the line is \(Int(age)) s old; lines older than \(Int(settings.dedupeSeconds)) s are taken in a "
                + "batch with the header Headroom-Batch only, because their ids are not remembered"
        }
        return nil
    }

    private func refusal(of batch: TelemetryBatch, detail: String) -> TelemetryReceipt {
        let refused = batch.lines.map { TelemetryReceipt.Fault(line: $0.number, detail: detail) }
        let all = (refused + batch.faults).sorted { $0.line < $1.line }
        return TelemetryReceipt(accepted: 0, duplicate: 0, late: 0, rejected: all)
    }

    private func conflict(_ record: TelemetryRecord, holder: ReportingKinds.Kind) -> String {
        "this gateway reports tenant \(record.tenant?.text ?? "") in pool \(record.pool.text) by \(holder.name): "
            + "a tenant in a pool is reported by calls or by windows, not both, "
            + "until \(Int(ReportingKinds.silenceSeconds)) s have passed without the other"
    }
}
