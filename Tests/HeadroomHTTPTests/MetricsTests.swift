import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct MetricsTests {
    @Test func `labels and helps are escaped as the format asks`() {
        var text = MetricsText()
        text.family("a", .gauge, "back\\slash\nline \"quote\"")
        text.sample(1.5, ["label": "back\\slash\nline \"quote\""])
        text.sample(Double.nan)
        text.sample(7)
        #expect(
            text.text == """
                # HELP a back\\\\slash\\nline "quote"
                # TYPE a gauge
                a{label="back\\\\slash\\nline \\"quote\\""} 1.5
                a 7

                """)
    }

    @Test func `a histogram's buckets are cumulative`() {
        var histogram = Histogram(bounds: [1, 2])
        for value in [0.5, 1, 1.5, 9] { histogram.add(value) }
        var text = MetricsText()
        text.family("h", .histogram, "H.")
        text.histogram(histogram)
        let samples = text.text.split(separator: "\n").dropFirst(2)
        #expect(
            Array(samples) == [
                #"h_bucket{le="1"} 2"#, #"h_bucket{le="2"} 3"#, #"h_bucket{le="+Inf"} 4"#, "h_sum 12", "h_count 4",
            ])
    }

    @Test func `what the loop reports is told under the names of the wire`() {
        var loop = LoopSummary()
        let now = Timestamp(milliseconds: 10000)
        loop.add(
            LoopReport(
                at: now, ticksSucceeded: 3, ticksFailed: 1, lastTickSeconds: 0.004,
                version: SnapshotVersion(epoch: 5, generation: 9), publishedAt: now.adding(seconds: -4),
                pools: [.sample(tenants: [.sample("acme", demand: 5, starvation: .delivery)])]))
        let text = Metrics(loop: loop, now: now).render()
        for line in [
            #"headroom_loop_ticks_total{result="succeeded"} 3"#, #"headroom_loop_ticks_total{result="failed"} 1"#,
            #"headroom_loop_tick_seconds_bucket{le="0.005"} 1"#, "headroom_epoch 5", "headroom_generation 9",
            "headroom_published_age_seconds 4",
            #"headroom_pool_capacity_per_minute{pool="p",resource="requests",kind="nominal"} 100"#,
            #"headroom_pool_calls_total{pool="p",outcome="quota"} 2"#,
            #"headroom_pool_state{pool="p",state="throttled"} 1"#, #"headroom_pool_state{pool="p",state="healthy"} 0"#,
            #"headroom_tenant_demand_per_minute{pool="p",tenant="acme",resource="requests"} 5"#,
            #"headroom_tenant_queue_depth{pool="p",tenant="acme",criticality="batch"} 0"#,
            #"headroom_starved_tenants{pool="p",reason="delivery"} 1"#,
            #"headroom_starved_tenants{pool="p",reason="shortage"} 0"#,
            #"headroom_overcommit_tokens_total{pool="p"} 0"#, #"headroom_limit_reversals_total{pool="p"} 3"#,
            #"headroom_open_questions{pool="p"} 1"#, #"headroom_pool_outcome_share{pool="p",outcome="quota"} 0.25"#,
            #"headroom_pool_outcome_share{pool="p",outcome="ok"} 0.75"#,
            #"headroom_pool_latency_seconds{pool="p",quantile="0.5"} 0.7"#,
            #"headroom_pool_latency_seconds{pool="p",quantile="0.99"} 2.5"#,
            #"headroom_pool_latency_baseline_seconds{pool="p"} 1.5"#, #"headroom_pool_queue_depth{pool="p"} 7"#,
            #"headroom_pool_queue_oldest_seconds{pool="p"} 12"#,
            #"headroom_flagged_tenants{pool="p",kind="resent_denials"} 1"#,
            #"headroom_flagged_tenants{pool="p",kind="vanishing_demand"} 0"#,
            #"headroom_retry_storm_share{pool="p"} 0.5"#,
            #"headroom_model_changed_timestamp_seconds{pool="p",model="m"} 1793000000.5"#,
            #"headroom_tokens_total{pool="p",tenant="acme",criticality="batch"} 7000"#,
            #"headroom_wait_seconds_bucket{pool="p",tier="standard",criticality="batch",le="5"} 1"#,
            #"headroom_wait_seconds_count{pool="p",tier="standard",criticality="batch"} 2"#,
        ] {
            #expect(text.contains(line + "\n"), "\(line) in \(text)")
        }
        // Each family once, its samples together.
        let types = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }
        #expect(Set(types).count == types.count)
    }

    @Test func `all but the largest tenants are one series`() {
        var loop = LoopSummary()
        let tenants = (0..<250).map { TenantReport.sample("t-\(1000 + $0)", demand: Double($0)) }
        loop.add(LoopReport(at: Timestamp(milliseconds: 0), pools: [.sample(tenants: tenants)]))
        let lines = Metrics(loop: loop, now: Timestamp(milliseconds: 0)).render().split(separator: "\n")
            .filter { $0.hasPrefix("headroom_tenant_demand_per_minute{") }
        #expect(lines.count == 201)
        // 0 + 1 + … + 49
        #expect(lines.last == #"headroom_tenant_demand_per_minute{pool="p",tenant="other",resource="requests"} 1225"#)
        #expect(lines.first?.contains("t-1050") == true)
    }

    @Test func `only the worst gateways have a series`() {
        let drifts = (0..<80).map { (gateway: GatewayID("gw-\($0)")!, seconds: Double($0)) }
        let text = Metrics(loop: LoopSummary(), drifts: drifts, now: Timestamp(milliseconds: 0)).render()
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("headroom_gateway_drift_seconds{") }
        #expect(lines.count == 50)
        #expect(lines.first == #"headroom_gateway_drift_seconds{gateway="gw-79"} 79"#)
        #expect(text.contains("headroom_gateway_drift_seconds_max 79\n"))
    }

    @Test func `the results of a batch part its lines`() {
        func record(_ id: String?, _ number: Int, late: Bool = false) -> TelemetryBatch.Line {
            let call = CallRecord(
                id: id, at: Timestamp(milliseconds: 0), gateway: "gw-1", tenant: "acme", pool: "p", outcome: .ok)
            return TelemetryBatch.Line(number: number, id: id, record: .call(call), isLate: late)
        }
        let lines = [record("a", 1), record(nil, 2), record("b", 3), record("c", 4, late: true), record("d", 5)]
        let batch = TelemetryBatch(
            received: Timestamp(milliseconds: 0), lines: lines, faults: [.init(line: 6, detail: "unreadable")])
        let counters = TelemetryCounters()
        counters.add(
            batch,
            TelemetryReceipt(
                accepted: 2, duplicate: 1, late: 1,
                rejected: [.init(line: 5, detail: "by windows already"), .init(line: 6, detail: "unreadable")]))
        let counts = counters.all.map { "\($0.key.type) \($0.key.result) \($0.count)" }
        #expect(
            counts == ["call accepted 2", "call duplicate 1", "call late 1", "call rejected 1", "unknown rejected 1"])
        let repeated = TelemetryCounters()
        repeated.add(batch, TelemetryReceipt(accepted: 0, duplicate: 5, late: 0, rejected: batch.faults))
        #expect(
            repeated.all.map { "\($0.key.type) \($0.key.result) \($0.count)" } == [
                "call duplicate 5", "unknown rejected 1",
            ])
    }
}

extension PoolReport {
    fileprivate static func sample(tenants: [TenantReport]) -> PoolReport {
        let rates = Rates(rpm: 100)
        var waits = PerCriticality(repeating: Histogram(bounds: [1, 5]))
        for seconds in [4.0, 40] { waits.batch.add(seconds) }
        var signals = UpstreamReport.Signals(
            latency: UpstreamReport.Latency(
                p50Milliseconds: 700, p95Milliseconds: 1900, p99Milliseconds: 2500, baselineP95Milliseconds: 1500))
        signals.outcomes[Outcome.ok.rawValue] = 3
        signals.outcomes[Outcome.quota.rawValue] = 1
        signals.outcomes[Outcome.denied.rawValue] = 9
        let storm = RetryStorm(since: Timestamp(milliseconds: 0), periodSeconds: 10, share: 0.5, tenants: ["acme"])
        return PoolReport(
            pool: "p", state: .throttled, nominal: rates, estimated: rates, capacityReason: .contract, confidence: 1,
            budget: rates, assured: rates, consumed: rates, calls: [.quota: 2], reversals: 3,
            waits: [("standard", waits)], openQuestions: 1, retryStorm: storm,
            upstream: UpstreamReport(
                whole: signals,
                channels: ["chat", "embeddings"].map { endpoint in
                    UpstreamReport.Channel(
                        model: "m", endpoint: endpoint, changedAt: Timestamp(milliseconds: 1_793_000_000_500),
                        signals: signals)
                }), tenants: tenants)
    }
}

extension TenantReport {
    fileprivate static func sample(_ tenant: String, demand: Double, starvation: Starvation? = nil) -> TenantReport {
        TenantReport(
            tenant: TenantID(tenant)!, tier: "standard", demand: Rates(rpm: demand), assured: Rates(rpm: 1),
            consumed: Rates(rpm: 1),
            queue: PerCriticality(
                interactive: TenantReport.Queue(depth: 7, oldestSeconds: 12), nearRealTime: TenantReport.Queue(),
                batch: TenantReport.Queue()), tokens: PerCriticality(interactive: 0, nearRealTime: 0, batch: 7000),
            starvation: starvation,
            profile: TenantProfileReport(flags: [
                GamingFlag(kind: .resentDenials, since: Timestamp(milliseconds: 0), evidence: "e")
            ]))
    }
}
