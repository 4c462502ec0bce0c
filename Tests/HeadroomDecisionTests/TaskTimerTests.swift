import HeadroomDecision
import HeadroomModel
import Testing

/// How long agent tasks take, from the lines that gateways send of their calls.
@Suite struct TaskTimerTests {
    /// Lines and ticks; times are in seconds since the story began.
    private struct Story {
        static let pool: PoolID = "p"
        static let begin = Timestamp(milliseconds: 1_793_001_600_000)
        let rules = Rules(policy: Policy(pools: [PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 6000))]))
        var watch = TaskWatch()
        private(set) var now = Self.begin
        private(set) var last = TaskReports()

        static func at(_ seconds: Double) -> Timestamp { begin.adding(seconds: seconds) }

        /// A call that arrived at a moment, waited, and was answered after its latency.
        mutating func call(
            _ task: String, arrived: Double, waited: Double = 0, took: Double, parent: String? = nil,
            kind: String? = "review", request: String? = nil, outcome: Outcome = .ok, attempt: Int = 1,
            tenant: TenantID = "acme"
        ) {
            watch.fold(
                .call(
                    CallRecord(
                        request: request, at: Self.at(arrived + waited + took), gateway: "gw-1", tenant: tenant,
                        pool: Self.pool, task: task, parent: parent, attempt: attempt, outcome: outcome,
                        latencyMilliseconds: took * 1000, queuedMilliseconds: waited * 1000, taskKind: kind)),
                under: rules)
        }

        mutating func line(_ task: String, _ state: TaskRecord.State, at seconds: Double) {
            watch.fold(
                .task(
                    TaskRecord(
                        at: Self.at(seconds), gateway: "gw-1", tenant: "acme", pool: Self.pool, task: task,
                        state: state)), under: rules)
        }

        mutating func tick(at seconds: Double) {
            now = Self.at(seconds)
            last = watch.step(under: rules, at: now)
        }

        /// What has ended, of all minutes together.
        func ended(_ kind: String? = "review", of tenant: TenantID = "acme") -> TaskTimes {
            watch.unstoredTimes.filter { $0.kind == kind && $0.tenant == tenant }
                .reduce(into: TaskTimes()) { $0.add($1.times) }
        }

        func pace(_ kind: String? = "review") -> TaskPace? { last.paces.first { $0.kind == kind } }

        /// Tasks of 40 s that end with a line, one a minute.
        mutating func usual(_ count: Int, from first: Double) {
            for index in 0..<count {
                let begin = first + 60 * Double(index)
                call("usual-\(first)-\(index)", arrived: begin, took: 39)
                line("usual-\(first)-\(index)", .completed, at: begin + 40)
                tick(at: begin + 55)
            }
        }
    }

    @Test func `a task takes from the arrival of its first call to what says its end`() {
        var story = Story()
        story.call("t-1", arrived: 5, waited: 3, took: 2)
        story.call("t-1", arrived: 12, took: 8)
        story.line("t-1", .completed, at: 45)
        story.tick(at: 60)
        #expect(story.ended().isEmpty, "a call of another gateway may be on its way")
        story.tick(at: 80)
        let sums = story.ended().sums
        #expect(sums.tasks == 1 && sums.completed == 1 && sums.failed == 0)
        #expect(sums.seconds == 40 && sums.waitedSeconds == 3)
        #expect(sums.calls == 2 && sums.retries == 0 && sums.refused == 0)
        #expect(story.watch.unstoredTimes.map(\.start) == [Story.begin])
    }

    @Test func `without such a line it ends with its last call, ten minutes later`() {
        var story = Story()
        story.call("t-1", arrived: 0, took: 20)
        story.line("t-2", .started, at: 3)
        story.tick(at: 590)
        #expect(story.ended().isEmpty && story.pace()?.running == 1)
        story.tick(at: 630)
        #expect(story.ended().sums.seconds == 20 && story.ended().sums.completed == 0)
        // A line that says it began, and nothing after it.
        #expect(story.ended(nil).sums.tasks == 1 && story.ended(nil).sums.seconds == 0)
        #expect(story.pace()?.running == 0)
    }

    @Test func `what comes under the name of a task that has ended is another task`() {
        var story = Story()
        story.call("nightly", arrived: 0, took: 30)
        story.line("nightly", .failed, at: 30)
        story.call("nightly", arrived: 35, took: 10)
        story.call("nightly", arrived: 700, took: 5)
        story.tick(at: 1400)
        let sums = story.ended().sums
        #expect(sums.tasks == 3 && sums.failed == 1 && sums.seconds == 45)
    }

    @Test func `what a task has started belongs to it, and gives it its kind`() {
        var story = Story()
        story.call("root", arrived: 0, took: 2, kind: nil)
        story.call("child", arrived: 4, waited: 10, took: 6, parent: "root")
        story.call("grandchild", arrived: 12, waited: 10, took: 8, parent: "child", kind: "search")
        story.call("root", arrived: 31, took: 1, kind: nil)
        story.line("child", .completed, at: 25)
        story.tick(at: 700)
        let sums = story.ended().sums
        #expect(sums.tasks == 1 && sums.seconds == 32 && sums.calls == 4)
        // From 4 to 14 and from 12 to 22: the tree waits once.
        #expect(sums.waitedSeconds == 18)
        #expect(story.watch.unstoredTimes.count == 1)
    }

    @Test func `between a refusal for want of quota and the next attempt it waits, and after an error it does not`() {
        var story = Story()
        story.call("t-1", arrived: 0, took: 0, request: "r-1", outcome: .denied)
        story.call("t-1", arrived: 20, took: 1, request: "r-1", outcome: .quota, attempt: 2)
        story.call("t-1", arrived: 50, waited: 4, took: 6, request: "r-1", attempt: 3)
        story.call("t-1", arrived: 60, took: 1, request: "r-2", outcome: .server)
        story.call("t-1", arrived: 90, took: 10, request: "r-2", attempt: 2)
        // Given up: the agent goes on with something else.
        story.call("t-1", arrived: 100, took: 0, request: "r-3", outcome: .denied)
        story.call("t-1", arrived: 110, took: 10, request: "r-4")
        story.tick(at: 800)
        let sums = story.ended().sums
        #expect(sums.seconds == 120 && sums.waitedSeconds == 20 + 29 + 4)
        #expect(sums.calls == 3 && sums.retries == 3 && sums.refused == 3)
    }

    @Test func `a process that starts again counts each task once, with what it waited before`() {
        var story = Story()
        story.call("done", arrived: 0, took: 10)
        story.line("done", .completed, at: 12)
        story.tick(at: 60)
        #expect(story.ended().sums.tasks == 1)
        story.watch.forgetUnstoredTimes()
        story.call("t-1", arrived: 40, waited: 30, took: 5)
        story.call("t-1", arrived: 80, took: 0, request: "r", outcome: .denied)
        var next = Story()
        next.watch.restore(story.watch.checkpoint())
        next.call("t-1", arrived: 100, took: 20, request: "r")
        next.tick(at: 800)
        let sums = next.ended().sums
        #expect(sums.tasks == 1 && sums.seconds == 80 && sums.waitedSeconds == 50)
        // Bytes of the version before this one had the trees alone.
        #expect(next.watch.checkpoint() != story.watch.checkpoint())
        var damaged = TaskWatch()
        damaged.restore(Array(story.watch.checkpoint().dropLast(3)))
        #expect(damaged.checkpoint() == TaskWatch().checkpoint())
    }

    @Test func `a kind is slow when most of its tasks take three times as long because they wait`() throws {
        var story = Story()
        story.usual(12, from: 0)
        #expect(story.pace()?.usualSeconds == nil, "what ended within ten minutes is not what is usual")
        // A quiet quarter of an hour makes it so.
        story.usual(14, from: 1200)
        let before = try #require(story.pace())
        #expect(before.usualSeconds == 40 && !before.isSlow(by: 1.01))
        for index in 0..<4 {
            story.call("slow-\(index)", arrived: 2040, took: 1, request: "r\(index)")
            story.call("slow-\(index)", arrived: 2042, took: 0, request: "s\(index)", outcome: .denied)
            story.call("slow-\(index)", arrived: 2160, waited: 20, took: 20, request: "s\(index)", attempt: 2)
        }
        story.tick(at: 2205)
        let pace = try #require(story.pace())
        // They are in progress still, and take four times as long by now.
        #expect(pace.overdue.tasks == 4 && pace.recentSeconds == 160)
        #expect(pace.waitedShare.map { $0 > 0.4 && $0 < 0.9 } == true)
    }

    @Test(arguments: [true, false]) func `it is not slow for want of quota where its calls take long`(waits: Bool)
        throws
    {
        var story = Story()
        story.usual(12, from: 0)
        story.usual(3, from: 1500)
        for index in 0..<6 {
            story.call("slow-\(index)", arrived: 1700, waited: waits ? 150 : 0, took: waits ? 10 : 160)
            story.line("slow-\(index)", .completed, at: 1860)
        }
        story.tick(at: 1900)
        let pace = try #require(story.pace())
        #expect(pace.recent.sums.tasks == 9 && pace.recentSeconds == 160)
        #expect(pace.isSlow() == waits && pace.isSlow(by: 2) == waits && !pace.isSlow(by: 5))
    }

    @Test func `of many tasks that overlap, times and waits are those of their lines added up`() {
        var random = SplitMix64(seed: 31)
        var story = Story()
        var lines: [(ends: Double, tell: (inout Story) -> Void)] = []
        var durations: [Double] = []
        var waits = 0.0
        for index in 0..<400 {
            let name = "t-\(index)"
            var clock = Double(Int.random(in: 0..<3_000, using: &random))
            let begin = clock
            for call in 0..<(1 + Int.random(in: 0..<6, using: &random)) {
                let arrived = clock
                let waited =
                    Int.random(in: 0..<3, using: &random) == 0 ? Double(Int.random(in: 0..<60, using: &random)) : 0
                let took = 1 + Double(Int.random(in: 0..<20, using: &random))
                let isRefused = Int.random(in: 0..<4, using: &random) == 0
                let request = "\(name)-\(call)"
                if isRefused {
                    let pause = 1 + Double(Int.random(in: 0..<90, using: &random))
                    lines.append(
                        (arrived, { $0.call(name, arrived: arrived, took: 0, request: request, outcome: .denied) }))
                    clock += pause
                    waits += pause
                }
                let sent = clock
                let attempt = isRefused ? 2 : 1
                lines.append(
                    (
                        sent + waited + took,
                        { $0.call(name, arrived: sent, waited: waited, took: took, request: request, attempt: attempt) }
                    ))
                clock += waited + took
                waits += waited
                if call % 2 == 1 { clock += Double(Int.random(in: 0..<30, using: &random)) }
            }
            let end = clock
            durations.append(end - begin)
            lines.append((end, { $0.line(name, .completed, at: end) }))
        }
        for (index, line) in lines.enumerated().sorted(by: {
            ($0.element.ends, $0.offset) < ($1.element.ends, $1.offset)
        }) {
            line.tell(&story)
            if index % 50 == 0 { story.tick(at: line.ends) }
        }
        story.tick(at: 8_000)
        let times = story.ended()
        #expect(times.sums.tasks == 400 && times.sums.completed == 400)
        #expect(abs(times.sums.seconds - durations.reduce(0, +)) < 1e-6)
        #expect(abs(times.sums.waitedSeconds - waits) < 0.01 * waits, "\(times.sums.waitedSeconds) of \(waits)")
        durations.sort()
        for (share, rank) in [(0.5, 199), (0.95, 379)] {
            let told = times.seconds(atMost: share) ?? 0
            #expect(abs(told - durations[rank]) < 0.07 * durations[rank], "\(share): \(told) of \(durations[rank])")
        }
    }
}
