import Foundation
import HeadroomDecision
import HeadroomHTTP
import HeadroomLoop
import HeadroomModel
import HeadroomPolicy
import HeadroomProviders
import HeadroomStorage
import HeadroomWire
import Synchronization

/// A service's settings.
struct ServiceConfiguration: Sendable {
    var database = Defaults.database
    var policies = RuleBook.Origin.directory(Defaults.policies)
    var listen = ListenAddress.standard
    /// Somebody else ends TLS in front of this service.
    var tlsEndsAtProxy = false
    /// For TLS; `nil`: clear text.
    var certificate: CertificateFiles?
    var scheme: String { certificate == nil ? "http" : "https" }
    /// Contracts are kept as these files say; `nil`: people import them.
    var contracts: ContractSync.Source?
    /// `nil`: the database is copied by nobody.
    var backups: BackupSchedule?
    /// Signs the audit log; `nil`: it is not signed.
    var auditKey: AuditKey?
    /// Who may name the user of a request in a header; `nil`: nobody.
    var trustedProxy: TrustedProxy?
    /// The clock is right, however far ahead of what is stored it is.
    var acceptsClock = false
    /// The most that past generations and encoded answers may take.
    var snapshotBytes = SnapshotBoard.defaultMemoryBytes
    /// `/metrics` asks for no token, although there are some.
    var openMetrics = false
    /// The answer of `/v1/demo`; `nil`: this is no demo.
    var comparison: (@Sendable () -> [UInt8])?
    /// Messages for the person at the terminal.
    var log: @Sendable (LogLevel, String) -> Void = { Terminal.log($0, $1) }
}

/// The running control plane: database, loop and HTTP server, put together and taken apart in order.
final class Service: Sendable {
    /// Work for the loop's task, which does one at a time.
    private enum LoopWork: Sendable {
        case tick
        /// A gateway has joined.
        case join
    }

    let address: ListenAddress
    let database: Database
    let board: SnapshotBoard
    let time: TimeSource

    private let timeline: Timeline
    private let conditions = ServiceConditions()
    private let log: @Sendable (LogLevel, String) -> Void
    /// The clock was in doubt at the start: nothing is deleted for being old.
    private let keepsEverything: Bool
    private let reloads: AsyncStream<Void>
    private let reload: AsyncStream<Void>.Continuation
    private let http: HTTPService
    private let certificate: ServedCertificate?
    private let intake: TelemetryIntake
    private let access: AccessControl
    private let rules: RuleBook
    private let loop: ControlLoop
    private let alerts: AlertWatch
    private let sinks: AlertSinks
    private let contractSync: ContractSync?
    private let backups: BackupSchedule?
    private let auditKey: AuditKey?
    private let stopped: AsyncStream<Void>
    private let stopping: AsyncStream<Void>.Continuation

    /// Opens everything and listens; nothing moves before ``run()``. Errors say what would be right.
    init(_ configuration: ServiceConfiguration) async throws {
        log = configuration.log
        timeline = Timeline(wall: { Int64(Date().timeIntervalSince1970 * 1000) })
        time = timeline.source
        // The policy, the certificate and the port first: what cannot be had should not leave a new database behind.
        let origin = try RuleBook.open(configuration.policies)
        certificate = try configuration.certificate.map { files throws(HTTPError) in try ServedCertificate(files) }
        for warning in certificate?.warnings(at: time.now()) ?? [] { configuration.log(.warning, warning) }
        let socket = try ListeningSocket(configuration.listen)
        let telemetry = origin.policy.telemetry
        database = try Database(
            path: configuration.database, use: .service, coding: .wire,
            settings: TelemetrySettings(dedupeSeconds: telemetry.dedupeSeconds, retentionHours: telemetry.rawHours),
            auditKey: configuration.auditKey, time: time, onLock: { configuration.log(.warning, $0) })
        try await Self.checkAuditKey(configuration, database.audit)
        for migration in database.applied { configuration.log(.info, "applied migration \(migration)") }

        keepsEverything = try await Self.doubtsClock(
            database, configuration, keepingHours: min(telemetry.rawHours, telemetry.ledgerHours), at: time.now(),
            conditions)

        access = AccessControl(
            tokens: try await database.tokens.validTokens(at: time.now()),
            wasClosed: try await !database.tokens.all().isEmpty,
            hasSecureCookies: configuration.tlsEndsAtProxy || certificate != nil, time: time,
            digest: { SHA256.digest(of: $0) })
        try Self.check(configuration, isOpen: access.isOpen)

        board = SnapshotBoard(time: time, memoryBytes: configuration.snapshotBytes)
        rules = try await RuleBook(
            origin, contracts: database.contracts, steering: database.steering, log: configuration.log)
        loop = ControlLoop(
            telemetry: database.telemetryReader, rules: rules, ledger: database.snapshots, board: board,
            records: database.decisions, checkpoints: database.checkpoints, at: time.now())
        intake = TelemetryIntake(
            decoder: TelemetryDecoder(
                limits: TelemetryDecoder.Limits(origin.policy), classify: ProviderClassifier.classify),
            sink: database.telemetry, digest: { SHA256.digest(of: $0) })
        let draws = DrawIntake { [loop] request, now throws(DrawRefusal) in try loop.draw(request, at: now) }
        let openAlerts = OpenAlerts()
        var settings = ServerSettings(listen: configuration.listen)
        settings.socket = socket
        settings.certificate = certificate
        settings.trustedProxy = configuration.trustedProxy
        http = HTTPService(
            settings: settings, board: board, access: access,
            telemetry: intake, draws: draws,
            people: PeoplePorts(
                steering: database.steering, contracts: database.contracts, records: database.records,
                alerts: database.alerts, rules: rules, preview: OverridePreview.effects,
                auditVerification: { [audit = database.audit] in await audit.lastVerification },
                plan: { [planner = Planner(database: database, time: time)] candidate, present, hours in
                    try await planner.replay(candidate, against: present, hours: hours)
                },
                share: { [tokens = database.tokens, access, time] tenant, pools, author, until in
                    let secret = AccessSecret.make()
                    // Unique for ever, and short enough for a name.
                    let name = "share-\(tenant.text.prefix(80))-\(UInt32.random(in: .min ... .max))"
                    let token = try await tokens.createLink(
                        name: name, secret: secret, tenant: tenant, pools: pools, until: until, by: author,
                        at: time.now())
                    access.replace(try await tokens.validTokens(at: time.now()))
                    return (name: name, secret: secret, until: token.expires ?? until)
                },
                policyFiles: { [rules] in try await rules.files() }),
            conditions: conditions, openAlerts: openAlerts, openMetrics: configuration.openMetrics,
            memory: { [database] in (database.memory, ResidentMemory.bytes) }, comparison: configuration.comparison)
        sinks = AlertSinks(
            sender: WebhookSender(secretsIn: configuration.policies.directory), store: database.alerts, time: time,
            metrics: openAlerts.sinks)
        alerts = AlertWatch(
            board: board, counters: intake.counters, conditions: conditions, rules: rules, database: database,
            certificate: certificate, open: openAlerts, sinks: sinks, log: configuration.log)
        contractSync = configuration.contracts.map { [database, rules, conditions, time] source in
            ContractSync(
                source, database: database, rules: rules, conditions: conditions, time: time, log: configuration.log)
        }
        (backups, auditKey) = (configuration.backups, configuration.auditKey)
        (reloads, reload) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (stopped, stopping) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        try database.beginServing()
        address = try http.start()
    }

    /// A log that is signed is written with its key only, and one that is not has to be looked at before it is signed.
    private static func checkAuditKey(_ configuration: ServiceConfiguration, _ audit: AuditReader) async throws {
        let isSigned = try await audit.isSigned
        if configuration.auditKey == nil, isSigned {
            throw CommandError(
                "the audit log is signed: name the file with its key, by --audit-key or HEADROOM_AUDIT_KEY")
        }
        if configuration.auditKey != nil, !isSigned, try await audit.head() != nil {
            throw CommandError(
                "the audit log has rows and no signature: \"headroom audit sign\" verifies and signs it, once")
        }
    }

    /// Without tokens only this machine is served; elsewhere nobody is let in unasked or in clear text.
    private static func check(_ configuration: ServiceConfiguration, isOpen: Bool) throws(CommandError) {
        guard configuration.trustedProxy == nil || !isOpen else {
            throw CommandError(
                "a trusted proxy names users, and each acts as the token of that name: there are none; make one with "
                    + "\"headroom token create\"")
        }
        if configuration.listen.isLoopback {
            if isOpen {
                configuration.log(
                    .warning,
                    "There are no tokens: everybody on this machine may do everything. "
                        + "\"headroom token create\" makes one.")
            }
            return
        }
        guard !isOpen else {
            throw CommandError(
                "will not listen on \(configuration.listen) without tokens; make one with \"headroom token create\", "
                    + "or listen on 127.0.0.1")
        }
        guard configuration.tlsEndsAtProxy || configuration.certificate != nil else {
            throw CommandError(
                "will not listen on \(configuration.listen) in clear text; give --tls-certificate and --tls-key, or put a "
                    + "proxy that speaks TLS in front and say so with --tls-ends-at-proxy, or listen on 127.0.0.1")
        }
    }

    /// Compares the clock with what is stored, before anything is stored by it. True when it is so far ahead that all of
    /// some kind of row would be deleted at once.
    private static func doubtsClock(
        _ database: Database, _ configuration: ServiceConfiguration, keepingHours hours: Double, at now: Timestamp,
        _ conditions: ServiceConditions
    ) async throws -> Bool {
        if !configuration.acceptsClock, let seconds = try await database.clockMark.seconds(until: now),
            seconds > hours * 3600
        {
            let warning =
                "the clock is \(Int(seconds / 3600)) hours ahead of what is stored, and rows are kept for "
                + "\(Int(hours)) hours: nothing is deleted; set the clock, or, if it is right, start with --accept-clock"
            conditions.set(.retention, warning)
            configuration.log(.warning, warning)
            return true
        }
        try await database.clockMark.trust(now)
        return false
    }

    /// Serves until ``stop()``, then answers everyone, commits what is in flight and gives back unused generations.
    func run() async throws {
        let (works, work) = AsyncStream.makeStream(of: LoopWork.self, bufferingPolicy: .bufferingOldest(4))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.http.run() }
            group.addTask { await self.runLoop(works) }
            group.addTask { await self.keepTime(work) }
            group.addTask { for await _ in self.board.joined { work.yield(.join) } }
            group.addTask { await self.keepHouse() }
            group.addTask { await self.verifyAudit() }
            group.addTask { await self.alerts.run() }
            group.addTask { await self.sinks.run() }
            group.addTask { await self.contractSync?.run() }
            group.addTask { [log] in
                await self.backups?.run(
                    of: self.database.path, auditKey: self.auditKey, conditions: self.conditions, time: self.time,
                    log: log)
            }
            group.addTask { for await _ in self.reloads { await self.reloadFiles() } }
            for await _ in stopped { break }
            await http.stop()
            work.finish()
            reload.finish()
            group.cancelAll()
        }
        try await loop.stop(at: time.now())
        try database.finish()
    }

    /// Takes the policy directory as it is, files that were removed included, and the certificate. May be called from
    /// anywhere.
    func reloadFromDisk() { reload.yield() }

    private func reloadFiles() async {
        await rules.reload()
        if let certificate { note(certificate.reload(at: time.now())) }
    }

    /// May be called from anywhere, also before ``run()``, and more than once.
    func stop() { stopping.yield() }

    // MARK: The loop's task

    private let isTicking = Atomic(false)

    private func keepTime(_ work: AsyncStream<LoopWork>.Continuation) async {
        let clock = ContinuousClock()
        var next = clock.now
        while !Task.isCancelled {
            if isTicking.exchange(true, ordering: .acquiringAndReleasing) {
                await loop.noteSkippedTick()
            } else {
                work.yield(.tick)
            }
            let period = await rules.policy.loop.periodSeconds
            // A machine that slept does not make up for the time.
            next = max(next.advanced(by: .seconds(period)), clock.now)
            // Throws when the service stops; the loop's condition says so.
            try? await clock.sleep(until: next)
        }
    }

    private func runLoop(_ works: AsyncStream<LoopWork>) async {
        for await work in works {
            switch work {
            case .tick:
                let began = ContinuousClock.now
                await loop.tick(at: time.now())
                await loop.noteDuration(seconds: began.duration(to: .now) / .seconds(1))
                intake.follow(TelemetryDecoder.Limits(await rules.policy))
                isTicking.store(false, ordering: .releasing)
            case .join:
                await loop.admitGateways(at: time.now())
            }
        }
    }

    // MARK: Housekeeping

    /// Some 100,000 rows a second, more than can come in.
    private static let maxPruneBatchesPerSecond = 20

    /// Once a second looks at tokens that another process changed, at the clock and at the database's files, notes which
    /// tokens are used, and deletes a bounded part of what is too old; once a minute gives back freed memory.
    private func keepHouse() async {
        var tokens: Int64?
        var rounds = 0
        while !Task.isCancelled {
            watchClock()
            if let certificate { note(certificate.follow(at: time.now())) }
            conditions.set(.databaseFiles, database.fileFault)
            do {
                let counter = try await database.tokens.foreignChangeCounter()
                if counter != tokens {
                    access.replace(try await database.tokens.validTokens(at: time.now()))
                    tokens = counter
                }
                let now = time.now()
                try await database.tokens.noteUse(of: access.takeUsedNames(), at: now)
                if !keepsEverything {
                    let policy = await rules.policy.telemetry
                    for _ in 0..<Self.maxPruneBatchesPerSecond {
                        if try await database.prune(policy, at: now) == 0 { break }
                    }
                    if rounds.isMultiple(of: 60) { try await database.clockMark.trust(now) }
                }
            } catch {
                log(.error, "housekeeping failed, and will be tried again: \(error)")
            }
            if rounds.isMultiple(of: Self.roundsPerAuditHead) { await noteAuditHead() }
            rounds += 1
            if rounds.isMultiple(of: FreedMemory.seconds) { FreedMemory.giveBack() }
            // Throws when the service stops; the loop's condition says so.
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// A clock that somebody sets while the service runs is followed without a step; until it is reached, `/readyz` says so.
    private func watchClock() {
        let ahead = timeline.follow()
        let warning =
            abs(ahead) < Timeline.stepSeconds
            ? nil
            : "the wall clock was set: it is \(Int(ahead.rounded())) seconds ahead of Headroom's time, which follows it by "
                + "3 seconds a minute; telemetry is measured by the wall clock meanwhile"
        if conditions.set(.clock, warning), let warning { log(.warning, warning) }
    }

    private func note(_ change: ServedCertificate.Change) {
        switch change {
        case .notRead: break
        case .same: conditions.set(.certificate, nil)
        case .replaced:
            conditions.set(.certificate, nil)
            log(.info, "a new certificate is served to new connections")
        case .refused(let reason):
            let sentence = "the new certificate is not served, and the one before goes on: \(reason)"
            conditions.set(.certificate, sentence)
            log(.error, sentence)
        }
    }

    private static let roundsPerAuditHead = 3600

    /// Once an hour, to places out of reach for a person who can write the database: the log, the metrics that are scraped, webhooks.
    private func noteAuditHead() async {
        do {
            guard let head = try await database.audit.head() else { return }
            conditions.auditHead = (head.sequence, head.hash)
            log(.info, "audit head \(head)")
            await sinks.noteAuditHead("\(head)")
        } catch {
            log(.error, "the head of the audit log cannot be read: \(error)")
        }
    }

    /// Once, beside the work of the service: a million rows take some seconds, and nobody waits for them.
    private func verifyAudit() async {
        do {
            let found = try await database.audit.verify(at: time.now())
            guard let fault = found.fault else { return }
            conditions.set(.auditChain, "the audit log is not as it was written: \(fault.detail)")
            log(.error, "the audit log is not as it was written: \(fault.detail)")
        } catch {
            conditions.set(.auditChain, "the audit log could not be verified: \(error)")
        }
    }
}

extension SnapshotStore.Coding {
    /// As gateways read it.
    static let wire = SnapshotStore.Coding(
        encode: { SnapshotEncoder.encode($0) },
        decode: { bytes in
            guard case .whole(let snapshot) = try SnapshotDecoder.decode(bytes) else {
                throw StorageError(code: .corrupt, message: "the ledger holds a delta where a snapshot belongs")
            }
            return snapshot
        })
}

extension TelemetryDecoder.Limits {
    fileprivate init(_ policy: Policy) {
        self.init()
        lateSeconds = policy.telemetry.lateSeconds
        dedupeSeconds = policy.telemetry.dedupeSeconds
        retentionSeconds = policy.telemetry.rawHours * 3600
        rules = TelemetryRules(policy)
    }
}

extension TokenStore {
    /// Those that are in force.
    fileprivate func validTokens(at now: Timestamp) throws(StorageError) -> [AccessToken] {
        try all().filter { $0.isValid(at: now) }
    }
}
