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
        writer.field("since", delta.since.description)
        writer.pools(of: delta.changed)
        writer.key("removed")
        writer.beginObject()
        for removal in delta.removed {
            writer.key(removal.pool.text)
            writer.strings(removal.tenants.map(\.text))
        }
        writer.endObject()
        writer.field("removed_pools", delta.removedPools.map(\.text))
        if !delta.serviceClocks.isEmpty { writer.clocks(of: delta) }
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
        field("epoch", snapshot.version.epoch)
        field("generation", snapshot.version.generation)
        field("issued_at", snapshot.issuedAt)
        field("lease_seconds", snapshot.leaseSeconds)
        field("policy", snapshot.policy)
    }

    /// As in the answers to telemetry.
    fileprivate mutating func clocks(of delta: SnapshotDelta) {
        key("service_clocks")
        beginObject()
        for pool in delta.serviceClocks {
            key(pool.pool.text)
            beginObject()
            for clock in pool.clocks {
                key(clock.tenant.text)
                number(clock.serviceClock)
            }
            endObject()
        }
        endObject()
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
        field("state", pool.state.name)
        field("mode", pool.mode.name)
        field("enforce", pool.enforce)
        field("level", pool.level)
        key("models")
        beginObject()
        for model in pool.models {
            key(model.model)
            beginObject()
            field("state", model.state.name)
            endObject()
        }
        endObject()
        field("capacity", pool.capacity)
        field("nominal", pool.nominal)
        field("capacity_reason", pool.capacityReason.name)
        field("budget", pool.budget)
        field("float", pool.float)
        field("fallback", pool.fallback)
        if let gateways = pool.gateways { field("gateways", gateways) }
        field("burst_seconds", pool.burstSeconds)
        field("failover", pool.failover.map(\.text))
        if pool.state == .halfOpen {
            field("probes_per_second", pool.breaker.probesPerSecond)
        }
        if pool.breaker != BreakerPolicy() { append(pool.breaker) }
        key("retry")
        beginObject()
        field("after_ms", pool.retry.afterMilliseconds)
        field("jitter_ms", pool.retry.jitterMilliseconds)
        endObject()
        if !pool.taskKinds.isEmpty {
            key("task_kinds")
            beginObject()
            for kind in pool.taskKinds {
                key(kind.kind)
                beginObject()
                field("rpm", kind.requestsPerMinute)
                endObject()
            }
            endObject()
        }
        if let tokens = pool.meanOutputTokens { field("mean_output_tokens", tokens) }
        if let seconds = pool.closedAfterSeconds { field("closed_after_seconds", seconds) }
        if !pool.tasks.isEmpty { append(pool.tasks) }
        key("tenants")
        beginObject()
        for tenant in pool.tenants {
            key(tenant.tenant.text)
            append(tenant)
        }
        endObject()
        field("unlisted", pool.unlisted)
        endObject()
    }

    private mutating func append(_ breaker: BreakerPolicy) {
        key("breaker")
        beginObject()
        field("open_share", breaker.openShare)
        field("window_seconds", breaker.windowSeconds)
        field("least_attempts", breaker.leastAttempts)
        field("open_seconds", breaker.openSeconds)
        field("probes_per_second", breaker.probesPerSecond)
        field("close_successes", breaker.closeSuccesses)
        endObject()
    }

    private mutating func append(_ tasks: TaskTerms) {
        key("tasks")
        beginObject()
        if tasks.requiresTask { field("require_task", true) }
        field("budgets", each: tasks.budgets) { writer, budget in
            writer.beginObject()
            writer.taskBudget(budget)
            writer.endObject()
        }
        field("held", each: tasks.held) { writer, held in
            writer.beginObject()
            writer.field("tenant", held.name.tenant.text)
            writer.field("task", held.name.task)
            writer.field("held", held.hold.name)
            if held.ownHold > held.hold { writer.field("own", held.ownHold.name) }
            if held.isCost { writer.field("exhausted", "cost") }
            if held.isFull { writer.field("full", true) }
            if held.isLifted { writer.field("lifted", true) }
            writer.endObject()
        }
        endObject()
    }

    private mutating func append(_ tenant: TenantAllocation) {
        beginObject()
        rateFields(tenant.assured)
        field("ceiling", tenant.ceiling)
        if tenant.hasSoftCeiling { field("soft_ceiling", true) }
        if tenant.isQuiet { field("quiet", true) }
        // An empty one would read as "not limited"; a gateway that finds none uses the assured rate.
        if !tenant.plain.isEmpty {
            field("plain", tenant.plain)
        }
        field("safe", tenant.safe)
        key("burst")
        beginObject()
        rateFields(tenant.burst.rates.isEmpty ? tenant.assured * 0 : tenant.burst.rates)
        field("seconds_left", tenant.burst.secondsLeft)
        endObject()
        field("weight", tenant.weight)
        field("service_clock", tenant.serviceClock)
        field("tier", tenant.tier)
        field("constraint", tenant.constraint.name)
        field("flags", tenant.flags)
        field("retry_offset_ms", tenant.retryOffsetMilliseconds)
        key("criticality")
        beginObject()
        field("interactive", tenant.criticality.interactive)
        field("near_real_time", tenant.criticality.nearRealTime)
        field("batch", tenant.criticality.batch)
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
            field("rpm", rate)
        }
        if let rate = rates[.tokens] {
            field("tpm", rate)
        }
        if let rate = rates[.inputTokens] {
            field("itpm", rate)
        }
        if let rate = rates[.outputTokens] {
            field("otpm", rate)
        }
    }

    package mutating func strings(_ strings: [String]) {
        beginArray()
        for element in strings { string(element) }
        endArray()
    }
}
