import HeadroomHTTP
import HeadroomModel
import Synchronization

/// ``ServicePlay`` behind an address, until it is over and the gateway has said goodbye.
final class ServicePlayServer: Sendable {
    private static let maxReportBytes = 8 << 20
    private static let maxDrawBytes = 1 << 20
    /// From the last scene on, until the gateway has been stopped.
    private static let goodbyeSeconds = 15.0
    /// In which somebody has to start the gateway.
    private static let startSeconds = 120.0
    private static let lookSeconds = 0.1

    private let play: Mutex<ServicePlay>
    private let time: TimeSource
    private let server: Mutex<LocalServer?> = Mutex(nil)
    private let isEnding = Atomic(false)

    init(pool: PoolID, leaseSeconds: Double, time: TimeSource) {
        self.time = time
        play = Mutex(ServicePlay(pool: pool, leaseSeconds: leaseSeconds, at: time.now().milliseconds))
    }

    /// Ends the play with what has been found so far.
    func end() { isEnding.store(true, ordering: .relaxed) }

    /// Prints a line for each rule.
    /// - Returns: how many are broken, and whether any gateway came.
    func run(_ listen: ListenAddress) async throws -> (broken: Int, hasCome: Bool) {
        var settings = ServerSettings(listen: listen)
        settings.stopSeconds = 1
        let local = LocalServer(settings: settings, calls: calls, time: time)
        server.withLock { $0 = local }
        let address = try local.start()
        let pool = play.withLock { $0.pool }
        Terminal.log(
            .info,
            "serves on http://\(address) as Headroom: start your gateway with that address, and send it calls of the tenants a and b "
                + "for the pool \(pool)")
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await local.run() }
            await watch()
            // A poll that is held is answered.
            end()
            await local.stop()
        }
        let findings = play.withLock { $0.findings }
        for (rule, verdict) in findings {
            switch verdict {
            case .kept: Terminal.print("kept    \(rule.rawValue)")
            case .broken(let why): Terminal.print("broken  \(rule.rawValue)\n        \(why)")
            case .unseen(let why): Terminal.print("unseen  \(rule.rawValue)\n        \(why)")
            }
        }
        let broken = findings.count { if case .broken = $0.verdict { true } else { false } }
        return (broken, play.withLock { $0.gateway != nil })
    }

    /// Until the gateway has been played to and has gone.
    private func watch() async {
        let began = time.now()
        var overAt: Timestamp?
        while !isEnding.load(ordering: .relaxed) {
            // Throws when the task is cancelled, which nobody does.
            try? await Task.sleep(for: .seconds(Self.lookSeconds))
            let now = time.now()
            let (isOver, hasGone, hasBegun) = play.withLock { play in
                if play.gateway != nil { play.look(at: now.milliseconds) }
                return (play.isOver, play.verdicts[.saysGoodbye] != nil, play.gateway != nil)
            }
            if !hasBegun, now.seconds(since: began) > Self.startSeconds { return }
            guard isOver else { continue }
            if overAt == nil {
                overAt = now
                Terminal.log(.info, "everything has been played: stop the gateway within \(Int(Self.goodbyeSeconds)) s")
            }
            if hasGone || now.seconds(since: overAt ?? now) > Self.goodbyeSeconds { return }
        }
    }

    private var calls: [LocalServer.Call] {
        typealias Call = LocalServer.Call
        return [
            Call(.get, "/v1/allocations", callers: .proxies) { [self] request throws(HTTPError) in
                let poll = ServicePlay.Poll(
                    gateway: try request.parameter("gateway"), boot: try request.parameter("boot"),
                    applied: try request.parameter("applied").flatMap { SnapshotVersion($0) },
                    since: try request.parameter("since").flatMap { SnapshotVersion($0) },
                    wait: try request.parameter("wait").flatMap { Double($0) }.flatMap {
                        (0...60).contains($0) ? $0 : nil
                    },
                    hasTag: request.header("if-none-match") != nil)
                let answer = play.withLock { $0.poll(poll, at: time.now().milliseconds) }
                guard answer.afterSeconds > 0 else { return .now(LocalServer.Reply(response(to: answer))) }
                return .later { [self] in
                    await hold(seconds: answer.afterSeconds)
                    return LocalServer.Reply(response(to: answer))
                }
            },
            Call(
                .post, "/v1/telemetry", bodyLimit: Self.maxReportBytes,
                contentTypes: ["application/x-ndjson", "application/json"], callers: .proxies
            ) { [self] request in
                let isLines = request.header("content-type")?.lowercased().hasPrefix("application/json") != true
                let (batch, sentAt) = (request.header("headroom-batch"), request.header("headroom-sent-at"))
                let body = request.takeBody()
                let answer = play.withLock {
                    $0.report(body, isLines: isLines, batch: batch, sentAt: sentAt, at: time.now().milliseconds)
                }
                return .now(LocalServer.Reply(Self.response(answer)))
            },
            Call(.post, "/v1/draw", bodyLimit: Self.maxDrawBytes, callers: .proxies) { [self] request in
                let body = request.takeBody()
                return .now(LocalServer.Reply(Self.response(play.withLock { $0.draw(body) })))
            },
            Call(.delete, "/v1/gateways/{name}", callers: .proxies) { [self] request in
                let name = request.segment(2)
                return .now(LocalServer.Reply(Self.response((play.withLock { $0.goodbye(name) }, []))))
            },
        ]
    }

    /// Until then, or the end of the play.
    private func hold(seconds: Double) async {
        let until = time.now().adding(seconds: seconds)
        while time.now() < until, !isEnding.load(ordering: .relaxed) {
            try? await Task.sleep(for: .seconds(min(Self.lookSeconds, until.seconds(since: time.now()))))
        }
    }

    private func response(to answer: ServicePlay.Answer) -> HTTPResponse {
        let version = answer.version
        var headers = [
            (name: "Headroom-Epoch", value: "\(version.epoch)"),
            (name: "Headroom-Generation", value: "\(version.generation)"),
            (name: "Headroom-Lease-Seconds", value: "\(play.withLock { $0.leaseSeconds })"),
            (name: "ETag", value: "\"\(version).play\""),
        ]
        if answer.status == 503 { headers = [(name: "Retry-After", value: "1")] }
        return HTTPResponse(status: answer.status, type: "application/json", headers: headers, body: answer.body)
    }

    private static func response(_ answer: (status: Int, body: [UInt8])) -> HTTPResponse {
        HTTPResponse(
            status: answer.status, type: "application/json",
            headers: answer.status == 503 ? [(name: "Retry-After", value: "1")] : [], body: answer.body)
    }
}
