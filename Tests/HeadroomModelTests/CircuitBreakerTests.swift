import HeadroomModel
import Testing

@Suite struct CircuitBreakerTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let policy = BreakerPolicy()

    private var breaker = CircuitBreaker(at: start)

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private mutating func advance(to second: Double, attempts: Double = 0, failures: Double = 0) {
        breaker.advance(to: Self.after(second), under: Self.policy) { _ in (attempts, failures) }
    }

    private mutating func end(_ outcome: Outcome, began: Double, at second: Double) {
        breaker.note(outcome, startedAt: Self.after(began), under: Self.policy, at: Self.after(second))
    }

    @Test mutating func `opens at half of the attempts, and not on few`() {
        advance(to: 1, attempts: 19, failures: 19)
        #expect(breaker.poolState == nil)
        advance(to: 2, attempts: 40, failures: 19)
        #expect(breaker.poolState == nil)
        advance(to: 3, attempts: 40, failures: 20)
        #expect(breaker.poolState == .open)
    }

    @Test mutating func `goes half-open after its time, and five successes in a row close it`() {
        advance(to: 1, attempts: 20, failures: 20)
        advance(to: 15.9)
        #expect(breaker.poolState == .open)
        advance(to: 16)
        #expect(breaker.poolState == .halfOpen)
        for n in 1...5 {
            #expect(breaker.poolState == .halfOpen)
            end(.ok, began: 16 + Double(n), at: 17 + Double(n))
        }
        #expect(breaker.poolState == nil)
    }

    @Test mutating func `one failed probe opens it again, one that began before says nothing`() {
        advance(to: 1, attempts: 20, failures: 20)
        advance(to: 16)
        end(.overload, began: 15, at: 17)
        for _ in 1...9 { end(.ok, began: 15.5, at: 17) }
        #expect(breaker.poolState == .halfOpen)
        end(.server, began: 16, at: 18)
        #expect(breaker.poolState == .open)
        advance(to: 32.9)
        #expect(breaker.poolState == .open)
        advance(to: 33)
        #expect(breaker.poolState == .halfOpen)
    }

    @Test mutating func `what the caller or the quota did is no failure and no success`() {
        advance(to: 1, attempts: 20, failures: 20)
        advance(to: 16)
        for outcome in Outcome.allCases where ![.ok, .overload, .server].contains(outcome) {
            for _ in 1...9 { end(outcome, began: 17, at: 18) }
            #expect(breaker.poolState == .halfOpen, "\(outcome)")
        }
    }

    @Test mutating func `failures from before it closed are forgiven`() {
        advance(to: 1, attempts: 20, failures: 20)
        advance(to: 16)
        for _ in 1...5 { end(.ok, began: 16, at: 17) }
        var asked: Timestamp?
        breaker.advance(to: Self.after(18), under: Self.policy) { since in
            asked = since
            return (0, 0)
        }
        #expect(asked == Self.after(17))
    }
}
