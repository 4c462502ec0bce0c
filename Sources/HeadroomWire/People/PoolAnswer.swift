import HeadroomJSON
import HeadroomModel

/// How one pool fares, in the answer to `GET /v1/pools`: what the loop saw, what is published, and what people have said.
package struct PoolAnswer: Sendable {
    package var report: PoolReport
    /// `nil` before the pool is in a snapshot.
    package var allocation: PoolAllocation?
    package var pin: CapacityPin?
    /// Of the pool, or of all.
    package var freezes: [Freeze]
    /// Approvals and recommendations that wait for a person.
    package var openQuestions: Int
    /// The largest parts of what tenants want above what they are assured.
    package var excess: [(tenant: TenantID, share: Double)]

    package init(
        report: PoolReport, allocation: PoolAllocation? = nil, pin: CapacityPin? = nil, freezes: [Freeze] = [],
        openQuestions: Int = 0, excess: [(tenant: TenantID, share: Double)] = []
    ) {
        self.report = report
        self.allocation = allocation
        self.pin = pin
        self.freezes = freezes
        self.openQuestions = openQuestions
        self.excess = excess
    }
}

extension JSONWriter {
    package mutating func pool(_ answer: PoolAnswer) {
        let report = answer.report
        beginObject()
        field("pool", report.pool.text)
        field("state", report.state.name)
        published(answer.allocation)
        field("capacity_reason", report.capacityReason.name)
        field("confidence", finite: report.confidence)
        for (name, value) in [
            ("nominal", report.nominal), ("capacity", report.estimated), ("budget", report.budget),
            ("assured", report.assured), ("consumed", report.consumed),
        ] {
            key(name)
            measured(value)
        }
        key("calls")
        beginObject()
        for outcome in Outcome.allCases {
            key(outcome.name)
            integer(report.calls[outcome] ?? 0)
        }
        endObject()
        key("queue")
        beginObject()
        field("depth", report.queue.depth)
        field("oldest_seconds", finite: report.queue.oldestSeconds)
        endObject()
        field("overcommitted_tokens", finite: report.overcommittedTokens)
        field("reversals", report.reversals)
        key("gateways")
        beginObject()
        field("drawing", report.gateways.drawing)
        field("lending", report.gateways.lending)
        endObject()
        field("tenants", report.tenants.count)
        key("starved_tenants")
        beginObject()
        for reason in Starvation.allCases {
            key(reason.rawValue)
            integer(report.tenants.count { $0.starvation == reason })
        }
        endObject()
        key("excess")
        beginArray()
        for part in answer.excess {
            beginObject()
            field("tenant", part.tenant.text)
            field("share", finite: part.share)
            endObject()
        }
        endArray()
        key("retry_storm")
        retryStorm(report.retryStorm)
        key("upstream")
        upstream(report.upstream)
        key("pin")
        if let pin = answer.pin { self.pin(pin) } else { null() }
        key("freezes")
        beginArray()
        for freeze in answer.freezes { self.freeze(freeze) }
        endArray()
        field("open_questions", answer.openQuestions)
        endObject()
    }

    private mutating func published(_ allocation: PoolAllocation?) {
        field("mode", allocation?.mode.name)
        key("enforce")
        if let allocation { bool(allocation.enforce) } else { null() }
        field("level", finite: allocation?.level)
        field("float", measured: allocation?.float ?? .none)
        key("models")
        beginObject()
        for model in allocation?.models ?? [] {
            key(model.model)
            string(model.state.name)
        }
        endObject()
        field("failover", (allocation?.failover ?? []).map(\.text))
    }

    private mutating func retryStorm(_ storm: RetryStorm?) {
        guard let storm else { return null() }
        beginObject()
        field("since", storm.since)
        field("period_seconds", finite: storm.periodSeconds)
        field("share", finite: storm.share)
        field("tenants", storm.tenants.map(\.text))
        endObject()
    }
}
