import HeadroomJSON
import HeadroomModel

extension JSONWriter {
    /// Without the braces: whose tasks it is for, and its limits.
    package mutating func taskBudget(_ budget: TaskBudget) {
        if let tenant = budget.tenant { field("tenant", tenant.text) }
        if let kind = budget.taskKind { field("task_kind", kind) }
        if let tier = budget.tier { field("tier", tier) }
        taskLimits(budget.limits)
    }

    package mutating func taskLimits(_ limits: TaskLimits) {
        for measure in TaskMeasure.allCases {
            guard let limit = limits[measure] else { continue }
            key(measure.name as String)
            integer(limit)
        }
    }
}
