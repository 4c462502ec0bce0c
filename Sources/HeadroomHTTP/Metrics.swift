import HeadroomModel

/// What `/metrics` says (WIRE §6), out of the loop's newest report and the edge's own counters.
struct Metrics {
    let loop: LoopSummary
    let drifts: [(gateway: GatewayID, seconds: Double)]
    let telemetry: [(key: TelemetryCounters.Key, count: Int)]
    let now: Timestamp

    /// Tenants and gateways with series of their own; a scrape stays bounded however many there are.
    static let mostTenants = 200
    static let mostGateways = 50

    func render() -> String {
        var text = MetricsText()
        text.family("headroom_telemetry_lines_total", .counter, "Lines of telemetry since the start.")
        for (key, count) in telemetry { text.sample(["type": key.type, "result": key.result.rawValue], count) }
        if let report = loop.newest {
            renderLoop(report, &text)
            renderPools(report.pools, &text)
            renderTenants(report.pools, &text)
        }
        renderGateways(&text)
        return text.text
    }

    private func renderLoop(_ report: LoopReport, _ text: inout MetricsText) {
        text.family("headroom_loop_ticks_total", .counter, "Ticks of the control loop since the start.")
        text.sample(["result": "succeeded"], report.ticksSucceeded)
        text.sample(["result": "failed"], report.ticksFailed)
        text.sample(["result": "skipped"], report.ticksSkipped)
        text.family("headroom_loop_tick_seconds", .histogram, "How long a tick takes.")
        text.histogram(loop.tickSeconds)
        if let version = report.version {
            text.family("headroom_epoch", .gauge, "The control plane's term.")
            text.sample(Int(version.epoch))
            text.family("headroom_generation", .gauge, "The newest generation published.")
            text.sample(Int(version.generation))
        }
        if let publishedAt = report.publishedAt {
            text.family("headroom_published_age_seconds", .gauge, "Age of what is published.")
            text.sample(now.seconds(since: publishedAt))
        }
    }

    private func renderPools(_ pools: [PoolReport], _ text: inout MetricsText) {
        text.family("headroom_pool_capacity_per_minute", .gauge, "Capacity of a pool and what becomes of it.")
        for pool in pools {
            let kinds = [
                ("nominal", pool.nominal), ("estimated", pool.estimated), ("budget", pool.budget),
                ("assured", pool.assured), ("consumed", pool.consumed),
            ]
            for (kind, rates) in kinds {
                for resource in rates.resources.members {
                    text.sample(
                        ["pool": pool.pool.text, "resource": resource.name, "kind": kind], rates[resource] ?? 0)
                }
            }
        }
        text.family("headroom_pool_calls_total", .counter, "Attempts since the start.")
        for pool in pools {
            for outcome in Outcome.allCases {
                guard let count = pool.calls[outcome] else { continue }
                text.sample(["pool": pool.pool.text, "outcome": outcome.name], count)
            }
        }
        text.family("headroom_pool_state", .gauge, "1 for the state that the pool is in.")
        for pool in pools {
            for state in PoolState.allCases {
                text.sample(["pool": pool.pool.text, "state": state.name], pool.state == state ? 1 : 0)
            }
        }
        text.family("headroom_starved_tenants", .gauge, "Tenants that are starved.")
        for pool in pools {
            for reason in Starvation.allCases {
                let count = pool.tenants.count { $0.starvation == reason }
                text.sample(["pool": pool.pool.text, "reason": reason.rawValue], count)
            }
        }
        text.family(
            "headroom_overcommit_tokens_total", .counter, "Tokens by which budgets in force exceeded the capacity.")
        for pool in pools { text.sample(["pool": pool.pool.text], pool.overcommittedTokens) }
    }

    private func renderTenants(_ pools: [PoolReport], _ text: inout MetricsText) {
        let series = TenantSeries(pools, most: Self.mostTenants)
        let rates: [(String, String, (TenantSeries.Row) -> Rates)] = [
            ("assured", "The rate that a tenant is sure of.", { $0.assured }),
            ("demand", "What a tenant would use if unlimited.", { $0.demand }),
            ("consumed", "What a tenant used.", { $0.consumed }),
        ]
        for (kind, help, value) in rates {
            text.family("headroom_tenant_\(kind)_per_minute", .gauge, help)
            for row in series.rows {
                let rates = value(row)
                for resource in rates.resources.members {
                    text.sample(
                        ["pool": row.pool.text, "tenant": row.tenant, "resource": resource.name], rates[resource] ?? 0)
                }
            }
        }
        text.family("headroom_tenant_queue_depth", .gauge, "Work that waits at gateways.")
        for row in series.rows {
            for criticality in Criticality.allCases {
                text.sample(row.labels(criticality), Int(row.queue[criticality].depth))
            }
        }
        text.family("headroom_tenant_queue_oldest_seconds", .gauge, "Age of the oldest work that waits.")
        for row in series.rows {
            for criticality in Criticality.allCases {
                text.sample(row.labels(criticality), row.queue[criticality].oldestSeconds)
            }
        }
        text.family("headroom_tenant_retries_total", .counter, "Attempts after the first, since the start.")
        for row in series.rows {
            for criticality in Criticality.allCases { text.sample(row.labels(criticality), row.retries[criticality]) }
        }
    }

    private func renderGateways(_ text: inout MetricsText) {
        let worst = drifts.sorted { ($1.seconds, $0.gateway) < ($0.seconds, $1.gateway) }
        text.family("headroom_gateway_drift_seconds", .gauge, "How long a gateway has been behind; the worst of them.")
        for drift in worst.prefix(Self.mostGateways) { text.sample(["gateway": drift.gateway.text], drift.seconds) }
        text.family("headroom_gateway_drift_seconds_max", .gauge, "How long the worst of all gateways has been behind.")
        text.sample(worst.first?.seconds ?? 0)
    }
}
