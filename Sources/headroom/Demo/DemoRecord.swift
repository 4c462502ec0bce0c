import HeadroomModel
import HeadroomSimulator
import Synchronization

/// What happens in a run over real HTTP, noted as the simulator notes its own: so both are told by the same figures.
final class DemoRecord: Sendable {
    private struct State {
        var record: RunRecord
        /// By task of the workload: outcomes come when it begins, and change when it ends.
        var places: [Int: Int] = [:]
    }

    private let state: Mutex<State>

    init(_ plan: DemoPlan) {
        state = Mutex(State(record: RunRecord(seconds: plan.seconds, tenantCount: plan.roster.entries.count)))
    }

    /// So far.
    var record: RunRecord { state.withLock { $0.record } }

    func arrive(_ job: Job) { state.withLock { $0.record.arrive(job) } }

    func serve(_ job: Job, arrivedAt arrival: Double, at second: Double) {
        state.withLock { state in
            state.record.attempts += 1
            state.record.serve(job, arrivedAt: arrival, at: second)
        }
    }

    func refuse(at second: Double) {
        state.withLock { state in
            state.record.attempts += 1
            state.record.refuse(at: second)
        }
    }

    func lose(_ job: Job, at second: Double) { state.withLock { $0.record.lose(job, at: second) } }

    func begin(_ number: Int, _ task: AgentTask, at second: Double) {
        state.withLock { state in
            state.places[number] = state.record.tasks.count
            state.record.tasks.append(
                RunRecord.TaskOutcome(
                    tenant: task.tenant, begunAt: second, undisturbedSeconds: task.undisturbedSeconds, seconds: nil))
        }
    }

    func end(_ number: Int, at second: Double) {
        state.withLock { state in
            guard let place = state.places[number] else { return }
            let begun = state.record.tasks[place]
            state.record.tasks[place] = RunRecord.TaskOutcome(
                tenant: begun.tenant, begunAt: begun.begunAt, undisturbedSeconds: begun.undisturbedSeconds,
                seconds: second - begun.begunAt)
        }
    }
}
