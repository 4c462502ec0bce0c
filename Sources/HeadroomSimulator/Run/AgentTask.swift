import HeadroomModel

/// The work of an agent for one user: calls that follow from each other's answers, so that who is served late also asks
/// later. A few go at once; when one has ended, the next follows after a pause.
///
/// A call that was never served is sent again, ``retries`` times; then the task has failed. So has one whose call was
/// lost with its gateway: it never completes.
package struct AgentTask: Equatable, Sendable {
    package struct Call: Equatable, Sendable {
        /// Of ``Workload/jobs``.
        package var job: Int
        /// After the call before it.
        package var pauseSeconds: Double
    }

    package static let retries = 3

    /// As telemetry calls it.
    package let name: String
    package let tenant: Int
    /// Of ``Workload/tasks``: whose sub-agent works at this one.
    package let parent: Int?
    package let atOnce: Int
    /// A sub-agent's begins when its parent's own calls have ended, at this time at the earliest.
    package let start: Double
    /// Of ``Workload/tasks``: begins when this one has ended or failed, unless that is after its ``lastStart``.
    package internal(set) var next: Int?
    /// Another task's ``next``.
    package internal(set) var isNext = false
    package internal(set) var lastStart = Double.infinity
    /// In order.
    package internal(set) var calls: [Call] = []
    /// Of ``Workload/tasks``. They begin when its own calls have ended, and it ends with them.
    package internal(set) var subAgents: [Int] = []
    /// From its begin to its end, sub-agents' too, if every call is served at once by an idle provider.
    package internal(set) var undisturbedSeconds = 0.0
    /// Mean over its calls: what its agent thinks the next ones will cost.
    package internal(set) var tokensPerCall = 0.0

    init(number: Int, tenant: Int, parent: Int?, atOnce: Int, start: Double) {
        name = "task-\(number + 1)"
        self.tenant = tenant
        self.parent = parent
        self.atOnce = atOnce
        self.start = start
    }
}

/// How far a task has come.
struct TaskProgress: Sendable {
    /// Calls that were made.
    var made = 0
    var served = 0
    var subAgentsLeft: Int
    var begunAt: Double?
    var completedAt: Double?
    var hasFailed = false

    init(_ task: AgentTask) { subAgentsLeft = task.subAgents.count }
}
