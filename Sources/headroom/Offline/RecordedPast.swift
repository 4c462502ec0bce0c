import HeadroomModel
import HeadroomSimulator
import HeadroomStorage

/// The past as a database has it: every line as far back as they are kept, before that sums by minute.
struct RecordedPast {
    /// A page of rows, and of roll-ups: bounds memory, not what is read.
    private static let pageSize = 20_000

    let telemetry: TelemetryReader
    let records: RecordReader
    /// Ascending.
    let pools: [PoolID]

    /// Ascending, of what there is in the span.
    func parts(from start: Timestamp, to end: Timestamp) async throws -> [PlanReplay.Part] {
        let rawFrom = max(start, try await telemetry.oldestArrival() ?? end)
        var parts: [PlanReplay.Part] = []
        if let first = try await firstMinute(from: start, to: rawFrom) {
            parts.append(
                PlanReplay.Part(source: .minutes, from: first, to: rawFrom) { [self] from, to in
                    try await minutes(from: from, to: to)
                })
        }
        if rawFrom < end {
            let lines = RecordedLines(telemetry, pageSize: Self.pageSize)
            parts.append(
                PlanReplay.Part(source: .raw, from: rawFrom, to: end) { from, to in
                    try await lines.read(from: from, to: to)
                })
        }
        return parts
    }

    private func firstMinute(from start: Timestamp, to end: Timestamp) async throws -> Timestamp? {
        var first: Timestamp?
        for pool in pools where start < end {
            let rows = try await records.rollups(pool: pool, tenant: nil, from: start, to: end, limit: 1)
            first = [first, rows.first?.start].compactMap { $0 }.min()
        }
        return first
    }

    /// A minute counts at its end, when a gateway would have reported it.
    private func minutes(from: Timestamp, to: Timestamp) async throws -> [TelemetryRecord] {
        var lines: [TelemetryRecord] = []
        for pool in pools {
            let rows = try await records.rollups(
                pool: pool, tenant: nil, from: from.adding(seconds: -60), to: to.adding(seconds: -60),
                limit: Self.pageSize)
            lines += rows.map { .window($0.window) }
        }
        return lines
    }
}

/// Reads on, span after span.
private actor RecordedLines {
    private let reader: TelemetryReader
    private let pageSize: Int
    private var cursor: TelemetryCursor?

    init(_ reader: TelemetryReader, pageSize: Int) {
        self.reader = reader
        self.pageSize = pageSize
    }

    func read(from: Timestamp, to: Timestamp) async throws -> [TelemetryRecord] {
        var next: TelemetryCursor
        if let cursor { next = cursor } else { next = try await reader.cursor(at: from) }
        let end = try await reader.cursor(at: to)
        var records: [TelemetryRecord] = []
        while true {
            let page = try await reader.page(after: next, through: end, limit: pageSize)
            records += page.records
            next = page.next
            cursor = next
            if page.isLast { return records }
        }
    }
}
