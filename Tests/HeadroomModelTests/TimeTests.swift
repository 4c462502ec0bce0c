import HeadroomModel
import Testing

@Suite struct TimeTests {
    @Test func `half is left after a half-life, however it is cut up`() {
        #expect(abs(decay(60, halfLife: 60) - 0.5) < 1e-15)
        let inSteps = (0..<600).reduce(1.0) { left, _ in left * decay(0.1, halfLife: 60) }
        #expect(abs(inSteps - 0.5) < 1e-12)
        #expect(decay(-5, halfLife: 60) == 1)
        #expect(decay(5, halfLife: 0) == 0)
    }

    @Test func `the exponential is what it should be to 1e-15`() {
        let table: [(x: Double, value: Double)] = [
            (0, 1), (1, 2.718281828459045235), (-1, 0.367879441171442322), (10, 22026.4657948067165),
            (-20, 2.06115362243855783e-9), (0.001, 1.00100050016670834), (100, 2.68811714181613545e43),
        ]
        for (x, value) in table { #expect(abs(exponential(x) / value - 1) < 1e-15, "\(x)") }
        for x in stride(from: -600.0, through: 600, by: 0.37) {
            #expect(abs(exponential(x) * exponential(-x) - 1) < 4e-15, "\(x)")
        }
        #expect(exponential(-1_000) == 0)
        #expect(exponential(1_000) == .infinity)
    }

    @Test func `an instant counts in whole milliseconds`() {
        let start = Timestamp(milliseconds: 1_793_000_000_000)
        #expect(start.adding(seconds: 1.2346).milliseconds == 1_793_000_001_235)
        #expect(start.adding(seconds: -2).seconds(since: start) == -2)
    }

    @Test func `times and instants from outside reach the ends of the number line, and no further`() {
        let start = Timestamp(milliseconds: 1_793_000_000_000)
        let last = Timestamp(milliseconds: .max)
        let first = Timestamp(milliseconds: .min)
        for far in [1e300, .infinity, 9.3e15] {
            #expect(start.adding(seconds: far) > Timestamp(milliseconds: 9_000_000_000_000_000))
            #expect(start.adding(seconds: -far) < Timestamp(milliseconds: -8_000_000_000_000_000))
            #expect(last.adding(seconds: far) == last && first.adding(seconds: -far) == first)
        }
        #expect(first.seconds(since: last) < -1e16 && last.seconds(since: first) > 1e16)
        #expect(first.seconds(since: start) < 0 && last.seconds(since: start) > 0)
    }

    @Test func `the whole number of any number is the nearest that there is`() {
        for (value, whole) in [
            (0x1p63, Int64.max), (.infinity, .max), (-0x1p63, .min), (-0x1p64, .min), (0x1p62, 1 << 62), (2.5, 3),
            (-2.5, -3), (.nan, 0),
        ] {
            #expect(Int64(saturating: value) == whole)
        }
    }
}
