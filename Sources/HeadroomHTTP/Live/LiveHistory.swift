import HeadroomModel
import Synchronization

/// The last minutes, tick by tick, and what happened in them: what a page shows when it opens, before it has seen any tick.
///
/// In memory, bounded, and gone with the process: `/v1/history` has what is stored.
final class LiveHistory: Sendable {
    fileprivate struct State {
        /// Oldest first, numbers without gaps.
        var samples: [LiveSample] = []
        var events: [LiveEvent] = []
        var waiters = WaiterList()
        /// The estimate at the last event, as a part of nominal.
        var levels: [PoolID: Double] = [:]
        var policy: String?
        /// Draws since the start, at the newest sample.
        var draws: [PoolID: [DrawIntake.Result: Int]] = [:]
        var isStopping = false
    }

    /// Half an hour of ticks of two seconds.
    static let maxSamples = 900
    /// Over all samples: some kilobyte each.
    static let maxPoolSamples = 10_000
    static let maxEvents = 500
    private static let maxWaiters = 4096

    private let state = Mutex(State())
    private let seen = Atomic(0)

    /// Takes the newest report of the loop, once. Call it often.
    /// - Parameter draws: where gateways draw; `nil` where none can.
    func follow(_ board: SnapshotBoard, draws: DrawIntake? = nil) {
        let count = board.reportCount
        guard seen.exchange(count, ordering: .relaxed) != count, let report = board.newestReport else { return }
        let published = board.current
        let sample = LiveSample(
            number: count, report: report, published: published,
            draws: drawsAMinute(draws?.counts ?? [:], at: report.at))
        add(sample, policy: published?.whole.policy)
    }

    /// The draws since the sample before, a minute.
    private func drawsAMinute(
        _ counts: [PoolID: [DrawIntake.Result: Int]], at now: Timestamp
    ) -> [PoolID: [DrawIntake.Result: Double]] {
        state.withLock { state in
            let known = state.draws
            state.draws = counts
            guard let seconds = state.samples.last.map({ now.seconds(since: $0.report.at) }), seconds > 0 else {
                return [:]
            }
            var rates: [PoolID: [DrawIntake.Result: Double]] = [:]
            for (pool, results) in counts {
                for (result, count) in results {
                    let since = count - (known[pool]?[result] ?? 0)
                    rates[pool, default: [:]][result] = Double(since) * 60 / seconds
                }
            }
            return rates
        }
    }

    private func add(_ sample: LiveSample, policy: String?) {
        let woken = state.withLock { state in
            state.note(sample, policy: policy)
            state.samples.append(sample)
            var entries = state.samples.reduce(0) { $0 + $1.pools.count }
            while state.samples.count > Self.maxSamples || (entries > Self.maxPoolSamples && state.samples.count > 1) {
                entries -= state.samples.removeFirst().pools.count
            }
            return state.waiters.removeAll()
        }
        for waiter in woken { waiter.resume() }
    }

    /// About what all samples take. Each takes about as much as the newest.
    var memoryBytes: Int { state.withLock { $0.samples.count * ($0.samples.last?.memoryBytes ?? 0) } }

    var newest: LiveSample? { state.withLock { $0.samples.last } }

    /// Oldest first.
    var samples: [LiveSample] { state.withLock { $0.samples } }

    /// Oldest first, those after `instant`.
    func events(after instant: Timestamp?) -> [LiveEvent] {
        state.withLock { state in state.events.filter { event in instant.map { event.at > $0 } ?? true } }
    }

    /// Parks the exchange until there is a sample after `number`, or until `deadline` on the monotonic clock. False when
    /// there is one, too many wait already, or the service stops: answer now.
    func park(_ exchange: HTTPExchange, after number: Int, until deadline: Int64) -> Bool {
        state.withLock { state in
            guard (state.samples.last?.number ?? 0) <= number, !state.isStopping,
                state.waiters.count < Self.maxWaiters
            else { return false }
            state.waiters.add(exchange.park(), until: deadline)
            return true
        }
    }

    /// Wakes those whose time has come. `now` is on the monotonic clock.
    func tick(_ now: Int64) {
        let woken = state.withLock { $0.waiters.removeDue(at: now) }
        for waiter in woken { waiter.resume() }
    }

    /// Wakes all: tokens have changed, and each request is checked again.
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
        for waiter in woken { waiter.resume() }
    }
}

extension LiveHistory.State {
    /// Compares with the sample before.
    fileprivate mutating func note(_ sample: LiveSample, policy: String?) {
        let at = sample.report.at
        if let before = samples.last {
            events += LiveEvent.between(before, sample)
        } else {
            events.append(LiveEvent(at: at, kind: .start, pool: nil, text: "Headroom started"))
        }
        for pool in sample.pools {
            guard let level = levels[pool.pool] else {
                let resource = pool.mainResource
                levels[pool.pool] = (pool.capacity[resource] ?? 0) / max(1, pool.nominal[resource] ?? 1)
                continue
            }
            guard let (event, now) = LiveEvent.capacity(pool, from: level, at: at) else { continue }
            events.append(event)
            levels[pool.pool] = now
        }
        if let policy {
            if let known = self.policy, known != policy {
                events.append(LiveEvent(at: at, kind: .policy, pool: nil, text: "policy \(policy) is in force"))
            }
            self.policy = policy
        }
        events.removeFirst(max(0, events.count - LiveHistory.maxEvents))
    }
}
