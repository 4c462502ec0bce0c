import HeadroomModel

/// What waits, for telemetry.
extension PoolGate {
    struct Flow: Comparable, Hashable, Sendable {
        let tenant: TenantID
        let criticality: Criticality

        static func < (left: Flow, right: Flow) -> Bool {
            left.tenant == right.tenant ? left.criticality < right.criticality : left.tenant < right.tenant
        }
    }

    /// Per tenant and criticality, ascending. A flow that was told of and has emptied is told once more, with depth 0:
    /// otherwise its last backlog would stand.
    package mutating func queues(at now: Timestamp) -> [QueueRecord] {
        // Whole tokens add up to the same sum in any order, so the dictionary's order does not show.
        var records: [Flow: QueueRecord] = [:]
        for call in calls.values where call.grant == nil {
            let flow = Flow(tenant: call.waiting.tenant, criticality: call.waiting.criticality)
            var record = records[flow] ?? empty(flow, at: now)
            record.depth += 1
            record.tokens += Int64(call.waiting.estimate[.tokens].rounded())
            record.oldestAgeMilliseconds = max(
                record.oldestAgeMilliseconds, 1000 * now.seconds(since: call.waiting.arrival))
            records[flow] = record
        }
        let waiting = records.keys.sorted()
        for flow in reportedFlows where records[flow] == nil { records[flow] = empty(flow, at: now) }
        reportedFlows = waiting
        return records.sorted { $0.key < $1.key }.map(\.value)
    }

    private func empty(_ flow: Flow, at now: Timestamp) -> QueueRecord {
        QueueRecord(
            at: now, gateway: gateway, tenant: flow.tenant, pool: pool, criticality: flow.criticality, depth: 0,
            tokens: 0)
    }
}
