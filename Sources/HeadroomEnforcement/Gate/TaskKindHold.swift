import HeadroomModel

/// The cost breaker's hold on kinds of agent tasks at this gateway: calls for a kind that is held go at its rate, and those
/// for a kind that is paused do not go.
///
/// A call reserves its time before it waits for anything else (the generic cell rate algorithm, ITU-T I.371): one that would
/// have to wait for longer than its caller does reserves nothing.
public struct TaskKindHold: Sendable {
    /// So many seconds of its rate may go at once, and one call at least.
    private static let burstSeconds = 10.0

    private struct Rate: Sendable {
        var perMinute: Double
        /// When all that was reserved has been paid for.
        var paidAt: Timestamp
    }

    private var rates: [String: Rate] = [:]

    public init() {}

    /// What was reserved stays reserved: a new rate holds for what comes.
    public mutating func load(_ kinds: [PoolAllocation.TaskKind], at now: Timestamp) {
        var loaded: [String: Rate] = [:]
        for kind in kinds {
            let paidAt = rates[kind.kind]?.paidAt ?? now
            // The burst that was had counts on; what was reserved at a much lower rate would hold the kind for hours.
            let latest = max(Self.burstSeconds, kind.requestsPerMinute > 0 ? 60 / kind.requestsPerMinute : 0)
            loaded[kind.kind] = Rate(
                perMinute: kind.requestsPerMinute, paidAt: min(paidAt, now.adding(seconds: latest)))
        }
        rates = loaded
    }

    public enum Answer: Equatable, Sendable {
        /// After so many seconds; 0 for at once.
        case goes(afterSeconds: Double)
        /// Come back after so many seconds; `nil`: while it is paused no time is known.
        case held(seconds: Double?)
    }

    /// - Parameters:
    ///   - kind: of the call's task; `nil`: it has none, and goes.
    ///   - patience: in seconds.
    public mutating func ask(_ kind: String?, patience: Double, at now: Timestamp) -> Answer {
        guard let kind, let rate = rates[kind] else { return .goes(afterSeconds: 0) }
        guard rate.perMinute > 0 else { return .held(seconds: nil) }
        let interval = 60 / rate.perMinute
        let burst = max(0, Self.burstSeconds - interval)
        let wait = max(0, rate.paidAt.seconds(since: now) - burst)
        guard wait <= patience else { return .held(seconds: wait) }
        rates[kind]?.paidAt = max(rate.paidAt, now).adding(seconds: interval)
        return .goes(afterSeconds: wait)
    }
}
