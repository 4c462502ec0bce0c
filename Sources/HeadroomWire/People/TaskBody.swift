import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/tasks/stop` and `/lift`: which task, why, and for how long.
package struct TaskRulingRequest: Equatable, Sendable {
    /// `nil`: the only one that has such a task.
    package var tenant: TenantID?
    package var task: String
    package var reason: String
    package var expiresInSeconds: Double

    /// Bytes of a task's name, as calls state it.
    package static let maxTaskBytes = 256

    package init(tenant: TenantID?, task: String, reason: String, expiresInSeconds: Double) {
        self.tenant = tenant
        self.task = task
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    package static func decode(_ bytes: [UInt8]) throws(BodyError) -> TaskRulingRequest {
        var body = try StrictObject(document: bytes)
        let tenant: TenantID? = body.identifier("tenant")
        let task = body.text("task", most: maxTaskBytes, isRequired: true)
        let (reason, seconds) = body.reasonAndEnd()
        body.end()
        try body.check()
        guard let task, let reason, let seconds else { throw BodyError.unreadable }
        return TaskRulingRequest(tenant: tenant, task: task, reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("tenant", tenant?.text)
        writer.field("task", task)
        writer.reasonAndEnd(reason, expiresInSeconds)
        writer.endObject()
        return writer.bytes
    }
}

extension PeopleAnswer {
    /// - Parameters:
    ///   - tasks: in the order in which they are shown.
    ///   - leftOut: further ones that there was no room for, of all tenants.
    package static func tasks(_ tasks: [TaskReport], leftOut: Int, _ policy: TaskBudgetPolicy) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024 + 512 * tasks.count)
        writer.beginObject()
        writer.field("currency", policy.currency)
        writer.field("tasks", each: tasks) { $0.task($1) }
        writer.field("left_out", leftOut)
        writer.endObject()
        return writer.bytes
    }

    package static func ruling(_ ruling: TaskRuling) -> [UInt8] {
        var writer = JSONWriter()
        writer.ruling(ruling)
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func task(_ task: TaskReport) {
        beginObject()
        field("tenant", task.name.tenant.text)
        field("task", task.name.task)
        field("parent", task.parent)
        field("root", task.root)
        field("task_kind", task.kind)
        field("state", task.state)
        field("held", task.hold.name)
        field("exhausted", task.measure?.name)
        field("begun_at", task.begunAt)
        field("seen_at", task.seenAt)
        field("sentence", task.sentence)
        key("used")
        use(task.use)
        key("limits")
        beginObject()
        taskLimits(task.limits)
        endObject()
        field("depth", task.depth)
        field("gateways", task.gateways.map(\.text))
        field("children", each: task.children) { writer, child in
            writer.beginObject()
            writer.field("task", child.task)
            writer.key("used")
            writer.use(child.use)
            writer.endObject()
        }
        key("ruling")
        if let ruling = task.ruling { self.ruling(ruling) } else { null() }
        endObject()
    }

    private mutating func use(_ use: TaskUse) {
        beginObject()
        for measure in TaskMeasure.allCases {
            key(measure.name as String)
            integer(Int64(min(max(0, use[measure].rounded()), 9e15)))
        }
        endObject()
    }

    fileprivate mutating func ruling(_ ruling: TaskRuling) {
        beginObject()
        field("id", ruling.id)
        field("tenant", ruling.name.tenant.text)
        field("task", ruling.name.task)
        field("verdict", ruling.verdict.name)
        authorship(ruling.authorship)
        endObject()
    }
}
