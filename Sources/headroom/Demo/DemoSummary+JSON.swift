import HeadroomJSON
import HeadroomModel

/// The summary for a program; null where a run was too short to tell.
extension DemoSummary {
    var json: String {
        var writer = JSONWriter(capacity: 8192)
        writer.beginObject()
        writer.key("seconds")
        writer.number(seconds)
        writer.key("sound")
        writer.bool(isSound)
        writePlayed(to: &writer)
        writeTelemetry(to: &writer)
        writer.key("generations")
        writer.beginObject()
        writer.key("published")
        writer.integer(generations.published)
        writer.key("excessive")
        writer.beginArray()
        for version in generations.excessive { writer.string(version.description) }
        writer.endArray()
        writer.endObject()
        writeCapacity(to: &writer)
        writer.key("refused_share")
        writer.beginObject()
        writer.number("before_drop", refusals.before)
        writer.number("in_drop", refusals.during)
        writer.number("after_drop", refusals.after)
        writer.number("all", refusals.all)
        writer.endObject()
        writer.key("tenants")
        writer.beginArray()
        for tenant in tenants { write(tenant, to: &writer) }
        writer.endArray()
        writer.key("failures")
        writer.beginArray()
        for failure in failures { writer.string(failure) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func writePlayed(to writer: inout JSONWriter) {
        writer.key("trace")
        writer.beginObject()
        writer.key("source")
        writer.string(plan.source)
        writer.number("speed", plan.speed)
        writer.key("seed")
        writer.integer(plan.seed)
        writer.key("synthetic_tenants")
        writer.bool(plan.trace.hasSyntheticTenants)
        writer.key("drawn_lengths")
        writer.bool(plan.trace.hasDrawnLengths)
        writer.endObject()
        writer.key("work")
        writer.beginObject()
        writer.number("requests_offered", totals.offered[.requests])
        writer.number("requests_served", totals.served[.requests])
        writer.number("tokens_offered", totals.offered[.tokens])
        writer.number("tokens_served", totals.served[.tokens])
        writer.key("denied")
        writer.integer(totals.denied)
        writer.key("failed")
        writer.integer(totals.failed)
        writer.key("waiting")
        writer.integer(totals.waiting)
        writer.endObject()
    }

    private func writeTelemetry(to writer: inout JSONWriter) {
        writer.key("telemetry")
        writer.beginObject()
        writer.key("sent")
        writer.integer(telemetry.sent)
        writer.key("stored")
        writer.integer(telemetry.stored)
        writer.key("rejected")
        writer.integer(telemetry.rejected.count)
        writer.key("kinds")
        writer.beginObject()
        for kind in telemetry.kinds where kind.sent > 0 || kind.stored > 0 {
            writer.key(kind.kind.rawValue)
            writer.beginObject()
            writer.key("sent")
            writer.integer(kind.sent)
            writer.key("stored")
            writer.integer(kind.stored)
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
    }

    private func writeCapacity(to writer: inout JSONWriter) {
        writer.key("capacity")
        writer.beginObject()
        writer.key("nominal")
        writer.rates(plan.capacity)
        writer.number("drop_seconds", plan.dropSeconds)
        writer.number("recovery_seconds", plan.recoverySeconds)
        writer.number("first_refusal_seconds", drop.firstRefusalSeconds)
        writer.key("first_refusal_resource")
        if let resource = drop.firstRefusalResource { writer.string(resource.name) } else { writer.null() }
        for capacity in capacity {
            writer.key(capacity.resource.name)
            writer.beginObject()
            writer.number("mean_error", capacity.meanError)
            writer.number("error_15_s_after_refusal", capacity.errorAfterDrop)
            writer.number("seconds_to_within_a_tenth", capacity.secondsToNear)
            writer.number("error_15_s_after_recovery", capacity.errorAfterRecovery)
            writer.number("error_60_s_after_recovery", capacity.errorLongAfterRecovery)
            writer.number("seconds_to_recover_to_within_a_tenth", capacity.secondsToRecover)
            writer.key("refusals_in_drop")
            writer.integer(capacity.refusalsInDrop)
            writer.endObject()
        }
        writer.endObject()
    }

    private func write(_ tenant: Tenant, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("tenant")
        writer.string(tenant.tenant.text)
        writer.key("tier")
        writer.string(tenant.tier)
        writer.key("criticality")
        writer.string(tenant.criticality.name)
        writer.key("demand")
        writer.rates(tenant.demand)
        writer.key("allocation")
        writer.rates(tenant.assured)
        writer.key("service")
        writer.rates(tenant.service)
        writer.key("denied")
        writer.integer(tenant.denied)
        writer.number("starved_seconds", tenant.starvedSeconds)
        writer.key("starvation")
        if let starvation = tenant.starvation { writer.string(starvation.rawValue) } else { writer.null() }
        writer.endObject()
    }
}

extension JSONWriter {
    fileprivate mutating func number(_ key: StaticString, _ value: Double?) {
        self.key(key)
        if let value { number(value) } else { null() }
    }

    fileprivate mutating func rates(_ rates: Rates) {
        beginObject()
        for resource in rates.resources.members {
            key(resource.rateName)
            number(rates[resource] ?? 0)
        }
        endObject()
    }
}
