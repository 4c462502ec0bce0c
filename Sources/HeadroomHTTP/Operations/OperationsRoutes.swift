import HeadroomModel
import HeadroomWire

/// The routes for monitoring: `/healthz`, `/readyz`, `/metrics`, `/openapi.json`.
struct OperationsRoutes: Sendable {
    let board: SnapshotBoard
    let counters: TelemetryCounters
    let conditions: ServiceConditions
    let metrics: MetricsPage
    /// Anyone, or viewers where a setting asks for it.
    let access: AccessRule
    /// Metrics name tenants: viewers, or anyone where a setting opens them.
    let metricsAccess: AccessRule

    /// A loop that has not reported for this long counts as stuck: five times the longest sensible period.
    private static let maxReportAgeSeconds = 60.0
    /// Tenants that were turned away are an alarm for this long.
    private static let untrackedSeconds = 600.0

    var all: [Route] {
        [
            route("/healthz", .nothing) { HTTPResponse(type: "text/plain", body: Array("ok\n".utf8)) },
            route("/readyz", .everything("the service as a whole")) { readiness() },
            Route(
                method: .get, pattern: "/metrics", access: metricsAccess,
                reach: .everything("/metrics, of all pools and tenants,")
            ) { _, _ in
                HTTPHandler(answer: { _ in metrics.answer() })
            },
            route("/openapi.json", .nothing) { HTTPResponse(type: "application/json", body: OpenAPIDocument.bytes) },
        ]
    }

    private func route(
        _ path: String, _ reach: AccessReach, _ respond: @escaping @Sendable () -> HTTPResponse
    ) -> Route {
        Route(method: .get, pattern: path, access: access, reach: reach) { _, _ in
            HTTPHandler(answer: { _ in .response(respond()) })
        }
    }

    /// 200 when what is served can be relied on, else 503; both say how old it is, why not, and what else to look at.
    private func readiness() -> HTTPResponse {
        let now = board.time.now()
        let report = board.loop.newest
        let answer = ReadinessAnswer(
            reasons: reasons(report, now), warnings: warnings(report, now), version: board.current?.version,
            publishedAgeSeconds: report?.publishedAt.map { now.seconds(since: $0) },
            decisionAgeSeconds: report?.decidedAt.map { now.seconds(since: $0) })
        return HTTPResponse(status: answer.isReady ? 200 : 503, type: "application/json", body: answer.bytes)
    }

    /// Conditions that leave the service ready but that a person should look at.
    private func warnings(_ report: LoopReport?, _ now: Timestamp) -> [String] {
        var warnings = report?.rulesRefusal.map { [$0] } ?? []
        for (kind, reason) in conditions.all where !kind.isFatal {
            if let reason { warnings.append(reason) }
        }
        warnings += board.loop.delays(at: now)
        warnings += report?.withheld.map(\.sentence) ?? []
        for pool in report?.pools ?? [] where pool.gateways.needDraws {
            warnings.append(
                "pool \(pool.pool): \(pool.gateways.lending) gateways do not draw, \(pool.gateways.drawing) do; more than "
                    + "\(GatewayCounts.mostLending) without draws leave budget where no work waits: let them draw")
        }
        for use in report?.grantUses ?? [] where use.isWasteful {
            warnings.append(
                "pool \(use.pool): gateway \(use.gateway) did not send \(Int(use.unused)) of \(Int(use.granted)) calls that it was "
                    + "granted from the float in the last minutes; it asks for calls that it does not send, or answers reach it late"
            )
        }
        for pool in report?.pools ?? [] {
            guard let last = pool.untracked.last, now.seconds(since: last.at) < Self.untrackedSeconds else { continue }
            warnings.append(
                "pool \(pool.pool): \(pool.untracked.lines) lines were of tenants beyond \(last.bound.setting), which "
                    + "share `unlisted`; the last came from gateway \(last.gateway)")
        }
        return warnings
    }

    private func reasons(_ report: LoopReport?, _ now: Timestamp) -> [String] {
        var reasons: [String] = []
        if board.current == nil { reasons.append("no generation has been published yet") }
        if let failure = counters.storageFailure { reasons.append("telemetry is refused: \(failure)") }
        for (kind, reason) in conditions.all where kind.isFatal {
            if let reason { reasons.append(reason) }
        }
        guard let report else { return reasons + ["the control loop has not run yet"] }
        for failure in report.failures { reasons.append("\(failure.stage.rawValue) failed: \(failure.message)") }
        if !report.isLedgerWritable {
            reasons.append("the ledger cannot be written: decreases are published from memory")
        }
        let age = now.seconds(since: report.at)
        if age > Self.maxReportAgeSeconds {
            reasons.append("the control loop last ran \(Int(age)) seconds ago")
        }
        return reasons
    }
}

extension UntrackedTenants.Bound {
    /// The key of the policy that sets it.
    fileprivate var setting: String {
        switch self {
        case .pool: "loop.max_tenants"
        case .total: "loop.max_tenants_total"
        case .gateway: "loop.max_new_tenants_per_gateway"
        }
    }
}
