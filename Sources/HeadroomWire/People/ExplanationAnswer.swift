import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/explain`: the chain of numbers behind one published rate, and the same in sentences.
package struct ExplanationAnswer: Sendable {
    package var explanation: Explanation
    package var sentences: [String]

    /// - Parameters:
    ///   - excess: the largest parts of what tenants want now above what they are assured.
    ///   - room: what gateways have of the assured rate now, where some await room.
    package init(
        _ explanation: Explanation, excess: [(tenant: TenantID, share: Double)] = [],
        room: (given: Rates, assured: Rates)? = nil, now: Timestamp
    ) {
        self.explanation = explanation
        sentences = ExplanationText(explanation, now: now).sentences
        if let room, let resource = [.tokens, .inputTokens, .requests].first(where: { room.assured[$0] != nil }) {
            let (given, assured) = (room.given[resource] ?? 0, room.assured[resource] ?? 0)
            sentences.append(
                "Now, gateways have \(GroupedNumber.whole(given)) of its \(GroupedNumber.whole(assured)) "
                    + "\(resource.rateName.uppercased()): the rest awaits room until those that had more acknowledge less."
            )
        }
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
        key("slack")
        measured(facts.slack)
        key("bands")
        beginArray()
        for band in facts.bands { self.band(band) }
        endArray()
        key("exhausted")
        if let exhausted = facts.exhausted { band(exhausted) } else { null() }
        key("frozen")
        bool(facts.isFrozen)
        key("billing_failure")
        bool(facts.hasBillingFailure)
        endObject()
    }

    private mutating func band(_ band: Explanation.PoolFacts.Band) {
        beginObject()
        key("fill")
        string(band.name)
        key("level")
        amount(band.level)
        key("saturated")
        text(band.saturated?.rateName)
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
            ("demand", facts.demand), ("credible_demand", facts.credibleDemand.total), ("floor", facts.floor),
            ("ceiling", facts.ceiling), ("direction", facts.direction), ("assured", facts.assured),
        ] {
            key(name)
            measured(value)
        }
        key("credible_demand_by_criticality")
        beginObject()
        for criticality in Criticality.allCases {
            key(criticality.name)
            measured(facts.credibleDemand[criticality])
        }
        endObject()
        for (name, value) in [
            ("start", facts.start), ("confidence", facts.confidence), ("target", facts.target), ("mean", facts.mean),
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
        key("cost")
        if let cost = facts.cost { self.cost(cost) } else { null() }
        endObject()
    }

    private mutating func cost(_ cost: Explanation.CostFacts) {
        beginObject()
        key("currency")
        string(cost.currency)
        key("period")
        string(cost.period.name)
        key("until")
        instant(cost.until)
        for (name, value) in [
            ("most_micros", cost.most), ("spent_micros", cost.spent), ("minutes_left", cost.minutesLeft),
            ("request_micros", cost.perRequest),
        ] {
            key(name)
            amount(value)
        }
        endObject()
    }
}
