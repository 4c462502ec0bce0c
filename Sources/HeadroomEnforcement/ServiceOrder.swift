import HeadroomModel

/// The constants of the one order of Model §5.8, besides clocks, in gates and in the float.
enum ServiceOrder {
    /// So near the end of its caller's patience a call is moved forward, by up to ``mostUrgency``.
    private static let urgentSeconds = 2.0
    /// Seconds of service over weight.
    private static let mostUrgency = 0.3

    /// How far a call is moved forward. It is a constant at most, and no rate: who always has little patience gains it once.
    static func urgency(until deadline: Timestamp?, at now: Timestamp) -> Double {
        guard let deadline else { return 0 }
        let left = deadline.seconds(since: now)
        return left >= urgentSeconds ? 0 : mostUrgency * (1 - max(0, left) / urgentSeconds)
    }

    /// Seconds of capacity that work leaves which is neither interactive nor within a floor: the next interactive call
    /// finds something, and need not wait until it has flowed in. A third of the burst, since more would never be full.
    static func reserveSeconds(burstSeconds: Double) -> Double { min(2, burstSeconds / 3) }
}
