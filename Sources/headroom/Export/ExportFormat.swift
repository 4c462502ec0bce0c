import HeadroomJSON
import HeadroomModel

/// A file for a gateway that knows limits and nothing of Headroom.
enum ExportFormat: String, CaseIterable {
    case haproxyMap = "haproxy-map"
    case envoyRoutes = "envoy-rds"
    case envoyRatelimit = "envoy-ratelimit"

    /// Below this change of every number, nothing is written. Envoy's local buckets are refilled by each change, so small
    /// ones would let more pass than they take away.
    var leastChange: Double { self == .envoyRoutes ? 0.05 : 0 }

    /// One file, so that a renamed copy puts all of it in force at once.
    var file: String {
        switch self {
        case .haproxyMap: "headroom.map"
        case .envoyRoutes: "headroom-rds.json"
        case .envoyRatelimit: "headroom.yaml"
        }
    }

    func render(_ pools: [ExportedPool], cluster: String) -> [UInt8] {
        switch self {
        case .haproxyMap: Array(pools.map(ExportFormat.map).joined().utf8)
        case .envoyRoutes: ExportFormat.routes(pools, cluster: cluster)
        case .envoyRatelimit: Array(ExportFormat.ratelimit(pools).utf8)
        }
    }

    // MARK: HAProxy

    /// `POOL/rpm/t/TENANT 1200`, `POOL/rpm/p/budget …`, `POOL/rpm/p/unlisted …`: a letter before each name, so that no tenant
    /// can be called `budget`. There is a cap for the whole pool, so tenants have their plain rates.
    private static func map(_ pool: ExportedPool) -> String {
        var lines: [String] = []
        func add(_ name: String, _ rates: Rates) {
            for resource in rates.resources.members {
                lines.append("\(pool.pool)/\(resource.rateName)/\(name) \(whole(rates[resource] ?? 0))\n")
            }
        }
        add("p/budget", pool.budget)
        add("p/unlisted", pool.unlisted)
        for tenant in pool.tenants { add("t/\(tenant.tenant)", tenant.plain) }
        return lines.joined()
    }

    // MARK: envoyproxy/ratelimit

    /// Windows are aligned to the clock, so rates of at least one a second are given per second: a minute's limit could go
    /// twice across a boundary. Tenants without an entry are left alone: a descriptor without a value would give each
    /// of them a bucket of its own.
    private static func ratelimit(_ pools: [ExportedPool]) -> String {
        var lines = ["domain: headroom", "descriptors:"]
        for pool in pools {
            lines += ["- key: pool", "  value: \"\(pool.pool)\"", "  descriptors:"]
            for tenant in pool.tenants {
                lines += ["  - key: tenant", "    value: \"\(tenant.tenant)\"", "    descriptors:"]
                for resource in tenant.assured.resources.members {
                    let rate = tenant.assured[resource] ?? 0
                    let (unit, limit) = rate >= 60 ? ("second", whole(rate / 60)) : ("minute", whole(rate))
                    lines += [
                        "    - key: resource", "      value: \(resource.name)",
                        "      rate_limit: {unit: \(unit), requests_per_unit: \(limit)}",
                    ]
                }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    // MARK: Envoy

    /// A route table whose routes are tenants, by the header `x-headroom-tenant`, each with a local bucket of requests.
    private static func routes(_ pools: [ExportedPool], cluster: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("version_info", "headroom")
        writer.field("resources", each: pools) { writer, pool in
            writer.beginObject()
            writer.field("@type", "type.googleapis.com/envoy.config.route.v3.RouteConfiguration")
            writer.field("name", pool.pool.text)
            writer.key("virtual_hosts")
            writer.beginArray()
            writer.beginObject()
            writer.field("name", "headroom")
            writer.field("domains", ["*"])
            writer.key("routes")
            writer.beginArray()
            for tenant in pool.tenants {
                writer.route(tenant: tenant.tenant, rpm: tenant.assured[.requests], cluster: cluster)
            }
            writer.route(tenant: nil, rpm: pool.unlisted[.requests], cluster: cluster)
            writer.endArray()
            writer.endObject()
            writer.endArray()
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    private static func whole(_ rate: Double) -> Int64 { Int64(rate.rounded(.down)) }
}

/// One pool's numbers as they are in force for an export: the snapshot's, or the fallback's once the lease has ended.
struct ExportedPool: Equatable {
    struct Tenant: Equatable {
        let tenant: TenantID
        let assured: Rates
        /// The assured rate where nothing is over-booked.
        let plain: Rates
    }

    let pool: PoolID
    let budget: Rates
    /// What all tenants without a number share: their part, and what is assured to nobody.
    let unlisted: Rates
    let tenants: [Tenant]

    init(_ allocation: PoolAllocation, isExpired: Bool) {
        pool = allocation.pool
        budget = isExpired && !allocation.fallback.isEmpty ? allocation.fallback : allocation.budget
        tenants = allocation.tenants.map { entry in
            let assured = isExpired && !entry.safe.isEmpty ? entry.safe : entry.assured
            let plain = isExpired || entry.plain.isEmpty ? assured : entry.plain
            return Tenant(tenant: entry.tenant, assured: assured, plain: plain)
        }
        // Nobody lends here, so what is assured to nobody would lie idle. The sum stays within the budget.
        var unlisted = allocation.unlisted
        for resource in budget.resources.members {
            let assured = tenants.reduce(0) { $0 + ($1.assured[resource] ?? 0) }
            unlisted[resource] = max(unlisted[resource] ?? 0, (budget[resource] ?? 0) - assured)
        }
        self.unlisted = unlisted
    }

    /// Whether some number moved by more than this part of what it was, or other names are there.
    func differs(from other: ExportedPool, byMoreThan part: Double) -> Bool {
        guard tenants.map(\.tenant) == other.tenants.map(\.tenant), budget.resources == other.budget.resources else {
            return true
        }
        let pairs =
            [(budget, other.budget), (unlisted, other.unlisted)]
            + zip(tenants, other.tenants).flatMap { [($0.assured, $1.assured), ($0.plain, $1.plain)] }
        return pairs.contains { new, old in
            new.resources.members.contains { resource in
                let before = old[resource] ?? 0
                let moved = abs((new[resource] ?? 0) - before)
                return moved > 0 && moved >= part * before
            }
        }
    }
}

extension JSONWriter {
    /// `nil` for the tenant is everyone else.
    fileprivate mutating func route(tenant: TenantID?, rpm: Double?, cluster: String) {
        beginObject()
        key("match")
        beginObject()
        field("prefix", "/")
        if let tenant {
            key("headers")
            beginArray()
            beginObject()
            field("name", "x-headroom-tenant")
            key("string_match")
            beginObject()
            field("exact", tenant.text)
            endObject()
            endObject()
            endArray()
        }
        endObject()
        if let rpm, rpm < 1 {
            key("direct_response")
            beginObject()
            field("status", 429)
            endObject()
        } else {
            key("route")
            beginObject()
            field("cluster", cluster)
            field("timeout", "600s")
            endObject()
            if let rpm { bucket(rpm: rpm) }
        }
        endObject()
    }

    /// Two seconds of the rate, refilled ten times a second or as often as one request comes.
    private mutating func bucket(rpm: Double) {
        let fill = max(1, (rpm / 600).rounded(.down))
        key("typed_per_filter_config")
        beginObject()
        key("envoy.filters.http.local_ratelimit")
        beginObject()
        field("@type", "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit")
        field("stat_prefix", "headroom")
        key("token_bucket")
        beginObject()
        field("max_tokens", Int64(max(fill, (rpm / 30).rounded(.down))))
        field("tokens_per_fill", Int64(fill))
        field("fill_interval", "\((fill * 60_000_000 / rpm).rounded(.up) / 1_000_000)s")
        endObject()
        for name in ["filter_enabled", "filter_enforced"] {
            key(name)
            beginObject()
            key("default_value")
            beginObject()
            field("numerator", 100)
            field("denominator", "HUNDRED")
            endObject()
            endObject()
        }
        endObject()
        endObject()
    }
}
