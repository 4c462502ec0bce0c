import HeadroomEnforcement
import HeadroomModel

/// Clients: what arrives, and what becomes of what was not served.
extension Simulation {
    mutating func arrive(_ index: Int) {
        if jobs[index].task == nil, index < workload.jobs.count { planArrival(from: index + 1) }
        if case .oracle = controller { jobs[index].gateway = 0 }
        jobs[index].gateway = living(from: jobs[index].gateway)
        let job = jobs[index]
        let gateway = job.gateway
        let estimate = gateways[gateway].estimate(job, of: tenants[job.tenant]) * scenario.clients.countedTimes
        observed.arrive(job, estimate)
        if job.resends == 0 { record.arrive(job) }
        let patience = scenario.clients.patience(of: job)
        let call = WaitingCall(
            id: index, tenant: tenants[job.tenant], criticality: job.criticality, estimate: estimate, arrival: now,
            deadline: now.adding(seconds: patience))
        jobs[index].pool = workload.homes[job.tenant]
        if enqueue(call, at: gateway) { serve(gateway) } else { deny(call, at: gateway) }
    }

    mutating func enqueue(_ call: WaitingCall, at gateway: Int) -> Bool {
        let pool = jobs[call.id].pool
        guard gateways[gateway].gates[pool].enqueue(call, at: now) else { return false }
        if pool == 0 { audit?.note { [id = gateways[gateway].id] in $0.enqueue(call.estimate, at: id) } }
        return true
    }

    /// Calls that a pool's breaker keeps back go where the pool fails over to.
    mutating func divert(from pool: Int, at gateway: Int) {
        for call in gateways[gateway].gates[pool].divert(at: now) {
            let failover = gateways[gateway].gates[pool].allocation?.failover ?? []
            let target = workload.pools.indices.first { failover.contains(workload.pools[$0].id) }
            jobs[call.id].pool = target ?? pool
            if target == nil || !enqueue(call, at: gateway) { deny(call, at: gateway) }
        }
    }

    /// The trace's own jobs come one after the other; each brings the next.
    mutating func planArrival(from index: Int) {
        guard let next = workload.jobs[index...].firstIndex(where: { $0.task == nil }) else { return }
        events.plan(.arrival, next, at: Simulation.start.adding(seconds: jobs[next].seconds))
    }

    /// The next gateway that is up, `gateway` itself if it is.
    private func living(from gateway: Int) -> Int {
        for step in gateways.indices where gateways[(gateway + step) % gateways.count].isUp {
            return (gateway + step) % gateways.count
        }
        return gateway
    }

    /// Patience has ended in the queue.
    mutating func deny(_ call: WaitingCall, at gateway: Int) {
        var report = callRecord(call, gateway: gateway, outcome: .denied)
        report.queuedMilliseconds = 1000 * now.seconds(since: call.arrival)
        gateways[gateway].reports.append(.call(report))
        observed.leave(jobs[call.id].tenant, call.estimate)
        lose(call.id)
    }

    /// The job will not be served; its client may send it again as new, an agent in any case.
    mutating func lose(_ index: Int) {
        let job = jobs[index]
        record.deny(job, at: second)
        let habit = workload.resends[job.tenant]
        guard job.resends < (job.task == nil ? habit.times : AgentTask.retries) else {
            record.lose(job, at: second)
            if let task = job.task { failTask(task, from: job.gateway) }
            return
        }
        var again = job
        again.resends += 1
        again.seconds = habit.inStep ? (second / 10).rounded(.down) * 10 + 10 : second + 1
        jobs.append(again)
        firstArrivals.append(firstArrivals[index])
        events.plan(.arrival, jobs.count - 1, at: Simulation.start.adding(seconds: again.seconds))
    }
}
