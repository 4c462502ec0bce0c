import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct TaskKindHoldTests {
    private let now = Timestamp(milliseconds: 1_793_000_000_000)

    private func hold(_ rate: Double) -> TaskKindHold {
        var hold = TaskKindHold()
        hold.load([PoolAllocation.TaskKind(kind: "research", requestsPerMinute: rate)], at: now)
        return hold
    }

    @Test func `other kinds and calls without one go as they come; a paused kind does not go`() {
        var hold = hold(0)
        #expect(hold.ask(nil, patience: 0, at: now) == .goes(afterSeconds: 0))
        #expect(hold.ask("review", patience: 0, at: now) == .goes(afterSeconds: 0))
        #expect(hold.ask("research", patience: 1e6, at: now) == .held(seconds: nil))
        hold.load([], at: now)
        #expect(hold.ask("research", patience: 0, at: now) == .goes(afterSeconds: 0))
    }

    @Test(arguments: [0.5, 6, 60, 600.0]) func `over ten minutes a kind gets its rate, and its burst at most`(
        rate: Double
    ) {
        var hold = hold(rate)
        var went = 0
        for tenth in 0..<6000 {
            let instant = now.adding(seconds: Double(tenth) / 10)
            while hold.ask("research", patience: 0, at: instant) == .goes(afterSeconds: 0) { went += 1 }
        }
        let most = 10 * rate + max(1, rate / 6) + 1
        #expect(Double(went) <= most && Double(went) >= 10 * rate - 1, "\(went)")
    }

    @Test func `those who wait get their turns one after the other, and who will not wait reserves nothing`() {
        var hold = hold(6)
        #expect(hold.ask("research", patience: 0, at: now) == .goes(afterSeconds: 0))
        #expect(hold.ask("research", patience: 0, at: now) == .held(seconds: 10))
        #expect(hold.ask("research", patience: 9.9, at: now) == .held(seconds: 10))
        #expect(hold.ask("research", patience: 60, at: now) == .goes(afterSeconds: 10))
        #expect(hold.ask("research", patience: 60, at: now) == .goes(afterSeconds: 20))
        #expect(hold.ask("research", patience: 0, at: now.adding(seconds: 5)) == .held(seconds: 25))
    }

    @Test func `a new rate neither gives a second burst nor keeps the waits of the old one`() {
        var hold = hold(600)
        for _ in 0..<100 { #expect(hold.ask("research", patience: 0, at: now) == .goes(afterSeconds: 0)) }
        #expect(hold.ask("research", patience: 0, at: now) != .goes(afterSeconds: 0))
        hold.load([PoolAllocation.TaskKind(kind: "research", requestsPerMinute: 599)], at: now)
        #expect(hold.ask("research", patience: 0, at: now) != .goes(afterSeconds: 0))
        var slow = self.hold(0.1)
        #expect(slow.ask("research", patience: 0, at: now) == .goes(afterSeconds: 0))
        slow.load([PoolAllocation.TaskKind(kind: "research", requestsPerMinute: 60)], at: now)
        #expect(slow.ask("research", patience: 1, at: now) == .goes(afterSeconds: 1))
    }
}
