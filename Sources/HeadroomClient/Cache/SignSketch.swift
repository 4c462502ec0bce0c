import HeadroomModel

/// Short sketches of directions: the signs of a vector's coordinates after a random rotation.
///
/// Two directions at the angle θ differ in each sign with the probability θ/π, whatever the vectors are made of
/// (Charikar, "Similarity Estimation Techniques from Rounding Algorithms", STOC 2002). So the number of signs that
/// differ says of nearly all vectors that they are too far away, for 16 bytes each instead of 4 a coordinate.
///
/// The rotation is two rounds of random signs and a Walsh-Hadamard transform (Ailon and Chazelle, "The Fast
/// Johnson-Lindenstrauss Transform", 2009), which takes n log n additions.
struct SignSketch {
    static let bits = 512
    /// Of 64 signs each.
    static let words = bits / 64

    private let dimensions: Int
    /// Of the two rounds, each 1 or −1.
    private let signs: [[Float]]

    init(dimensions: Int) {
        self.dimensions = dimensions
        var size = Self.bits
        while size < dimensions { size *= 2 }
        // The same in every process: sketches are not stored, but tests compare runs.
        var random = SplitMix64(seed: 0x9E37_79B9_7F4A_7C15)
        signs = (0..<2).map { _ in (0..<size).map { _ in random.next() >> 63 == 0 ? 1 : -1 } }
    }

    /// ``words`` words.
    func sketch(_ vector: [Float]) -> [UInt64] {
        precondition(vector.count == dimensions)
        var values = [Float](repeating: 0, count: signs[0].count)
        for index in vector.indices { values[index] = vector[index] }
        for round in signs {
            for index in values.indices { values[index] *= round[index] }
            Self.transform(&values)
        }
        return (0..<Self.words).map { word in
            (0..<64).reduce(0) { values[64 * word + $1] < 0 ? $0 | 1 << UInt64($1) : $0 }
        }
    }

    /// Walsh-Hadamard, in place and not normalized.
    private static func transform(_ values: inout [Float]) {
        var half = 1
        while half < values.count {
            var start = 0
            while start < values.count {
                for index in start..<start + half {
                    let (left, right) = (values[index], values[index + half])
                    values[index] = left + right
                    values[index + half] = left - right
                }
                start += 2 * half
            }
            half *= 2
        }
    }

    /// How many of `bits` signs may differ for a cosine of `similarity`: the mean and five standard deviations of a binomial.
    /// One vector in three million that is similar enough is passed over so, if its signs are independent; those of an
    /// orthogonal rotation spread less.
    static func mostDifferences(similarity: Float, bits: Int) -> Int {
        let chance = acos(min(1, max(-1, similarity))) / .pi
        let mean = Float(bits) * chance
        return Int((mean + 5 * (mean * (1 - chance)).squareRoot()).rounded(.up))
    }

    /// arccos to 7e-5 (Abramowitz and Stegun, "Handbook of Mathematical Functions", 4.4.45).
    private static func acos(_ x: Float) -> Float {
        let positive = abs(x)
        let polynomial = 1.5707288 + positive * (-0.2121144 + positive * (0.0742610 - positive * 0.0187293))
        let angle = (1 - positive).squareRoot() * polynomial
        return x < 0 ? .pi - angle : angle
    }
}
