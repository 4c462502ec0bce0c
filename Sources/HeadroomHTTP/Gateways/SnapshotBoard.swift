import HeadroomModel
import Synchronization

/// The view of gateways and readers: the newest generation, some before it, who polls, and what the loop reports.
///
/// The publisher puts a generation here and the HTTP server's threads read it; neither waits for the other, nor for an
/// actor.
package final class SnapshotBoard: SnapshotPublishing {
    private let state: Mutex<State>
    package let time: TimeSource
    let joinSeconds: Double
    /// An element for each time that a gateway came for which the newest generation has no part, or that one left: budgets
    /// are divided anew at once. Bursts of them are one.
    package let joined: AsyncStream<Void>
    private let joining: AsyncStream<Void>.Continuation
    private let memoryBytes: Int

    private struct State {
        var current: PublishedGeneration?
        var past: PastGenerations
        var history = PublicationHistory()
        var register = GatewayRegister()
        var waiters = WaiterList()
        var serviceClocks: [PoolID: [TenantID: Double]] = [:]
        var loop = LoopSummary()
        var nextSweep: Int64 = 0
        var nextFullSweep = Timestamp(milliseconds: .min)
        var isStopping = false

        /// Something takes part under the name, or is withheld for it.
        func knows(_ gateway: GatewayID) -> Bool {
            // Before the first tick nobody knows what the ledger withholds for it.
            register.isKnown(gateway) || loop.newest?.withheld.contains { $0.gateway == gateway } ?? true
        }
    }

    /// Of ``init(time:joinSeconds:memoryBytes:)``.
    package static let defaultMemoryBytes = 128 << 20
    private static let sweepMilliseconds: Int64 = 5000
    private static let maxWaiters = 16384

    /// - Parameters:
    ///   - joinSeconds: how long a gateway without a part waits for room to be made for it.
    ///   - memoryBytes: the most that may be kept beside the newest generation: half of it for past ones, half for encoded
    ///     answers. With less, polls are answered in full more often, or encoded anew.
    package init(
        time: TimeSource, joinSeconds: Double = 3, memoryBytes: Int = SnapshotBoard.defaultMemoryBytes
    ) {
        self.time = time
        self.joinSeconds = joinSeconds
        self.memoryBytes = memoryBytes
        state = Mutex(State(past: PastGenerations(maxBytes: memoryBytes / 2)))
        (joined, joining) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func publish(_ publication: Publication) {
        let generation = PublishedGeneration(publication, maxBodyBytes: memoryBytes / 2)
        let now = time.now()
        let woken = state.withLock { state in
            if let replaced = state.current { state.past.add(replaced, state.register.uses) }
            state.current = generation
            state.register.leaseSeconds = generation.leaseSeconds
            state.history.add(generation.version, at: now)
            return state.waiters.removeAll()
        }
        for waiter in woken { waiter.resume() }
    }

    package func update(serviceClocks: [PoolID: [TenantID: Double]]) {
        state.withLock { $0.serviceClocks = serviceClocks }
    }

    package func report(_ report: LoopReport) {
        state.withLock { $0.loop.add(report) }
    }

    /// For the loop: names are remembered for as long as it looks back.
    package func gateways(since: Timestamp) -> [GatewayPresence] {
        let now = time.now()
        return state.withLock { state in
            state.register.memorySeconds = max(now.seconds(since: since), state.register.leaseSeconds)
            return state.register.presences(since: since, now: now)
        }
    }

    /// Requests that wait for the next generation.
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// The loop's last report; `nil` before its first tick.
    package var newestReport: LoopReport? { loop.newest }

    // MARK: For the routes

    var current: PublishedGeneration? { state.withLock { $0.current } }

    package var loop: LoopSummary { state.withLock { $0.loop } }

    /// Reports of the loop so far.
    var reportCount: Int { state.withLock { $0.loop.reportCount } }

    /// What is kept of a generation that was replaced, for the view; `nil` when nothing is.
    func past(_ version: SnapshotVersion, for view: SnapshotView) -> Snapshot? {
        state.withLock { $0.past.snapshot(version, for: view) }
    }

    /// What it takes, by owner.
    package var memory: [MemoryShare] {
        let (current, past) = state.withLock { ($0.current, $0.past.byteCount) }
        return [
            MemoryShare(owner: "snapshot", bytes: current?.memoryBytes ?? 0),
            MemoryShare(owner: "past_snapshots", bytes: past),
            MemoryShare(owner: "snapshot_bodies", bytes: current?.bodyBytes ?? 0),
        ]
    }

    /// Those that take part and are remembered, each with the seconds for which it has been behind; ascending by gateway.
    ///
    /// One that never says what it has applied is measured by what it was last sent.
    package func drifts() -> [(gateway: GatewayPresence, seconds: Double)] {
        let now = time.now()
        return state.withLock { state in
            let oldest = now.adding(seconds: -state.register.memorySeconds)
            return state.register.presences(since: oldest, now: now).filter { !$0.hasLeft }.map { presence in
                let version = presence.applied ?? presence.sent
                return (presence, version.map { state.history.drift(of: $0, at: now) } ?? 0)
            }
        }
    }

    /// The clocks of `tenants`, where they are known.
    func serviceClocks(of tenants: [PoolID: Set<TenantID>]) -> [PoolID: [TenantID: Double]] {
        let known = state.withLock { $0.serviceClocks }
        var found: [PoolID: [TenantID: Double]] = [:]
        for (pool, tenants) in tenants {
            guard let clocks = known[pool] else { continue }
            found[pool] = clocks.filter { tenants.contains($0.key) }
        }
        return found
    }

    /// The view that a gateway is to see, and of which generation.
    struct Visit {
        var newest: PublishedGeneration?
        /// False: it is a reader, and nothing is to be enforced.
        var takesPart: Bool
        /// False: it does not have its part of the generation that it names in `since`.
        var mayCountFromSince: Bool
    }

    /// The newest generation, for a gateway that asks for its part of it.
    ///
    /// It counts as sent under the same lock: no publisher sees a gateway without what it is about to get.
    func visit(_ visitor: GatewayRegister.Visitor) throws(HTTPError) -> Visit {
        let now = time.now()
        let gateway = visitor.key.gateway
        let (newest, standing, hasPart) = state.withLock { state in
            let newest = state.current
            let hasPart = newest?.has(gateway) ?? false
            func note() -> GatewayRegister.Standing {
                state.register.note(visitor, part: hasPart ? newest?.version : nil, newest: newest?.version, at: now)
            }
            var standing = note()
            if standing == .full || standing == .tooManyMembers || standing == .tooManyNames,
                now >= state.nextFullSweep
            {
                state.nextFullSweep = now.adding(seconds: 1)
                state.register.forget(at: now)
                standing = note()
            }
            return (newest, standing, hasPart)
        }
        switch standing {
        case .takesPart(let isFirst):
            if !hasPart { joining.yield() }
            return Visit(newest: newest, takesPart: true, mayCountFromSince: !isFirst)
        case .reader:
            return Visit(newest: newest, takesPart: false, mayCountFromSince: false)
        case .otherProcess(let seconds):
            throw Self.otherProcess(gateway, seconds: seconds)
        case .tooManyMembers:
            throw HTTPError(
                .overloaded, "\(gateway) has as many members as are kept; divide them over several names",
                retryAfterSeconds: 10)
        case .tooManyNames:
            throw HTTPError(
                .overloaded,
                "this token polls under as many names as are kept for one; give processes that share "
                    + "counters one name", retryAfterSeconds: 10)
        case .full:
            throw HTTPError(
                .overloaded, "as many gateways poll as are kept; give processes that share counters one name",
                retryAfterSeconds: 10)
        }
    }

    /// A call of a gateway that is no poll. Throws when another process under its name is alive; false of one that does not
    /// take part.
    func hears(_ key: GatewayRegister.Key, boot: String?) throws(HTTPError) -> Bool {
        let now = time.now()
        switch state.withLock({ $0.register.hear(key, boot: boot, at: now) }) {
        case .takesPart: return true
        case .otherProcess(let seconds): throw Self.otherProcess(key.gateway, seconds: seconds)
        case .reader, .tooManyMembers, .tooManyNames, .full: return false
        }
    }

    private static func otherProcess(_ gateway: GatewayID, seconds: Double) -> HTTPError {
        HTTPError(
            .conflict,
            "another process calls as \(gateway), with another boot, and is alive: give each a name of its own, or a "
                + "member of its own where they share counters; a process that ends frees its name with DELETE "
                + "/v1/gateways/\(gateway), and so may a person who knows that it is dead",
            retryAfterSeconds: Int(seconds.rounded(.up)))
    }

    func knows(_ gateway: GatewayID) -> Bool { state.withLock { $0.knows(gateway) } }

    /// A gateway uses nothing any more: what it had is given to the others at once. Returns false when nothing is known of
    /// the name, nor withheld for it.
    func leave(_ gateway: GatewayID) -> Bool {
        let now = time.now()
        let isKnown = state.withLock { state in
            guard state.knows(gateway) else { return false }
            let newest = state.current.flatMap { $0.has(gateway) ? $0.version : nil }
            state.register.leave(gateway, part: newest, at: now)
            return true
        }
        if isKnown { joining.yield() }
        return isKnown
    }

    /// Telemetry of these gateways was stored.
    func noteReports(of gateways: Set<GatewayID>) {
        let now = time.now()
        state.withLock { $0.register.noteReports(of: gateways, at: now) }
    }

    func delivered(to member: GatewayRegister.Key) {
        let now = time.now()
        state.withLock { $0.register.noteDelivery(member, at: now) }
    }

    /// Parks the exchange until the next publication, or `deadline` on the monotonic clock.
    func park(_ exchange: HTTPExchange, behind seen: PublishedGeneration, until deadline: Int64) -> Parking {
        state.withLock { state in
            guard state.current === seen else { return .outdated }
            guard !state.isStopping, state.waiters.count < Self.maxWaiters else { return .refused }
            state.waiters.add(exchange.park(), until: deadline)
            return .parked
        }
    }

    enum Parking {
        case parked
        /// There is a newer generation.
        case outdated
        /// Too many wait already, or the service stops: answer now.
        case refused
    }

    // MARK: For the server

    /// Wakes those whose time has come. `now` is on the monotonic clock.
    func tick(_ now: Int64) {
        let sweepInstant = time.now()
        let woken = state.withLock { state in
            if now >= state.nextSweep {
                state.register.forget(at: sweepInstant)
                state.nextSweep = now + Self.sweepMilliseconds
            }
            return state.waiters.removeDue(at: now)
        }
        for waiter in woken { waiter.resume() }
    }

    /// Wakes all: tokens have changed, and each request is checked again. Those that may wait on are parked again.
    func wakeAll() {
        let woken = state.withLock { $0.waiters.removeAll() }
        for waiter in woken { waiter.resume() }
    }

    /// Wakes all; from now on nobody is parked.
    func stop() {
        let woken = state.withLock { state in
            state.isStopping = true
            return state.waiters.removeAll()
        }
        joining.finish()
        for waiter in woken { waiter.resume() }
    }
}
