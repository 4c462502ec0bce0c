import HeadroomModel

/// The tenants that get series of their own, and the rest of each pool as `other`.
struct TenantSeries {
    struct Row {
        let pool: PoolID
        var tenant: String
        var asked: Rates
        var demand: Rates
        var assured: Rates
        var consumed: Rates
        var queue: PerCriticality<TenantReport.Queue>
        var retries: PerCriticality<Int>
        var tokens: PerCriticality<Double>

        init(_ pool: PoolID, _ report: TenantReport) {
            self.pool = pool
            tenant = report.tenant.text
            asked = report.asked
            demand = report.demand
            assured = report.assured
            consumed = report.consumed
            queue = report.queue
            retries = report.retries
            tokens = report.tokens
        }

        func labels(_ criticality: Criticality) -> KeyValuePairs<String, String> {
            ["pool": pool.text, "tenant": tenant, "criticality": criticality.name]
        }

        fileprivate mutating func add(_ row: Row) {
            asked = asked + row.asked
            demand = demand + row.demand
            assured = assured + row.assured
            consumed = consumed + row.consumed
            for criticality in Criticality.allCases {
                queue[criticality].depth += row.queue[criticality].depth
                queue[criticality].oldestSeconds = max(
                    queue[criticality].oldestSeconds, row.queue[criticality].oldestSeconds)
                retries[criticality] += row.retries[criticality]
                tokens[criticality] += row.tokens[criticality]
            }
        }
    }

    /// By pool; in it by tenant, `other` last.
    private(set) var rows: [Row] = []

    /// The `most` tenants with the largest demand over all their pools are named.
    init(_ pools: [PoolReport], most: Int) {
        var weight: [TenantID: Double] = [:]
        for pool in pools {
            for tenant in pool.tenants {
                let capacity = pool.nominal
                weight[tenant.tenant, default: 0] += Work(amounts: tenant.demand.perMinute).seconds(of: capacity)
            }
        }
        let named = Set(
            weight.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(most).map(\.key))
        for pool in pools {
            var other: Row?
            for tenant in pool.tenants {
                var row = Row(pool.pool, tenant)
                if named.contains(tenant.tenant) {
                    rows.append(row)
                } else if other == nil {
                    row.tenant = "other"
                    other = row
                } else {
                    other?.add(row)
                }
            }
            if let other { rows.append(other) }
        }
    }
}

extension Rates {
    /// Present where either is.
    fileprivate static func + (left: Rates, right: Rates) -> Rates {
        Rates(perMinute: left.perMinute + right.perMinute, resources: left.resources.union(right.resources))
    }
}
