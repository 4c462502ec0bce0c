import HeadroomEnforcement
import HeadroomModel

/// The gateways' reports to Headroom on each call.
extension Simulation {
    mutating func report(_ attempt: Attempt, outcome: Outcome, signal: ProviderSignal?) {
        guard case .headroom = controller else { return }
        let call = attempt.dispatch.call
        let job = jobs[call.id]
        var report = callRecord(call, gateway: attempt.gateway, outcome: outcome)
        report.attempt = attempt.dispatch.attempt
        report.status = attempt.answer?.status
        report.latencyMilliseconds = 1000 * now.seconds(since: attempt.sentAt)
        report.queuedMilliseconds = 1000 * attempt.sentAt.seconds(since: call.arrival)
        if outcome == .ok {
            report.outputTokens = job.outputTokens
            report.countedTokens = Int64(job.cost[.tokens])
        }
        gateways[attempt.gateway].reports.append(.call(report))
        if let signal, let answer = attempt.answer {
            gateways[attempt.gateway].reports.append(
                .response(
                    ResponseRecord(
                        at: now, request: report.request, gateway: gateways[attempt.gateway].id,
                        pool: workload.pools[jobs[call.id].pool].id,
                        provider: "openai", status: answer.status, signal: signal)))
        }
    }

    /// Its tokens are the estimate until the provider's answer tells better.
    func callRecord(_ call: WaitingCall, gateway: Int, outcome: Outcome) -> CallRecord {
        let task = jobs[call.id].task.map { workload.tasks[$0] }
        return CallRecord(
            request: String(call.id), at: now, gateway: gateways[gateway].id, tenant: call.tenant,
            pool: workload.pools[jobs[call.id].pool].id, criticality: call.criticality, task: task?.name,
            parent: task?.parent.map { workload.tasks[$0].name },
            outcome: outcome, inputTokens: jobs[call.id].inputTokens,
            countedTokens: Int64(call.estimate[.tokens].rounded()))
    }
}
