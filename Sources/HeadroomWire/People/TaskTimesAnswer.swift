import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/task-times`: how long agent tasks took, by tenant and kind, beside how long they used to take.
package struct TaskTimesAnswer: Sendable {
    /// One tenant's tasks of one kind.
    package struct Row: Sendable {
        package var tenant: TenantID
        package var kind: String?
        package var times: TaskTimes
        package var usual: TaskTimes
        /// In progress now, and of these the ones that have taken three times their usual time.
        package var running = 0
        package var overdue: Int64 = 0

        package init(tenant: TenantID, kind: String?, times: TaskTimes = TaskTimes(), usual: TaskTimes = TaskTimes()) {
            self.tenant = tenant
            self.kind = kind
            self.times = times
            self.usual = usual
        }

        /// `nil`: too few ended before to say what is usual.
        package var usualMedian: Double? {
            usual.sums.tasks >= TaskPace.leastUsual ? usual.seconds(atMost: 0.5) : nil
        }

        package var sentence: String {
            let took =
                TaskText.took(times, kind: kind, usual: usualMedian)
                ?? "No task" + (kind.map { " of kind \($0)" } ?? "") + " ended"
            return "\(took) (\(tenant); \(running) in progress)."
        }
    }

    /// How far back what is usual reaches.
    package static let usualSeconds = 7.0 * 86_400

    /// Those that waited longest first.
    package let rows: [Row]
    private let from: Timestamp
    private let to: Timestamp

    /// - Parameters:
    ///   - times: of tasks that ended from `from` to `to`.
    ///   - usual: of those that ended before.
    ///   - paces: how they fare now.
    package init(
        _ times: [TaskTimeRollup], usual: [TaskTimeRollup], paces: [TaskPace], from: Timestamp, to: Timestamp
    ) {
        var rows: [Name: Row] = [:]
        func update(_ tenant: TenantID, _ kind: String?, _ change: (inout Row) -> Void) {
            change(
                &rows[
                    Name(tenant: tenant, kind: kind),
                    default: Row(tenant: tenant, kind: kind)])
        }
        for rollup in times { update(rollup.tenant, rollup.kind) { $0.times.add(rollup.times) } }
        for pace in paces where pace.running > 0 {
            update(pace.tenant, pace.kind) {
                $0.running = pace.running
                $0.overdue = pace.overdue.tasks
            }
        }
        for rollup in usual where rows[Name(tenant: rollup.tenant, kind: rollup.kind)] != nil {
            update(rollup.tenant, rollup.kind) { $0.usual.add(rollup.times) }
        }
        self.rows = rows.sorted { left, right in
            let (lost, other) = (left.value.times.sums.waitedSeconds, right.value.times.sums.waitedSeconds)
            return lost != other ? lost > other : left.key < right.key
        }.map(\.value)
        self.from = from
        self.to = to
    }

    private struct Name: Hashable, Comparable {
        var tenant: TenantID
        var kind: String?

        static func < (left: Name, right: Name) -> Bool {
            (left.tenant, left.kind ?? "") < (right.tenant, right.kind ?? "")
        }
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + 512 * rows.count)
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.field("kinds", each: rows) { $0.row($1) }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func row(_ row: TaskTimesAnswer.Row) {
        let sums = row.times.sums
        beginObject()
        field("tenant", row.tenant.text)
        field("task_kind", row.kind)
        field("tasks", sums.tasks)
        field("completed", sums.completed)
        field("failed", sums.failed)
        field("p50_seconds", finite: row.times.seconds(atMost: 0.5))
        field("p95_seconds", finite: row.times.seconds(atMost: 0.95))
        field("waited_seconds", sums.waitedSeconds)
        field("waited_share", finite: TaskText.waitedShare(sums))
        field("usual_tasks", row.usual.sums.tasks)
        field("usual_p50_seconds", finite: row.usualMedian)
        field("usual_p95_seconds", finite: row.usualMedian == nil ? nil : row.usual.seconds(atMost: 0.95))
        field("calls", sums.calls)
        field("retries", sums.retries)
        field("refused", sums.refused)
        field("running", row.running)
        field("overdue", row.overdue)
        field("sentence", row.sentence)
        endObject()
    }
}
