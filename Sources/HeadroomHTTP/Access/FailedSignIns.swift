import Synchronization

/// The 401s of each client address, so that somebody who tries tokens is slowed down and seen.
///
/// A known token is always served at once, whatever its address has done: gateways behind one proxy share an address.
/// Addresses are kept in a table of bounded size; a count halves every minute.
package final class FailedSignIns: Sendable {
    package enum Answer: Equatable {
        case now
        case after(milliseconds: Int64)
        /// Too many answers of this address wait already.
        case refused
    }

    private struct Entry {
        var count: Double
        var at: Int64
        var waiting = 0

        func decayed(at now: Int64) -> Double {
            // Whole half-lives are exact enough for a threshold.
            let halvings = (now - at) / FailedSignIns.halfLifeMilliseconds
            return halvings >= 60 ? 0 : count / Double(1 << halvings)
        }
    }

    private struct State {
        var entries: [ClientAddress: Entry] = [:]
        var total = 0
    }

    private static let halfLifeMilliseconds: Int64 = 60_000
    /// Addresses; those beyond share ``ClientAddress/unknown``.
    package static let maxAddresses = 4096
    /// Failures that cost nothing: a person mistypes, a deployment has yesterday's token.
    package static let freeFailures = 10.0
    package static let maxDelayMilliseconds = 5000.0
    /// Delayed answers of one address at the same time. Without a bound, more connections would undo the delay.
    package static let maxWaiting = 16

    private let state = Mutex(State())

    package init() {}

    /// 401s since the start.
    package var total: Int { state.withLock { $0.total } }

    /// Addresses whose 401s are delayed at present.
    package func slowedCount(at now: Int64) -> Int {
        state.withLock { state in state.entries.values.count { $0.decayed(at: now) > Self.freeFailures } }
    }

    /// Counts a 401 and says when to send it. After `.after`, call ``finish(_:)`` once it is sent.
    package func note(_ address: ClientAddress, at now: Int64) -> Answer {
        state.withLock { state in
            state.total += 1
            let address = state.entries[address] != nil || makeRoom(&state, at: now) ? address : .unknown
            var entry = state.entries[address] ?? Entry(count: 0, at: now)
            let count = entry.decayed(at: now) + 1
            entry = Entry(count: count, at: now, waiting: entry.waiting)
            defer { state.entries[address] = entry }
            guard count > Self.freeFailures else { return .now }
            guard entry.waiting < Self.maxWaiting else { return .refused }
            entry.waiting += 1
            let delay = min(100 * (count - Self.freeFailures), Self.maxDelayMilliseconds)
            return .after(milliseconds: Int64(delay))
        }
    }

    package func finish(_ address: ClientAddress) {
        state.withLock { state in
            let address = state.entries[address] == nil ? .unknown : address
            if let waiting = state.entries[address]?.waiting, waiting > 0 {
                state.entries[address]?.waiting = waiting - 1
            }
        }
    }

    /// True when one more address fits. Those that have kept quiet go first.
    private func makeRoom(_ state: inout State, at now: Int64) -> Bool {
        if state.entries.count < Self.maxAddresses { return true }
        state.entries = state.entries.filter { $0.value.waiting > 0 || $0.value.decayed(at: now) >= 1 }
        return state.entries.count < Self.maxAddresses
    }
}
