import HeadroomModel
import HeadroomWire

/// The content of `/metrics` (WireFormat §6), out of the loop's newest report and the edge's own counters.
package struct Metrics {
    private let loop: LoopSummary
    private let drifts: [(gateway: GatewayID, seconds: Double)]
    private let telemetry: [(key: TelemetryCounters.Key, count: Int)]
    private let refusals: [(reason: TelemetryRefusal, count: Int)]
    private let draws: [(pool: PoolID, result: DrawIntake.Result, count: Int)]
    private let longPolls: Int
    private let conditions: [(kind: ServiceConditions.Kind, reason: String?)]
    private let alerts: [(kind: AlertKind, count: Int)]
    private let sinks: [SinkMetrics.Row]
    private let levels: (tiers: [LevelMetrics.Row], own: [LevelMetrics.Row], tasks: [LevelMetrics.Row])
    private let auditHead: (sequence: Int64, hash: String)?
    private let backup: (at: Timestamp, bytes: Int64)?
    private let failedSignIns: Int
    private let slowedAddresses: Int
    private let memory: [MemoryShare]
    private let residentBytes: Int?
    private let now: Timestamp

    package init(
        loop: LoopSummary, drifts: [(gateway: GatewayID, seconds: Double)] = [],
        telemetry: [(key: TelemetryCounters.Key, count: Int)] = [],
        refusals: [(reason: TelemetryRefusal, count: Int)] = [],
        draws: [(pool: PoolID, result: DrawIntake.Result, count: Int)] = [], longPolls: Int = 0,
        conditions: [(kind: ServiceConditions.Kind, reason: String?)] = [],
        alerts: [(kind: AlertKind, count: Int)] = [], sinks: [SinkMetrics.Row] = [],
        levels: LevelMetrics = LevelMetrics(),
        auditHead: (sequence: Int64, hash: String)? = nil, backup: (at: Timestamp, bytes: Int64)? = nil,
        failedSignIns: Int = 0, slowedAddresses: Int = 0,
        memory: [MemoryShare] = [], residentBytes: Int? = nil, now: Timestamp
    ) {
        self.loop = loop
        self.drifts = drifts
        self.telemetry = telemetry
        self.refusals = refusals
        self.draws = draws
        self.longPolls = longPolls
        self.conditions = conditions
        self.alerts = alerts
        self.sinks = sinks
        self.levels = levels.rows
        self.auditHead = auditHead
        self.backup = backup
        self.failedSignIns = failedSignIns
        self.slowedAddresses = slowedAddresses
        self.memory = memory
        self.residentBytes = residentBytes
        self.now = now
    }

    /// Tenants and gateways with series of their own; a scrape stays bounded however many there are.
    static let maxTenants = 200
    static let maxGateways = 50
    private static let maxTaskKinds = 100
    /// In seconds.
    private static let taskBounds: [Double] = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]

    package func render() -> String {
        var text = MetricsText()
        text.family("headroom_telemetry_lines_total", .counter, "Lines of telemetry since the start.")
        for (key, count) in telemetry { text.sample(count, ["type": key.type, "result": key.result.rawValue]) }
        text.family(
            "headroom_telemetry_refused_lines_total", .counter,
            "Lines of telemetry that were refused before storage saw them, by why.")
        for (reason, count) in refusals { text.sample(count, ["reason": reason.rawValue]) }
        if !draws.isEmpty {
            text.family(
                "headroom_draws_total", .counter, "Draws from the float since the start, by what became of them.")
            for (pool, result, count) in draws { text.sample(count, ["pool": pool.text, "result": result.rawValue]) }
        }
        if let report = loop.newest {
            renderLoop(report, &text)
            renderPools(report.pools, &text)
            renderSignals(report.pools, &text)
            renderTenants(report.pools, &text)
            renderCosts(report.allowances, &text)
            renderCostBreaks(report.costBreaks, &text)
            renderTasks(report.tasks, &text)
        }
        renderGateways(&text)
        renderWithheld(loop.newest?.withheld ?? [], &text)
        text.family("headroom_long_polls", .gauge, "Requests that wait for the next generation.")
        text.sample(longPolls)
        text.family("headroom_service_condition", .gauge, "1 while it holds; /readyz says why.")
        for (kind, reason) in conditions { text.sample(reason == nil ? 0 : 1, ["condition": kind.rawValue]) }
        text.family("headroom_alerts_open", .gauge, "Alerts that are open; GET /v1/alerts says what they are.")
        for (kind, count) in alerts { text.sample(count, ["kind": kind.rawValue]) }
        text.family(
            "headroom_alert_notifications_total", .counter,
            "Messages to webhooks since the start; a failed one is tried again, a dropped one is not.")
        for row in sinks {
            for (result, count) in [("delivered", row.delivered), ("failed", row.failed), ("dropped", row.dropped)] {
                text.sample(count, ["sink": row.sink, "result": result])
            }
        }
        text.family("headroom_alert_notifications_waiting", .gauge, "Messages that wait for a webhook to take them.")
        for row in sinks { text.sample(row.waiting, ["sink": row.sink]) }
        renderLevels(&text)
        if let auditHead {
            text.family(
                "headroom_audit_head_info", .gauge,
                "The newest row of the audit log, hourly: headroom audit verify --head finds what was cut off since.")
            text.sample(1, ["sequence": String(auditHead.sequence), "hash": auditHead.hash])
        }
        if let backup {
            text.family("headroom_backup_age_seconds", .gauge, "Since the newest copy of the database was made.")
            text.sample(max(0, now.seconds(since: backup.at)))
            text.family("headroom_backup_bytes", .gauge, "Of the newest copy of the database.")
            text.sample(Int(clamping: backup.bytes))
        }
        text.family("headroom_failed_sign_ins_total", .counter, "Calls without a known token, since the start.")
        text.sample(failedSignIns)
        text.family(
            "headroom_slowed_addresses", .gauge, "Addresses whose calls without a known token are answered late.")
        text.sample(slowedAddresses)
        renderMemory(&text)
        return text.text
    }

    private func renderMemory(_ text: inout MetricsText) {
        if !memory.isEmpty {
            text.family(
                "headroom_memory_bytes", .gauge,
                "About what the large tables take, by owner; the rest is the program, its buffers and freed memory.")
            for share in memory { text.sample(share.bytes, ["owner": share.owner]) }
        }
        if let residentBytes {
            text.family("process_resident_memory_bytes", .gauge, "Memory of the process that is not swapped out.")
            text.sample(residentBytes)
        }
    }

    private func renderLoop(_ report: LoopReport, _ text: inout MetricsText) {
        text.family("headroom_loop_ticks_total", .counter, "Ticks of the control loop since the start.")
        text.sample(report.ticksSucceeded, ["result": "succeeded"])
        text.sample(report.ticksFailed, ["result": "failed"])
        text.sample(report.ticksSkipped, ["result": "skipped"])
        text.family("headroom_policy_refused", .gauge, "1 while the policy files are not those in force.")
        text.sample(report.rulesRefusal == nil ? 0 : 1)
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
                        rates[resource] ?? 0, ["pool": pool.pool.text, "resource": resource.name, "kind": kind])
                }
            }
        }
        text.family("headroom_pool_calls_total", .counter, "Attempts since the start.")
        for pool in pools {
            for outcome in Outcome.allCases {
                guard let count = pool.calls[outcome] else { continue }
                text.sample(count, ["pool": pool.pool.text, "outcome": outcome.name])
            }
        }
        text.family("headroom_pool_state", .gauge, "1 for the state that the pool is in.")
        for pool in pools {
            for state in PoolState.allCases {
                text.sample(pool.state == state ? 1 : 0, ["pool": pool.pool.text, "state": state.name])
            }
        }
        text.family(
            "headroom_pool_billing_failure", .gauge,
            "1 while the provider refuses the account for want of money, else 0.")
        for pool in pools {
            text.sample(pool.upstream.billingFailureSince == nil ? 0 : 1, ["pool": pool.pool.text])
        }
        text.family("headroom_starved_tenants", .gauge, "Tenants that are starved.")
        for pool in pools {
            for reason in Starvation.allCases {
                let count = pool.tenants.count { $0.starvation == reason }
                text.sample(count, ["pool": pool.pool.text, "reason": reason.rawValue])
            }
        }
        text.family(
            "headroom_overcommit_tokens_total", .counter, "Tokens by which budgets in force exceeded the capacity.")
        for pool in pools { text.sample(pool.overcommittedTokens, ["pool": pool.pool.text]) }
        text.family(
            "headroom_limit_reversals_total", .counter,
            "How often assured rates turned back by more than a hundredth, since the start.")
        for pool in pools { text.sample(pool.reversals, ["pool": pool.pool.text]) }
        text.family("headroom_wait_seconds", .histogram, "How long calls that went through had waited at gateways.")
        for pool in pools {
            for (tier, seconds) in pool.waits {
                for criticality in Criticality.allCases where seconds[criticality].count > 0 {
                    text.histogram(
                        seconds[criticality],
                        ["pool": pool.pool.text, "tier": tier, "criticality": criticality.name])
                }
            }
        }
        text.family(
            "headroom_untracked_lines_total", .counter,
            "Lines of tenants beyond the bounds on their number, since the start: they share `unlisted`.")
        for pool in pools { text.sample(pool.untracked.lines, ["pool": pool.pool.text]) }
        text.family("headroom_open_questions", .gauge, "Approvals and recommendations that wait for a person.")
        for pool in pools { text.sample(pool.openQuestions, ["pool": pool.pool.text]) }
    }

    private func renderTenants(_ pools: [PoolReport], _ text: inout MetricsText) {
        let series = TenantSeries(pools, most: Self.maxTenants)
        let rates: [(String, String, (TenantSeries.Row) -> Rates)] = [
            ("assured", "The rate that a tenant is sure of.", { $0.assured }),
            ("asked", "What a tenant asked for in the demand window, each piece of work once.", { $0.asked }),
            ("demand", "What is planned for a tenant: more than it asks for while its work waits.", { $0.demand }),
            ("consumed", "What a tenant used.", { $0.consumed }),
        ]
        for (kind, help, value) in rates {
            text.family("headroom_tenant_\(kind)_per_minute", .gauge, help)
            for row in series.rows {
                let rates = value(row)
                for resource in rates.resources.members {
                    text.sample(
                        rates[resource] ?? 0, ["pool": row.pool.text, "tenant": row.tenant, "resource": resource.name])
                }
            }
        }
        text.family("headroom_tenant_queue_depth", .gauge, "Work that waits at gateways.")
        for row in series.rows {
            for criticality in Criticality.allCases {
                text.sample(Int(row.queue[criticality].depth), row.labels(criticality))
            }
        }
        text.family("headroom_tenant_queue_oldest_seconds", .gauge, "Age of the oldest work that waits.")
        for row in series.rows {
            for criticality in Criticality.allCases {
                text.sample(row.queue[criticality].oldestSeconds, row.labels(criticality))
            }
        }
        text.family("headroom_tenant_retries_total", .counter, "Attempts after the first, since the start.")
        for row in series.rows {
            for criticality in Criticality.allCases { text.sample(row.retries[criticality], row.labels(criticality)) }
        }
        text.family("headroom_tokens_total", .counter, "Counted tokens served, since the start.")
        for row in series.rows {
            for criticality in Criticality.allCases { text.sample(row.tokens[criticality], row.labels(criticality)) }
        }
    }

    /// Of the tenants that have used most of their money. Currencies do not add up, so the others have no sum.
    private func renderCostBreaks(_ stands: [CostBreak], _ text: inout MetricsText) {
        guard !stands.isEmpty else { return }
        text.family(
            "headroom_cost_breaker_subjects", .gauge,
            "Tenants and kinds of tasks that the cost breaker holds, is about to hold, or sees past half of their ceilings."
        )
        for state in CostBreak.State.allCases {
            let here = stands.filter { $0.state == state }
            let tenants = here.count { $0.subject.tenant != nil }
            text.sample(tenants, ["subject": "tenant", "state": state.name])
            text.sample(here.count - tenants, ["subject": "task_kind", "state": state.name])
        }
    }

    private func renderTasks(_ tasks: TaskReports, _ text: inout MetricsText) {
        guard tasks.followed > 0 || !tasks.tasks.isEmpty else { return }
        text.family(
            "headroom_tasks", .gauge, "Agent tasks that are followed; one is forgotten after an hour of silence.")
        text.sample(tasks.followed)
        text.family("headroom_tasks_held", .gauge, "Agent tasks by what of theirs is held back.")
        for hold in TaskHold.allCases.dropFirst() { text.sample(tasks.count(hold), ["held": hold.name]) }
        text.family("headroom_task_stops_total", .counter, "Agent tasks that used up their budgets, since the start.")
        text.sample(tasks.stops)
        renderTaskTimes(tasks, &text)
    }

    /// By kind, over all tenants.
    private func renderTaskTimes(_ tasks: TaskReports, _ text: inout MetricsText) {
        text.family(
            "headroom_task_seconds", .histogram, "How long agent tasks took that ended since the start, by their kind.")
        for ended in tasks.ended {
            let (kind, times) = (ended.kind, ended.times)
            let counts = Self.taskBounds.map { Int(clamping: times.count(upTo: $0)) }
            let sums = times.sums
            text.histogram(
                bounds: zip(Self.taskBounds, counts).map { ($0, $1) }, count: Int(clamping: sums.tasks),
                sum: sums.seconds, ["task_kind": kind])
        }
        let counters: [(String, String, (TaskTimes.Sums) -> Double)] = [
            ("waited_seconds", "Of the time that agent tasks took, what they waited for quota.", { $0.waitedSeconds }),
            ("calls", "Served calls of agent tasks that ended.", { Double($0.calls) }),
            ("retries", "Attempts after the first of agent tasks that ended.", { Double($0.retries) }),
            (
                "refused", "Attempts of agent tasks that ended which were refused for want of quota.",
                { Double($0.refused) }
            ),
        ]
        for (name, help, value) in counters {
            text.family("headroom_task_\(name)_total", .counter, help)
            for ended in tasks.ended { text.sample(value(ended.times.sums), ["task_kind": ended.kind]) }
        }
        text.family("headroom_tasks_running", .gauge, "Agent tasks in progress, by their kind.")
        var running: [String: (all: Int, overdue: Int)] = [:]
        for pace in tasks.paces where pace.running > 0 {
            running[pace.kind ?? "", default: (0, 0)].all += pace.running
            running[pace.kind ?? "", default: (0, 0)].overdue += Int(clamping: pace.overdue.tasks)
        }
        let kinds = running.sorted { ($1.value.all, $0.key) < ($0.value.all, $1.key) }.prefix(Self.maxTaskKinds)
        for (kind, counts) in kinds { text.sample(counts.all, ["task_kind": kind]) }
        text.family(
            "headroom_tasks_overdue", .gauge, "Of these, those that have taken three times their usual time already.")
        for (kind, counts) in kinds { text.sample(counts.overdue, ["task_kind": kind]) }
    }

    private func renderCosts(_ allowances: [TenantID: CostAllowance], _ text: inout MetricsText) {
        guard !allowances.isEmpty else { return }
        func share(_ allowance: CostAllowance) -> Double {
            allowance.terms.most > 0 ? allowance.spent / Double(allowance.terms.most) : 0
        }
        let rows = allowances.sorted { (share($1.value), $0.key) < (share($0.value), $1.key) }.prefix(Self.maxTenants)
        let unit = 1e6
        text.family(
            "headroom_tenant_spent", .gauge,
            "What a tenant has spent since its period began, in its currency; those nearest to their bound.")
        for (tenant, allowance) in rows {
            text.sample(allowance.spent / unit, ["tenant": tenant.text, "currency": allowance.terms.currency])
        }
        text.family("headroom_tenant_spend_bound", .gauge, "What a tenant's contract lets it spend in a period.")
        for (tenant, allowance) in rows where allowance.terms.most > 0 {
            text.sample(
                Double(allowance.terms.most) / unit, ["tenant": tenant.text, "currency": allowance.terms.currency])
        }
    }

    private func renderLevels(_ text: inout MetricsText) {
        let families: [(String, String, String, [LevelMetrics.Row])] = [
            ("headroom_slo_attainment", "headroom_slo_burn", "tier", levels.tiers),
            ("headroom_service_slo_attainment", "headroom_service_slo_burn", "level", levels.own),
            ("headroom_task_slo_attainment", "headroom_task_slo_burn", "tier", levels.tasks),
        ]
        for (attainment, burn, label, rows) in families
        where attainment != "headroom_task_slo_attainment" || !rows.isEmpty {
            text.family(attainment, .gauge, "The part of the window in which the service level was kept.")
            for row in rows {
                for window in LevelWindow.allCases {
                    guard let value = row.windows[window].attainment else { continue }
                    text.sample(value, [label: row.name, "window": window.rawValue])
                }
            }
            text.family(burn, .gauge, "How many times faster the service level is missed than it may be.")
            for row in rows {
                for window in LevelWindow.allCases {
                    guard let value = row.windows[window].burn(objective: row.objective) else { continue }
                    text.sample(value, [label: row.name, "window": window.rawValue])
                }
            }
        }
    }

    /// Of each pool the sum, and the first gateways by name.
    private func renderWithheld(_ withheld: [WithheldBudget], _ text: inout MetricsText) {
        text.family(
            "headroom_pool_withheld_per_minute", .gauge, "What gateways that vanished may still be using of a pool.")
        for pool in loop.newest?.pools.map(\.pool) ?? [] {
            let own = withheld.filter { $0.pool == pool }
            guard let resources = own.first?.rates.resources else { continue }
            for resource in resources.members {
                let sum = own.reduce(0) { $0 + ($1.rates[resource] ?? 0) }
                text.sample(sum, ["pool": pool.text, "resource": resource.name])
            }
        }
        text.family(
            "headroom_gateway_withheld_per_minute", .gauge, "What a gateway that vanished may still be using of a pool."
        )
        for entry in withheld.prefix(Self.maxGateways) {
            for resource in entry.rates.resources.members {
                text.sample(
                    entry.rates[resource] ?? 0,
                    ["pool": entry.pool.text, "gateway": entry.gateway.text, "resource": resource.name])
            }
        }
    }

    private func renderGateways(_ text: inout MetricsText) {
        let worst = drifts.sorted { ($1.seconds, $0.gateway) < ($0.seconds, $1.gateway) }
        text.family("headroom_gateway_drift_seconds", .gauge, "How long a gateway has been behind; the worst of them.")
        for drift in worst.prefix(Self.maxGateways) { text.sample(drift.seconds, ["gateway": drift.gateway.text]) }
        text.family("headroom_gateway_drift_seconds_max", .gauge, "How long the worst of all gateways has been behind.")
        text.sample(worst.first?.seconds ?? 0)
    }
}
