import Foundation
import Glibc
import HeadroomAlerts
import HeadroomDecision
import HeadroomHTTP
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// Looks at the running service every few seconds, opens and closes alerts, and keeps them in the database.
///
/// It runs beside the loop and reads what the loop reported last: no tick and no poll waits for it. When alerts cannot be
/// stored they are kept in memory and stored at the next look.
actor AlertWatch {
    /// As often as a person could act on it.
    private static let lookSeconds = 5.0
    /// Service levels are read so often at most: a month of many tenants takes a tenth of a second.
    private static let levelSeconds = 60.0

    private let board: SnapshotBoard
    private let counters: TelemetryCounters
    private let conditions: ServiceConditions
    private let rules: RuleBook
    private let database: Database
    private let certificate: ServedCertificate?
    private let open: OpenAlerts
    private let sinks: AlertSinks
    private let log: @Sendable (LogLevel, String) -> Void

    private var finder = ConditionFinder()
    private var engine = AlertEngine()
    private var ownLevels = OwnLevelBook()
    /// As of the last time that they were read: they change with the roll-ups.
    private var levels = LevelRecords()
    private var levelsReadAt: Timestamp?
    private var openKeys: Set<AlertKey> = []
    /// Not stored yet; of each alert the newest.
    private var unsaved: [AlertKey: Alert] = [:]
    private var erasedThrough: Int64 = 0
    private var hasRestored = false
    private var isFailing = false

    init(
        board: SnapshotBoard, counters: TelemetryCounters, conditions: ServiceConditions, rules: RuleBook,
        database: Database, certificate: ServedCertificate?, open: OpenAlerts, sinks: AlertSinks,
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        self.board = board
        self.counters = counters
        self.conditions = conditions
        self.rules = rules
        self.database = database
        self.certificate = certificate
        self.open = open
        self.sinks = sinks
        self.log = log
    }

    /// Until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            // Throws when the service stops.
            guard (try? await Task.sleep(for: .seconds(await pauseSeconds))) != nil else { return }
            await look()
        }
    }

    private var pauseSeconds: Double {
        get async { min(Self.lookSeconds, 2.5 * (await rules.policy.loop.periodSeconds)) }
    }

    private func look() async {
        do {
            let now = board.time.now()
            if !hasRestored { try await restore(at: now) }
            let erased = try await database.checkpoints.erasures(after: erasedThrough)
            engine.forget(Set(erased.map(\.fingerprint)))
            erasedThrough = erased.last?.id ?? erasedThrough
            let rules = try await rules.current().holding(at: now)
            let policy = rules.policy.alerts
            try await followLevels(rules, at: now)
            try await sinks.follow(policy)
            let seen = observation(rules, failingSinks: await sinks.troubles, at: now)
            let found = finder.find(in: seen)
            let changed = engine.step(found, closingAfter: policy.closeSeconds, at: now) { [finder] alert in
                finder.outcome(of: alert, in: seen)
            }
            for alert in changed { unsaved[alert.key] = alert }
            if !unsaved.isEmpty {
                let saved = try await database.alerts.save(unsaved.keys.sorted().compactMap { unsaved[$0] })
                unsaved = [:]
                for alert in saved { note(alert) }
                open.set(openKeys.map(\.kind))
                await sinks.note(saved)
            }
            if await sinks.needsReminder { await sinks.remind(try await database.alerts.openAlerts()) }
            isFailing = false
        } catch {
            // One line for a full disk, and not one every five seconds.
            if !isFailing { log(.error, "alerts cannot be stored, and will be at the next try: \(error)") }
            isFailing = true
        }
    }

    /// Takes in how Headroom itself does; as often as the loop stores roll-ups, stores that and reads all levels.
    private func followLevels(_ rules: Rules, at now: Timestamp) async throws {
        ownLevels.note(board.newestReport, under: rules.policy, at: now)
        let pause = min(Self.levelSeconds, rules.policy.telemetry.checkpointSeconds)
        guard levelsReadAt.map({ now.seconds(since: $0) >= pause }) ?? true else { return }
        try await database.ownLevels.add(ownLevels.minutes)
        ownLevels.removeAll()
        levels = try await database.records.levels(at: now)
        levelsReadAt = now
        open.levels.set(levels, under: rules)
    }

    /// Goes on with what was open when the process before ended.
    private func restore(at now: Timestamp) async throws {
        let restored = try await database.alerts.openAlerts()
        engine = AlertEngine(restoring: restored, at: now)
        openKeys = Set(restored.map(\.key))
        open.set(openKeys.map(\.kind))
        hasRestored = true
    }

    private func note(_ alert: Alert) {
        if alert.closedAt != nil {
            openKeys.remove(alert.key)
            log(.info, "alert \(alert.id) is closed: \(alert.key.kind.rawValue)")
        } else if openKeys.insert(alert.key).inserted, alert.mute == nil {
            log(.warning, "alert \(alert.id), \(alert.key.kind.rawValue): \(alert.sentence)")
        }
    }

    // MARK: What is seen

    private func observation(
        _ rules: Rules, failingSinks: [AlertObservation.Trouble], at now: Timestamp
    ) -> AlertObservation {
        let report = board.newestReport
        var troubles = conditions.all.compactMap { condition in
            condition.reason.map {
                AlertObservation.Trouble(
                    name: condition.kind.rawValue, sentence: $0, isFatal: condition.kind.isFatal)
            }
        }
        if let failure = counters.storageFailure {
            troubles.append(.init(name: "storage", sentence: "Telemetry is refused: \(failure)", isFatal: true))
        }
        var seen = AlertObservation(
            at: now, rules: rules, report: report,
            gateways: board.drifts().map { .init(presence: $0.gateway, driftSeconds: $0.seconds) },
            delays: board.loop.delays(at: now), unknownNames: unknownNames(rules, report, at: now),
            troubles: troubles, failingSinks: failingSinks, disk: disk(),
            certificateEnds: certificate?.ends, preview: OverridePreview.effects)
        seen.levels = levels
        return seen
    }

    /// A tenant may be raised shortly before it is first seen.
    private static let unseenSeconds = 300.0

    private func unknownNames(
        _ rules: Rules, _ report: LoopReport?, at now: Timestamp
    ) -> [AlertObservation.UnknownName] {
        var unknown = counters.unknownPools(at: now).map { pool in
            AlertObservation.UnknownName(
                name: pool.pool.text, since: pool.first, sentence: "Lines of telemetry are refused: \(pool.detail)")
        }
        let old = rules.steering.overrides.filter {
            rules.contracts[$0.tenant] == nil && now.seconds(since: $0.authorship.at) > Self.unseenSeconds
        }
        guard !old.isEmpty, let report else { return unknown }
        let seen = Set(report.pools.flatMap { $0.tenants.map(\.tenant) })
        for override in old where !seen.contains(override.tenant) {
            let names = seen.map(\.text) + rules.contracts.keys.map(\.text)
            unknown.append(
                AlertObservation.UnknownName(
                    name: override.tenant.text, tenant: override.tenant, since: override.authorship.at,
                    sentence: "Override \(override.id) names \(override.tenant), which no contract and no telemetry "
                        + "knows\(NearestName.question(override.tenant.text, among: names))"))
        }
        return unknown
    }

    private func disk() -> AlertObservation.Disk? {
        var status = statvfs()
        guard unsafe statvfs(database.path, &status) == 0 else { return nil }
        let block = Double(status.f_frsize)
        return AlertObservation.Disk(
            freeBytes: Double(status.f_bavail) * block, totalBytes: Double(status.f_blocks) * block)
    }
}
