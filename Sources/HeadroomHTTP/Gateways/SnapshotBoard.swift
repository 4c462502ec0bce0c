import HeadroomModel
import Synchronization

/// What gateways and readers see: the newest generation, some before it, who polls, and what the loop reports.
///
/// The publisher puts a generation here and the HTTP server's threads read it; neither waits for the other, nor for an
/// actor.
package final class SnapshotBoard: SnapshotPublishing {
    private let state: Mutex<State>
    let time: TimeSource
    let joinSeconds: Double
    /// An element for each time that a gateway came for which the newest generation has no part, or that it had not
    /// seen: whoever publishes makes room at once. Bursts of them are one.
    package let joined: AsyncStream<Void>
    private let joining: AsyncStream<Void>.Continuation

    private struct State {
        var current: PublishedGeneration?
        /// Oldest first.
        var past: [PublishedGeneration] = []
        var history = PublicationHistory()
        var register: GatewayRegister
        var waiters = WaiterList()
        var serviceClocks: [PoolID: [TenantID: Double]] = [:]
        var loop = LoopSummary()
        var nextSweep: Int64 = 0
        var isStopping = false
    }

    /// Generations that `since` may name.
    private static let maxPast = 32
    /// Tenants over all past generations, pools and parts: about half a kilobyte each.
    private static let maxPastEntries = 1_000_000
    private static let maxGateways = 10000
    private static let maxWaiters = 16384

    /// - Parameter joinSeconds: how long a gateway without a part waits for room to be made for it.
    package init(time: TimeSource, joinSeconds: Double = 3) {
        self.time = time
        self.joinSeconds = joinSeconds
        state = Mutex(State(register: GatewayRegister(limit: Self.maxGateways)))
        (joined, joining) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package func publish(_ publication: Publication) {
        let generation = PublishedGeneration(publication)
        let now = time.now()
        let woken = state.withLock { state in
            if let replaced = state.current {
                replaced.dropBodies()
                state.past.append(replaced)
            }
            state.current = generation
            state.history.add(generation.version, at: now)
            var entries = state.past.reduce(0) { $0 + $1.entryCount }
            while state.past.count > Self.maxPast || (entries > Self.maxPastEntries && !state.past.isEmpty) {
                entries -= state.past.removeFirst().entryCount
            }
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

    package func gateways(since: Timestamp) -> [GatewayPresence] {
        let now = time.now()
        return state.withLock { state in
            state.register.presences(
                since: since, now: now, leaseSeconds: state.current?.leaseSeconds ?? .infinity)
        }
    }

    /// Requests that wait for the next generation.
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// What the loop saw and did last; `nil` before its first tick.
    package var newestReport: LoopReport? { loop.newest }

    // MARK: For the routes

    var current: PublishedGeneration? { state.withLock { $0.current } }

    var loop: LoopSummary { state.withLock { $0.loop } }

    /// Reports of the loop so far.
    var reportCount: Int { state.withLock { $0.loop.reportCount } }

    /// The generation that `since` names, if it is still kept.
    func generation(_ version: SnapshotVersion) -> PublishedGeneration? {
        state.withLock { state in
            if let current = state.current, current.version == version { return current }
            return state.past.last { $0.version == version }
        }
    }

    /// For how many seconds each gateway seen since `since` has been behind; ascending by gateway.
    ///
    /// One that never says what it has applied is measured by what it was last sent.
    func drifts(since: Timestamp) -> [(gateway: GatewayID, seconds: Double)] {
        let now = time.now()
        return state.withLock { state in
            state.register.presences(since: since, now: now, leaseSeconds: state.current?.leaseSeconds ?? .infinity)
                .map { presence in
                    let version = presence.applied ?? presence.sent
                    return (presence.gateway, version.map { state.history.drift(of: $0, at: now) } ?? 0)
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

    /// The newest generation, for a gateway that says `applied` is in force there and looks at `view`.
    ///
    /// It counts as sent under the same lock: no publisher sees a gateway without what it is about to get.
    func visit(
        _ member: GatewayRegister.Key, applied: SnapshotVersion?, view: SnapshotView
    ) throws(HTTPError) -> PublishedGeneration? {
        let now = time.now()
        let (current, isKnown, hasPart) = state.withLock { state in
            let hasPart = state.current?.has(view) ?? false
            let isKnown = state.register.note(
                member, at: now, applied: applied, sent: hasPart ? state.current?.version : nil)
            return (state.current, isKnown, hasPart)
        }
        guard isKnown else {
            throw HTTPError(
                .overloaded, "\(Self.maxGateways) gateways poll already; give processes that share counters one name",
                retryAfterSeconds: 10)
        }
        if !hasPart { joining.yield() }
        return current
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
                state.register.forget(before: sweepInstant)
                state.nextSweep = now + 60000
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
