import Foundation
import HeadroomHTTP
import HeadroomLoop
import HeadroomModel
import HeadroomPolicy
import HeadroomProviders
import HeadroomStorage
import HeadroomWire
import Synchronization

/// What a service runs on.
struct ServiceConfiguration: Sendable {
    var database = Defaults.database
    var policies = RuleBook.Origin.directory(Defaults.policies)
    var listen = ListenAddress.standard
    /// Somebody else ends TLS in front of this service.
    var tlsEndsAtProxy = false
    /// `/metrics` asks for no token, although there are some.
    var openMetrics = false
    /// What a person at the terminal should know.
    var log: @Sendable (LogLevel, String) -> Void = { Terminal.log($0, $1) }
}

/// The running control plane: database, loop and HTTP server, put together and taken apart in order.
final class Service: Sendable {
    /// A turn of the loop's task, which takes one at a time.
    private enum Turn: Sendable {
        case tick
        /// A gateway has joined.
        case join
    }

    let address: ListenAddress
    let database: Database
    let board: SnapshotBoard
    let time: TimeSource

    private let log: @Sendable (LogLevel, String) -> Void
    private let http: HTTPService
    private let intake: TelemetryIntake
    private let access: AccessControl
    private let rules: RuleBook
    private let loop: ControlLoop
    private let stopped: AsyncStream<Void>
    private let stopping: AsyncStream<Void>.Continuation

    /// Opens everything and listens; nothing moves before ``run()``. Errors say what would be right.
    init(_ configuration: ServiceConfiguration) async throws {
        log = configuration.log
        time = TimeSource.anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        // The policy first: a directory that cannot be read should not leave a new database behind.
        let origin = try RuleBook.open(configuration.policies)
        let telemetry = origin.policy.telemetry
        database = try Database(
            path: configuration.database, use: .service, coding: .wire,
            settings: TelemetrySettings(dedupeSeconds: telemetry.dedupeSeconds, retentionHours: telemetry.rawHours),
            now: time.now())
        for migration in database.applied { configuration.log(.info, "applied migration \(migration)") }

        access = AccessControl(
            tokens: try await database.tokens.validTokens(at: time.now()),
            wasClosed: try await !database.tokens.all().isEmpty, time: time, digest: { SHA256.digest(of: $0) })
        try Self.check(configuration, isOpen: access.isOpen)

        board = SnapshotBoard(time: time)
        rules = try await RuleBook(
            origin, contracts: database.contracts, steering: database.steering, log: configuration.log)
        loop = ControlLoop(
            telemetry: database.telemetryReader, rules: rules, ledger: database.snapshots, board: board,
            records: database.decisions, checkpoints: database.checkpoints, at: time.now())
        intake = TelemetryIntake(
            decoder: TelemetryDecoder(
                limits: TelemetryDecoder.Limits(origin.policy), classify: ProviderClassifier.classify),
            sink: database.telemetry)
        http = HTTPService(
            settings: ServerSettings(listen: configuration.listen), board: board, access: access,
            telemetry: intake,
            people: PeoplePorts(
                steering: database.steering, contracts: database.contracts, records: database.records, rules: rules),
            openMetrics: configuration.openMetrics)
        (stopped, stopping) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        address = try http.start()
    }

    /// Without tokens only this machine is served; elsewhere nobody is let in unasked or in clear text.
    private static func check(_ configuration: ServiceConfiguration, isOpen: Bool) throws(CommandError) {
        if configuration.listen.isLoopback {
            if isOpen {
                configuration.log(
                    .warning,
                    "There are no tokens: whoever is on this machine may do everything. "
                        + "\"headroom token create\" makes one.")
            }
            return
        }
        guard !isOpen else {
            throw CommandError(
                "will not listen on \(configuration.listen) without tokens; make one with \"headroom token create\", "
                    + "or listen on 127.0.0.1")
        }
        guard configuration.tlsEndsAtProxy else {
            throw CommandError(
                "will not listen on \(configuration.listen) in clear text; put a proxy that speaks TLS in front and "
                    + "say so with --tls-ends-at-proxy, or listen on 127.0.0.1")
        }
    }

    /// Serves until ``stop()``, then answers everyone, commits what is in flight and gives back unused generations.
    func run() async throws {
        let (turns, turn) = AsyncStream.makeStream(of: Turn.self, bufferingPolicy: .bufferingOldest(4))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.http.run() }
            group.addTask { await self.takeTurns(turns) }
            group.addTask { await self.keepTime(turn) }
            group.addTask { for await _ in self.board.joined { turn.yield(.join) } }
            group.addTask { await self.keepHouse() }
            for await _ in stopped { break }
            await http.stop()
            turn.finish()
            group.cancelAll()
        }
        try await loop.stop()
    }

    /// May be called from anywhere, also before ``run()``, and more than once.
    func stop() { stopping.yield() }

    // MARK: The loop's task

    private let isTicking = Atomic(false)

    private func keepTime(_ turn: AsyncStream<Turn>.Continuation) async {
        let clock = ContinuousClock()
        var next = clock.now
        while !Task.isCancelled {
            if isTicking.exchange(true, ordering: .acquiringAndReleasing) {
                await loop.noteSkippedTick()
            } else {
                turn.yield(.tick)
            }
            let period = await rules.policy.loop.periodSeconds
            // A machine that slept does not make up for the time.
            next = max(next.advanced(by: .seconds(period)), clock.now)
            // Throws when the service stops; the loop's condition says so.
            try? await clock.sleep(until: next)
        }
    }

    private func takeTurns(_ turns: AsyncStream<Turn>) async {
        for await turn in turns {
            switch turn {
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

    /// Deletes a second at most: some 100,000 rows, more than can come in.
    private static let maxBites = 20

    /// Once a second looks for tokens that another process changed, notes which ones are used, and deletes a bounded part
    /// of what is too old; once a minute gives back freed memory.
    private func keepHouse() async {
        var tokens: Int64?
        var rounds = 0
        while !Task.isCancelled {
            do {
                let counter = try await database.tokens.foreignChangeCounter()
                if counter != tokens {
                    access.replace(try await database.tokens.validTokens(at: time.now()))
                    tokens = counter
                }
                let now = time.now()
                try await database.tokens.noteUse(of: access.takeUsedNames(), at: now)
                let policy = await rules.policy.telemetry
                for _ in 0..<Self.maxBites {
                    if try await database.prune(policy, at: now) == 0 { break }
                }
            } catch {
                log(.error, "housekeeping failed, and will be tried again: \(error)")
            }
            rounds += 1
            if rounds.isMultiple(of: FreedMemory.seconds) { FreedMemory.giveBack() }
            // Throws when the service stops; the loop's condition says so.
            try? await Task.sleep(for: .seconds(1))
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
