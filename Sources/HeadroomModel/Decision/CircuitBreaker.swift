/// Keeps calls from an upstream that fails for reasons of its own, where there is another to send them to.
///
/// Closed: all pass; it opens when failures (overload and other 5xx) reach a share of enough attempts in the window.
/// Open: none pass. Half-open, after ``BreakerPolicy/openSeconds``: a few probes pass; so many successes in a row close
/// it, one failure opens it again. Calls that began before it became half-open say nothing.
public struct CircuitBreaker: Equatable, Sendable {
    public enum State: Equatable, Sendable {
        /// Failures before `since` are forgiven.
        case closed(since: Timestamp)
        case open(since: Timestamp)
        case halfOpen(since: Timestamp, successes: Int)
    }

    public private(set) var state: State

    public init(at now: Timestamp) {
        state = .closed(since: now)
    }

    /// A call that began at `startedAt` has ended; only while it is half-open does each count.
    public mutating func note(_ outcome: Outcome, startedAt: Timestamp, under policy: BreakerPolicy, at now: Timestamp)
    {
        guard case .halfOpen(let since, let successes) = state, startedAt >= since else { return }
        switch outcome {
        case .overload, .server:
            state = .open(since: now)
        case .ok:
            let more = successes + 1
            state =
                more >= policy.closeSuccesses ? .closed(since: now) : .halfOpen(since: since, successes: more)
        case .cached, .denied, .quota, .ramp, .billing, .auth, .client, .error: break
        }
    }

    /// What time and the window bring.
    /// - Parameter counts: attempts and failures of the seconds from the given instant on.
    public mutating func advance(
        to now: Timestamp, under policy: BreakerPolicy,
        counts: (_ since: Timestamp) -> (attempts: Double, failures: Double)
    ) {
        switch state {
        case .closed(let since):
            let (attempts, failures) = counts(max(since, now.adding(seconds: -policy.windowSeconds)))
            if attempts >= Double(policy.leastAttempts), failures >= policy.openShare * attempts {
                state = .open(since: now)
            }
        case .open(let since):
            if now.seconds(since: since) >= policy.openSeconds { state = .halfOpen(since: now, successes: 0) }
        case .halfOpen: break
        }
    }

    /// What a snapshot says; `nil` while it is closed.
    public var poolState: PoolState? {
        switch state {
        case .closed: nil
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }
}

extension CircuitBreaker {
    public func write(to writer: inout ByteWriter) {
        switch state {
        case .closed(let since):
            writer.write(UInt8(0))
            writer.write(since)
        case .open(let since):
            writer.write(UInt8(1))
            writer.write(since)
        case .halfOpen(let since, let successes):
            writer.write(UInt8(2))
            writer.write(since)
            writer.write(Int64(successes))
        }
    }

    public init(from reader: inout ByteReader) throws(ByteCodingError) {
        switch try reader.read(UInt8.self) {
        case 0: state = .closed(since: try reader.readTimestamp())
        case 1: state = .open(since: try reader.readTimestamp())
        case 2:
            let since = try reader.readTimestamp()
            let successes = try reader.read(Int64.self)
            guard (0...1_000_000).contains(successes) else { throw .outOfRange }
            state = .halfOpen(since: since, successes: Int(successes))
        default: throw .outOfRange
        }
    }
}
