import HeadroomJSON
import HeadroomModel

/// Reads the lines of one request, one after another. What the kinds of line have in common is here; each kind has a
/// file of its own.
struct TelemetryLineReader {
    /// A fault of a line, for people.
    struct Fault: Error {
        let detail: String
        var refusal = TelemetryRefusal.unreadable
    }

    let arrival: TelemetryDecoder.Arrival
    let limits: TelemetryDecoder.Limits
    let classify: @Sendable (ProviderResponse) -> ProviderSignal
    private let bytes: [UInt8]
    var reader: JSONReader
    /// Its key is the subject of a fault's sentence.
    private var cursor = FieldCursor()
    /// Of the line being read, from 1.
    private(set) var lineNumber = 0
    private var identifiers = TextCache()
    private var labels = TextCache()
    /// The faults of the unknown pools of this request. Lines repeat names, and a search for the nearest one takes
    /// longer than the line.
    private(set) var unknownPools: [PoolID: String] = [:]
    private static let maxUnknownPools = 64

    init(
        _ bytes: [UInt8], arrival: TelemetryDecoder.Arrival, limits: TelemetryDecoder.Limits,
        classify: @escaping @Sendable (ProviderResponse) -> ProviderSignal
    ) {
        self.bytes = bytes
        self.arrival = arrival
        self.limits = limits
        self.classify = classify
        reader = JSONReader(bytes)
    }

    mutating func read(_ number: Int, in range: Range<Int>) throws(Fault) -> TelemetryBatch.Line {
        reader = JSONReader(bytes, range: range)
        cursor = FieldCursor()
        lineNumber = number
        do {
            return try record()
        } catch let fault as Fault {
            throw fault
        } catch let error as JSONError {
            throw fault(error, start: range.lowerBound)
        } catch {
            throw Fault(detail: "\(error)")
        }
    }

    private mutating func record() throws -> TelemetryBatch.Line {
        let kind = try kind()
        try reader.beginObject()
        switch kind {
        case .call: return try call()
        case .window: return try window()
        case .queue: return try queue()
        case .response: return try response()
        case .task: return try task()
        case .model: return try model()
        }
    }

    /// Looks ahead for `type`, which mostly comes first.
    private mutating func kind() throws -> TelemetryKind {
        var ahead = reader
        try ahead.beginObject()
        while let name = try ahead.nextKey() {
            guard ahead.text(name, equals: "type") else {
                try ahead.skipValue()
                continue
            }
            cursor.key = name
            let text = try ahead.readText()
            for kind in TelemetryKind.allCases where ahead.text(text, equals: kind.literal) { return kind }
            throw fault("\(quoted(text)) is no type of line: \(list(TelemetryKind.allCases.map(\.rawValue)))")
        }
        cursor.key = nil
        throw missing("type", list(TelemetryKind.allCases.map(\.rawValue)))
    }

    private func fault(_ error: JSONError, start: Int) -> Fault {
        switch error.code {
        case .wrongType, .notInteger, .outOfRange, .notFinite: fault(error.message)
        default: Fault(detail: "not valid JSON: \(error.message) (column \(error.offset - start + 1))")
        }
    }
}

// MARK: - Fields

extension TelemetryLineReader {
    /// The next field that is known and not null; its value is to be read. `nil` at the end of the line.
    mutating func nextField<Field>(of fields: WireFields<Field>) throws -> Field? {
        if let field = try reader.nextField(of: fields, at: &cursor) { return field }
        try reader.endDocument()
        return nil
    }

    /// A fault of the field being read, or of the line where there is none.
    func fault(_ sentence: String) -> Fault {
        guard let key = cursor.key else { return Fault(detail: sentence) }
        return Fault(detail: "\(reader.string(of: key)): \(sentence)")
    }

    func missing(_ field: String, _ rule: String) -> Fault { Fault(detail: "\(field) is missing: \(rule)") }

    mutating func identifier<Kind>() throws -> Identifier<Kind> {
        let text = try reader.readText()
        guard let name = identifiers.string(of: text, in: reader, where: { Identifier<Kind>($0) != nil }) else {
            throw fault("\(quoted(text)) is no identifier: \(Identifier<Kind>.rule)")
        }
        return Identifier(unchecked: name)
    }

    /// Text that differs from line to line.
    mutating func text() throws -> String { reader.string(of: try boundedText()) }

    /// Text that comes again from line to line.
    mutating func label() throws -> String {
        let text = try boundedText()
        return labels.string(of: text, in: reader, where: { _ in true }) ?? reader.string(of: text)
    }

    private mutating func boundedText() throws -> JSONText {
        let text = try reader.readText()
        let count = text.isEscaped ? reader.withBytes(of: text) { $0.count } : text.count
        guard count <= 256 else { throw fault("too long: at most 256 bytes") }
        return text
    }

    mutating func criticality() throws -> Criticality {
        let text = try reader.readText()
        if reader.text(text, equals: "interactive") { return .interactive }
        if reader.text(text, equals: "near_real_time") { return .nearRealTime }
        if reader.text(text, equals: "batch") { return .batch }
        throw fault("\(quoted(text)) is no criticality: \(list(Criticality.allCases.map(\.name)))")
    }

    /// A number of requests or tokens.
    mutating func count() throws -> Int64 { try integer(0...1_000_000_000_000) }

    mutating func integer(_ range: ClosedRange<Int64>) throws -> Int64 {
        let value = try reader.readInt64()
        guard range.contains(value) else {
            throw fault("expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value)")
        }
        return value
    }

    mutating func number(_ range: ClosedRange<Double>) throws -> Double {
        let value = try reader.readDouble()
        guard range.contains(value) else {
            throw fault(
                "expected a number from \(plain(range.lowerBound)) to \(plain(range.upperBound)), found \(plain(value))"
            )
        }
        return value
    }

    /// Milliseconds up to a day.
    mutating func milliseconds() throws -> Double { try number(0...86_400_000) }

    /// An instant on the sender's clock: RFC 3339, or whole milliseconds since 1970.
    mutating func instant() throws -> Int64 {
        if try reader.peek() == .number { return try integer(instants) }
        let text = try reader.readText()
        guard let instant = reader.withBytes(of: text, { RFC3339.parse($0) }),
            instants.contains(instant)
        else {
            throw fault(
                "\(quoted(text)) is no time: RFC 3339 as 2026-11-21T10:00:00Z, or milliseconds since 1970")
        }
        return instant
    }

    /// `text` for a message: short, in quotes.
    func quoted(_ text: JSONText) -> String {
        let string = reader.string(of: text)
        // Scalars and not characters: a character has no greatest length.
        return string.utf8.count <= 60 ? "\"\(string)\"" : "\"\(String(string.unicodeScalars.prefix(50)))…\""
    }

    /// A number for a message, as it would be written on the wire.
    func plain(_ number: Double) -> String {
        var writer = JSONWriter()
        writer.number(number)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    func list(_ names: [String]) -> String { "one of \(names.joined(separator: ", "))" }
}

// MARK: - Time and sender

/// 1970 to 9999, in milliseconds: far from where a difference could overflow.
private let instants: ClosedRange<Int64> = 0...253_402_300_799_999

extension TelemetryLineReader {
    /// When something ended, on Headroom's timeline.
    struct LineTime {
        var at: Timestamp
        var isLate: Bool
    }

    /// Both ends of a line's age are read on the sender's clock, so a wrong clock there does no harm.
    ///
    /// - Parameter instant: on the sender's clock; `nil` for the moment of arrival.
    func lineTime(_ instant: Int64?) throws -> LineTime {
        guard let instant else { return LineTime(at: arrival.received, isLate: false) }
        let sent = arrival.sentAt ?? arrival.received.milliseconds
        let age = min(max(sent, instants.lowerBound), instants.upperBound) - instant
        let seconds = Double(age) / 1000
        guard seconds >= -limits.futureSeconds else {
            throw Fault(
                detail: "from the future: it ended \(plain(-seconds)) s after it was sent; set the clock, or send "
                    + "Headroom-Sent-At from the same clock", refusal: .time)
        }
        guard seconds <= limits.retentionSeconds else {
            throw Fault(
                detail: "too old: it ended \(plain(seconds)) s before it was sent, and rows are kept for "
                    + "\(plain(limits.retentionSeconds)) s", refusal: .time)
        }
        guard seconds <= limits.dedupeSeconds || arrival.isNumberedBatch else {
            throw Fault(
                detail: "too old: it ended \(plain(seconds)) s before it was sent; after "
                    + "\(plain(limits.dedupeSeconds)) s a line is taken in a numbered batch only (Headroom-Batch)",
                refusal: .time)
        }
        return LineTime(
            at: Timestamp(milliseconds: arrival.received.milliseconds - max(age, 0)),
            isLate: seconds > limits.lateSeconds)
    }

    /// The line's gateway, or the sender's own; it must be one that the sender may speak for.
    func gateway(_ named: GatewayID?) throws -> GatewayID {
        guard let gateway = named ?? arrival.gateway else {
            throw missing("gateway", "the name of the gateway that reports")
        }
        if let allowed = arrival.allowed, !allowed.contains(gateway) {
            throw Fault(
                detail: "gateway: the token does not speak for \"\(gateway)\", only for "
                    + allowed.texts.joined(separator: ", "), refusal: .outOfScope)
        }
        return gateway
    }

    func required(_ tenant: TenantID?) throws -> TenantID {
        guard let tenant else { throw missing("tenant", "the tenant whose work this is") }
        if let tenants = arrival.tenants, !tenants.contains(tenant) {
            throw Fault(
                detail: "tenant: the token is limited, and \"\(tenant)\" lies outside its limits", refusal: .outOfScope)
        }
        return tenant
    }

    mutating func required(_ pool: PoolID?) throws -> PoolID {
        guard let pool else { throw missing("pool", "the pool that the work is for") }
        if let pools = arrival.pools, !pools.contains(pool) {
            throw Fault(
                detail: "pool: the token is limited, and \"\(pool)\" lies outside its limits", refusal: .outOfScope)
        }
        if let rules = limits.rules, !rules.has(pool) {
            let detail = unknownPools[pool] ?? rules.unknown(pool)
            if unknownPools.count < Self.maxUnknownPools { unknownPools[pool] = detail }
            throw Fault(detail: detail, refusal: .unknownPool)
        }
        return pool
    }
}

// MARK: - What a pool can have served

extension TelemetryLineReader {
    /// The service that a line claims, in requests or tokens.
    struct Claim {
        var requests: Int64 = 1
        /// Counted tokens, or input and output together.
        var tokens: Int64
        var inputTokens: Int64
        var outputTokens: Int64
        /// How long the line's time was; 0 for one call.
        var seconds = 0.0
    }

    func check(_ claim: Claim, in pool: PoolID) throws {
        guard let limits = limits.rules?.limits(of: pool, seconds: claim.seconds), !limits.allow(claim) else { return }
        let claims: [(String, Int64, Double?)] = [
            ("requests", claim.requests, limits.requests), ("tokens", claim.tokens, limits.tokens),
            ("input_tokens", claim.inputTokens, limits.inputTokens),
            ("output_tokens", claim.outputTokens, limits.outputTokens),
        ]
        for (name, count, limit) in claims {
            guard let limit, Double(count) > limit else { continue }
            let span = claim.seconds > 60 ? "\(plain(claim.seconds)) s" : "a minute"
            throw Fault(
                detail: "\(name): \(count) is more than \"\(pool)\" can have served: a line may bear \(plain(limit)), "
                    + "\(plain(limits.times)) times what the pool's contract gives in \(span) "
                    + "(telemetry.max_times_nominal)", refusal: .implausible)
        }
    }
}

extension TelemetryKind {
    fileprivate var literal: StaticString {
        switch self {
        case .call: "call"
        case .window: "window"
        case .queue: "queue"
        case .response: "response"
        case .task: "task"
        case .model: "model"
        }
    }
}
