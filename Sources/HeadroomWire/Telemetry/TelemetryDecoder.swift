import HeadroomJSON
import HeadroomModel

/// Reads the body of `POST /v1/telemetry` (WireFormat §1): good lines become records on Headroom's timeline, each bad one a
/// fault that says what would be right.
package struct TelemetryDecoder: Sendable {
    package struct Limits: Sendable {
        /// In one request.
        package var lines = 50_000
        /// A line this much older than its request no longer enters the live windows.
        package var lateSeconds = 300.0
        /// How long an `id` is remembered. An older line could be counted twice, so it is taken in a numbered batch
        /// only.
        package var dedupeSeconds = 900.0
        /// Older lines are refused in any batch: raw rows are not kept that long.
        package var retentionSeconds = 48.0 * 3600
        /// How far ahead of its request a line may say it ended.
        package var futureSeconds = 60.0
        /// The policy's pools and bounds; `nil` takes any pool and any count.
        package var rules: TelemetryRules?

        package init() {}
    }

    /// When, from whom and how the body came.
    package struct Arrival: Sendable {
        package var received: Timestamp
        /// `Headroom-Sent-At`: milliseconds on the sender's clock; `nil` takes the sender's clock for ours.
        package var sentAt: Int64?
        /// Stands in for a line's missing `gateway`.
        package var gateway: GatewayID?
        /// The gateways that the sender may speak for; `nil` for all.
        package var allowed: GatewayNames?
        /// The pools that the sender's token is limited to; `nil` for all.
        package var pools: Set<PoolID>?
        package var tenants: Set<TenantID>?
        /// The request bears `Headroom-Batch`.
        package var isNumberedBatch: Bool

        package init(
            received: Timestamp, sentAt: Int64? = nil, gateway: GatewayID? = nil, allowed: GatewayNames? = nil,
            pools: Set<PoolID>? = nil, tenants: Set<TenantID>? = nil, isNumberedBatch: Bool = false
        ) {
            self.received = received
            self.sentAt = sentAt
            self.gateway = gateway
            self.allowed = allowed
            self.pools = pools
            self.tenants = tenants
            self.isNumberedBatch = isNumberedBatch
        }
    }

    package enum Format: Sendable {
        /// `application/x-ndjson`: one object a line.
        case lines
        /// `application/json`: one object, or an array of them. A "line" is then an element's place, from 1.
        case document
    }

    package struct Result: Sendable {
        package var lines: [TelemetryBatch.Line] = []
        /// Ascending by line.
        package var faults: [TelemetryReceipt.Fault] = []
        /// How many of the faults have each reason.
        package var refusals: [TelemetryRefusal: Int] = [:]
        /// Some of the pools that no policy names, with what is wrong, for people.
        package var unknownPools: [PoolID: String] = [:]
    }

    package var limits: Limits
    let classify: @Sendable (ProviderResponse) -> ProviderSignal

    /// - Parameter classify: reads the headers and body of a `response` line.
    package init(limits: Limits = Limits(), classify: @escaping @Sendable (ProviderResponse) -> ProviderSignal) {
        self.limits = limits
        self.classify = classify
    }

    /// Throws only where the body as a whole cannot be taken.
    package func decode(_ bytes: [UInt8], as format: Format, arrival: Arrival) throws(WireError) -> Result {
        var reader = TelemetryLineReader(bytes, arrival: arrival, limits: limits, classify: classify)
        var result = Result()
        switch format {
        case .lines: try decodeLines(bytes, with: &reader, into: &result)
        case .document: try decodeDocument(bytes, with: &reader, into: &result)
        }
        result.unknownPools = reader.unknownPools
        return result
    }

    private func decodeLines(
        _ bytes: [UInt8], with reader: inout TelemetryLineReader, into result: inout Result
    ) throws(WireError) {
        var number = 0
        var start = 0
        // Few lines are shorter; an array that grows would copy the large records several times.
        result.lines.reserveCapacity(min(limits.lines, bytes.count / 160 + 1))
        while start < bytes.count {
            let end = NDJSON.endOfLine(from: start, in: bytes)
            number += 1
            if !isBlank(bytes, start..<end) {
                guard number <= limits.lines else { throw tooManyLines }
                add(number, start..<end, with: &reader, to: &result)
            }
            start = end + 1
        }
    }

    private func decodeDocument(
        _ bytes: [UInt8], with reader: inout TelemetryLineReader, into result: inout Result
    ) throws(WireError) {
        // The document is checked whole before any of it is taken; elements are then read one by one, so that one
        // with a fault does not hide the others.
        var elements: [Range<Int>] = []
        do {
            var document = JSONReader(bytes)
            if try document.peek() == .array {
                try document.beginArray()
                while try document.nextElement(), elements.count <= limits.lines {
                    _ = try document.peek()
                    let start = document.offset
                    try document.skipValue()
                    elements.append(start..<document.offset)
                }
            } else {
                let start = document.offset
                try document.skipValue()
                elements.append(start..<document.offset)
            }
            if elements.count <= limits.lines { try document.endDocument() }
        } catch {
            throw WireError(
                .unreadable, "not valid JSON: \(error.message) (\(JSONPosition(of: error.offset, in: bytes)))")
        }
        guard elements.count <= limits.lines else { throw tooManyLines }
        for (index, range) in elements.enumerated() { add(index + 1, range, with: &reader, to: &result) }
    }

    private func add(
        _ number: Int, _ range: Range<Int>, with reader: inout TelemetryLineReader, to result: inout Result
    ) {
        do throws(TelemetryLineReader.Fault) {
            result.lines.append(try reader.read(number, in: range))
        } catch {
            result.faults.append(TelemetryReceipt.Fault(line: number, detail: error.detail))
            result.refusals[error.refusal, default: 0] += 1
        }
    }

    private func isBlank(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
        for index in range {
            switch bytes[index] {
            case 0x20, 0x09, 0x0D: continue
            default: return false
            }
        }
        return true
    }

    private var tooManyLines: WireError {
        WireError(.tooManyLines, "more than \(limits.lines) lines: send them in several requests")
    }
}
