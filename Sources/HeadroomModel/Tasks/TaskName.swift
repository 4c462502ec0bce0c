/// An agent task by the name that its tenant gives it: tasks of two tenants may share one.
public struct TaskName: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var tenant: TenantID
    public var task: String

    public init(_ task: String, of tenant: TenantID) {
        self.tenant = tenant
        self.task = task
    }

    public var description: String { "\(task) of \(tenant)" }

    public static func < (left: TaskName, right: TaskName) -> Bool {
        (left.tenant, left.task) < (right.tenant, right.task)
    }
}
