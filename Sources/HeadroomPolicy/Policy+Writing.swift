import HeadroomJSON
import HeadroomModel

// A policy as the files that would state it, every default written out: reading them gives the same policy again.

extension Policy {
    /// As `rules.json5`.
    package func encodedRules() -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.field("name", name)
        writer.key("tiers")
        writer.beginArray()
        for tier in tiers { writer.tier(tier) }
        writer.endArray()
        writer.field("default_tier", defaultTier)
        writer.field("strategic_factor", strategicFactor)
        writer.key("bands")
        writer.beginArray()
        for band in bands { writer.band(band) }
        writer.endArray()
        writer.section("start", start, StartPolicy.fields)
        writer.section("loop", loop, LoopPolicy.fields)
        writer.section("demand", demand, DemandPolicy.fields)
        writer.section("capacity", capacity, CapacityPolicy.fields)
        writer.section("starvation", starvation, StarvationPolicy.fields)
        writer.section("telemetry", telemetry, TelemetryPolicy.fields)
        writer.section("dampening", dampening, DampeningPolicy.fields)
        writer.section("guardrails", guardrails, GuardrailPolicy.fields)
        writer.section("override_limits", overrideLimits, OverrideLimits.fields)
        writer.section("credit", credit, CreditPolicy.fields)
        writer.section("breaker", breaker, BreakerPolicy.fields)
        writer.section("trust", trust, TrustPolicy.fields)
        writer.alerts(alerts)
        writer.section("service_levels", serviceLevels, ServiceLevelPolicy.fields)
        writer.contracts(contracts)
        writer.costBreaker(costBreaker)
        writer.taskBudgets(taskBudgets)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func section<Section>(
        _ name: StaticString, _ section: Section, _ fields: [PolicyField<Section>]
    ) {
        key(name)
        beginObject()
        for field in fields {
            key(field.key)
            number(field.get(section))
        }
        endObject()
    }

    fileprivate mutating func tier(_ tier: TierPolicy) {
        beginObject()
        field("name", tier.name)
        field("weight", tier.weight)
        if let share = tier.ceilingShare {
            field("ceiling_share", share)
        }
        field("longest_wait_seconds", tier.longestWaitSeconds)
        field("satisfied_share", tier.satisfiedShare)
        if let seconds = tier.taskSeconds {
            field("task_seconds", seconds)
        }
        endObject()
    }

    fileprivate mutating func price(_ price: PoolPrice) {
        beginObject()
        if let model = price.model { field("model", model) }
        field("currency", price.currency)
        field("input_micros_per_million", price.perMillionInputTokens)
        field("cached_input_micros_per_million", price.perMillionCachedInputTokens)
        field("output_micros_per_million", price.perMillionOutputTokens)
        field("request_micros", price.perRequest)
        for (name, instant) in [("from", price.from), ("until", price.until)] {
            guard let instant else { continue }
            key(name)
            timestamp(milliseconds: instant.milliseconds)
        }
        endObject()
    }

    fileprivate mutating func band(_ band: Band) {
        beginObject()
        field("fill", band.bound.name)
        if let criticality = band.criticality {
            field("criticality", criticality.name)
        }
        if let tiers = band.tiers {
            key("tiers")
            beginArray()
            for tier in tiers { string(tier) }
            endArray()
        }
        endObject()
    }
}

extension PoolPolicy {
    /// As a file in `pools/`.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("pool", pool.text)
        writer.key("provider")
        if let provider { writer.string(provider) } else { writer.null() }
        writer.key("nominal")
        writer.beginObject()
        for resource in nominal.resources.members {
            writer.key(resource.rateName)
            writer.number(nominal[resource] ?? 0)
        }
        writer.endObject()
        writer.field("mode", mode.name)
        writer.field("provider_burst_seconds", providerBurstSeconds)
        writer.field("burst_seconds", burstSeconds)
        writer.key("failover")
        writer.beginArray()
        for pool in failover { writer.string(pool.text) }
        writer.endArray()
        writer.field("counts_refused", countsRefused)
        writer.field("accept_above_contract", acceptAboveContract)
        writer.key("closed_after_seconds")
        if let closedAfterSeconds { writer.number(closedAfterSeconds) } else { writer.null() }
        writer.field("prices", each: prices) { $0.price($1) }
        if let requiresTask { writer.field("require_task", requiresTask) }
        writer.endObject()
        return writer.bytes
    }
}
