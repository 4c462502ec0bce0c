import HeadroomModel

// The two observing actors' notes on a pool: its upstream in the last minute, and its tenants.
extension Metrics {
    func renderSignals(_ pools: [PoolReport], _ text: inout MetricsText) {
        text.family(
            "headroom_pool_outcome_share", .gauge,
            "Part of the last minute's attempts that ended so; quota is the 429s.")
        for pool in pools {
            for outcome in Outcome.allCases where ![.denied, .cached].contains(outcome) {
                guard let share = pool.upstream.whole.share(of: outcome) else { continue }
                text.sample(share, ["pool": pool.pool.text, "outcome": outcome.name])
            }
        }
        text.family("headroom_pool_latency_seconds", .summary, "Quantiles of the last minute, within 3.2 %.")
        for pool in pools {
            guard let latency = pool.upstream.whole.latency else { continue }
            for (quantile, milliseconds) in [
                ("0.5", latency.p50Milliseconds), ("0.95", latency.p95Milliseconds), ("0.99", latency.p99Milliseconds),
            ] {
                text.sample(milliseconds / 1000, ["pool": pool.pool.text, "quantile": quantile])
            }
        }
        text.family("headroom_pool_latency_baseline_seconds", .gauge, "The slow-moving p95 that a rise is measured by.")
        for pool in pools {
            guard let latency = pool.upstream.whole.latency else { continue }
            text.sample(latency.baselineP95Milliseconds / 1000, ["pool": pool.pool.text])
        }
        text.family(
            "headroom_model_changed_timestamp_seconds", .gauge,
            "When another version of the model was reported, or noticed by its name.")
        for pool in pools {
            var told: Set<String> = []
            for channel in pool.upstream.channels {
                guard let model = channel.model, let at = channel.changedAt, told.insert(model).inserted else {
                    continue
                }
                text.sample(Double(at.milliseconds) / 1000, ["pool": pool.pool.text, "model": model])
            }
        }
        text.family("headroom_pool_queue_depth", .gauge, "Work of all tenants that waits at gateways.")
        for pool in pools { text.sample(Int(pool.queue.depth), ["pool": pool.pool.text]) }
        text.family("headroom_pool_queue_oldest_seconds", .gauge, "Age of the oldest work that waits.")
        for pool in pools { text.sample(pool.queue.oldestSeconds, ["pool": pool.pool.text]) }
        text.family("headroom_flagged_tenants", .gauge, "Tenants that seem to game the loop.")
        for pool in pools {
            for kind in GamingFlag.Kind.allCases {
                let count = pool.tenants.count { $0.profile?.flags.contains { $0.kind == kind } == true }
                text.sample(count, ["pool": pool.pool.text, "kind": kind.rawValue])
            }
        }
        text.family("headroom_retry_storm_share", .gauge, "Retries among all attempts while a storm lasts, else 0.")
        for pool in pools { text.sample(pool.retryStorm?.share ?? 0, ["pool": pool.pool.text]) }
    }
}
