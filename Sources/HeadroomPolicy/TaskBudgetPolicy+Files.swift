import HeadroomJSON
import HeadroomModel

// What agent tasks may use: read from files and written as files would state it.

extension TaskBudgetPolicy {
    mutating func read(_ root: CheckedObject) {
        var section = root
        if let currency = section.currency("currency") { self.currency = currency }
        if let requiresTask = section.bool("require_task") { self.requiresTask = requiresTask }
        if let list = section.list("budgets", count: 0...Self.maxBudgets, of: "budgets") {
            budgets = []
            for (node, key) in list {
                guard let budget = TaskBudget(node, key: key, file: section.file, namesTenant: true) else { continue }
                if let place = budgets.firstIndex(where: { $0.covers(budget) }) {
                    section.file.report(
                        .conflict, key: key, offset: node.offset,
                        "never holds: the first budget that fits a task does, and budgets[\(place)] fits all of its tasks; "
                            + "put it before that one")
                }
                budgets.append(budget)
            }
        }
        section.end()
    }
}

extension TaskBudget {
    /// `nil` where it cannot be read: what is wrong is reported.
    /// - Parameter namesTenant: false in a contract, which is a tenant's own.
    init?(_ node: JSONNode, key: String, file: CheckedFile, namesTenant: Bool) {
        guard var section = CheckedObject(node, key: key, file: file) else { return nil }
        self.init()
        taskKind = section.text(
            "task_kind", "a kind of agent task, as calls state it",
            isRight: { !$0.isEmpty && $0.count <= TaskBudget.maxKindCharacters })
        if namesTenant {
            tenant = section.word("tenant").map { TenantID(unchecked: $0) }
            tier = section.word("tier")
        }
        for measure in TaskMeasure.allCases {
            let (least, most) = (Double(measure.limits.lowerBound), Double(measure.limits.upperBound))
            limits[measure] = section.number(measure.name, in: least...most, unit: measure.unit, isWhole: true)
                .map { Int64($0) }
        }
        section.end()
        guard !file.hasFault(in: key) else { return nil }
        if limits.isEmpty { file.report(.missing, key: key, offset: node.offset, Self.needsLimit) }
    }
}

extension JSONWriter {
    mutating func taskBudgets(_ policy: TaskBudgetPolicy) {
        key("task_budgets")
        beginObject()
        field("currency", policy.currency)
        field("require_task", policy.requiresTask)
        field("budgets", each: policy.budgets) { writer, budget in
            writer.beginObject()
            if let kind = budget.taskKind { writer.field("task_kind", kind) }
            if let tenant = budget.tenant { writer.field("tenant", tenant.text) }
            if let tier = budget.tier { writer.field("tier", tier) }
            for measure in TaskMeasure.allCases {
                guard let limit = budget.limits[measure] else { continue }
                writer.key(measure.name as String)
                writer.integer(limit)
            }
            writer.endObject()
        }
        endObject()
    }
}
