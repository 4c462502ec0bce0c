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
        key("pool")
        string(report.pool.text)
        key("state")
        string(report.state.name)
        published(answer.allocation)
        key("capacity_reason")
        string(report.capacityReason.name)
        key("confidence")
        amount(report.confidence)
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
        key("depth")
        integer(report.queue.depth)
        key("oldest_seconds")
        amount(report.queue.oldestSeconds)
        endObject()
        key("overcommitted_tokens")
        amount(report.overcommittedTokens)
        key("reversals")
        integer(report.reversals)
        key("tenants")
        integer(report.tenants.count)
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
            key("tenant")
            string(part.tenant.text)
            key("share")
            amount(part.share)
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
        key("open_questions")
        integer(answer.openQuestions)
        endObject()
    }

    private mutating func published(_ allocation: PoolAllocation?) {
        key("mode")
        text(allocation?.mode.name)
        key("enforce")
        if let allocation { bool(allocation.enforce) } else { null() }
        key("level")
        amount(allocation?.level)
        key("float")
        measured(allocation?.float ?? .none)
        key("models")
        beginObject()
        for model in allocation?.models ?? [] {
            key(model.model)
            string(model.state.name)
        }
        endObject()
        key("failover")
        strings((allocation?.failover ?? []).map(\.text))
    }

    private mutating func retryStorm(_ storm: RetryStorm?) {
        guard let storm else { return null() }
        beginObject()
        key("since")
        instant(storm.since)
        key("period_seconds")
        amount(storm.periodSeconds)
        key("share")
        amount(storm.share)
        key("tenants")
        strings(storm.tenants.map(\.text))
        endObject()
    }
}
