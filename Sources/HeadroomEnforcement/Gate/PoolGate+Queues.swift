import HeadroomModel

/// The waiting calls, for telemetry.
extension PoolGate {
    struct Flow: Comparable, Hashable, Sendable {
        let tenant: TenantID
        let criticality: Criticality

        static func < (left: Flow, right: Flow) -> Bool {
            left.tenant == right.tenant ? left.criticality < right.criticality : left.tenant < right.tenant
        }
    }

    private struct Backlog {
        var depth: Int64 = 0
        var tokens: Int64 = 0
        var oldest = Timestamp(milliseconds: .max)

        private static let mostTokens: Int64 = 1_000_000_000_000

        /// Whole tokens add up to the same sum in any order. Sizes of calls come from outside: the sum stays at the most
        /// that a line of telemetry may name.
        mutating func add(_ estimate: Work, since arrival: Timestamp) {
            depth += 1
            tokens.addSaturating(Int64(saturating: estimate[.tokens]))
            tokens = min(tokens, Backlog.mostTokens)
            oldest = min(oldest, arrival)
        }
    }

    /// Per tenant and criticality, ascending. A flow that was reported and has emptied is reported once more, with depth 0:
    /// otherwise its last backlog would stand.
    public mutating func queues(at now: Timestamp) -> [QueueRecord] {
        var records = backlogs(at: now)
        let waiting = records.map { Flow(tenant: $0.tenant, criticality: $0.criticality) }
        var next = 0
        for flow in reportedFlows {
            while next < waiting.count, waiting[next] < flow { next += 1 }
            if next == waiting.count || waiting[next] != flow { records.append(record(flow, Backlog(), at: now)) }
        }
        reportedFlows = waiting
        if records.count > waiting.count { sort(&records) }
        return records
    }

    /// Ascending; those in which something waits.
    private func backlogs(at now: Timestamp) -> [QueueRecord] {
        let criticalities = Criticality.allCases
        var listed = [Backlog](repeating: Backlog(), count: accounts.count * criticalities.count)
        var unlisted: [Flow: Backlog] = [:]
        func count(_ criticality: Criticality, _ place: Int, since arrival: Timestamp, of index: Int) {
            let estimate = calls.estimate(place)
            if index > 0 {
                listed[index * criticalities.count + criticality.rawValue].add(estimate, since: arrival)
            } else {
                let flow = Flow(tenant: calls[place].waiting.tenant, criticality: criticality)
                unlisted[flow, default: Backlog()].add(estimate, since: arrival)
            }
        }
        for index in accounts.indices {
            accounts[index].queue.visit { queued in
                if calls.isWaiting(queued.place, queued.sequence) {
                    count(queued.criticality, queued.place, since: queued.arrival, of: index)
                }
                return true
            }
        }
        for queued in parked where calls.isWaiting(queued.place, queued.sequence) {
            count(
                queued.criticality, queued.place, since: queued.arrival,
                of: index(of: calls[queued.place].waiting.tenant))
        }
        for timer in deferred.elements where calls.isWaiting(timer.place, timer.sequence) {
            let call = calls[timer.place].waiting
            count(call.criticality, timer.place, since: call.arrival, of: index(of: call.tenant))
        }

        var records: [QueueRecord] = []
        for index in accounts.indices {
            guard let tenant = accounts[index].tenant else { continue }
            for criticality in criticalities {
                let backlog = listed[index * criticalities.count + criticality.rawValue]
                guard backlog.depth > 0 else { continue }
                records.append(record(Flow(tenant: tenant, criticality: criticality), backlog, at: now))
            }
        }
        if !unlisted.isEmpty {
            records += unlisted.map { record($0.key, $0.value, at: now) }
            sort(&records)
        }
        return records
    }

    private func sort(_ records: inout [QueueRecord]) {
        records.sort { ($0.tenant, $0.criticality) < ($1.tenant, $1.criticality) }
    }

    private func record(_ flow: Flow, _ backlog: Backlog, at now: Timestamp) -> QueueRecord {
        var record = QueueRecord(
            at: now, gateway: gateway, tenant: flow.tenant, pool: pool, criticality: flow.criticality,
            depth: backlog.depth, tokens: backlog.tokens)
        if backlog.depth > 0 { record.oldestAgeMilliseconds = max(0, 1000 * now.seconds(since: backlog.oldest)) }
        return record
    }
}
