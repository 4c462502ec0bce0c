import HeadroomJSON
import HeadroomModel
import HeadroomSimulator
import HeadroomWire

extension PlanOutcome {
    /// - Parameters:
    ///   - most: tenants that are listed, those that change most first, and changes of one question; `nil`: all, tenants
    ///     ascending by pool and name.
    ///   - plotted: of those, how many with their course over time.
    func encoded(most: Int? = nil, plotted: Int = 0) -> [UInt8] {
        var writer = JSONWriter(capacity: 65_536)
        writer.beginObject()
        writer.field("from", from)
        writer.field("step_seconds", stepSeconds)
        writer.field("stretches", each: stretches) { writer, stretch in
            writer.beginObject()
            writer.field("from", stretch.from)
            writer.field("to", stretch.to)
            writer.field("by_minute", stretch.isByMinute)
            writer.endObject()
        }
        writer.field("tiers", each: tierSums) { writer, sum in
            writer.beginObject()
            writer.field("pool", sum.pool.text)
            writer.field("tier", sum.tier)
            writer.field("tenants", sum.tenants)
            for (name, work) in [
                ("asked", sum.asked), ("served_before", sum.before), ("served_after", sum.after),
            ] {
                writer.key(name)
                write(work, of: sum.pool, to: &writer)
            }
            writer.endObject()
        }
        writer.field("tenant_count", tenants.count)
        let listed = most.map { Array(byChange.prefix($0)) } ?? tenants
        writer.field("tenants", each: listed.enumerated()) { writer, entry in
            write(entry.element, hasSeries: entry.offset < plotted, to: &writer)
        }
        writer.field("questions", each: questions) { writer, question in
            writer.beginObject()
            writer.field("pool", question.pool?.text)
            writer.field("kind", question.kind.name)
            writer.field("at", question.authorship.at)
            writer.field("change_count", question.changes.count)
            writer.field("changes", each: question.changes.prefix(most ?? .max)) { writer, change in
                writer.beginObject()
                writer.field("tenant", change.tenant.text)
                writer.key("from")
                write(change.from.work(overSeconds: 60), of: question.pool, to: &writer)
                writer.key("to")
                write(change.to.work(overSeconds: 60), of: question.pool, to: &writer)
                writer.endObject()
            }
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    private struct TierSum {
        let pool: PoolID
        let tier: String
        var tenants = 0
        var asked = Work.zero
        var before = Work.zero
        var after = Work.zero
    }

    /// By pool, then by the policy's tiers.
    private var tierSums: [TierSum] {
        var sums: [TierSum] = []
        for pool in Set(tenants.map(\.pool)).sorted() {
            for tier in tierNames {
                let members = tenants.filter { $0.pool == pool && $0.tier == tier }
                guard !members.isEmpty else { continue }
                sums.append(
                    members.reduce(into: TierSum(pool: pool, tier: tier, tenants: members.count)) { sum, tenant in
                        sum.asked += tenant.asked
                        sum.before += tenant.before.served
                        sum.after += tenant.after.served
                    })
            }
        }
        return sums
    }

    private func write(_ tenant: Tenant, hasSeries: Bool, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("tenant", tenant.tenant.text)
        writer.field("pool", tenant.pool.text)
        writer.field("tier", tenant.tier)
        for (name, work) in [
            ("asked", tenant.asked), ("assured_before", tenant.before.assured),
            ("assured_after", tenant.after.assured), ("served_before", tenant.before.served),
            ("served_after", tenant.after.served),
        ] {
            writer.key(name)
            write(work, of: tenant.pool, to: &writer)
        }
        if hasSeries {
            for (name, line) in [
                ("asked_series", \Point.asked), ("assured_before_series", \.before),
                ("assured_after_series", \.after),
            ] {
                writer.key(name)
                writer.beginArray()
                for point in tenant.series { writer.integer(Int64(point[keyPath: line].rounded())) }
                writer.endArray()
            }
        }
        writer.endObject()
    }

    /// Per minute, in the resources that the pool limits.
    private func write(_ work: Work, of pool: PoolID?, to writer: inout JSONWriter) {
        writer.beginObject()
        for resource in pool.map(resources) ?? [] {
            writer.key(resource.rateName)
            writer.number(work[resource])
        }
        writer.endObject()
    }
}
