import HeadroomModel

/// What waits for a tenant at each gateway, as it was counted as asked for: each report adds the difference from the one
/// before (``AskedWork``).
///
/// A gateway that falls silent keeps its entry for as long as its spool may hold reports. What waited there then was given up:
/// it stays counted, and a later queue under that name is a new one.
struct WaitingBook: Sendable {
    private static let most = 3 * DemandEstimator.maxGateways

    private struct Entry {
        /// Of its name: a gateway's number goes to another one when it falls silent.
        var gateway: UInt64
        var criticality: Criticality
        var at: Timestamp
        var asked: AskedWork
    }

    private var entries: [Entry] = []

    var memoryBytes: Int { entries.capacity * MemoryLayout<Entry>.stride }

    /// What the report adds to what was asked for. One that is older than the last of its gateway adds nothing.
    mutating func note(_ record: QueueRecord, worth: AskedWork, at instant: Timestamp) -> AskedWork {
        let gateway = record.gateway.text.fingerprint
        let place = entries.firstIndex { $0.gateway == gateway && $0.criticality == record.criticality }
        var before = AskedWork()
        if let place {
            guard entries[place].at <= instant else { return AskedWork() }
            if instant.seconds(since: entries[place].at) <= PieceBook.seconds { before = entries[place].asked }
            if record.depth > 0 {
                entries[place].at = instant
                entries[place].asked = worth
            } else {
                entries.remove(at: place)
                if entries.isEmpty { entries = [] }
            }
            return worth.difference(from: before)
        }
        guard record.depth > 0 else { return AskedWork() }
        if entries.count >= Self.most {
            entries.removeAll { instant.seconds(since: $0.at) > PieceBook.seconds }
            // Beyond the bound what waits counts when it ends.
            guard entries.count < Self.most else { return AskedWork() }
        }
        entries.append(Entry(gateway: gateway, criticality: record.criticality, at: instant, asked: worth))
        return worth
    }
}

extension WaitingBook {
    func write(to writer: inout ByteWriter) {
        writer.write(entries) { writer, entry in
            writer.write(entry.gateway)
            writer.write(UInt8(entry.criticality.rawValue))
            writer.write(entry.at)
            writer.write(entry.asked)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        entries = try reader.readArray(leastBytes: 49) { reader throws(ByteCodingError) in
            Entry(
                gateway: try reader.read(), criticality: try reader.readCriticality(), at: try reader.readTimestamp(),
                asked: try reader.readAskedWork())
        }
        guard entries.count <= Self.most else { throw .absurdCount }
    }
}
