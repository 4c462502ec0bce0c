import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// The summary for a program; null where a run was too short to tell.
extension DemoSummary {
    var json: String {
        var writer = JSONWriter(capacity: 8192)
        writer.beginObject()
        writer.field("seconds", seconds)
        writer.field("sound", isSound)
        writePlayed(to: &writer)
        writeTelemetry(to: &writer)
        writer.key("generations")
        writer.beginObject()
        writer.field("published", generations.published)
        writer.key("excessive")
        writer.beginArray()
        for version in generations.excessive { writer.string(version.description) }
        writer.endArray()
        writer.endObject()
        writeCapacity(to: &writer)
        writer.key("refused_share")
        writer.beginObject()
        writer.field("before_drop", finite: refusals.before)
        writer.field("in_drop", finite: refusals.during)
        writer.field("after_drop", finite: refusals.after)
        writer.field("all", finite: refusals.all)
        writer.endObject()
        writer.key("comparison")
        writer.beginObject()
        result.write(to: &writer)
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
        writer.field("source", plan.source)
        writer.field("speed", finite: plan.speed)
        writer.field("seed", plan.seed)
        writer.field("synthetic_tenants", plan.trace.hasSyntheticTenants)
        writer.field("drawn_lengths", plan.trace.hasDrawnLengths)
        writer.endObject()
        writer.key("work")
        writer.beginObject()
        writer.field("requests_offered", finite: totals.offered[.requests])
        writer.field("requests_served", finite: totals.served[.requests])
        writer.field("tokens_offered", finite: totals.offered[.tokens])
        writer.field("tokens_served", finite: totals.served[.tokens])
        writer.field("denied", totals.denied)
        writer.field("failed", totals.failed)
        writer.field("waiting", totals.waiting)
        writer.endObject()
    }

    private func writeTelemetry(to writer: inout JSONWriter) {
        writer.key("telemetry")
        writer.beginObject()
        writer.field("sent", telemetry.sent)
        writer.field("stored", telemetry.stored)
        writer.field("rejected", telemetry.rejected.count)
        writer.key("kinds")
        writer.beginObject()
        for kind in telemetry.kinds where kind.sent > 0 || kind.stored > 0 {
            writer.key(kind.kind.rawValue)
            writer.beginObject()
            writer.field("sent", kind.sent)
            writer.field("stored", kind.stored)
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
    }

    private func writeCapacity(to writer: inout JSONWriter) {
        writer.key("capacity")
        writer.beginObject()
        writer.field("nominal", plan.capacity)
        writer.field("drop_seconds", finite: plan.dropSeconds)
        writer.field("recovery_seconds", finite: plan.recoverySeconds)
        writer.field("first_refusal_seconds", finite: drop.firstRefusalSeconds)
        writer.key("first_refusal_resource")
        if let resource = drop.firstRefusalResource { writer.string(resource.name) } else { writer.null() }
        for capacity in capacity {
            writer.key(capacity.resource.name)
            writer.beginObject()
            writer.field("mean_error", finite: capacity.meanError)
            writer.field("error_15_s_after_refusal", finite: capacity.errorAfterDrop)
            writer.field("seconds_to_within_a_tenth", finite: capacity.secondsToNear)
            writer.field("error_15_s_after_recovery", finite: capacity.errorAfterRecovery)
            writer.field("error_60_s_after_recovery", finite: capacity.errorLongAfterRecovery)
            writer.field("seconds_to_recover_to_within_a_tenth", finite: capacity.secondsToRecover)
            writer.field("refusals_in_drop", capacity.refusalsInDrop)
            writer.endObject()
        }
        writer.endObject()
    }

    private func write(_ tenant: Tenant, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("tenant", tenant.tenant.text)
        writer.field("tier", tenant.tier)
        writer.field("criticality", tenant.criticality.name)
        writer.field("demand", tenant.demand)
        writer.field("allocation", tenant.assured)
        writer.field("service", tenant.service)
        writer.field("denied", tenant.denied)
        writer.field("starved_seconds", finite: tenant.starvedSeconds)
        writer.key("starvation")
        if let starvation = tenant.starvation { writer.string(starvation.rawValue) } else { writer.null() }
        writer.endObject()
    }
}
