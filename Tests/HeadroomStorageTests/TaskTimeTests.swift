import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct TaskTimeTests {
    private let database: TemporaryDatabase
    private let store: RollupStore
    private let records: RecordReader

    init() throws {
        database = try TemporaryDatabase()
        store = try RollupStore(connection: database.writer)
        records = try database.records()
    }

    /// Tasks that ended in a minute since ``hourStart``, each with how long it took.
    private func ended(
        minute: Double, _ tenant: TenantID, _ kind: String?, _ seconds: [Double], waited: Double = 0
    ) -> TaskTimeRollup {
        var times = TaskTimes()
        for taken in seconds {
            times.add(
                task: TaskTimes.Sums {
                    $0.tasks = 1
                    $0.completed = 1
                    $0.seconds = taken
                    $0.waitedSeconds = waited
                    $0.calls = 3
                    $0.retries = 2
                    $0.refused = 1
                })
        }
        return TaskTimeRollup(
            start: hourStart.adding(seconds: minute * 60), tenant: tenant, kind: kind, times: times)
    }

    private func save(_ rollups: [TaskTimeRollup]) async throws {
        try await store.save(
            Checkpoint(at: start, cursor: .start, observer: [], classifier: []), rollups: [], taskTimes: rollups)
    }

    private func at(minute: Double) -> Timestamp { hourStart.adding(seconds: minute * 60) }

    @Test func `tasks of a minute add up, by tenant and kind, and a range is read`() async throws {
        try await save([
            ended(minute: 0, "acme", "review", [40, 41], waited: 5), ended(minute: 0, "acme", nil, [10]),
            ended(minute: 5, "beta", "review", [300]),
        ])
        try await save([
            ended(minute: 0, "acme", "review", [480], waited: 430), ended(minute: 60, "acme", "review", [7]),
        ])
        let found = try await records.taskTimes(from: at(minute: 0), to: at(minute: 60), tenant: nil)
        #expect(found.map(\.tenant) == ["acme", "acme", "beta"] && found.map(\.kind) == [nil, "review", "review"])
        let review = found[1].times
        #expect(review.sums.tasks == 3 && review.sums.seconds == 561 && review.sums.waitedSeconds == 440)
        #expect(review.sums.completed == 3 && review.sums.calls == 9 && review.sums.retries == 6)
        #expect(review.sums.refused == 3)
        #expect(review.seconds(atMost: 0.5) == 40.5 && review.seconds(atMost: 0.95) == 480)
        let own = try await records.taskTimes(from: at(minute: 0), to: at(minute: 61), tenant: "acme")
        #expect(own.map(\.times.sums.tasks) == [1, 4])
        #expect(try await records.taskTimes(from: at(minute: 0), to: at(minute: 9), tenant: "nobody").isEmpty)
        #expect(try await records.taskTimes(from: at(minute: 9), to: at(minute: 9), tenant: nil).isEmpty)
    }

    @Test func `where minutes are gone their hours are read, and each task counts once`() async throws {
        for minute in [-300.0, -299, -130, -61, -1, 30] {
            try await save([ended(minute: minute, "acme", "review", [60])])
        }
        func count(from: Double, to: Double) async throws -> Int64 {
            try await records.taskTimes(from: at(minute: from), to: at(minute: to), tenant: nil)
                .reduce(0) { $0 + $1.times.sums.tasks }
        }
        #expect(try await count(from: -600, to: 60) == 6)
        while try await store.prune(.minute, before: at(minute: -60), limit: 1) > 0 {}
        #expect(try await count(from: -600, to: 60) == 6)
        #expect(try await count(from: -60, to: 60) == 2)
        #expect(try database.number("SELECT count(*) FROM task_time WHERE span_s = 60") == 2)
        while try await store.prune(.hour, before: at(minute: -240), limit: 1) > 0 {}
        #expect(try await count(from: -600, to: 60) == 4)
    }

    @Test func `levels have the tasks of each window`() async throws {
        try await save([
            ended(minute: 28, "acme", "review", [40]), ended(minute: 2, "acme", "review", [400, 500]),
            ended(minute: -100, "acme", "search", [30]), ended(minute: -3 * 1440, "acme", "search", [600]),
        ])
        let level = try #require(try await records.levels(at: at(minute: 30.5)).tasks.first)
        let windows = level.windows(atMost: 120)
        let expected: [(LevelWindow, Double, Double)] = [(.recent, 1, 0), (.hour, 3, 2), (.day, 4, 2), (.month, 5, 3)]
        for (window, tasks, late) in expected {
            #expect(windows[window].observedSeconds == tasks && windows[window].missedSeconds == late, "\(window)")
        }
    }
}
