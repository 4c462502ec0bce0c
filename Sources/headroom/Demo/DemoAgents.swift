import HeadroomModel
import HeadroomSimulator

/// The agents of a demo: they make the calls of the plan's tasks, each when the call before it has been answered.
///
/// As in the simulator a call that was never let go is sent again ``AgentTask/retries`` times, a second later each; then
/// its task has failed.
actor DemoAgents {
    private struct Progress {
        var made = 0
        var served = 0
        var hasFailed = false
    }

    private static let resendSeconds = 1.0

    private let plan: DemoPlan
    private let gateways: [DemoGateway]
    private let record: DemoRecord
    private let time: TimeSource
    private var progress: [Progress]
    private var isEnding = false
    private(set) var hasEnded = false

    init(plan: DemoPlan, gateways: [DemoGateway], record: DemoRecord, time: TimeSource) {
        self.plan = plan
        self.gateways = gateways
        self.record = record
        self.time = time
        progress = plan.workload.tasks.map { _ in Progress() }
    }

    /// No more calls.
    func end() { isEnding = true }

    /// Plays all tasks from `start` on, until the plan's end or ``end()``.
    func run(from start: Timestamp) async {
        let order = plan.workload.tasks.indices.filter { !plan.workload.tasks[$0].isNext }.sorted {
            (plan.workload.tasks[$0].start, $0) < (plan.workload.tasks[$1].start, $1)
        }
        await withDiscardingTaskGroup { group in
            for number in order {
                let task = plan.workload.tasks[number]
                guard await pause(until: start.adding(seconds: task.start)), task.start < plan.seconds else { break }
                group.addTask { await self.playAll(from: number, start) }
            }
        }
        hasEnded = true
    }

    /// A task, and those that follow on it.
    private func playAll(from first: Int, _ start: Timestamp) async {
        var number = first
        while true {
            await play(number, from: start)
            guard let next = plan.workload.tasks[number].next, !isEnding,
                time.now().seconds(since: start) < plan.workload.tasks[next].lastStart
            else { return }
            number = next
        }
    }

    private func play(_ number: Int, from start: Timestamp) async {
        let task = plan.workload.tasks[number]
        record.begin(number, task, at: time.now().seconds(since: start))
        await withDiscardingTaskGroup { group in
            for _ in 0..<min(task.atOnce, task.calls.count) {
                group.addTask { await self.playLine(of: number, from: start) }
            }
        }
        if progress[number].served == task.calls.count { record.end(number, at: time.now().seconds(since: start)) }
    }

    /// One call after the other; what other lines have made is not made again.
    private func playLine(of number: Int, from start: Timestamp) async {
        let task = plan.workload.tasks[number]
        while progress[number].made < task.calls.count, !progress[number].hasFailed {
            let call = task.calls[progress[number].made]
            progress[number].made += 1
            guard await pause(until: time.now().adding(seconds: call.pauseSeconds)) else { return }
            guard await make(call.job, task: task.name, from: start) else {
                progress[number].hasFailed = true
                return
            }
            progress[number].served += 1
        }
    }

    /// False when it was never served.
    private func make(_ number: Int, task: String, from start: Timestamp) async -> Bool {
        var job = plan.workload.jobs[number]
        job.seconds = time.now().seconds(since: start)
        record.arrive(job)
        for attempt in 0...AgentTask.retries {
            if attempt > 0 {
                guard await pause(until: time.now().adding(seconds: DemoAgents.resendSeconds)) else { return false }
            }
            let gateway = gateways[job.gateway]
            if await gateway.play(job, name: "\(task)-\(number).\(attempt)", from: start) { return true }
            if isEnding { return false }
        }
        record.lose(job, at: time.now().seconds(since: start))
        return false
    }

    /// False when the run ends before.
    private func pause(until instant: Timestamp) async -> Bool {
        while !isEnding {
            let left = instant.seconds(since: time.now())
            guard left > 0 else { return true }
            // Not longer: the end of the run is looked for.
            try? await Task.sleep(for: .seconds(min(left, 0.25)))
        }
        return false
    }
}
