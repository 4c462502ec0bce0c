import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/explain`: the chain of numbers behind one published rate, and the same told in sentences.
package struct ExplanationAnswer: Sendable {
    package var explanation: Explanation
    package var sentences: [String]

    /// - Parameter excess: the largest parts of what tenants want now above what they are assured.
    package init(_ explanation: Explanation, excess: [(tenant: TenantID, share: Double)] = [], now: Timestamp) {
        self.explanation = explanation
        sentences = ExplanationText(explanation, now: now).sentences
        guard !excess.isEmpty else { return }
        let causes = excess.map { "\($0.tenant) \(GroupedNumber.percent($0.share))" }.joined(separator: ", ")
        sentences.append("Now, of what all want above what they are assured: \(causes).")
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        writer.key("sentences")
        writer.strings(sentences)
        writer.key("epoch")
        writer.integer(explanation.version.epoch)
        writer.key("generation")
        writer.integer(explanation.version.generation)
        writer.key("at")
        writer.instant(explanation.at)
        writer.key("pool")
        writer.poolFacts(explanation.pool)
        writer.key("tenant")
        writer.tenantFacts(explanation.tenant)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func poolFacts(_ facts: Explanation.PoolFacts) {
        beginObject()
        key("pool")
        string(facts.pool.text)
        key("mode")
        string(facts.mode.name)
        key("state")
        string(facts.state.name)
        key("nominal")
        rates(facts.nominal)
        key("capacity")
        rates(facts.capacity)
        key("capacity_reason")
        string(facts.capacityReason.name)
        key("capacity_changed_at")
        instant(facts.capacityChangedAt)
        key("capacity_before")
        if let before = facts.capacityBefore { measured(before) } else { null() }
        key("recent_attempts")
        integer(facts.recentAttempts)
        key("recent_refusals")
        integer(facts.recentRefusals)
        key("shared")
        rates(facts.shared)
        key("bands")
        beginArray()
        for band in facts.bands {
            beginObject()
            key("fill")
            string(band.name)
            key("level")
            amount(band.level)
            key("saturated")
            text(band.saturated?.rateName)
            endObject()
        }
        endArray()
        key("frozen")
        bool(facts.isFrozen)
        endObject()
    }

    fileprivate mutating func tenantFacts(_ facts: Explanation.TenantFacts) {
        beginObject()
        key("tenant")
        string(facts.tenant.text)
        key("tier")
        string(facts.tier)
        key("weight")
        amount(facts.weight)
        key("override")
        if let id = facts.override { integer(id) } else { null() }
        for (name, value) in [
            ("demand", facts.demand), ("credible_demand", facts.credibleDemand), ("floor", facts.floor),
            ("ceiling", facts.ceiling), ("direction", facts.direction), ("assured", facts.assured),
        ] {
            key(name)
            measured(value)
        }
        for (name, value) in [
            ("confidence", facts.confidence), ("target", facts.target), ("mean", facts.mean),
            ("before", facts.before), ("least", facts.least), ("most", facts.most), ("fill", facts.fill),
            ("burst", facts.burst), ("excess_share", facts.excessShare),
        ] {
            key(name)
            amount(value)
        }
        for (name, value) in [
            ("least_constraint", facts.leastConstraint), ("most_constraint", facts.mostConstraint),
            ("constraint", facts.constraint),
        ] {
            key(name)
            string(value.name)
        }
        endObject()
    }
}
