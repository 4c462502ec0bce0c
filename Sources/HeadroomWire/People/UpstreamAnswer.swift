import HeadroomJSON
import HeadroomModel

// How a pool's upstream fares, in the answer to `GET /v1/pools`.
extension JSONWriter {
    mutating func upstream(_ report: UpstreamReport) {
        beginObject()
        signals(report.whole)
        key("other_consumers")
        measured(report.otherConsumers)
        key("long_windows")
        beginArray()
        for window in report.longWindows {
            beginObject()
            key("resource")
            string(window.resource.name)
            key("window_seconds")
            amount(window.windowSeconds)
            key("remaining")
            amount(window.remaining)
            key("resets_at")
            instant(window.resetsAt)
            endObject()
        }
        endArray()
        key("braked")
        bool(report.isBraked)
        key("growth")
        amount(report.growth)
        key("billing_failure_since")
        instant(report.billingFailureSince)
        key("channels")
        beginArray()
        for channel in report.channels {
            beginObject()
            key("model")
            text(channel.model)
            key("endpoint")
            text(channel.endpoint)
            key("version")
            text(channel.version)
            key("changed_at")
            instant(channel.changedAt)
            key("state")
            string(channel.state.name)
            signals(channel.signals)
            endObject()
        }
        endArray()
        endObject()
    }

    /// Members of an object: sums and quantiles of the last minute.
    private mutating func signals(_ signals: UpstreamReport.Signals) {
        key("attempts")
        integer(signals.attempts)
        key("outcomes")
        beginObject()
        for outcome in Outcome.allCases {
            key(outcome.name)
            integer(signals[outcome])
        }
        endObject()
        key("quota_share")
        if let share = signals.share(of: .quota) { amount(share) } else { null() }
        key("served_tokens")
        amount(signals.servedTokens)
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
