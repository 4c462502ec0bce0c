/// The time of a ring that holds the last `count` steps of time, such as seconds or periods of the loop. The slots are
/// the caller's: it empties those that ``advance(to:of:)`` names. `count` is a power of two, so that a slot is found
/// without a division, and always the same for one ring.
public struct RingClock: Equatable, Sendable {
    /// The newest step that the ring holds.
    public private(set) var newest: Int64

    public init(newest: Int64) {
        self.newest = newest
    }

    /// Moves the ring on to `step`, if that is newer.
    /// - Returns: the steps that have entered it: their slots hold older ones, and are to be emptied.
    public mutating func advance(to step: Int64, of count: Int) -> Range<Int64> {
        guard step > newest else { return step..<step }
        let first = max(newest + 1, step - Int64(count) + 1)
        newest = step
        return first..<step + 1
    }

    /// The slot of a step; `nil` once it has left the ring, or before it has entered it.
    public func slot(of step: Int64, of count: Int) -> Int? {
        holds(step, of: count) ? Self.slot(of: step, of: count) : nil
    }

    public func holds(_ step: Int64, of count: Int) -> Bool { step <= newest && step > newest - Int64(count) }

    /// Of a step that the ring holds.
    public static func slot(of step: Int64, of count: Int) -> Int { Int(step & Int64(count - 1)) }
}
