import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomStorage
import Synchronization

/// One run: everything started in order, played, summed up, and taken down in order.
struct Demo {
    let plan: DemoPlan
    let options: DemoOptions

    private static let connectSeconds = 10.0

    /// Says the summary when the play is over, and goes on serving until Ctrl-C where the options say so.
    func run() async throws -> DemoSummary {
        let directory = FileManager.default.temporaryDirectory.appending(path: "headroom-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "headroom.sqlite").path
        var screen = DemoScreen(plan: plan, isJSON: options.isJSON)
        let comparison = DemoComparison(plan: plan)
        let service = try await startService(path, comparison)
        screen.say("Dashboard: http://\(service.address)/  (open it now; nobody has to sign in on this machine)\n")
        let provider = DemoProvider(plan: plan, time: service.time)
        let port = try provider.listen()
        let links = try DemoPlan.gateways.map { _ in try DemoLinks(provider: port) }
        let gateways = try links.indices.map {
            try DemoGateway(
                index: $0, plan: plan, time: service.time, links: links[$0], record: comparison.record,
                headroom: service.address)
        }
        screen.say(plan.introduction)

        let isInterrupted = Interruption()
        let signals = StopSignals { isInterrupted.note() }
        let summary = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            group.addTask { await provider.run() }
            for gateway in gateways { group.addTask { await gateway.manager.run() } }
            try await connect(gateways)
            let start = service.time.now()
            provider.begin(at: start)
            comparison.begin(at: start)
            let timeline = await play(gateways, service, provider, comparison, from: start, &screen, isInterrupted)
            let summary = try await sumUp(timeline, gateways, provider, comparison, service.database)
            Terminal.print(options.isJSON ? summary.json : summary.text)
            if options.staysOpen, !isInterrupted.wasNoted {
                screen.say("\nThe dashboard stays open: http://\(service.address)/  Ctrl-C ends it.")
                await isInterrupted.wait()
            }
            service.stop()
            await provider.stop()
            try await group.waitForAll()
            return summary
        }
        signals.cancel()
        for link in links { link.close() }
        return summary
    }

    /// Contracts first: the service reads them when it starts.
    private func startService(_ path: String, _ comparison: DemoComparison) async throws -> Service {
        let now = CommandDatabase.now()
        let database = try Database(path: path, use: .command, coding: .wire, time: TimeSource { now })
        try await database.contracts.replaceAll(with: plan.roster.contracts(pool: DemoPlan.pool), at: now)
        var configuration = ServiceConfiguration()
        configuration.database = path
        configuration.policies = .fixed(plan.policy)
        configuration.comparison = { comparison.encoded() }
        // The first line is the address, and the display is redrawn in place.
        configuration.log = { level, message in if level == .error { Terminal.log(level, message) } }
        configuration.listen = ListenAddress(host: "127.0.0.1", port: UInt16(options.port))
        return try await Service(configuration)
    }

    /// Each gateway has an allocation before the first call comes.
    private func connect(_ gateways: [DemoGateway]) async throws {
        let connected = await withTaskGroup(of: Bool.self) { group in
            for gateway in gateways { group.addTask { await gateway.connect(withinSeconds: Demo.connectSeconds) } }
            return await group.reduce(true) { $0 && $1 }
        }
        guard connected else {
            throw CommandError("the service published no allocation within \(Int(Demo.connectSeconds)) s")
        }
    }

    private func play(
        _ gateways: [DemoGateway], _ service: Service, _ provider: DemoProvider, _ comparison: DemoComparison,
        from start: Timestamp, _ screen: inout DemoScreen, _ isInterrupted: Interruption
    ) async -> DemoTimeline {
        var timeline = DemoTimeline()
        var hasAsked = false
        let agents = DemoAgents(plan: plan, gateways: gateways, record: comparison.record, time: service.time)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await agents.run(from: start) }
            while true {
                let now = service.time.now()
                let second = now.seconds(since: start)
                guard second < plan.seconds, !isInterrupted.wasNoted else { break }
                comparison.advance(to: second)
                // The end of the drop: by then there is something to tell.
                if !hasAsked, second >= plan.recoverySeconds {
                    hasAsked = true
                    group.addTask { comparison.tell(await tellLoud(service, since: start)) }
                }
                if let report = service.board.newestReport {
                    let granted = provider.capacity(at: now)
                    timeline.add(report, granted: granted, atSecond: second)
                    screen.draw(report, granted: granted, log: provider.log, atSecond: second)
                }
                try? await Task.sleep(for: .seconds(min(DemoTimeline.periodSeconds, plan.seconds - second)))
            }
            await agents.end()
            group.addTask {
                // Again and again: a call that is on its way to its queue, or back from the provider, waits later.
                while await !agents.hasEnded {
                    for gateway in gateways { await gateway.refuseWaiting() }
                    try? await Task.sleep(for: .milliseconds(50))
                }
            }
            await group.waitForAll()
        }
        for gateway in gateways { await gateway.stop() }
        comparison.advance(to: min(plan.seconds, service.time.now().seconds(since: start)))
        return timeline
    }

    /// What the service has to say to the tenant whose pipeline overruns: why it waits, in a text that names nobody else.
    private func tellLoud(_ service: Service, since start: Timestamp) async -> [String] {
        // The story of a period is told by whole minutes.
        guard plan.recoverySeconds - plan.dropSeconds >= 100 else { return [] }
        guard let loud = plan.loud, let url = URL(string: "http://\(service.address)") else { return [] }
        let from = start.adding(seconds: plan.dropSeconds).milliseconds
        let answer = try? await ServiceClient(url: url).call(
            "GET", "v1/explain",
            query: [("tenant", loud.tenant.text), ("pool", DemoPlan.pool.text), ("from", String(from))])
        return (answer?.json["for_tenant"]?.array ?? []).compactMap(\.string)
    }

    private func sumUp(
        _ timeline: DemoTimeline, _ gateways: [DemoGateway], _ provider: DemoProvider, _ comparison: DemoComparison,
        _ database: Database
    ) async throws -> DemoSummary {
        let tallies = await tallies(of: gateways)
        let stored = try await database.telemetryReader.rowCounts()
        let published = try await database.snapshots.recent(since: Timestamp(milliseconds: 0), limit: 100_000)
        return DemoSummary(
            plan: plan, timeline: timeline, log: provider.log, tallies: tallies,
            reporters: gateways.map(\.manager.reporter),
            stored: Dictionary(uniqueKeysWithValues: stored.map { ($0.kind, Int($0.rows)) }), published: published,
            record: comparison.record.record, result: comparison.result)
    }

    private func tallies(of gateways: [DemoGateway]) async -> [DemoTally] {
        var tallies: [DemoTally] = []
        for gateway in gateways { tallies.append(await gateway.tally) }
        return tallies
    }
}
