import HeadroomJSON
import HeadroomModel

/// Reads the body of `POST /v1/traces` (WireFormat §1.1): each span that is a call of a model becomes a `call` line,
/// which is then checked as every other line. All other spans are passed over.
package struct TraceDecoder: Sendable {
    package enum Format: Sendable {
        case protobuf, json
    }

    package var format: Format
    /// The attribute that names the tenant, of a span or of the process that sends it.
    package var tenantAttribute: String
    /// Of spans that do not say.
    package var pool: PoolID?
    package var gateway: GatewayID?

    package init(
        format: Format, tenantAttribute: String? = nil, pool: PoolID? = nil, gateway: GatewayID? = nil
    ) {
        self.format = format
        self.tenantAttribute = tenantAttribute ?? SpanNames.tenant
        self.pool = pool
        self.gateway = gateway
    }

    /// A fault's "line" is the span's place in the request, from 1.
    ///
    /// Throws only where the body as a whole cannot be taken.
    package func decode(
        _ bytes: [UInt8], with decoder: TelemetryDecoder, arrival: TelemetryDecoder.Arrival
    ) throws(WireError) -> TelemetryDecoder.Result {
        let interest = TraceInterest(
            keys: SpanNames.all.union([tenantAttribute]), maxSpans: decoder.limits.lines)
        let spans =
            switch format {
            case .protobuf: try ProtobufTraceReader.read(bytes, interest)
            case .json: try JSONTraceReader.read(bytes, interest)
            }
        var writer = JSONWriter(capacity: 512 * min(spans.count, 64))
        var numbers: [Int] = []
        var faults: [TelemetryReceipt.Fault] = []
        let calls = calls(in: spans)
        for (index, span) in calls {
            let line = SpanLine(span: span, settings: self, decoder: decoder, hasOwnGateway: arrival.gateway != nil)
            if let fault = line.fault {
                faults.append(TelemetryReceipt.Fault(line: index + 1, detail: fault))
                continue
            }
            line.write(to: &writer)
            writer.newline()
            numbers.append(index + 1)
        }
        var result = try decoder.decode(writer.bytes, as: .lines, arrival: arrival)
        result.refusals[.unreadable, default: 0] += faults.count
        faults += result.faults.map { fault in
            let number = numbers[fault.line - 1]
            return TelemetryReceipt.Fault(
                line: number, detail: "span \(number) (\(spans[number - 1].name)): \(fault.detail)")
        }
        result.faults = faults.sorted { $0.line < $1.line }
        for index in result.lines.indices { result.lines[index].number = numbers[result.lines[index].number - 1] }
        return result
    }

    /// The spans that are calls of a model. Where one instrumentation wraps another's call in a span of its own, both say
    /// the same: the innermost counts.
    private func calls(in spans: [TraceSpan]) -> [(index: Int, span: TraceSpan)] {
        let calls = spans.enumerated().filter { SpanLine.isCall($0.element) }
        let wrappers = Set(calls.map { $0.element.trace + "-" + $0.element.parent })
        return calls.filter { $0.element.span.isEmpty || !wrappers.contains($0.element.trace + "-" + $0.element.span) }
            .map { (index: $0.offset, span: $0.element) }
    }
}
