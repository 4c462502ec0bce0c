import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/costs`.
package struct CostAnswer: Sendable {
    private let report: CostReport
    private let from: Timestamp
    private let to: Timestamp

    package init(_ report: CostReport, from: Timestamp, to: Timestamp) {
        self.report = report
        self.from = from
        self.to = to
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.field("by", report.dimension.rawValue)
        writer.field("costs", each: report.lines) { writer, line in
            writer.beginObject()
            writer.field("key", line.key)
            writer.field("currency", line.currency)
            // Use without a price costs an amount that nobody knows, which is not nothing.
            writer.field("cost_micros", line.currency.map { _ in line.micros })
            writer.field("requests", line.sums.ok)
            writer.field("input_tokens", line.sums.inputTokens)
            writer.field("cached_input_tokens", line.sums.cachedInputTokens)
            writer.field("output_tokens", line.sums.outputTokens)
            writer.endObject()
        }
        writer.field("totals", each: report.totals) { writer, total in
            writer.beginObject()
            writer.field("currency", total.currency)
            writer.field("cost_micros", total.micros)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}
