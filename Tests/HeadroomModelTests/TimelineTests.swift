import HeadroomModel
import Synchronization
import Testing

@Suite struct TimelineTests {
    /// Two clocks that a test sets.
    private final class Clocks: Sendable {
        private let state = Mutex<(monotonic: Int64, wall: Int64)>((5_000, 1_793_000_000_000))

        var monotonic: Int64 { state.withLock { $0.monotonic } }
        var wall: Int64 { state.withLock { $0.wall } }

        func pass(_ milliseconds: Int64) {
            state.withLock { state in
                state.monotonic += milliseconds
                state.wall += milliseconds
            }
        }

        func setWall(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }
    }

    private let clocks = Clocks()

    private func timeline() -> Timeline {
        Timeline(monotonic: { [clocks] in clocks.monotonic }, wall: { [clocks] in clocks.wall })
    }

    @Test func `while nobody sets the wall clock, both are the same`() {
        let timeline = timeline()
        for _ in 0..<100 {
            clocks.pass(1_000)
            #expect(timeline.follow() == 0)
            #expect(timeline.source.now().milliseconds == clocks.wall)
            #expect(timeline.source.wall().milliseconds == clocks.wall)
        }
    }

    @Test(arguments: [3_600_000, -3_600_000, 30_000, 900] as [Int64])
    func `a wall clock that is set is followed without a step, at most a twentieth faster or slower`(step: Int64) {
        let timeline = timeline()
        clocks.setWall(by: step)
        #expect(timeline.source.wall().milliseconds - timeline.source.now().milliseconds == step)
        var seconds: Int64 = 0
        var ahead = Double.infinity
        while abs(ahead) > 0.1, seconds < 100_000 {
            let before = timeline.source.now().milliseconds
            ahead = timeline.follow()
            #expect(timeline.source.now().milliseconds == before, "looking moves nothing")
            clocks.pass(1_000)
            seconds += 1
            let passed = timeline.source.now().milliseconds - before
            #expect((949...1_051).contains(passed), "second \(seconds): \(passed) ms")
        }
        #expect(Double(seconds) <= Double(abs(step)) / 1_000 / Timeline.maxRate + 10)
        #expect(abs(timeline.source.now().milliseconds - clocks.wall) <= 150)
    }
}
