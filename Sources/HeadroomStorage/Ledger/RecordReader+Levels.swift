import HeadroomModel

extension RecordReader {
    package func levels(at now: Timestamp) throws(StorageError) -> LevelRecords {
        try connection.reading {
            LevelRecords(
                tenants: try tenantLevels(at: now), own: try ownLevels(at: now), tasks: try taskLevels(at: now))
        }
    }

    private func taskLevels(at now: Timestamp) throws(StorageError) -> [TaskLevel] {
        var levels: [Int64: [LevelWindow: TaskTimes]] = [:]
        for window in LevelWindow.allCases {
            try connection.statement(Self.selectTaskSteps)
                .bind(":span_s", window.span.rawValue)
                .bind(":from_ms", window.start(at: now).milliseconds).bind(":to_ms", now.milliseconds)
                .forEachRow { row in
                    let sums = TaskTimes.Sums {
                        $0.tasks = row.integer(2)
                        $0.seconds = row.double(3)
                    }
                    levels[row.integer(0), default: [:]][window, default: TaskTimes()]
                        .add(sums, to: UInt8(clamping: row.integer(1)))
                }
        }
        var found: [TaskLevel] = []
        for (tenant, times) in levels {
            found.append(TaskLevel(tenant: TenantID(unchecked: try names.text(tenant)), times: times))
        }
        return found.sorted { $0.tenant < $1.tenant }
    }

    private func tenantLevels(at now: Timestamp) throws(StorageError) -> [TenantLevel] {
        var pools: [Int64] = []
        try connection.statement("SELECT id FROM name WHERE kind = 1 ORDER BY text").forEachRow {
            pools.append($0.integer(0))
        }
        var levels: [TenantLevel] = []
        for pool in pools {
            var windows: [Int64: LevelWindows] = [:]
            for window in LevelWindow.allCases {
                try connection.statement(Self.selectTenants)
                    .bind(":span_s", window.span.rawValue).bind(":pool_id", pool)
                    .bind(":from_ms", window.start(at: now).milliseconds).bind(":to_ms", now.milliseconds)
                    .forEachRow { row in
                        windows[row.integer(0), default: LevelWindows()][window] = LevelSums(
                            observedSeconds: row.double(1), missedSeconds: row.double(2),
                            longestWaitSeconds: row.double(3))
                    }
            }
            guard !windows.isEmpty else { continue }
            let name = PoolID(unchecked: try names.text(pool))
            var own: [TenantLevel] = []
            for (tenant, windows) in windows {
                own.append(
                    TenantLevel(tenant: TenantID(unchecked: try names.text(tenant)), pool: name, windows: windows))
            }
            levels += own.sorted { $0.tenant < $1.tenant }
        }
        return levels
    }

    private func ownLevels(at now: Timestamp) throws(StorageError) -> [OwnLevel: LevelWindows] {
        var own: [OwnLevel: LevelWindows] = [:]
        for window in LevelWindow.allCases {
            try connection.statement(Self.selectOwn)
                .bind(":from_ms", window.start(at: now).milliseconds).bind(":to_ms", now.milliseconds)
                .forEachRow { row in
                    guard let level = OwnLevel(rawValue: row.text(0)) else { return }
                    own[level, default: LevelWindows()][window] = LevelSums(
                        observedSeconds: row.double(1), missedSeconds: row.double(2))
                }
        }
        return own
    }

    private static let selectTenants: StaticString = """
        SELECT tenant_id, sum(active_s), sum(missed_s), max(oldest_queued_s) FROM rollup
        WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id HAVING sum(active_s) > 0
        """
    private static let selectTaskSteps: StaticString = """
        SELECT tenant_id, step, CAST(sum(tasks) AS BIGINT), sum(duration_s) FROM task_time
        WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms < :to_ms GROUP BY tenant_id, step
        """
    private static let selectOwn: StaticString = """
        SELECT level, sum(observed_s), sum(missed_s) FROM own_level
        WHERE start_ms >= :from_ms AND start_ms < :to_ms GROUP BY level
        """
}

extension LevelWindow {
    /// The rows that add up to it.
    fileprivate var span: RollupSpan {
        switch self {
        case .recent, .hour: .minute
        case .day: .hour
        case .month: .day
        }
    }

    /// Of its first row: the one that runs is its last.
    fileprivate func start(at now: Timestamp) -> Timestamp {
        Timestamp(milliseconds: span.start(of: now).milliseconds + span.milliseconds - Int64(seconds * 1000))
    }
}
