import HeadroomJSON
import HeadroomModel

/// Roll-ups added up over steps of time, for plots.
package struct HistorySeries: Equatable, Sendable {
    package struct Step: Equatable, Sendable {
        package var start: Timestamp
        package var ok: Int64 = 0
        package var quota: Int64 = 0
        package var overload: Int64 = 0
        package var error: Int64 = 0
        package var retries: Int64 = 0
        package var denied: Int64 = 0
        package var deniedTokens: Int64 = 0
        package var inputTokens: Int64 = 0
        package var outputTokens: Int64 = 0
        package var countedTokens: Int64 = 0
        package var demandTokens = 0.0
        package var assuredTokens = 0.0
        package var starvedForDeliverySeconds = 0.0
        package var starvedForShortageSeconds = 0.0
        package var oldestQueuedSeconds = 0.0

        package init(start: Timestamp) {
            self.start = start
        }

        fileprivate mutating func add(_ rollup: Rollup) {
            ok += rollup.ok
            quota += rollup.quota
            overload += rollup.overload
            error += rollup.error
            retries += rollup.retries
            denied += rollup.denied
            deniedTokens += rollup.deniedTokens
            inputTokens += rollup.inputTokens
            outputTokens += rollup.outputTokens
            countedTokens += rollup.countedTokens
            demandTokens += rollup.demandTokens
            assuredTokens += rollup.assuredTokens
            starvedForDeliverySeconds += rollup.starvedForDeliverySeconds
            starvedForShortageSeconds += rollup.starvedForShortageSeconds
            oldestQueuedSeconds = max(oldestQueuedSeconds, rollup.oldestQueuedSeconds)
        }
    }

    /// Ascending; a step in which nothing happened is left out.
    package private(set) var steps: [Step] = []
    /// From where to ask on, when not all roll-ups fitted into one answer.
    package private(set) var next: Timestamp?
    package let stepSeconds: Int64

    /// - Parameters:
    ///   - rollups: ascending by start. Where there are `limit` of them the last step may be incomplete: it is left out,
    ///     and ``next`` is its start.
    ///   - stepSeconds: at least 1. Steps are counted from 1970, so that neighbouring answers fit together.
    package init(_ rollups: [Rollup], limit: Int, stepSeconds: Int64) {
        self.stepSeconds = stepSeconds
        let width = stepSeconds * 1000
        for rollup in rollups {
            let milliseconds = rollup.start.milliseconds
            let start = milliseconds - ((milliseconds % width) + width) % width
            if steps.last?.start.milliseconds != start { steps.append(Step(start: Timestamp(milliseconds: start))) }
            steps[steps.count - 1].add(rollup)
        }
        if rollups.count >= limit, steps.count > 1 { next = steps.removeLast().start }
    }

    package func encoded(pool: PoolID, tenant: TenantID?) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + steps.count * 256)
        writer.beginObject()
        writer.field("pool", pool.text)
        writer.field("tenant", tenant?.text)
        writer.field("step_seconds", stepSeconds)
        writer.key("series")
        writer.beginArray()
        for step in steps { write(step, to: &writer) }
        writer.endArray()
        writer.field("next", next)
        writer.endObject()
        return writer.bytes
    }

    private func write(_ step: Step, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("start", step.start)
        for (name, count) in [
            ("ok", step.ok), ("quota", step.quota), ("overload", step.overload), ("error", step.error),
            ("retries", step.retries), ("denied", step.denied), ("denied_tokens", step.deniedTokens),
            ("input_tokens", step.inputTokens), ("output_tokens", step.outputTokens),
            ("counted_tokens", step.countedTokens),
        ] {
            writer.key(name)
            writer.integer(count)
        }
        for (name, amount) in [
            ("demand_tokens", step.demandTokens), ("assured_tokens", step.assuredTokens),
            ("starved_delivery_seconds", step.starvedForDeliverySeconds),
            ("starved_shortage_seconds", step.starvedForShortageSeconds),
            ("oldest_queued_seconds", step.oldestQueuedSeconds),
        ] {
            writer.key(name)
            writer.amount(amount)
        }
        writer.endObject()
    }
}
