import HeadroomCapacity
import HeadroomModel
import Testing

@Suite struct LatencySketchTests {
    @Test(arguments: 1...20) func `a quantile lies within 1/32 of the true one`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let spread = Double.random(in: 0.1...6, using: &generator)
        let latencies = (0..<Int.random(in: 1...2000, using: &generator)).map { _ in
            exponential(.random(in: 0.01...2, using: &generator) * spread) + 1
        }
        var sketch = LatencySketch()
        for latency in latencies { sketch.add(milliseconds: latency) }
        let sorted = latencies.sorted()
        for part in [0.5, 0.95, 0.99] {
            let rank = max(1, Int((part * Double(sorted.count)).rounded(.up)))
            let found = try #require(sketch.quantile(part))
            #expect(abs(found / sorted[rank - 1] - 1) <= 1.0 / 32 + 1e-9, "seed \(seed) p\(part): \(found)")
        }
    }

    @Test(arguments: 1...10) func `the sketch of all is the merged sketches of the parts`(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var all = LatencySketch()
        var parts = [LatencySketch](repeating: LatencySketch(), count: 3)
        for _ in 0..<500 {
            let latency = Double.random(in: 0...5000, using: &generator)
            all.add(milliseconds: latency)
            parts[Int.random(in: 0..<3, using: &generator)].add(milliseconds: latency)
        }
        parts[0].merge(parts[1])
        parts[0].merge(parts[2])
        #expect(parts[0] == all, "seed \(seed)")
    }

    @Test func `no number makes it trap or answer absurdly`() throws {
        let numbers: [Double] = [
            -.infinity, -1, 0, .leastNonzeroMagnitude, 1, .nan, .signalingNaN, 1e300, .infinity,
            .greatestFiniteMagnitude,
        ]
        for number in numbers {
            var sketch = LatencySketch()
            sketch.add(milliseconds: number)
            let found = try #require(sketch.quantile(0.5))
            #expect(found.isFinite && found > 0 && found < 5e6, "\(number): \(found)")
        }
        #expect(LatencySketch().quantile(0.5) == nil)
    }
}
