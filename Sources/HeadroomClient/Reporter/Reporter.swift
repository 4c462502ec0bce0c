import HeadroomModel
import HeadroomWire
import Synchronization

/// Telemetry on its way out: lines become numbered batches, and each is sent until it is answered.
///
/// A batch's number makes it safe to send again. Batches that Headroom does not take for want of an answer wait, in memory
/// and then in a ``Spool``; what is beyond both bounds is dropped, oldest first, and counted.
package final class Reporter: Sendable {
    package struct Batch: Sendable {
        /// Ascending, also over restarts.
        package let number: Int64
        package let bytes: [UInt8]
        package let lines: Int
    }

    /// Lines since the start.
    package struct Counts: Equatable, Sendable {
        package var kinds: [TelemetryKind: Int] = [:]
        package var appended: Int { kinds.values.reduce(0, +) }
        /// Headroom has them.
        package var accepted = 0
        /// Headroom will not have them; the reasons are ``Reporter/faults``.
        package var rejected = 0
        /// There was no room for them while Headroom was away.
        package var dropped = 0
    }

    private struct State {
        var encoder = TelemetryEncoder()
        /// Sealed, oldest first.
        var batches: [Batch] = []
        var bytes = 0
        var nextNumber: Int64
        var counts = Counts()
        /// The first ones.
        var faults: [TelemetryReceipt.Fault] = []
    }

    /// One request's worth; Headroom takes 8 MiB.
    private static let batchBytes = 512 << 10
    private static let maxFaults = 100
    private let maxBytes: Int
    private let spool: Spool?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - firstNumber: above all numbers that the gateway has used, so the time of the start in milliseconds.
    ///   - maxBytes: of batches in memory.
    package init(firstNumber: Int64, maxBytes: Int = 32 << 20, spool: Spool? = nil) {
        self.maxBytes = maxBytes
        self.spool = spool
        state = Mutex(State(nextNumber: firstNumber))
    }

    package var counts: Counts { state.withLock { $0.counts } }
    /// Why Headroom refused lines: the first of them. A fault of line 0 is a whole batch's.
    package var faults: [TelemetryReceipt.Fault] { state.withLock { $0.faults } }
    package var waitingBytes: Int { state.withLock { $0.bytes + $0.encoder.bytes.count } }

    package func append(_ record: TelemetryRecord, headers: [(name: String, value: String)] = [], body: String? = nil) {
        state.withLock { state in
            state.encoder.append(record, headers: headers, body: body)
            state.counts.kinds[record.kind, default: 0] += 1
            if state.encoder.bytes.count >= Self.batchBytes { seal(&state) }
        }
    }

    /// The batches that are due, oldest first, until one is not answered. One task calls this.
    /// - Returns: false when the rest has to wait.
    package func sendAll(_ send: (Batch) async -> Delivery) async -> Bool {
        state.withLock { if $0.encoder.lines > 0 { seal(&$0) } }
        while let batch = spool?.oldest() {
            guard note(await send(batch), batch) else {
                moveToSpool()
                return false
            }
            spool?.remove(batch.number)
        }
        while let batch = state.withLock({ $0.batches.first }) {
            guard note(await send(batch), batch) else {
                moveToSpool()
                return false
            }
            state.withLock { state in
                // While it was on its way it may have made room for newer ones.
                guard state.batches.first?.number == batch.number else { return }
                state.batches.removeFirst()
                state.bytes -= batch.bytes.count
            }
        }
        return true
    }

    package enum Delivery: Sendable {
        case answered(TelemetryReceipt)
        /// It would be refused again.
        case refused(String)
        case unanswered
    }

    /// False when the batch has to be sent again.
    private func note(_ delivery: Delivery, _ batch: Batch) -> Bool {
        state.withLock { state in
            switch delivery {
            case .answered(let receipt):
                state.counts.rejected += receipt.rejected.count
                state.counts.accepted += batch.lines - receipt.rejected.count
                state.faults += receipt.rejected.prefix(Self.maxFaults - state.faults.count)
                return true
            case .refused(let reason):
                state.counts.rejected += batch.lines
                if state.faults.count < Self.maxFaults {
                    state.faults.append(TelemetryReceipt.Fault(line: 0, detail: reason))
                }
                return true
            case .unanswered:
                return false
            }
        }
    }

    private func seal(_ state: inout State) {
        let batch = Batch(number: state.nextNumber, bytes: state.encoder.bytes, lines: state.encoder.lines)
        state.nextNumber += 1
        state.batches.append(batch)
        state.bytes += batch.bytes.count
        state.encoder.removeAll(keepingCapacity: true)
        while state.bytes > maxBytes, state.batches.count > 1 {
            let oldest = state.batches.removeFirst()
            state.bytes -= oldest.bytes.count
            state.counts.dropped += oldest.lines
        }
    }

    /// What cannot be sent now survives this process.
    private func moveToSpool() {
        guard let spool else { return }
        let batches = state.withLock { state in
            defer { (state.batches, state.bytes) = ([], 0) }
            return state.batches
        }
        var dropped = 0
        for batch in batches { dropped += spool.add(batch) }
        if dropped > 0 { state.withLock { $0.counts.dropped += dropped } }
    }
}
