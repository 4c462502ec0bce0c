import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// The bodies of `/v1/live` and `/v1/live/series`.
enum LiveAnswer {
    static func state(
        _ query: LiveRoutes.LiveQuery, _ scope: AccessGrant.Scope, _ history: LiveHistory, _ board: SnapshotBoard
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 16384)
        let sample = history.newest
        let known = query.after > 0 ? history.samples.first { $0.number == query.after }?.report.at : nil
        writer.beginObject()
        writer.field("tick", sample?.number ?? 0)
        writer.field("at", sample?.report.at)
        writer.field("period_seconds", finite: sample?.report.periodSeconds)
        writer.field("epoch", sample?.report.version?.epoch)
        writer.field("generation", sample?.report.version?.generation)
        writer.field("published_at", sample?.report.publishedAt)
        // The words of a failure name whatever it met.
        writer.field(
            "faults",
            (sample?.report.failures ?? []).map {
                "\($0.stage.rawValue) failed" + (scope.isWhole ? ": \($0.message)" : "")
            })
        writer.key("gateways")
        writer.gateways(board.drifts())
        writer.key("pools")
        writer.beginArray()
        for (report, pool) in zip(sample?.report.pools ?? [], sample?.pools ?? [])
        where scope.holds(pool.pool) && (query.pool ?? pool.pool) == pool.pool {
            writer.livePool(report, pool, tenants: query.tenants, scope)
        }
        writer.endArray()
        writer.key("events")
        writer.beginArray()
        for event in history.events(after: known) {
            guard event.pool.map(scope.holds) ?? true, event.tenant.map(scope.holds) ?? true else { continue }
            guard query.pool == nil || event.pool == nil || event.pool == query.pool else { continue }
            writer.event(event)
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Columns, oldest first: a list of numbers per line of a plot, with null where a sample does not say.
    static func series(_ samples: [LiveSample], _ query: LiveRoutes.SeriesQuery, _ scope: AccessGrant.Scope) -> [UInt8]
    {
        let end = samples.last?.report.at
        let recent = samples.filter { sample in
            end.map { $0.seconds(since: sample.report.at) <= Double(query.seconds) } ?? false
        }
        let stride = max(1, (recent.count + query.points - 1) / query.points)
        // Counted from the end: the newest is always there.
        let kept = recent.indices.filter { (recent.count - 1 - $0) % stride == 0 }.map { recent[$0] }
        let found = kept.compactMap { sample in
            sample.pools.first { $0.pool == query.pool }.map { (at: sample.report.at, pool: $0) }
        }
        var writer = JSONWriter(capacity: 32768)
        writer.beginObject()
        writer.field("pool", query.pool.text)
        writer.key("at")
        writer.beginArray()
        for entry in found { writer.integer(entry.at.milliseconds) }
        writer.endArray()
        writer.field("resource", found.last?.pool.mainResource.rateName)
        writer.key("resources")
        writer.beginObject()
        for resource in found.last?.pool.nominal.resources.members ?? ResourceSet().members {
            writer.key(resource.rateName)
            writer.beginObject()
            for (name, path) in Self.lines {
                writer.key(name)
                writer.column(found) { $0.pool[keyPath: path][resource] }
            }
            writer.endObject()
        }
        writer.endObject()
        for (name, value) in Self.signals + (scope.tenants == nil ? Self.division : []) {
            writer.key(name)
            writer.column(found) { value($0.pool) }
        }
        writer.key("gateways")
        writer.beginObject()
        let gateways = scope.isWhole ? found.flatMap { $0.pool.division.gateways.map(\.gateway) } : []
        for gateway in Set(gateways).sorted() {
            writer.key(gateway.text)
            writer.column(found) { entry in
                entry.pool.division.gateways.first { $0.gateway == gateway }?.budget
            }
        }
        writer.endObject()
        writer.key("outcomes")
        writer.beginObject()
        for outcome in Outcome.allCases where found.contains(where: { $0.pool.outcomes[outcome.rawValue] > 0 }) {
            writer.key(outcome.name)
            writer.column(found) { Double($0.pool.outcomes[outcome.rawValue]) }
        }
        writer.endObject()
        writer.key("models")
        writer.beginObject()
        for model in Set(found.flatMap { $0.pool.models.map(\.model) }).sorted() {
            writer.key(model)
            writer.column(found) { entry in
                entry.pool.models.first { $0.model == model }.map { Double($0.attempts) }
            }
        }
        writer.endObject()
        writer.key("tenants")
        writer.beginObject()
        for tenant in shown(found.map(\.pool), query, scope) {
            writer.key(tenant.text)
            writer.beginObject()
            for (name, path) in Self.tenantLines + (query.tenant == nil ? [] : Self.oneTenantLines) {
                writer.key(name)
                writer.column(found) { entry in
                    entry.pool.tenants.first { $0.tenant == tenant }.map { Double($0[keyPath: path]) }
                }
            }
            writer.endObject()
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    private static var lines: [(StaticString, KeyPath<LiveSample.Pool, Rates> & Sendable)] {
        [
            ("nominal", \.nominal), ("capacity", \.capacity), ("budget", \.budget), ("assured", \.assured),
            ("asked", \.asked), ("consumed", \.consumed),
        ]
    }

    private static var tenantLines: [(StaticString, KeyPath<LiveSample.Tenant, Float> & Sendable)] {
        [("asked", \.asked), ("assured", \.assured), ("consumed", \.consumed)]
    }

    /// Of a tenant that is asked for by name.
    private static var oneTenantLines: [(StaticString, KeyPath<LiveSample.Tenant, Float> & Sendable)] {
        [("oldest_seconds", \.oldestSeconds), ("credit", \.credit)]
    }

    private static let signals: [(StaticString, @Sendable (LiveSample.Pool) -> Double?)] = [
        ("waiting", { Double($0.queueDepth) }), ("oldest_seconds", { $0.oldestSeconds }),
        ("refused_share", { $0.refusedShare }), ("p95_ms", { $0.p95Milliseconds }),
        ("starved", { Double($0.starvedCount) }),
    ]

    /// Sums over all tenants, and what gateways have.
    fileprivate static let division: [(StaticString, @Sendable (LiveSample.Pool) -> Double?)] = [
        ("floors", { $0.division.floors }), ("lent", { $0.division.lent }), ("unused", { $0.division.unused }),
        ("float", { $0.division.float }),
        ("draws_granted", { pool in pool.division.draws.map { $0[.granted] ?? 0 } }),
        ("draws_empty", { pool in pool.division.draws.map { $0[.empty] ?? 0 } }),
        ("draws_refused", { pool in pool.division.draws.map { $0[.refused] ?? 0 } }),
    ]

    /// The largest over all the samples, by what they used.
    private static func shown(
        _ pools: [LiveSample.Pool], _ query: LiveRoutes.SeriesQuery, _ scope: AccessGrant.Scope
    ) -> [TenantID] {
        if let tenant = query.tenant { return [tenant] }
        var sums: [TenantID: Float] = [:]
        for pool in pools {
            for tenant in pool.tenants where scope.holds(tenant.tenant) {
                sums[tenant.tenant, default: 0] += tenant.consumed
            }
        }
        return sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(query.tenants).map(\.key)
    }
}

extension JSONWriter {
    fileprivate mutating func column(
        _ entries: [(at: Timestamp, pool: LiveSample.Pool)],
        _ value: ((at: Timestamp, pool: LiveSample.Pool)) -> Double?
    ) {
        beginArray()
        for entry in entries { compact(value(entry)) }
        endArray()
    }

    /// Whole where it is large: a plot has some thousand pixels at most.
    private mutating func compact(_ value: Double?) {
        guard let value, value.isFinite else { return null() }
        if value.magnitude >= 100 { integer(Int64(value.rounded())) } else { number((value * 1000).rounded() / 1000) }
    }

    fileprivate mutating func gateways(_ drifts: [(gateway: GatewayPresence, seconds: Double)]) {
        beginObject()
        field("count", drifts.count)
        // A poll in flight is seconds behind; a lease is 15.
        field("behind", drifts.count { $0.seconds > 10 })
        field("worst_seconds", finite: drifts.map(\.seconds).max() ?? 0)
        endObject()
    }

    fileprivate mutating func event(_ event: LiveEvent) {
        beginObject()
        field("at", event.at)
        field("kind", event.kind.rawValue)
        field("pool", event.pool?.text)
        field("tenant", event.tenant?.text)
        field("text", event.text)
        endObject()
    }

    fileprivate mutating func livePool(
        _ report: PoolReport, _ pool: LiveSample.Pool, tenants: Int, _ scope: AccessGrant.Scope
    ) {
        beginObject()
        field("pool", pool.pool.text)
        field("state", report.state.name)
        field("capacity_reason", report.capacityReason.name)
        field("confidence", finite: report.confidence)
        field("resource", pool.mainResource.rateName)
        for (name, rates) in [
            ("nominal", pool.nominal), ("capacity", pool.capacity), ("budget", pool.budget),
            ("assured", pool.assured), ("asked", pool.asked), ("consumed", pool.consumed),
        ] {
            key(name)
            whole(rates)
        }
        field("waiting", pool.queueDepth)
        field("oldest_seconds", finite: pool.oldestSeconds)
        field("refused_share", finite: pool.refusedShare)
        field("p95_ms", finite: pool.p95Milliseconds)
        key("outcomes")
        beginObject()
        for outcome in Outcome.allCases where pool.outcomes[outcome.rawValue] > 0 {
            key(outcome.name)
            integer(Int64(pool.outcomes[outcome.rawValue]))
        }
        endObject()
        key("models")
        beginObject()
        for (model, attempts) in pool.models {
            key(model)
            integer(Int64(attempts))
        }
        endObject()
        if scope.tenants == nil { division(pool, showsGateways: scope.isWhole) }
        field("open_questions", report.openQuestions)
        // Sums over others are not for somebody who may see one tenant.
        field("tenants", scope.tenants == nil ? pool.tiers.reduce(0) { $0 + $1.tenants } : 0)
        field("starved", scope.tenants == nil ? pool.starvedCount : 0)
        key("tiers")
        beginArray()
        for tier in pool.tiers where scope.tenants == nil { self.tier(tier) }
        endArray()
        let resource = pool.mainResource
        field("short", each: pool.short.filter { scope.holds($0.tenant) }) { $0.tenant($1, resource) }
        field("top", each: pool.tenants.filter { scope.holds($0.tenant) }.prefix(tenants)) { $0.tenant($1, resource) }
        endObject()
    }

    /// - Parameter showsGateways: a gateway works for all pools, so its name is not for somebody who may see one.
    private mutating func division(_ pool: LiveSample.Pool, showsGateways: Bool) {
        for (name, value) in LiveAnswer.division {
            key(name)
            compact(value(pool))
        }
        key("gateways")
        beginObject()
        for (gateway, budget) in pool.division.gateways where showsGateways {
            key(gateway.text)
            compact(budget)
        }
        endObject()
    }

    private mutating func whole(_ rates: Rates) {
        beginObject()
        for resource in rates.resources.members {
            key(resource.rateName)
            compact(rates[resource])
        }
        endObject()
    }

    private mutating func tier(_ tier: LiveSample.Tier) {
        beginObject()
        field("tier", tier.tier)
        field("tenants", tier.tenants)
        field("starved", tier.starved)
        field("waiting", tier.waiting)
        for (name, rates) in [("asked", tier.asked), ("assured", tier.assured), ("consumed", tier.consumed)] {
            key(name)
            whole(rates)
        }
        endObject()
    }

    private mutating func tenant(_ tenant: LiveSample.Tenant, _ resource: Resource) {
        beginObject()
        field("tenant", tenant.tenant.text)
        field("tier", tenant.tier)
        for (name, value) in [
            ("asked", tenant.asked), ("assured", tenant.assured), ("consumed", tenant.consumed),
        ] {
            key(name)
            compact(Double(value))
        }
        field("waiting", tenant.waiting)
        key("oldest_seconds")
        compact(Double(tenant.oldestSeconds))
        key("underserved_seconds")
        compact(Double(tenant.underservedSeconds))
        field("starvation", tenant.starvation?.rawValue)
        endObject()
    }
}
