import HeadroomModel
import HeadroomWire

/// Telemetry out: numbered batches, each resent until it is answered.
extension DemoGateway {
    /// Lending gateways report within a second or so (Model §5.8).
    private static let periodSeconds = 0.5
    /// Queues are reported once a second.
    private static let periodsAQueueReport = 2
    private static let maxTriesAtEnd = 20

    func keepReporting() async {
        var period = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(DemoGateway.periodSeconds))
            period += 1
            if period % DemoGateway.periodsAQueueReport == 0 {
                for queue in gate.queues(at: time.now()) { spool.append(.queue(queue), id: nextLineID()) }
            }
            await sendOnce()
        }
    }

    /// After the last call: until all is answered, or the service will not have it.
    func reportRest() async {
        for _ in 0..<DemoGateway.maxTriesAtEnd {
            if await sendOnce() { return }
            try? await Task.sleep(for: .seconds(DemoGateway.periodSeconds))
        }
    }

    /// False when a batch must be sent again.
    @discardableResult
    private func sendOnce() async -> Bool {
        while let batch = spool.next() {
            guard let answer = await links.report(batch, at: time.now()) else { return false }
            spool.settle(batch, answer.receipt)
            for (pool, clocks) in answer.serviceClocks where pool == gate.pool {
                gate.update(serviceClocks: clocks, at: time.now())
            }
        }
        return true
    }
}

/// Lines of telemetry that no answer has been seen for, oldest first. A run's length bounds it.
struct DemoSpool: Sendable {
    struct Batch: Sendable {
        /// Ascending per gateway.
        let number: Int
        let bytes: [UInt8]
        let lines: Int
    }

    /// Lines so far, by kind.
    private(set) var counts: [TelemetryKind: Int] = [:]
    /// Lines that the service refused, which it should not.
    private(set) var rejected: [TelemetryReceipt.Fault] = []
    private var encoder = TelemetryEncoder()
    /// Sealed, so that it is resent byte for byte under its number.
    private var pending: Batch?
    private var batches = 0

    var appended: Int { counts.values.reduce(0, +) }

    mutating func append(
        _ record: TelemetryRecord, id: String? = nil, headers: [(name: String, value: String)] = [],
        body: String? = nil
    ) {
        counts[record.kind, default: 0] += 1
        encoder.append(record, id: id, headers: headers, body: body)
    }

    /// The batch that is due; `nil` when there is nothing to send.
    mutating func next() -> Batch? {
        if let pending { return pending }
        guard encoder.lines > 0 else { return nil }
        batches += 1
        pending = Batch(number: batches, bytes: encoder.bytes, lines: encoder.lines)
        encoder.removeAll(keepingCapacity: true)
        return pending
    }

    /// The service has answered for `batch`. Lines that it refused would be refused again: the summary counts them.
    mutating func settle(_ batch: Batch, _ receipt: TelemetryReceipt) {
        guard pending?.number == batch.number else { return }
        pending = nil
        rejected += receipt.rejected
    }
}
