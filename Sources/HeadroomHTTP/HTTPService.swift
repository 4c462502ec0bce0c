import HeadroomModel
import Synchronization

/// Headroom's HTTP edge: the server, its routes, and the order in which they start and end.
///
///     let address = try service.start()
///     group.addTask { await service.run() }
///     …
///     await service.stop()
package final class HTTPService: Sendable {
    private let server: MicroHTTPDServer
    private let board: SnapshotBoard
    private let draws: DrawIntake?
    private let live = LiveHistory()
    private let access: AccessControl
    /// The tokens by which parked requests were checked.
    private let seenAccessVersion: Atomic<Int>

    /// - Parameters:
    ///   - draws: what answers draws from the float; without it nobody can draw.
    ///   - people: what stands behind people's calls; without it there are only those of gateways.
    ///   - viewersOnly: `/healthz`, `/readyz` and `/openapi.json` ask for a viewer's token, as `/metrics` does.
    ///   - openMetrics: `/metrics`, which names tenants, asks for no token.
    ///   - memory: beside what the service's edge takes.
    ///   - comparison: what `/v1/demo` answers; `nil` where there is no demo.
    package init(
        settings: ServerSettings, board: SnapshotBoard, access: AccessControl, telemetry: TelemetryIntake,
        draws: DrawIntake? = nil, people: PeoplePorts? = nil, conditions: ServiceConditions = ServiceConditions(),
        openAlerts: OpenAlerts = OpenAlerts(), viewersOnly: Bool = false, openMetrics: Bool = false,
        memory: @escaping ProcessMemory = { ([], nil) },
        comparison: (@Sendable () -> [UInt8])? = nil
    ) {
        self.board = board
        self.access = access
        self.draws = draws
        seenAccessVersion = Atomic(access.version)
        let signIns = FailedSignIns()
        let operations = OperationsRoutes(
            board: board, counters: telemetry.counters, conditions: conditions,
            metrics: MetricsPage(
                board: board, counters: telemetry.counters, draws: draws, signIns: signIns, conditions: conditions,
                alerts: openAlerts, live: live, memory: memory),
            access: viewersOnly ? .roles(AccessRule.viewers) : .anyone,
            metricsAccess: openMetrics ? .anyone : .roles(AccessRule.viewers))
        let routes =
            [.allocations(board), .telemetry(telemetry, board), .traces(telemetry, board)]
            + (draws.map { [.draw($0, board)] } ?? [])
            + (people.map { Route.people($0, board) } ?? [])
            + operations.all
            + LiveRoutes(board: board, history: live).all
            + SessionRoutes(access: access, isDemo: comparison != nil).all
            + DashboardRoutes(digest: access.digest).all + (comparison.map { [.demo($0)] } ?? [])
        server = MicroHTTPDServer(
            settings: settings, router: Router(routes: routes, access: access), failedSignIns: signIns)
    }

    /// Every call that there is, as `GET /v1/pools/{id}`; without the files that the dashboard loads.
    package var calls: [String] {
        server.router.routes.filter { !$0.pattern.hasPrefix("/dashboard/") }
            .map { "\($0.method.rawValue) \($0.pattern)" }
    }

    /// Listens, and says where: port 0 has become a real one.
    package func start() throws(HTTPError) -> ListenAddress {
        try server.start { [weak self] in self?.tick() }
    }

    private func tick() {
        let now = MonotonicClock.milliseconds()
        board.tick(now)
        live.follow(board, draws: draws)
        live.tick(now)
        let version = access.version
        if seenAccessVersion.exchange(version, ordering: .relaxed) != version {
            board.wakeAll()
            live.wakeAll()
        }
    }

    /// Works on the calls that need a task, until the service is stopped. One task runs this.
    package func run() async {
        await server.calls.run()
    }

    /// Answers everyone and ends: long polls at once, telemetry in flight after its commit, new connections not at all.
    ///
    /// Takes at most `stopSeconds` and a little; what is not done by then is answered with 503.
    package func stop() async {
        server.beginStopping()
        board.stop()
        live.stop()
        server.calls.close()
        // The end waits for answers that tasks still owe, so it may not hold a thread that those run on.
        await OwnThread.run { self.server.finish() }
    }
}

extension Route {
    /// The same minutes without Headroom, which only a demo knows.
    fileprivate static func demo(_ comparison: @escaping @Sendable () -> [UInt8]) -> Route {
        Route(
            method: .get, pattern: "/v1/demo", access: .roles(AccessRule.viewers),
            reach: .everything("the comparison of all tenants")
        ) { _, _ in
            HTTPHandler(answer: { _ in .response(.json(comparison())) })
        }
    }
}
