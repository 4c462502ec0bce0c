import HeadroomModel

/// Agents' tasks: which call follows from which, and what gateways tell of it.
extension Simulation {
    mutating func planTasks() {
        for (index, task) in workload.tasks.enumerated() where task.parent == nil && !task.isNext {
            events.plan(.task, index, at: Simulation.start.adding(seconds: task.start))
        }
    }

    mutating func beginTask(_ index: Int) {
        tasks[index].begunAt = second
        let task = workload.tasks[index]
        tell(.started, of: index, from: jobs[task.calls[0].job].gateway)
        for _ in 0..<min(task.atOnce, task.calls.count) { makeNextCall(of: index) }
    }

    private mutating func makeNextCall(of index: Int) {
        let task = workload.tasks[index]
        guard tasks[index].made < task.calls.count else { return }
        let call = task.calls[tasks[index].made]
        tasks[index].made += 1
        jobs[call.job].seconds = second + call.pauseSeconds
        firstArrivals[call.job] = jobs[call.job].seconds
        events.plan(.arrival, call.job, at: now.adding(seconds: call.pauseSeconds))
    }

    /// A task's call was served: the next one follows.
    mutating func advanceTask(_ index: Int, from gateway: Int) {
        guard !tasks[index].hasFailed else { return }
        let task = workload.tasks[index]
        tasks[index].served += 1
        let tenths = 10 * tasks[index].served / task.calls.count
        guard tasks[index].served < task.calls.count else { return endOwnCalls(of: index, from: gateway) }
        if tenths > 10 * (tasks[index].served - 1) / task.calls.count { tell(.progress, of: index, from: gateway) }
        makeNextCall(of: index)
    }

    private mutating func endOwnCalls(of index: Int, from gateway: Int) {
        let task = workload.tasks[index]
        guard task.subAgents.isEmpty else {
            tell(.progress, of: index, from: gateway)
            for subAgent in task.subAgents { beginTask(subAgent) }
            return
        }
        complete(index, from: gateway)
    }

    private mutating func complete(_ index: Int, from gateway: Int) {
        tasks[index].completedAt = second
        tell(.completed, of: index, from: gateway)
        guard let parent = workload.tasks[index].parent else { return beginNext(after: index) }
        tasks[parent].subAgentsLeft -= 1
        if tasks[parent].subAgentsLeft == 0, !tasks[parent].hasFailed { complete(parent, from: gateway) }
    }

    /// One of its calls was never served, however often it was sent.
    mutating func failTask(_ index: Int, from gateway: Int) {
        guard !tasks[index].hasFailed else { return }
        let root = workload.tasks[index].parent ?? index
        for failed in [root] + workload.tasks[root].subAgents where tasks[failed].completedAt == nil {
            tasks[failed].hasFailed = true
            if tasks[failed].begunAt != nil { tell(.failed, of: failed, from: gateway) }
        }
        beginNext(after: root)
    }

    private mutating func beginNext(after index: Int) {
        guard let next = workload.tasks[index].next, second < workload.tasks[next].lastStart else { return }
        beginTask(next)
    }

    /// The results of all users' tasks.
    var taskOutcomes: [RunRecord.TaskOutcome] {
        workload.tasks.indices.compactMap { index in
            guard workload.tasks[index].parent == nil, let begun = tasks[index].begunAt else { return nil }
            return RunRecord.TaskOutcome(
                tenant: workload.tasks[index].tenant, begunAt: begun,
                undisturbedSeconds: workload.tasks[index].undisturbedSeconds,
                seconds: tasks[index].completedAt.map { $0 - begun })
        }
    }

    /// A sub-agent tells of its own part, its parent of all.
    private mutating func tell(_ state: TaskRecord.State, of index: Int, from gateway: Int) {
        guard case .headroom = controller, gateways[gateway].isUp else { return }
        let task = workload.tasks[index]
        let parts = [index] + task.subAgents
        let served = parts.reduce(0) { $0 + tasks[$1].served }
        let all = parts.reduce(0) { $0 + workload.tasks[$1].calls.count }
        let first = jobs[task.calls[0].job]
        let isOver = state == .completed || state == .failed
        gateways[gateway].reports.append(
            .task(
                TaskRecord(
                    at: now, gateway: gateways[gateway].id, tenant: tenants[task.tenant],
                    pool: workload.pools[workload.homes[task.tenant]].id,
                    criticality: first.criticality, task: task.name,
                    parent: task.parent.map { workload.tasks[$0].name }, state: state,
                    progress: Double(served) / Double(all), remainingRequests: isOver ? 0 : Int64(all - served),
                    remainingTokens: isOver ? 0 : Int64(Double(all - served) * task.tokensPerCall))))
    }
}
