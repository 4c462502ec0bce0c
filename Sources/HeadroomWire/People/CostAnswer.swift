import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/costs`.
package struct CostAnswer: Sendable {
    /// How the time that is asked for will probably end.
    package struct Projection: Sendable {
        /// Of the last hours, which are supposed to go on.
        package var recent: CostReport
        /// How long they are, and how much time is left.
        package var recentHours: Double
        package var hoursLeft: Double
        package var until: Timestamp

        package init(recent: CostReport, recentHours: Double, hoursLeft: Double, until: Timestamp) {
            self.recent = recent
            self.recentHours = recentHours
            self.hoursLeft = hoursLeft
            self.until = until
        }

        /// What is added to what was spent.
        fileprivate func rest(of micros: Int64) -> Int64 {
            Int64(min(max(0, Double(micros) / max(1, recentHours) * hoursLeft), 9e18))
        }
    }

    private let report: CostReport
    private let projection: Projection?
    private let from: Timestamp
    private let to: Timestamp

    /// - Parameter projection: of a month that has not ended.
    package init(_ report: CostReport, projection: Projection? = nil, from: Timestamp, to: Timestamp) {
        self.report = report
        self.projection = projection
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
            writer.cost(line.cost, "currency", "cost_micros")
            writer.cost(line.provider, "provider_currency", "provider_micros")
            writer.field("requests", line.sums.requests)
            writer.field("input_tokens", line.sums.inputTokens)
            writer.field("cached_input_tokens", line.sums.cachedInputTokens)
            writer.field("output_tokens", line.sums.outputTokens)
            writer.field("saved_requests", line.saved.requests)
            writer.field("saved_micros", line.cost.currency.map { _ in line.savedMicros })
            writer.endObject()
        }
        totals("totals", report.totals, recent: projection?.recent.totals, &writer)
        totals("provider_totals", report.providerTotals, recent: projection?.recent.providerTotals, &writer)
        writer.field("saved_totals", each: report.savedTotals) { writer, total in
            writer.beginObject()
            writer.field("currency", total.currency)
            writer.field("saved_micros", total.micros)
            writer.endObject()
        }
        writer.field("projected_until", projection?.until)
        writer.endObject()
        return writer.bytes
    }

    private func totals(
        _ name: StaticString, _ totals: [(currency: String, micros: Int64)],
        recent: [(currency: String, micros: Int64)]?, _ writer: inout JSONWriter
    ) {
        writer.field(name, each: totals) { writer, total in
            writer.beginObject()
            writer.field("currency", total.currency)
            writer.field("cost_micros", total.micros)
            let projected = projection.map { projection -> Int64 in
                let lately = recent?.first { $0.currency == total.currency }?.micros ?? 0
                return total.micros.addingReportingOverflow(projection.rest(of: lately)).partialValue
            }
            writer.field("projected_micros", projected)
            writer.endObject()
        }
    }
}

extension JSONWriter {
    /// Use without a price costs an amount that nobody knows, which is not nothing.
    fileprivate mutating func cost(_ cost: CostReport.Cost, _ currency: StaticString, _ micros: StaticString) {
        field(currency, cost.currency)
        field(micros, cost.currency.map { _ in cost.micros })
    }
}
