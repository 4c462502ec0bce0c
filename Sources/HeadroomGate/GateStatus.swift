import HeadroomClient
import HeadroomEnforcement
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// The limits that the gate enforces, and why.
enum GateStatus {
    /// `GET /v1/state`.
    static func state(of gate: Gate) -> HTTPResponse {
        let state = gate.manager.state
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.field("gateway", gate.manager.settings.gateway.text)
        writer.field("applied", state.version)
        switch state.lease {
        case .none:
            writer.field("lease", "none")
            writer.field("lease_left_ms", nil as Int64?)
        case .live(let left):
            writer.field("lease", "live")
            writer.field("lease_left_ms", Int64(left.inSeconds * 1000))
        case .expired:
            writer.field("lease", "expired")
            writer.field("lease_left_ms", Int64(0))
        }
        writer.field("problem", state.problem)
        writer.field("open_slots", gate.openSlots)
        writer.field("unknown_pool_calls", state.unknownPoolCalls)
        writer.field("refused_by_task", state.refusedByTask)
        writer.key("telemetry")
        writer.beginObject()
        writer.field("reported", state.reported)
        writer.field("rejected", state.rejected)
        writer.field("dropped", state.dropped)
        writer.endObject()
        writer.key("pools")
        writer.beginObject()
        for (pool, status) in gate.manager.poolStates {
            writer.key(pool.text)
            append(status, to: &writer)
        }
        writer.endObject()
        writer.endObject()
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }

    private static func append(_ status: PoolBudget.Status, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("enforce")
        writer.bool(status.allocation?.enforce ?? false)
        writer.field("in_force", inForce(status))
        if let allocation = status.allocation {
            writer.field("state", allocation.state.name)
            writer.field("breaker", status.breaker?.name ?? "closed")
            writer.field("broken_models", status.brokenModels)
            writer.key("budget")
            writer.rates(allocation.budget)
            writer.key("fallback")
            writer.rates(allocation.fallback)
        }
        writer.field("waiting", status.waiting)
        writer.field("in_flight", status.inFlight)
        writer.key("calls")
        writer.beginObject()
        for (name, count) in counts(status) {
            writer.key(name as String)
            writer.integer(count)
        }
        writer.endObject()
        writer.endObject()
    }

    /// In words: which numbers hold just now.
    private static func inForce(_ status: PoolBudget.Status) -> String {
        guard let allocation = status.allocation else {
            return "nothing: no snapshot names the pool, so everything passes"
        }
        guard allocation.enforce else { return "nothing: the pool is not enforced, calls pass and are counted" }
        if status.isClosed {
            return "nothing passes: Headroom has not answered for so long that the policy closes the pool"
        }
        return status.isOnFallback
            ? "fallback: Headroom has not answered for the length of the lease" : "budget: the snapshot's"
    }

    private static func counts(_ status: PoolBudget.Status) -> [(String, Int)] {
        let counts = status.counts
        return [
            ("assured", counts.assured), ("lent", counts.lent), ("drawn", counts.drawn), ("unlisted", counts.unlisted),
            ("unlimited", counts.unlimited), ("refused", counts.refused), ("given_up", counts.givenUp),
            ("denied", counts.denied), ("too_large", status.tooLarge),
            ("missed", status.missed),
        ]
    }

    /// `GET /metrics`: Prometheus text.
    static func metrics(of gate: Gate) -> HTTPResponse {
        let state = gate.manager.state
        let pools = gate.manager.poolStates
        var text = ""
        func family(_ name: String, _ type: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
            for sample in samples { text += "\(name)\(sample.labels) \(sample.value)\n" }
        }
        family(
            "headroom_gate_calls_total", "counter", "Calls by the right on which they went, or by how they failed.",
            pools.flatMap { pool in
                counts(pool.status).map { ("{pool=\"\(pool.pool)\",result=\"\($0.0)\"}", $0.1) }
            })
        family(
            "headroom_gate_waiting", "gauge", "Calls that wait for their turn.",
            pools.map { ("{pool=\"\($0.pool)\"}", $0.status.waiting) })
        family(
            "headroom_gate_in_flight", "gauge", "Calls that have had their turn and have not ended.",
            pools.map { ("{pool=\"\($0.pool)\"}", $0.status.inFlight) })
        family(
            "headroom_gate_breakers", "gauge",
            "Circuit breakers that are not closed: the pool's, and those of its models.",
            pools.map {
                ("{pool=\"\($0.pool)\"}", ($0.status.breaker == nil ? 0 : 1) + $0.status.brokenModels.count)
            })
        family(
            "headroom_gate_unknown_pool_calls_total", "counter",
            "Calls for pools that the allocations do not name: --unknown-pools says what becomes of them.",
            [("", state.unknownPoolCalls)])
        family(
            "headroom_gate_task_refusals_total", "counter",
            "Calls refused for their agent tasks: a budget, a stop, or none named where one has to be.",
            [("", state.refusedByTask)])
        family("headroom_gate_slots", "gauge", "Slots that are out.", [("", gate.openSlots)])
        family(
            "headroom_gate_lease_live", "gauge", "1 while Headroom's word holds, 0 on the fallback or before it.",
            [("", state.lease == .none || state.lease == .expired ? 0 : 1)])
        family(
            "headroom_gate_telemetry_lines_total", "counter", "Lines of telemetry by what became of them.",
            [
                ("{result=\"reported\"}", state.reported), ("{result=\"rejected\"}", state.rejected),
                ("{result=\"dropped\"}", state.dropped),
            ])
        return HTTPResponse(type: "text/plain; version=0.0.4", body: Array(text.utf8))
    }
}
