import HeadroomModel
import Testing

@Suite struct LargestRemainderTests {
    private struct Example {
        var parts: [Double]
        var total: Int
        var values: [Int]
    }

    @Test func `missing units go to the largest remainders, ties to the lower index`() {
        let examples = [
            Example(parts: [], total: 0, values: []),
            Example(parts: [1.5, 1.5, 1], total: 4, values: [2, 1, 1]),
            Example(parts: [0.3, 0.9, 0.8], total: 2, values: [0, 1, 1]),
            Example(parts: [2.7, 2.7, 2.6], total: 6, values: [2, 2, 2]),
            Example(parts: [10, 20, 30], total: 6, values: [1, 2, 3]),
            Example(parts: [1, 2, 3], total: 60, values: [10, 20, 30]),
            Example(parts: [0, 0, 0], total: 5, values: [2, 2, 1]),
            Example(parts: [0, 0.5, 0], total: 7, values: [0, 7, 0]),
        ]
        for example in examples {
            let values = LargestRemainder.integers(of: example.parts, total: example.total)
            #expect(values == example.values, "\(example)")
        }
    }

    @Test func `sums to the total, and no value is further than one unit from its part`() {
        for seed in UInt64(1)...300 {
            var random = SplitMix64(seed: seed)
            let parts = (0..<Int.random(in: 1...200, using: &random)).map { _ in
                Int.random(in: 0..<4, using: &random) == 0 ? 0 : Double.random(in: 0...50, using: &random)
            }
            let total = Int(parts.reduce(0, +))
            let values = LargestRemainder.integers(of: parts, total: total)
            #expect(values.reduce(0, +) == total, "seed \(seed)")
            for (part, value) in zip(parts, values) {
                #expect(Double(value) >= part.rounded(.down) && Double(value) <= part.rounded(.up), "seed \(seed)")
            }
        }
    }

    @Test func `a division by room never exceeds the room`() {
        for seed in UInt64(1)...300 {
            var random = SplitMix64(seed: seed)
            let room = (0..<Int.random(in: 1...20, using: &random)).map { _ in Int.random(in: 0...1000, using: &random)
            }
            let total = Int.random(in: 0...room.reduce(0, +), using: &random)
            let values = LargestRemainder.divide(total, by: room.map(Double.init))
            #expect(values.reduce(0, +) == total, "seed \(seed)")
            #expect(zip(values, room).allSatisfy { $0 <= $1 }, "seed \(seed): \(total) over \(room) is \(values)")
        }
    }
}
