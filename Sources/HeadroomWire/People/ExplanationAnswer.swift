import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/explain`: the chain of numbers behind one published rate, and the same in sentences.
package struct ExplanationAnswer: Sendable {
    package var explanation: Explanation
    package var sentences: [String]

    /// - Parameters:
    ///   - excess: the largest parts of what tenants want now above what they are assured.
    ///   - strategicFactor: the factor in the weight, of a strategic account; `nil` for another.
    ///   - room: what gateways have of the assured rate now, where some await room.
    package init(
        _ explanation: Explanation, excess: [(tenant: TenantID, share: Double)] = [],
        room: (given: Rates, assured: Rates)? = nil, strategicFactor: Double? = nil, now: Timestamp
    ) {
        self.explanation = explanation
        sentences = ExplanationText(explanation, now: now, strategicFactor: strategicFactor).sentences
        if let room, let resource = [.tokens, .inputTokens, .requests].first(where: { room.assured[$0] != nil }) {
            let (given, assured) = (room.given[resource] ?? 0, room.assured[resource] ?? 0)
            sentences.append(
                "Now, gateways have \(GroupedNumber.whole(given)) of its \(RateText.sentence(assured, resource)): "
                    + "the rest awaits room until those that had more acknowledge less."
            )
        }
        guard !excess.isEmpty else { return }
        let causes = excess.map { "\($0.tenant) \(GroupedNumber.percent($0.share))" }.joined(separator: ", ")
        sentences.append("Now, of what all want above what they are assured: \(causes).")
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        writer.beginObject()
        writer.field("sentences", sentences)
        writer.field("epoch", explanation.version.epoch)
        writer.field("generation", explanation.version.generation)
        writer.field("at", explanation.at)
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
        field("pool", facts.pool.text)
        field("mode", facts.mode.name)
        field("state", facts.state.name)
        field("nominal", facts.nominal)
        field("capacity", facts.capacity)
        field("capacity_reason", facts.capacityReason.name)
        field("capacity_changed_at", facts.capacityChangedAt)
        key("capacity_before")
        if let before = facts.capacityBefore { measured(before) } else { null() }
        field("recent_attempts", facts.recentAttempts)
        field("recent_refusals", facts.recentRefusals)
        field("shared", facts.shared)
        field("slack", measured: facts.slack)
        key("bands")
        beginArray()
        for band in facts.bands { self.band(band) }
        endArray()
        key("exhausted")
        if let exhausted = facts.exhausted { band(exhausted) } else { null() }
        field("frozen", facts.isFrozen)
        field("billing_failure", facts.hasBillingFailure)
        endObject()
    }

    private mutating func band(_ band: Explanation.PoolFacts.Band) {
        beginObject()
        field("fill", band.name)
        field("level", finite: band.level)
        field("saturated", band.saturated?.rateName)
        endObject()
    }

    fileprivate mutating func tenantFacts(_ facts: Explanation.TenantFacts) {
        beginObject()
        field("tenant", facts.tenant.text)
        field("tier", facts.tier)
        field("weight", finite: facts.weight)
        key("override")
        if let id = facts.override { integer(id) } else { null() }
        for (name, value) in [
            ("demand", facts.demand), ("credible_demand", facts.credibleDemand.total), ("floor", facts.floor),
            ("ceiling", facts.ceiling), ("direction", facts.direction), ("assured", facts.assured),
        ] {
            key(name)
            measured(value)
        }
        key("asked")
        if let asked = facts.asked { measured(asked) } else { null() }
        key("waiting")
        measured(Rates(perMinute: facts.waiting.amounts, resources: facts.demand.resources))
        key("credible_demand_by_criticality")
        beginObject()
        for criticality in Criticality.allCases {
            key(criticality.name)
            measured(facts.credibleDemand[criticality])
        }
        endObject()
        for (name, value) in [
            ("least_share", facts.leastShare), ("start", facts.start), ("confidence", facts.confidence),
            ("target", facts.target), ("mean", facts.mean),
            ("before", facts.before), ("least", facts.least), ("most", facts.most), ("fill", facts.fill),
            ("burst", facts.burst), ("excess_share", facts.excessShare),
        ] {
            key(name)
            amount(value)
        }
        field("quiet", facts.isQuiet)
        field("soft_ceiling", facts.hasSoftCeiling)
        for (name, value) in [
            ("least_constraint", facts.leastConstraint), ("most_constraint", facts.mostConstraint),
            ("constraint", facts.constraint),
        ] {
            key(name)
            string(value.name)
        }
        key("cost")
        if let cost = facts.cost { self.cost(cost) } else { null() }
        key("cost_breaker")
        if let stands = facts.breaker { costBreak(stands) } else { null() }
        flags(facts.flags)
        endObject()
    }

    private mutating func cost(_ cost: Explanation.CostFacts) {
        beginObject()
        field("currency", cost.currency)
        field("period", cost.period.name)
        field("until", cost.until)
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
