import HeadroomModel
import Testing

@Suite struct RingClockTests {
    @Test func `a ring moves on with the newest step and names the slots to empty`() {
        var clock = RingClock(newest: 10)
        #expect(clock.advance(to: 12, of: 4) == 11..<13)
        #expect(clock.advance(to: 11, of: 4).isEmpty)
        #expect(clock.newest == 12)
        // A jump beyond the whole ring empties each slot once.
        #expect(clock.advance(to: 100, of: 4) == 97..<101)
        #expect(clock.slot(of: 96, of: 4) == nil && clock.slot(of: 101, of: 4) == nil)
        #expect((97...100).map { clock.slot(of: $0, of: 4) } == [1, 2, 3, 0])
    }
}
