import HeadroomModel

/// Reads `offset_ms,client,model,input_tokens,output_tokens`, one request a line, in any order; blank means "not
/// published".
///
/// - A client becomes a tenant of the same name; characters that a name may not have become `:`.
/// - A row without a client gets a tenant by a seeded rule: one of `synthetic-t001` to `synthetic-t020` by Zipf 1.1,
///   but within a minute of trace time with probability one half the tenant of the row before it, as sessions do.
///   Arrivals and lengths stay real, these tenants are invented.
/// - A row without lengths takes those of another row, by seed.
package struct TraceReader {
    package static let header = "offset_ms,client,model,input_tokens,output_tokens"
    /// More would be hours of load; a trace is kept in memory.
    package static let maxRows = 2_000_000
    /// 34 years; tokens of one request are bounded by the same order of magnitude.
    private static let maxNumber: Int64 = 1 << 40
    private static let maxFaults = 20

    private var rows: [Published] = []
    private var clients: [TenantID] = []
    private var indices: [TenantID: Int] = [:]
    private var faults: [TraceError.Fault] = []
    private var faultCount = 0

    /// A row as it stands in the file.
    private struct Published {
        var milliseconds: Int64
        var client: Int?
        var inputTokens: Int64?
        var outputTokens: Int64?
    }

    /// All faults at once, by line; nothing is read past.
    package static func read(_ bytes: [UInt8], seed: UInt64) throws(TraceError) -> Trace {
        var reader = TraceReader()
        try reader.readLines(bytes)
        return try reader.trace(seed: seed)
    }

    private mutating func readLines(_ bytes: [UInt8]) throws(TraceError) {
        var number = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if number == 1 {
                guard line.elementsEqual(TraceReader.header.utf8) else {
                    throw TraceError(line: 1, "must be the header \(TraceReader.header)")
                }
            } else if !line.isEmpty {
                guard number - 2 < TraceReader.maxRows else {
                    throw TraceError(line: number, "more than \(TraceReader.maxRows) requests: cut the trace")
                }
                readRow(line, number)
            }
        }
        guard faultCount == 0 else { throw TraceError(faults: faults, count: faultCount) }
        guard !rows.isEmpty else { throw TraceError(line: 2, "the trace has no requests") }
        rows = rows.enumerated()
            .sorted { ($0.element.milliseconds, $0.offset) < ($1.element.milliseconds, $1.offset) }
            .map(\.element)
    }

    private mutating func readRow(_ line: ArraySlice<UInt8>, _ number: Int) {
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == 5 else {
            return note(number, "has \(fields.count) fields: must be the 5 of \(TraceReader.header)")
        }
        guard let offset = TraceReader.number(fields[0]) else {
            return note(number, "offset_ms: must be a whole number of milliseconds from 0 to \(TraceReader.maxNumber)")
        }
        var row = Published(milliseconds: offset)
        for (name, field) in [("input_tokens", fields[3]), ("output_tokens", fields[4])] where !field.isEmpty {
            guard let tokens = TraceReader.number(field) else {
                return note(number, "\(name): must be blank or a whole number from 0 to \(TraceReader.maxNumber)")
            }
            if name == "input_tokens" { row.inputTokens = tokens } else { row.outputTokens = tokens }
        }
        if !fields[1].isEmpty { row.client = index(ofClient: fields[1]) }
        rows.append(row)
    }

    private mutating func index(ofClient name: ArraySlice<UInt8>) -> Int {
        let tenant = TraceReader.tenant(named: name)
        if let index = indices[tenant] { return index }
        indices[tenant] = clients.count
        clients.append(tenant)
        return clients.count - 1
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        guard (1...13).contains(field.count) else { return nil }
        var value: Int64 = 0
        for byte in field {
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else { return nil }
            value = value * 10 + Int64(digit)
        }
        return value <= maxNumber ? value : nil
    }

    /// `deepseek-r1/c037` becomes `deepseek-r1:c037`.
    private static func tenant(named name: ArraySlice<UInt8>) -> TenantID {
        var text = ""
        for byte in name.prefix(127) {
            let letter = String(UnicodeScalar(byte))
            text += TenantID("a" + letter) == nil ? ":" : letter
        }
        return TenantID(text) ?? TenantID(unchecked: "c" + text)
    }

    private mutating func note(_ line: Int, _ detail: String) {
        faultCount += 1
        if faults.count < TraceReader.maxFaults { faults.append(TraceError.Fault(line: line, detail: detail)) }
    }
}

extension TraceReader {
    private func trace(seed: UInt64) throws(TraceError) -> Trace {
        let lengths = rows.compactMap { row in row.inputTokens.flatMap { input in row.outputTokens.map { (input, $0) } }
        }
        guard !lengths.isEmpty else {
            throw TraceError(line: 2, "no request has both input_tokens and output_tokens: at least one must")
        }
        var generator = SeededGenerator(seed: seed, stream: "trace lengths")
        var split = SyntheticSplit(seed: seed, firstIndex: clients.count)
        let complete = rows.map { row in
            var input = row.inputTokens
            var output = row.outputTokens
            if input == nil || output == nil {
                let other = lengths[generator.drawIndex(below: lengths.count)]
                input = input ?? other.0
                output = output ?? other.1
            }
            return Trace.Row(
                seconds: Double(row.milliseconds) / 1000,
                tenant: row.client ?? split.tenant(atMilliseconds: row.milliseconds), inputTokens: input ?? 0,
                outputTokens: output ?? 0)
        }
        return Trace(
            tenants: clients + split.tenants, rows: complete, hasSyntheticTenants: split.wasNeeded,
            hasDrawnLengths: lengths.count < rows.count)
    }
}

/// Invents tenants for rows without one, in the order of their arrival.
private struct SyntheticSplit {
    private static let count = 20
    private static let stickyMilliseconds: Int64 = 60000

    let firstIndex: Int
    private(set) var wasNeeded = false
    private let zipf = ZipfDistribution(count: SyntheticSplit.count, exponent: 1.1)
    private var generator: SeededGenerator
    private var last: (minute: Int64, tenant: Int)?

    init(seed: UInt64, firstIndex: Int) {
        self.firstIndex = firstIndex
        generator = SeededGenerator(seed: seed, stream: "synthetic tenants")
    }

    /// All that the rule may name; none when it was not needed.
    var tenants: [TenantID] {
        !wasNeeded ? [] : (1...SyntheticSplit.count).map { SyntheticWorkload.tenant($0) }
    }

    mutating func tenant(atMilliseconds milliseconds: Int64) -> Int {
        wasNeeded = true
        let minute = milliseconds / SyntheticSplit.stickyMilliseconds
        if let last, last.minute == minute, generator.drawUniform() < 0.5 { return last.tenant }
        let tenant = firstIndex + zipf.draw(using: &generator)
        last = (minute, tenant)
        return tenant
    }
}

/// A fault of a trace.
package struct TraceError: Error, Equatable {
    package struct Fault: Equatable, Sendable {
        /// From 1.
        package var line: Int
        package var detail: String
    }

    /// The first of them, ascending by line.
    package var faults: [Fault]
    /// Of all.
    package var count: Int

    package init(faults: [Fault], count: Int) {
        self.faults = faults
        self.count = count
    }

    package init(line: Int, _ detail: String) {
        self.init(faults: [Fault(line: line, detail: detail)], count: 1)
    }

    /// One line each.
    package var message: String {
        let lines = faults.map { "line \($0.line): \($0.detail)" }
        let more = count - faults.count
        return (lines + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n")
    }
}
