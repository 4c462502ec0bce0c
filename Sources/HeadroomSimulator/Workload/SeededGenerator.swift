import HeadroomModel

/// Random bits that are the same for the same seed on every machine and in every build: xoshiro256** (Blackman and
/// Vigna, 2018), its state filled by SplitMix64 as its authors advise.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    /// `stream` names what the bits are for. Streams of one seed are independent, so that one more draw in one part of
    /// a run changes nothing in the others.
    package init(seed: UInt64, stream: StaticString) {
        // FNV-1a, 64 bits.
        var mix = SplitMix64(seed: seed ^ stream.description.fingerprint)
        state = (mix.next(), mix.next(), mix.next(), mix.next())
    }

    package mutating func next() -> UInt64 {
        func rotate(_ bits: UInt64, by count: UInt64) -> UInt64 { (bits << count) | (bits >> (64 - count)) }
        let result = rotate(state.1 &* 5, by: 7) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = rotate(state.3, by: 45)
        return result
    }
}

extension RandomNumberGenerator {
    /// Even in [0, 1), in steps of 2⁻⁵³. The standard library's own draws may change with its version.
    package mutating func drawUniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Even in 0..<count; `count` is at least 1.
    package mutating func drawIndex(below count: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(count)).high)
    }

    package mutating func drawExponential(mean: Double) -> Double {
        // 1 - u is never 0.
        -mean * naturalLogarithm(1 - drawUniform())
    }

    /// A wait of this mean whose coefficient of variation is `variation`, at least 1 (less counts as 1): one of two
    /// exponentials with balanced means, the usual H₂ fit to two moments (Tijms, "Stochastic Models", 1994).
    package mutating func drawBurstyWait(mean: Double, variation: Double) -> Double {
        let square = Swift.max(1, variation) * Swift.max(1, variation)
        let share = 0.5 * (1 + ((square - 1) / (square + 1)).squareRoot())
        let picked = drawUniform() < share ? share : 1 - share
        return drawExponential(mean: mean / (2 * picked))
    }

    /// Of mean 0 and deviation 1: the sum of twelve even draws less 6 (Irwin and Hall), exact to the third moment and
    /// without a tail beyond 6.
    package mutating func drawNormal() -> Double {
        var sum = -6.0
        for _ in 0..<12 { sum += drawUniform() }
        return sum
    }

    /// Fisher and Yates.
    package mutating func shuffle<Element>(_ elements: inout [Element]) {
        for last in stride(from: elements.count - 1, to: 0, by: -1) {
            elements.swapAt(last, drawIndex(below: last + 1))
        }
    }
}

/// The natural logarithm of a positive, finite `x`, the same bits on every machine (see `exponential(_:)`).
///
/// x = m · 2^e with m in [√½, √2); ln m = 2 · artanh((m - 1) / (m + 1)), whose series to the 23rd power has a relative
/// error below 1e-15.
package func naturalLogarithm(_ x: Double) -> Double {
    precondition(x > 0 && x.isFinite, "a logarithm needs a positive, finite number")
    var significand = x.significand
    var exponent = Double(x.exponent)
    if significand > 1.41421356237309504880 {
        significand /= 2
        exponent += 1
    }
    let ratio = (significand - 1) / (significand + 1)
    let square = ratio * ratio
    var sum = 0.0
    for power in stride(from: 23.0, through: 1.0, by: -2.0) { sum = sum * square + 1 / power }
    return 2 * ratio * sum + exponent * naturalLogarithmOf2
}
