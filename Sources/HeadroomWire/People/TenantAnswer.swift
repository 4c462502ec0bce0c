import HeadroomJSON
import HeadroomModel

/// One tenant in the answer to `GET /v1/tenants`: what it has bought, and how it fares in each pool.
package struct TenantAnswer: Sendable {
    package struct InPool: Sendable {
        package var pool: PoolID
        package var report: TenantReport
        /// `nil` where it is folded into `unlisted`, or nothing has been published.
        package var allocation: TenantAllocation?

        package init(pool: PoolID, report: TenantReport, allocation: TenantAllocation? = nil) {
            self.pool = pool
            self.report = report
            self.allocation = allocation
        }
    }

    package var tenant: TenantID
    /// `nil`: it is served as the default tier.
    package var contract: Contract?
    /// Ascending by pool.
    package var pools: [InPool]

    package init(tenant: TenantID, contract: Contract? = nil, pools: [InPool] = []) {
        self.tenant = tenant
        self.contract = contract
        self.pools = pools
    }
}

extension JSONWriter {
    package mutating func tenant(_ answer: TenantAnswer) {
        beginObject()
        field("tenant", answer.tenant.text)
        key("contract")
        if let contract = answer.contract {
            beginObject()
            contractMembers(contract)
            endObject()
        } else {
            null()
        }
        key("pools")
        beginArray()
        for pool in answer.pools { tenant(pool) }
        endArray()
        endObject()
    }

    private mutating func tenant(_ answer: TenantAnswer.InPool) {
        let report = answer.report
        beginObject()
        field("pool", answer.pool.text)
        field("tier", report.tier)
        field("weight", finite: answer.allocation?.weight)
        field("constraint", answer.allocation?.constraint.name)
        for (name, value) in [
            ("asked", report.asked), ("demand", report.demand), ("assured", report.assured),
            ("consumed", report.consumed),
            ("ceiling", answer.allocation?.ceiling ?? .none),
        ] {
            key(name)
            measured(value)
        }
        for (name, value) in [
            ("floor", answer.allocation?.floor ?? .none), ("burst", answer.allocation?.burst.rates ?? .none),
        ] {
            key(name)
            measured(value)
        }
        field("quiet", report.isQuiet)
        field("credit", report.credit)
        field("flags", answer.allocation?.flags ?? [])
        key("queue")
        beginObject()
        for criticality in Criticality.allCases {
            key(criticality.name)
            beginObject()
            field("depth", report.queue[criticality].depth)
            field("oldest_seconds", finite: report.queue[criticality].oldestSeconds)
            field("retries", report.retries[criticality])
            endObject()
        }
        endObject()
        field("underserved_seconds", finite: report.underservedSeconds)
        field("starvation", report.starvation?.rawValue)
        key("profile")
        if let profile = report.profile { self.profile(profile) } else { null() }
        endObject()
    }

    private mutating func profile(_ profile: TenantProfileReport) {
        beginObject()
        field("shape_class", profile.shapeClass.rawValue)
        for (name, value) in [
            ("confidence", profile.confidence), ("token_correction", profile.tokenCorrection),
            ("repayment", profile.repayment),
        ] {
            key(name)
            amount(value)
        }
        key("burstiness")
        beginObject()
        field("peak_to_mean", finite: profile.burstiness.peakToMean)
        field("variation", finite: profile.burstiness.variation)
        field("peak_minute", profile.burstiness.peakMinute)
        key("peak_work")
        work(profile.burstiness.peakWork)
        endObject()
        key("tasks")
        taskCost(profile.tasks)
        flags(profile.flags)
        key("flows")
        beginArray()
        for flow in profile.flows { self.flow(flow) }
        endArray()
        endObject()
    }

    mutating func flags(_ flags: [GamingFlag]) {
        field("flags", each: flags) { writer, flag in
            writer.beginObject()
            writer.field("kind", flag.kind.rawValue)
            writer.field("since", flag.since)
            writer.field("evidence", flag.evidence)
            writer.endObject()
        }
    }

    private mutating func taskCost(_ cost: TaskCost?) {
        guard let cost else { return null() }
        beginObject()
        for (name, value) in [
            ("requests", cost.requests), ("tokens", cost.tokens), ("fan_out", cost.fanOut),
            ("completion", cost.completion),
        ] {
            key(name)
            amount(value)
        }
        field("open", cost.open)
        endObject()
    }

    private mutating func flow(_ flow: TenantProfileReport.Flow) {
        beginObject()
        field("criticality", flow.criticality.name)
        for (name, value) in [
            ("demand", flow.demand), ("usual_demand", flow.usualDemand), ("burn_fast", flow.burnFast),
            ("burn_slow", flow.burnSlow),
        ] {
            key(name)
            measured(value)
        }
        field("trend", finite: flow.trend)
        key("shape")
        if let shape = flow.shape { work(shape) } else { null() }
        endObject()
    }

    private mutating func work(_ work: Work) {
        beginObject()
        for resource in Resource.allCases {
            key(resource.name)
            amount(work[resource])
        }
        endObject()
    }
}
