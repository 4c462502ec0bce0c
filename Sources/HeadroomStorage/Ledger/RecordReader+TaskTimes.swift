import HeadroomModel

extension RecordReader {
    package func taskTimes(
        from: Timestamp, to: Timestamp, tenant: TenantID?
    ) throws(StorageError) -> [TaskTimeRollup] {
        guard from < to else { return [] }
        return try connection.reading {
            var tenantNumber: Int64?
            if let tenant {
                tenantNumber = try number(of: tenant.text, .tenant)
                if tenantNumber == nil { return [] }
            }
            // Minutes are deleted by whole hours: the hour of the oldest one is read from its minutes.
            let oldest =
                try connection.statement("SELECT min(start_ms) FROM task_time WHERE span_s = 60")
                .first { $0.optionalInteger(0) } ?? nil
            let firstMinute = oldest.map { RollupSpan.hour.start(of: Timestamp(milliseconds: $0)) } ?? to
            var times: [TaskKind: TaskTimes] = [:]
            for (span, start, end) in [
                (RollupSpan.hour, from, min(firstMinute, to)), (.minute, max(firstMinute, from), to),
            ] where start < end {
                let statement = try connection.statement(
                    tenantNumber == nil ? Self.selectTimes : Self.selectTimesOfTenant)
                if let tenantNumber { statement.bind(":tenant_id", tenantNumber) }
                try statement.bind(":span_s", span.rawValue)
                    .bind(":from_ms", span.start(of: start).milliseconds).bind(":to_ms", end.milliseconds)
                    .forEachRow { row in
                        let sums = TaskTimes.Sums {
                            $0.tasks = row.integer(3)
                            $0.completed = row.integer(4)
                            $0.failed = row.integer(5)
                            $0.seconds = row.double(6)
                            $0.waitedSeconds = row.double(7)
                            $0.calls = row.integer(8)
                            $0.retries = row.integer(9)
                            $0.refused = row.integer(10)
                        }
                        times[TaskKind(tenant: row.integer(0), kind: row.integer(1)), default: TaskTimes()]
                            .add(sums, to: UInt8(clamping: row.integer(2)))
                    }
            }
            var rollups: [TaskTimeRollup] = []
            for (kind, times) in times {
                rollups.append(
                    TaskTimeRollup(
                        start: from, tenant: TenantID(unchecked: try names.text(kind.tenant)),
                        kind: kind.kind == 0 ? nil : try names.text(kind.kind), times: times))
            }
            return rollups.sorted { ($0.tenant, $0.kind ?? "") < ($1.tenant, $1.kind ?? "") }
        }
    }

    /// Numbers of the table `name`.
    private struct TaskKind: Hashable {
        var tenant: Int64
        var kind: Int64
    }

    private static let selectTimes: StaticString = """
        SELECT tenant_id, task_kind_id, step, CAST(sum(tasks) AS BIGINT), CAST(sum(completed) AS BIGINT),
            CAST(sum(failed) AS BIGINT), sum(duration_s), sum(waited_s), CAST(sum(calls) AS BIGINT),
            CAST(sum(retries) AS BIGINT), CAST(sum(refused) AS BIGINT)
        FROM task_time WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id, task_kind_id, step
        """
    private static let selectTimesOfTenant: StaticString = """
        SELECT tenant_id, task_kind_id, step, CAST(sum(tasks) AS BIGINT), CAST(sum(completed) AS BIGINT),
            CAST(sum(failed) AS BIGINT), sum(duration_s), sum(waited_s), CAST(sum(calls) AS BIGINT),
            CAST(sum(retries) AS BIGINT), CAST(sum(refused) AS BIGINT)
        FROM task_time WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms < :to_ms AND tenant_id = :tenant_id
        GROUP BY tenant_id, task_kind_id, step
        """
}
