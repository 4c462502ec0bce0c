import HeadroomClient
import HeadroomEnforcement
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Synchronization

/// The budget manager for programs in any language: ``BudgetManager`` behind HTTP, beside a gateway.
///
/// A call takes a slot (`POST /v1/slots`), is sent, and says how it ended (`…/done`). A proxy that can only ask asks
/// `/check`. A refused caller learns when to come back, and has a place in the queue until then.
package final class Gate: Sendable {
    package let manager: BudgetManager
    private let server = Mutex<LocalServer?>(nil)
    private let time: TimeSource
    private let defaults: GateDefaults
    private let slots = SlotTable()
    /// Begins the names of slots, so that those of a gate before this one are not mistaken for its own.
    private let boot: String

    /// The time-outs of the SDKs of OpenAI and Anthropic.
    private static let slotSeconds = 600.0
    /// A proxy that only asks never says how its call ended: Headroom hears of the call after this time.
    private static let checkSeconds = 10.0
    /// A place in the queue is kept for a refused call at least so long, or the caller's patience.
    private static let placeSeconds = 60.0
    private static let maxBodyBytes = 1 << 20
    /// What a provider answered, for the usage that it tells.
    private static let maxAnswerBytes = 4 << 20
    /// A question, its answer and a vector in decimals.
    private static let maxCacheBytes = 4 << 20

    package init(_ manager: BudgetManager, defaults: GateDefaults, boot: String, time: TimeSource) {
        self.manager = manager
        self.defaults = defaults
        self.boot = boot
        self.time = time
    }

    /// Listens, and says where: port 0 has become a real one.
    package func start(_ listen: ListenAddress) throws(HTTPError) -> ListenAddress {
        var settings = ServerSettings(listen: listen)
        // Each caller that waits for its turn.
        settings.callsInFlight = 20_000
        settings.stopSeconds = 2
        let server = LocalServer(settings: settings, calls: calls, time: time)
        let address = try server.start()
        self.server.withLock { $0 = server }
        return address
    }

    /// Serves until ``stop()``.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.manager.run() }
            await serve()
        }
    }

    /// Answers callers, by what the manager knows, until ``stopServing()``.
    package func serve() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.expireSlots() }
            await server.withLock({ $0 })?.run()
            group.cancelAll()
        }
    }

    /// Answers everyone, sends what telemetry is left, and says goodbye.
    package func stop() async {
        await stopServing()
        await manager.stop()
    }

    package func stopServing() async { await server.withLock({ $0 })?.stop() }

    private func expireSlots() async {
        while !Task.isCancelled {
            // Throws when the gate stops; the loop's condition says so.
            try? await Task.sleep(for: .seconds(1))
            slots.expire(at: time.now())
        }
    }

    // MARK: Calls

    package var calls: [LocalServer.Call] {
        typealias Call = LocalServer.Call
        let check = (0...Self.maxPathSegments).flatMap { count in
            // Envoy asks with the path and the method of the request in hand.
            let pattern = "/check" + String(repeating: "/{segment}", count: count)
            return [HTTPMethod.get, .post].map { method in
                Call(method, pattern, bodyLimit: Self.maxBodyBytes, callers: .clientsOfProxies) {
                    [self] request throws(HTTPError) in try self.check(request)
                }
            }
        }
        return check + [
            Call(.post, "/v1/slots", bodyLimit: Self.maxBodyBytes, callers: .proxies) {
                [self] request throws(HTTPError) in
                try take(request)
            },
            // Nobody can guess the name of a slot.
            Call(.post, "/v1/slots/{id}/done", bodyLimit: Self.maxAnswerBytes, callers: .clientsOfProxies) {
                [self] request throws(HTTPError) in
                .now(LocalServer.Reply(try end(request)))
            },
            Call(.delete, "/v1/slots/{id}", callers: .clientsOfProxies) { [self] request throws(HTTPError) in
                let slot = try slot(named: request.segment(2))
                slot.budget.withdraw(slot.id)
                return .now(LocalServer.Reply(SlotAnswer.nothing()))
            },
            Call(.post, "/v1/missed", bodyLimit: Self.maxBodyBytes, callers: .proxies) {
                [self] request throws(HTTPError) in
                .now(LocalServer.Reply(try MissedCalls(request.takeBody(), defaults).note(in: manager)))
            },
            Call(.post, "/v1/cache/lookup", bodyLimit: Self.maxCacheBytes) { [self] request throws(HTTPError) in
                .now(LocalServer.Reply(try CacheRequest.lookup(request.takeBody(), defaults, manager)))
            },
            Call(.post, "/v1/cache", bodyLimit: Self.maxCacheBytes) { [self] request throws(HTTPError) in
                .now(LocalServer.Reply(try CacheRequest.keep(request.takeBody(), defaults, manager)))
            },
            Call(.get, "/v1/state") { [self] _ in .now(LocalServer.Reply(GateStatus.state(of: self))) },
            Call(.get, "/metrics") { [self] _ in .now(LocalServer.Reply(GateStatus.metrics(of: self))) },
            Call(.get, "/healthz") { _ in
                .now(LocalServer.Reply(HTTPResponse(type: "text/plain", body: Array("ok\n".utf8))))
            },
        ]
    }

    /// Vertex AI has nine.
    private static let maxPathSegments = 16

    var openSlots: Int { slots.count }

    /// `POST /v1/slots`.
    private func take(_ request: LocalServer.Request) throws(HTTPError) -> LocalServer.Answer {
        let wanted = try SlotRequest(request.takeBody(), defaults, at: time.now(), wall: time.wall())
        return begin(
            wanted, seconds: Self.slotSeconds, Style(status: 429, path: nil, isMinimal: Self.asksForHeaders(request)))
    }

    /// `/check`: 200, or 429; `?deny=403` for nginx, which knows no other refusals.
    private func check(_ request: LocalServer.Request) throws(HTTPError) -> LocalServer.Answer {
        // Behind another path the query is the client's, and says nothing to us.
        let isExact = request.target.path == "/check"
        let status = isExact ? try request.parameter("deny") : nil
        guard status == nil || status == "403" || status == "429" else {
            throw HTTPError(
                .badRequest, "deny=\(status ?? "") is no status that a proxy takes for a refusal: 403 or 429")
        }
        do throws(HTTPError) {
            let wanted = try SlotRequest(check: request, defaults)
            let path = request.header("x-original-uri") ?? request.header("x-forwarded-uri") ?? request.target.path
            let expires = isExact ? try request.parameter("expires_ms") : nil
            guard let seconds = expires.map({ Double($0).map { $0 / 1000 } }) ?? Self.checkSeconds,
                (0.001...3600).contains(seconds)
            else { throw HTTPError(.badRequest, "expires_ms=\(expires ?? ""): must be 1 to 3600000 milliseconds") }
            return begin(
                wanted, seconds: seconds,
                Style(status: status == "403" ? 403 : 429, path: path, isMinimal: Self.asksForHeaders(request)))
        } catch {
            // nginx lets pass what it takes for a failure of the gate, and a 400 is one to it.
            guard status == "403", error.code == .badRequest else { throw error }
            throw HTTPError(.forbidden, error.message)
        }
    }

    /// How a refusal is put.
    private struct Style: Sendable {
        let status: Int
        /// That the caller asked for; `nil`: it speaks to the gate itself.
        let path: String?
        /// Whether headers say all.
        let isMinimal: Bool
    }

    /// `Prefer: return=minimal` (RFC 7240) wants an answer without a body. nginx closes its connection to the gate after
    /// each answer that has one, since it reads none; a new connection costs it more than the rest of the question.
    private static func asksForHeaders(_ request: LocalServer.Request) -> Bool {
        guard let preferences = request.header("prefer")?.lowercased() else { return false }
        return preferences.split { $0 == "," || $0 == ";" || $0 == " " }.contains("return=minimal")
    }

    private func begin(_ wanted: SlotRequest, seconds: Double, _ style: Style) -> LocalServer.Answer {
        var budget: PoolBudget
        do { budget = try manager.pool(wanted.call.pool) } catch {
            return .now(LocalServer.Reply(Self.answer(error, style, perMinute: nil)))
        }
        var begun: PoolBudget.Begun?
        // Callers without a name for their work are one as good as another: who comes takes the place of one who was sent
        // away, so that nobody's retries fill the queue.
        if wanted.attempt > 1 || wanted.call.request == nil, let place = slots.takePlace(under: wanted.placeKey) {
            budget = place.budget
            begun = place.budget.claim(place.id, seconds: wanted.call.maxWait.inSeconds)
        }
        var turns = 0
        while true {
            switch begun ?? budget.begin(wanted.call, held: wanted.heldSeconds, isAwaited: true) {
            case .waits(let id):
                let place = WaitingPlace(budget, id)
                return .later(
                    left: { place.giveUp() }, { await self.wait(at: place, wanted, seconds, style) })
            case .answered(.diverted(let way), _) where turns < PoolBudget.maxDiversions:
                turns += 1
                begun = nil
                budget = way.budget
            case .answered(let answer, let id):
                return .now(reply(to: answer, id, of: budget, wanted, seconds, style))
            }
        }
    }

    private func wait(
        at place: WaitingPlace, _ wanted: SlotRequest, _ seconds: Double, _ style: Style
    ) async -> LocalServer.Reply {
        var (budget, id) = place.now
        var answer = await budget.wait(for: id)
        for _ in 0..<PoolBudget.maxDiversions {
            guard case .diverted(let way) = answer else { break }
            budget = way.budget
            switch budget.begin(wanted.call, held: wanted.heldSeconds, isAwaited: true) {
            case .answered(let found, let next): (id, answer) = (next, found)
            case .waits(let next):
                place.move(to: budget, next)
                (id, answer) = (next, await budget.wait(for: next))
            }
        }
        return reply(to: answer, id, of: budget, wanted, seconds, style)
    }

    /// Where a caller waits just now, so that its place can be given up when it leaves.
    private final class WaitingPlace: Sendable {
        private struct State {
            var budget: PoolBudget
            var id: Int
            var hasLeft = false
        }

        private let state: Mutex<State>

        init(_ budget: PoolBudget, _ id: Int) {
            state = Mutex(State(budget: budget, id: id))
        }

        var now: (PoolBudget, Int) { state.withLock { ($0.budget, $0.id) } }

        func move(to budget: PoolBudget, _ id: Int) {
            let hasLeft = state.withLock { state in
                (state.budget, state.id) = (budget, id)
                return state.hasLeft
            }
            if hasLeft { budget.cancel(id) }
        }

        func giveUp() {
            let (budget, id) = state.withLock { state in
                state.hasLeft = true
                return (state.budget, state.id)
            }
            budget.cancel(id)
        }
    }

    private func reply(
        to answer: PoolBudget.Answer, _ id: Int, of budget: PoolBudget, _ wanted: SlotRequest, _ seconds: Double,
        _ style: Style
    ) -> LocalServer.Reply {
        let now = time.now()
        let refusal: Refusal
        switch answer {
        case .turn(let turn):
            let slot = SlotTable.Slot(
                budget: budget, id: turn.id, placeKey: wanted.placeKey, heldSeconds: wanted.heldSeconds)
            let number = slots.add(slot, seconds: seconds, at: now)
            let response = SlotAnswer.slot(
                turn, name: "\(boot).\(number)", tenant: wanted.call.tenant,
                model: budget.pool == wanted.call.pool ? wanted.call.model : nil,
                expiresInSeconds: seconds, warning: manager.warning(of: budget), isMinimal: style.isMinimal)
            return LocalServer.Reply(response) { [slots] in
                if let slot = slots.take(number) { slot.budget.withdraw(slot.id) }
            }
        case .refused(let found): refusal = found
        case .diverted: refusal = PoolBudget.allBroken
        }
        if refusal.decision == .wait, wanted.heldSeconds > 0 {
            slots.hold(
                SlotTable.Place(budget: budget, id: id, until: now.adding(seconds: wanted.heldSeconds)),
                under: wanted.placeKey)
        }
        let perMinute = budget.status().allocation?.budget[refusal.exhausted == .tokens ? .tokens : .requests]
        let quota = perMinute.map { Int64(saturating: $0) }
        return LocalServer.Reply(Self.answer(refusal, style, perMinute: quota))
    }

    private static func answer(_ refusal: Refusal, _ style: Style, perMinute quota: Int64?) -> HTTPResponse {
        SlotAnswer.refusal(
            refusal, status: style.status,
            body: style.path.map { SlotAnswer.Body(path: $0, perMinute: quota) }
                ?? SlotAnswer.Body(.own, perMinute: quota), isMinimal: style.isMinimal)
    }

    /// `POST /v1/slots/{id}/done`.
    private func end(_ request: LocalServer.Request) throws(HTTPError) -> HTTPResponse {
        let end = try EndReport.read(request)
        let slot = try slot(named: request.segment(2))
        let advice = slot.budget.finish(slot.id, end)
        if case .after = advice.retry {
            slots.hold(
                SlotTable.Place(
                    budget: slot.budget, id: slot.id,
                    until: time.now().adding(seconds: max(slot.heldSeconds, Self.placeSeconds))),
                under: slot.placeKey)
        }
        return Self.asksForHeaders(request) ? SlotAnswer.nothing() : SlotAnswer.advice(advice)
    }

    private func slot(named name: String) throws(HTTPError) -> SlotTable.Slot {
        let parts = name.split(separator: ".")
        guard parts.count == 2, parts[0] == boot, let number = Int(parts[1]), let slot = slots.take(number) else {
            throw HTTPError(
                .noSuch,
                "there is no slot \(name.prefix(64)): it has ended, or expired and counts as sent at its estimate")
        }
        return slot
    }
}
