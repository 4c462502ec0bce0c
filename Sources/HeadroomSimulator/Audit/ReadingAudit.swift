import HeadroomModel

/// Whether the loop reads the records that were acknowledged as stored: all of them, each record once a term, each call counted once.
struct ReadingAudit: Sendable {
    /// Batches that gateways had an answer for, in order: when, and how many records were stored before.
    private var batches: [(at: Timestamp, first: Int)] = []
    private var stored = 0
    /// The next record that this term reads; `nil` before its first.
    private var next: Int?
    private var counted: [Outcome: Int] = [:]
    /// The content of the last checkpoint: a start goes on from there.
    private var saved: (next: Int, counted: [Outcome: Int])?

    /// False in a term whose start may have found counts that it could not use: they belong to other terms of the pool.
    private var isCounting = true
    private var hasRead = false
    private var isSavedUnderTheseRules = true

    /// All that has been read so far is stored.
    mutating func checkpoint() {
        saved = next.map { ($0, counted) }
        isSavedUnderTheseRules = true
    }

    /// The pools' terms are others from now on.
    mutating func changeRules() {
        isSavedUnderTheseRules = false
        if !hasRead { isCounting = saved == nil }
    }

    mutating func answer(_ records: Int, at now: Timestamp) {
        batches.append((now, stored))
        stored += records
    }

    mutating func endTerm() {
        next = saved?.next
        counted = saved?.counted ?? [:]
        isCounting = saved == nil || (isCounting && isSavedUnderTheseRules)
        hasRead = false
    }

    /// Returns what is wrong with it.
    mutating func read(
        _ records: [TelemetryRecord], from first: Int, liveSince: Timestamp, windowSince: Timestamp
    ) -> String? {
        if let next, first != next { return "the loop reads from record \(first) and had come to \(next)" }
        if next == nil, let needed = batches.first(where: { $0.at >= windowSince })?.first, first > needed {
            return "after its start the loop reads from record \(first) and has to know those from \(needed) on"
        }
        next = first + records.count
        hasRead = true
        if first + records.count > stored {
            return "the loop reads \(first + records.count) records and \(stored) were answered"
        }
        let records = records.span
        for index in records.indices {
            if case .call(let call) = records[index], call.at >= liveSince { counted[call.outcome, default: 0] += 1 }
        }
        return nil
    }

    /// How many records the loop has not read; `nil` when it has read all.
    var unread: Int? {
        let left = stored - (next ?? 0)
        return left == 0 ? nil : left
    }

    /// How the loop's own counts differ from what it was given.
    func miscounted(in calls: [Outcome: Int]) -> String? {
        for outcome in Outcome.allCases where isCounting {
            let (loop, given) = (calls[outcome] ?? 0, counted[outcome] ?? 0)
            if loop != given { return "the loop counts \(loop) calls that ended as \(outcome.name), and read \(given)" }
        }
        return nil
    }
}
