import HeadroomEnforcement
import HeadroomModel

/// Clients: what arrives, and what becomes of what was not served.
extension Simulation {
    mutating func arrive(_ index: Int) {
        // The trace's own jobs come one after the other; each brings the next.
        if index + 1 < workload.jobs.count {
            events.plan(.arrival, index + 1, at: Simulation.start.adding(seconds: jobs[index + 1].seconds))
        }
        if case .oracle = controller { jobs[index].gateway = 0 }
        jobs[index].gateway = living(from: jobs[index].gateway)
        let job = jobs[index]
        let gateway = job.gateway
        let estimate = gateways[gateway].estimate(job, of: tenants[job.tenant])
        observed.arrive(job, estimate)
        if job.isGenuine, job.resends == 0 {
            record.wanted[record.minuteIndex(atSecond: job.seconds, tenant: job.tenant)] += job.cost
        }
        let patience = scenario.clients.patienceSeconds[job.criticality]
        let call = WaitingCall(
            id: index, tenant: tenants[job.tenant], criticality: job.criticality, estimate: estimate, arrival: now,
            deadline: now.adding(seconds: patience))
        if gateways[gateway].gate.enqueue(call, at: now) {
            audit?.note { [id = gateways[gateway].id] in $0.enqueue(estimate, at: id) }
            serve(gateway)
        } else {
            deny(call, at: gateway)
        }
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

    /// The job will not be served; its client may send it again as new.
    mutating func lose(_ index: Int) {
        let job = jobs[index]
        let habit = workload.resends[job.tenant]
        guard job.resends < habit.times else {
            record.lost += 1
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
