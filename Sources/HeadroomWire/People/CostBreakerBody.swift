import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/cost-breaker/lifts`: the cost breaker leaves a tenant, or a kind of task, alone for a while.
package struct LiftRequest: Equatable, Sendable {
    package var subject: CostSubject
    package var reason: String
    package var expiresInSeconds: Double

    package init(subject: CostSubject, reason: String, expiresInSeconds: Double) {
        self.subject = subject
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    package static func decode(_ bytes: [UInt8]) throws(BodyError) -> LiftRequest {
        var body = try StrictObject(document: bytes)
        let tenant: TenantID? = body.identifier("tenant")
        let kind = body.text("task_kind", most: CostSubject.maxKindCharacters)
        if body.has("tenant") == body.has("task_kind") {
            body.report("tenant", "name either a tenant or a task_kind, and not both")
        }
        let (reason, seconds) = body.reasonAndEnd()
        body.end()
        try body.check()
        guard let subject = tenant.map(CostSubject.tenant) ?? kind.map(CostSubject.taskKind), let reason, let seconds
        else { throw BodyError.unreadable }
        return LiftRequest(subject: subject, reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.subject(subject)
        writer.reasonAndEnd(reason, expiresInSeconds)
        writer.endObject()
        return writer.bytes
    }
}

extension PeopleAnswer {
    /// - Parameters:
    ///   - policy: its ceilings and times.
    ///   - stands: ascending by subject.
    package static func costBreaker(
        _ policy: CostBreakerPolicy, _ stands: [CostBreak], lifts: [CostLift]
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.field("on", policy.isOn)
        writer.field("currency", policy.currency)
        writer.field("window_seconds", policy.windowSeconds)
        writer.field("subjects", each: stands) { $0.costBreak($1) }
        writer.field("lifts", each: lifts) { $0.lift($1) }
        writer.endObject()
        return writer.bytes
    }

    package static func lift(_ lift: CostLift) -> [UInt8] {
        var writer = JSONWriter()
        writer.lift(lift)
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func subject(_ subject: CostSubject) {
        field("tenant", subject.tenant?.text)
        field("task_kind", subject.taskKind)
    }

    fileprivate mutating func lift(_ lift: CostLift) {
        beginObject()
        field("id", lift.id)
        subject(lift.subject)
        authorship(lift.authorship)
        endObject()
    }

    mutating func costBreak(_ stands: CostBreak) {
        beginObject()
        subject(stands.subject)
        field("state", stands.state.name)
        field("since", stands.since)
        field("due", stands.due)
        field("sentence", stands.sentence)
        field("currency", stands.currency)
        for (name, value) in [
            ("ceiling_micros", stands.ceiling), ("spent_micros", stands.spent), ("micros_per_minute", stands.perMinute),
            ("projected_micros", stands.projected), ("projected_least_micros", stands.projectedLeast),
            ("projected_most_micros", stands.projectedMost),
        ] {
            key(name)
            amount(value)
        }
        field("until", stands.until)
        key("fan_out")
        if let fanOut = stands.fanOut {
            beginObject()
            key("tasks_per_minute")
            amount(fanOut.tasksPerMinute)
            key("calls_per_task")
            amount(fanOut.callsPerTask)
            endObject()
        } else {
            null()
        }
        key("limits")
        beginObject()
        for limit in stands.limits {
            key(limit.pool.text)
            beginObject()
            field("rpm", limit.requestsPerMinute)
            endObject()
        }
        endObject()
        field("lift", stands.lift)
        endObject()
    }
}
