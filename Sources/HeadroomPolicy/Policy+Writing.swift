import HeadroomJSON
import HeadroomModel

// A policy as the files that would state it, every default written out: reading them gives the same policy again.

extension Policy {
    /// As `rules.json5`.
    package func encodedRules() -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.key("name")
        writer.string(name)
        writer.key("tiers")
        writer.beginArray()
        for tier in tiers { writer.tier(tier) }
        writer.endArray()
        writer.key("default_tier")
        writer.string(defaultTier)
        writer.key("strategic_factor")
        writer.number(strategicFactor)
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
        key("name")
        string(tier.name)
        key("weight")
        number(tier.weight)
        if let share = tier.ceilingShare {
            key("ceiling_share")
            number(share)
        }
        key("longest_wait_seconds")
        number(tier.longestWaitSeconds)
        endObject()
    }

    fileprivate mutating func band(_ band: Band) {
        beginObject()
        key("fill")
        string(band.bound.name)
        if let criticality = band.criticality {
            key("criticality")
            string(criticality.name)
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
        writer.key("pool")
        writer.string(pool.text)
        writer.key("provider")
        if let provider { writer.string(provider) } else { writer.null() }
        writer.key("nominal")
        writer.beginObject()
        for resource in nominal.resources.members {
            writer.key(resource.rateName)
            writer.number(nominal[resource] ?? 0)
        }
        writer.endObject()
        writer.key("mode")
        writer.string(mode.name)
        writer.key("provider_burst_seconds")
        writer.number(providerBurstSeconds)
        writer.key("burst_seconds")
        writer.number(burstSeconds)
        writer.key("failover")
        writer.beginArray()
        for pool in failover { writer.string(pool.text) }
        writer.endArray()
        writer.key("counts_refused")
        writer.bool(countsRefused)
        writer.key("accept_above_contract")
        writer.bool(acceptAboveContract)
        writer.endObject()
        return writer.bytes
    }
}
