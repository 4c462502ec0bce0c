import HeadroomJSON
import HeadroomModel

// How a pool's upstream fares, in the answer to `GET /v1/pools`.
extension JSONWriter {
    mutating func upstream(_ report: UpstreamReport) {
        beginObject()
        signals(report.whole)
        field("other_consumers", measured: report.otherConsumers)
        key("long_windows")
        beginArray()
        for window in report.longWindows {
            beginObject()
            field("resource", window.resource.name)
            field("window_seconds", finite: window.windowSeconds)
            field("remaining", finite: window.remaining)
            field("resets_at", window.resetsAt)
            endObject()
        }
        endArray()
        field("braked", report.isBraked)
        field("growth", finite: report.growth)
        field("billing_failure_since", report.billingFailureSince)
        key("channels")
        beginArray()
        for channel in report.channels {
            beginObject()
            field("model", channel.model)
            field("endpoint", channel.endpoint)
            field("version", channel.version)
            field("changed_at", channel.changedAt)
            field("state", channel.state.name)
            signals(channel.signals)
            endObject()
        }
        endArray()
        endObject()
    }

    /// Members of an object: sums and quantiles of the last minute.
    private mutating func signals(_ signals: UpstreamReport.Signals) {
        field("attempts", signals.attempts)
        key("outcomes")
        beginObject()
        for outcome in Outcome.allCases {
            key(outcome.name)
            integer(signals[outcome])
        }
        endObject()
        key("quota_share")
        if let share = signals.share(of: .quota) { amount(share) } else { null() }
        field("served_tokens", finite: signals.servedTokens)
        key("latency_ms")
        if let latency = signals.latency {
            beginObject()
            for (name, value) in [
                ("p50", latency.p50Milliseconds), ("p95", latency.p95Milliseconds), ("p99", latency.p99Milliseconds),
                ("baseline_p95", latency.baselineP95Milliseconds),
            ] {
                key(name)
                amount(value)
            }
            endObject()
        } else {
            null()
        }
    }
}
