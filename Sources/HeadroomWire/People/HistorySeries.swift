import HeadroomJSON
import HeadroomModel

/// The past of a pool or of a tenant, added up over steps of time, for plots.
package struct HistorySeries: Equatable, Sendable {
    package struct Step: Equatable, Sendable {
        package var start: Timestamp
        package var sums = RollupSums()
        package var capacity = CapacitySums()

        package init(start: Timestamp) {
            self.start = start
        }
    }

    package struct Leader: Equatable, Sendable {
        package var tenant: TenantID
        package var steps: [Step]
    }

    package let query: HistoryQuery
    /// Ascending; a step of which nothing is known is left out.
    package private(set) var steps: [Step] = []
    package private(set) var leaders: [Leader] = []
    private let tenantCount: Int
    private let events: [PoolEvent]
    private let acts: [PersonsAct]
    private let next: Timestamp?

    /// - Parameters:
    ///   - records: what the query found.
    ///   - acts: those of `records` that the reader may see.
    ///   - next: from where to ask on, when not all of what was asked for is in the query.
    package init(_ records: HistoryRecords, _ query: HistoryQuery, acts: [PersonsAct] = [], next: Timestamp? = nil) {
        self.query = query
        self.next = next
        self.acts = acts
        tenantCount = records.tenantCount
        events = records.events
        steps = Self.steps(records.pools, of: query, start: \.start) { step, rollup in
            step.sums.add(rollup.sums)
            step.capacity.add(rollup.capacity)
        }
        if query.tenant != nil { steps = Self.steps(records.tenant, of: query) }
        leaders = records.leaders.map { Leader(tenant: $0.tenant, steps: Self.steps($0.rollups, of: query)) }
    }

    private static func steps(_ rollups: [Rollup], of query: HistoryQuery) -> [Step] {
        steps(rollups, of: query, start: \.start) { $0.sums.add($1.sums) }
    }

    /// Steps are counted from 1970, so that neighbouring answers fit together.
    private static func steps<Row>(
        _ rows: [Row], of query: HistoryQuery, start: KeyPath<Row, Timestamp>, _ add: (inout Step, Row) -> Void
    ) -> [Step] {
        let width = query.stepSeconds * 1000
        var steps: [Step] = []
        for row in rows {
            let milliseconds = row[keyPath: start].milliseconds
            let start = Timestamp(milliseconds: milliseconds - ((milliseconds % width) + width) % width)
            if steps.last?.start != start { steps.append(Step(start: start)) }
            add(&steps[steps.count - 1], row)
        }
        return steps
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024 + steps.count * 640 + leaders.reduce(0) { $0 + $1.steps.count * 256 })
        writer.beginObject()
        writer.field("pool", query.pool.text)
        writer.field("tenant", query.tenant?.text)
        writer.field("from", query.from)
        writer.field("to", query.to)
        writer.field("step_seconds", query.stepSeconds)
        writer.field("series", each: steps) { write($1, to: &$0) }
        if query.leaders > 0 {
            writer.field("top", each: leaders) { writer, leader in
                writer.beginObject()
                writer.field("tenant", leader.tenant.text)
                writer.field("series", each: leader.steps) { $0.shares($1.start, $1.sums, without: RollupSums()) }
                writer.endObject()
            }
            writeRest(to: &writer)
        }
        writer.field("events", each: events) { $0.event($1) }
        writer.field("acts", each: acts) { $0.act($1) }
        writer.field("next", next)
        writer.endObject()
        return writer.bytes
    }

    private func write(_ step: Step, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("start", step.start)
        writer.sums(step.sums)
        if query.tenant == nil {
            writer.field("observed_seconds", finite: step.capacity.observedSeconds)
            writer.key("capacity")
            writer.beginObject()
            writer.field("nominal", measured: step.capacity.mean(\.nominal))
            writer.field("estimated", measured: step.capacity.mean(\.estimated))
            writer.field("budget", measured: step.capacity.mean(\.budget))
            writer.endObject()
            writer.field("queue_depth", step.capacity.queueDepth)
        } else {
            writer.key("ceiling")
            writer.measured(step.sums.meanCeiling)
        }
        writer.endObject()
    }

    /// All tenants but the leaders.
    private func writeRest(to writer: inout JSONWriter) {
        var led: [Timestamp: RollupSums] = [:]
        for leader in leaders {
            for step in leader.steps { led[step.start, default: RollupSums()].add(step.sums) }
        }
        writer.key("rest")
        writer.beginObject()
        writer.field("tenants", Int64(tenantCount - leaders.count))
        writer.field("series", each: steps) { writer, step in
            writer.shares(step.start, step.sums, without: led[step.start] ?? RollupSums())
        }
        writer.endObject()
    }
}

extension RollupSums {
    /// The mean ceiling while the tenant wanted something; absent where nothing says.
    fileprivate var meanCeiling: Rates {
        guard activeSeconds > 0 else { return .none }
        func mean(_ sum: Double) -> Double? { sum > 0 ? sum * 60 / activeSeconds : nil }
        return Rates(rpm: mean(ceilingRequests), tpm: mean(ceilingTokens))
    }
}

extension JSONWriter {
    mutating func sums(_ sums: RollupSums) {
        field("ok", sums.ok)
        field("quota", sums.quota)
        field("overload", sums.overload)
        field("error", sums.error)
        field("ramp", sums.ramp)
        field("billing", sums.billing)
        field("retries", sums.retries)
        field("denied", sums.denied)
        field("denied_tokens", sums.deniedTokens)
        field("input_tokens", sums.inputTokens)
        field("cached_input_tokens", sums.cachedInputTokens)
        field("output_tokens", sums.outputTokens)
        field("counted_tokens", sums.countedTokens)
        field("waits", sums.waits)
        field("waited_seconds", finite: sums.waitedSeconds)
        field("active_seconds", finite: sums.activeSeconds)
        field("asked_requests", sums.asked.requests)
        field("asked_tokens", sums.asked.tokens)
        field("asked_input_tokens", sums.asked.inputTokens)
        field("asked_output_tokens", sums.asked.outputTokens)
        field("assured_tokens", finite: sums.assuredTokens)
        field("assured_requests", finite: sums.assuredRequests)
        field("starved_delivery_seconds", finite: sums.starvedForDeliverySeconds)
        field("starved_shortage_seconds", finite: sums.starvedForShortageSeconds)
        field("oldest_queued_seconds", finite: sums.oldestQueuedSeconds)
    }

    /// The numbers that a plot of tenants on top of each other needs.
    fileprivate mutating func shares(_ start: Timestamp, _ sums: RollupSums, without part: RollupSums) {
        beginObject()
        field("start", start)
        field("ok", max(0, sums.ok - part.ok))
        field("quota", max(0, sums.quota - part.quota))
        field("denied", max(0, sums.denied - part.denied))
        field("counted_tokens", max(0, sums.countedTokens - part.countedTokens))
        field("asked_requests", sums.asked.difference(from: part.asked).requests)
        field("asked_tokens", sums.asked.difference(from: part.asked).tokens)
        field("assured_tokens", finite: max(0, sums.assuredTokens - part.assuredTokens))
        field("oldest_queued_seconds", finite: sums.oldestQueuedSeconds)
        endObject()
    }

    fileprivate mutating func event(_ event: PoolEvent) {
        beginObject()
        field("at", event.at)
        field("kind", event.kind.name)
        field("pool", event.pool?.text)
        field("subject", event.subject)
        field("before", event.before)
        field("after", event.after)
        endObject()
    }

    fileprivate mutating func act(_ act: PersonsAct) {
        beginObject()
        field("sequence", act.entry.sequence)
        field("at", act.entry.at)
        field("author", act.entry.author)
        field("action", act.entry.action)
        field("tenant", act.tenant?.text)
        field("pool", act.pool?.text)
        field("reason", act.reason)
        endObject()
    }
}
