import HeadroomModel

/// Sums per second over the last seconds, in constant memory.
///
/// Seconds are absolute (milliseconds since 1970 / 1000). Adding to a second that has left the ring is a no-op;
/// adding to a later one moves the ring on.
package struct SecondRing: Sendable {
    private var slots: [SIMD4<Float>]
    /// The newest second that the ring holds.
    private var newest: Int64

    /// Holds `seconds` seconds, the newest of them `second`.
    package init(seconds: Int, endingAt second: Int64) {
        slots = [SIMD4<Float>](repeating: .zero, count: seconds)
        newest = second
    }

    /// How many it holds.
    package var seconds: Int { slots.count }

    package mutating func add(_ work: Work, at second: Int64) {
        advance(to: second)
        guard second > newest - Int64(slots.count) else { return }
        slots[index(second)] += SIMD4<Float>(work.amounts)
    }

    /// The sum over the `count` seconds that end with `second`.
    package func sum(ofSeconds count: Int, endingAt second: Int64) -> Work {
        var sum = SIMD4<Double>.zero
        let oldest = max(second - Int64(count) + 1, newest - Int64(slots.count) + 1)
        var s = oldest
        while s <= min(second, newest) {
            sum += SIMD4<Double>(slots[index(s)])
            s += 1
        }
        return Work(amounts: sum)
    }

    private mutating func advance(to second: Int64) {
        guard second > newest else { return }
        let steps = min(second - newest, Int64(slots.count))
        for step in 0..<steps { slots[index(second - step)] = .zero }
        newest = second
    }

    private func index(_ second: Int64) -> Int {
        Int(((second % Int64(slots.count)) + Int64(slots.count)) % Int64(slots.count))
    }
}

extension Timestamp {
    /// The second that this instant lies in, since 1970.
    package var second: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    }
}

extension WindowRecord {
    /// What was served in it.
    package var served: Work {
        let input = Double(inputTokens)
        let output = Double(outputTokens)
        return Work(requests: Double(ok), tokens: input + output, inputTokens: input, outputTokens: output)
    }

    /// The seconds that it spans, over which its work is spread evenly: at most the last minute.
    var spannedSeconds: ClosedRange<Int64> {
        let last = end.adding(seconds: -0.001).second
        return (last - max(1, min(60, Int64(seconds.rounded(.up)))) + 1)...last
    }
}
