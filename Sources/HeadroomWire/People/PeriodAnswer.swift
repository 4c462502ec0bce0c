import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/explain` of a period: its story in two texts, and the numbers that they tell.
package struct PeriodAnswer: Sendable {
    private let facts: PeriodFacts

    package init(_ facts: PeriodFacts) {
        self.facts = facts
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.field("pool", facts.pool.text)
        writer.field("tenant", facts.tenant?.text)
        writer.field("from", facts.from)
        writer.field("to", facts.to)
        writer.field("sentences", PeriodText(facts).sentences)
        if facts.tenant != nil { writer.field("for_tenant", PeriodTextForTenant(facts).sentences) }
        if facts.tenant != nil {
            writer.key("own")
            writer.totals(facts.own)
        }
        writer.key("all")
        writer.totals(facts.sums)
        writer.key("capacity")
        writer.beginObject()
        writer.field("nominal", measured: facts.capacity.mean(\.nominal))
        writer.field("estimated", measured: facts.capacity.mean(\.estimated))
        writer.endObject()
        writer.field("outages", each: facts.outages) { writer, outage in
            writer.beginObject()
            writer.field("from", outage.from)
            writer.field("to", outage.to)
            writer.field("attempts", outage.attempts)
            writer.field("failures", outage.failures)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func totals(_ sums: RollupSums) {
        beginObject()
        self.sums(sums)
        endObject()
    }
}
