import HeadroomModel
import Synchronization

/// Shares of memory that only the composition root knows, and the process' resident bytes where the system tells them.
package typealias ProcessMemory = @Sendable () -> (shares: [MemoryShare], residentBytes: Int?)

/// The text of `/metrics`: rendered once for each report of the loop, on a task, and shared by all who scrape.
///
/// Thousands of tenants take milliseconds to render, for which a server thread would keep its polls waiting. So that
/// ages go on growing when the loop does not report, the text is rendered again after ``maxAgeSeconds`` as well.
actor MetricsPage {
    private struct Page {
        let response: HTTPResponse
        let reportCount: Int
        let at: Timestamp
    }

    private let board: SnapshotBoard
    private let counters: TelemetryCounters
    private let draws: DrawIntake?
    private let signIns: FailedSignIns
    private let conditions: ServiceConditions
    private let alerts: OpenAlerts
    private let live: LiveHistory
    private let memory: ProcessMemory
    private nonisolated let page = Mutex<Page?>(nil)

    static let maxAgeSeconds = 5.0

    init(
        board: SnapshotBoard, counters: TelemetryCounters, draws: DrawIntake?, signIns: FailedSignIns,
        conditions: ServiceConditions, alerts: OpenAlerts, live: LiveHistory, memory: @escaping ProcessMemory
    ) {
        self.board = board
        self.counters = counters
        self.draws = draws
        self.signIns = signIns
        self.conditions = conditions
        self.alerts = alerts
        self.live = live
        self.memory = memory
    }

    /// Runs on a server thread: the text that is there, or the way to a newer one.
    nonisolated func answer() -> HTTPAnswer {
        let known = page.withLock { $0 }
        if let known, isCurrent(known) { return .response(known.response) }
        return .later(instead: known?.response) { await self.rendered() }
    }

    /// One call renders; those that came meanwhile find its text.
    private func rendered() -> HTTPResponse {
        if let known = page.withLock({ $0 }), isCurrent(known) { return known.response }
        let now = board.time.now()
        let loop = board.loop
        let (stored, residentBytes) = memory()
        let shares =
            board.memory + [MemoryShare(owner: "live_history", bytes: live.memoryBytes)] + (loop.newest?.memory ?? [])
            + stored
        let metrics = Metrics(
            loop: loop, drifts: board.drifts().map { ($0.gateway.gateway, $0.seconds) },
            telemetry: counters.all, refusals: counters.refusals, draws: draws?.all ?? [],
            longPolls: board.waitingCount,
            conditions: conditions.all, alerts: alerts.counts, sinks: alerts.sinks.rows,
            levels: alerts.levels,
            auditHead: conditions.auditHead, backup: conditions.newestBackup, failedSignIns: signIns.total,
            slowedAddresses: signIns.slowedCount(at: MonotonicClock.milliseconds()),
            memory: shares, residentBytes: residentBytes, now: now)
        let response = HTTPResponse(type: MetricsText.contentType, body: Array(metrics.render().utf8))
        page.withLock { $0 = Page(response: response, reportCount: loop.reportCount, at: now) }
        return response
    }

    private nonisolated func isCurrent(_ page: Page) -> Bool {
        page.reportCount == board.reportCount && board.time.now().seconds(since: page.at) < Self.maxAgeSeconds
    }
}
