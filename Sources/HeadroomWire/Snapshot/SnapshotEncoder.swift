import HeadroomJSON
import HeadroomModel

/// Writes the answer to `GET /v1/allocations` (WireFormat §2), whole or as a delta.
package enum SnapshotEncoder {
    package static func encode(_ snapshot: Snapshot) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity(for: snapshot))
        writer.beginObject()
        writer.head(of: snapshot)
        writer.pools(of: snapshot)
        writer.endObject()
        return writer.bytes
    }

    package static func encode(_ delta: SnapshotDelta) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity(for: delta.changed))
        writer.beginObject()
        writer.head(of: delta.changed)
        writer.key("since")
        writer.string(delta.since.description)
        writer.pools(of: delta.changed)
        writer.key("removed")
        writer.beginObject()
        for removal in delta.removed {
            writer.key(removal.pool.text)
            writer.strings(removal.tenants.map(\.text))
        }
        writer.endObject()
        writer.key("removed_pools")
        writer.strings(delta.removedPools.map(\.text))
        writer.endObject()
        return writer.bytes
    }

    /// About what two resources take; an array that grows would copy a large body several times.
    private static func capacity(for snapshot: Snapshot) -> Int {
        snapshot.pools.reduce(512) { $0 + 1024 + 512 * $1.tenants.count }
    }
}

extension JSONWriter {
    fileprivate mutating func head(of snapshot: Snapshot) {
        key("epoch")
        integer(snapshot.version.epoch)
        key("generation")
        integer(snapshot.version.generation)
        key("issued_at")
        timestamp(milliseconds: snapshot.issuedAt.milliseconds)
        key("lease_seconds")
        number(snapshot.leaseSeconds)
        key("policy")
        string(snapshot.policy)
    }

    fileprivate mutating func pools(of snapshot: Snapshot) {
        key("pools")
        beginObject()
        for pool in snapshot.pools {
            key(pool.pool.text)
            append(pool)
        }
        endObject()
    }

    private mutating func append(_ pool: PoolAllocation) {
        beginObject()
        key("state")
        string(pool.state.name)
        key("mode")
        string(pool.mode.name)
        key("enforce")
        bool(pool.enforce)
        key("level")
        number(pool.level)
        key("models")
        beginObject()
        for model in pool.models {
            key(model.model)
            beginObject()
            key("state")
            string(model.state.name)
            endObject()
        }
        endObject()
        key("capacity")
        rates(pool.capacity)
        key("nominal")
        rates(pool.nominal)
        key("capacity_reason")
        string(pool.capacityReason.name)
        key("budget")
        rates(pool.budget)
        key("float")
        rates(pool.float)
        key("fallback")
        rates(pool.fallback)
        key("burst_seconds")
        number(pool.burstSeconds)
        key("failover")
        strings(pool.failover.map(\.text))
        if pool.state == .halfOpen {
            key("probes_per_second")
            number(pool.probesPerSecond)
        }
        key("retry")
        beginObject()
        key("after_ms")
        integer(pool.retry.afterMilliseconds)
        key("jitter_ms")
        integer(pool.retry.jitterMilliseconds)
        endObject()
        key("tenants")
        beginObject()
        for tenant in pool.tenants {
            key(tenant.tenant.text)
            append(tenant)
        }
        endObject()
        key("unlisted")
        rates(pool.unlisted)
        endObject()
    }

    private mutating func append(_ tenant: TenantAllocation) {
        beginObject()
        rateFields(tenant.assured)
        key("ceiling")
        rates(tenant.ceiling)
        // An empty one would read as "not limited"; a gateway that finds none uses the assured rate.
        if !tenant.plain.isEmpty {
            key("plain")
            rates(tenant.plain)
        }
        key("safe")
        rates(tenant.safe)
        key("burst")
        beginObject()
        rateFields(tenant.burst.rates.isEmpty ? tenant.assured * 0 : tenant.burst.rates)
        key("seconds_left")
        number(tenant.burst.secondsLeft)
        endObject()
        key("weight")
        number(tenant.weight)
        key("service_clock")
        number(tenant.serviceClock)
        key("tier")
        string(tenant.tier)
        key("constraint")
        string(tenant.constraint.name)
        key("flags")
        strings(tenant.flags)
        key("retry_offset_ms")
        integer(tenant.retryOffsetMilliseconds)
        key("criticality")
        beginObject()
        key("interactive")
        rates(tenant.criticality.interactive)
        key("near_real_time")
        rates(tenant.criticality.nearRealTime)
        key("batch")
        rates(tenant.criticality.batch)
        endObject()
        endObject()
    }

    package mutating func rates(_ rates: Rates) {
        beginObject()
        rateFields(rates)
        endObject()
    }

    private mutating func rateFields(_ rates: Rates) {
        if let rate = rates[.requests] {
            key("rpm")
            number(rate)
        }
        if let rate = rates[.tokens] {
            key("tpm")
            number(rate)
        }
        if let rate = rates[.inputTokens] {
            key("itpm")
            number(rate)
        }
        if let rate = rates[.outputTokens] {
            key("otpm")
            number(rate)
        }
    }

    package mutating func strings(_ strings: [String]) {
        beginArray()
        for element in strings { string(element) }
        endArray()
    }
}
