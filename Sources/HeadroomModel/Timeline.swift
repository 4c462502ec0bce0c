import Synchronization

/// Headroom's timeline: the wall clock as it was at the start plus monotonic time since, drawn towards the wall clock when
/// somebody corrects that.
///
/// A step of the wall clock is seen against the monotonic clock. The timeline makes no step: it runs faster or slower by
/// ``maxRate`` until both agree, so that no window and no lease jumps. An hour takes twenty; until then, times that
/// others name are measured against the wall clock itself (``TimeSource/wall()``).
public final class Timeline: Sendable {
    /// By how much it gains or loses: leases and windows do not notice a twentieth.
    public static let maxRate = 0.05
    /// Differences below this are noise of the two readings, in milliseconds.
    private static let toleranceMilliseconds: Int64 = 100
    /// A step, and not a drift that the machine's clock service corrects, in seconds.
    public static let stepSeconds = 5.0

    private struct State {
        /// A point of the timeline, and the monotonic time at it; both in milliseconds.
        var anchor: Int64
        var anchorMonotonic: Int64
        var rate = 0.0

        func now(_ monotonic: Int64) -> Int64 {
            let elapsed = monotonic - anchorMonotonic
            return anchor + elapsed + Int64((Double(elapsed) * rate).rounded(.down))
        }
    }

    private let monotonic: @Sendable () -> Int64
    private let wall: @Sendable () -> Int64
    private let state: Mutex<State>

    /// - Parameters:
    ///   - monotonic: milliseconds that never go back.
    ///   - wall: milliseconds since 1970, which may.
    public init(monotonic: @escaping @Sendable () -> Int64, wall: @escaping @Sendable () -> Int64) {
        self.monotonic = monotonic
        self.wall = wall
        state = Mutex(State(anchor: wall(), anchorMonotonic: monotonic()))
    }

    /// On the machine's own monotonic clock, which also counts while the machine sleeps.
    public convenience init(wall: @escaping @Sendable () -> Int64) {
        let clock = ContinuousClock()
        let start = clock.now
        self.init(
            monotonic: {
                let elapsed = start.duration(to: clock.now).components
                return elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
            }, wall: wall)
    }

    public var source: TimeSource {
        TimeSource(
            { [self] in Timestamp(milliseconds: now) }, wall: { [wall] in Timestamp(milliseconds: wall()) })
    }

    private var now: Int64 {
        let monotonic = monotonic()
        return state.withLock { $0.now(monotonic) }
    }

    /// Looks at the wall clock: call it once a second.
    /// - Returns: by how many seconds the wall clock is ahead of the timeline; negative when it is behind.
    @discardableResult public func follow() -> Double {
        let (monotonic, wall) = (monotonic(), wall())
        return state.withLock { state in
            let now = state.now(monotonic)
            let ahead = wall - now
            state.anchor = now
            state.anchorMonotonic = monotonic
            // Not faster than what a second makes up for: it must not overshoot before the next look.
            let wanted = abs(ahead) < Self.toleranceMilliseconds ? 0 : Double(ahead) / 1000
            state.rate = min(max(wanted, -Self.maxRate), Self.maxRate)
            return Double(ahead) / 1000
        }
    }
}
