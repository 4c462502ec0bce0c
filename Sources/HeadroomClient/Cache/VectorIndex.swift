/// Vectors of one length, and the exact search for the one that is most similar to another.
///
/// A search looks at 128 signs of every vector, at 128 more of those that come near enough, then at all 512, and compares the
/// coordinates of the few that are left: it finds what a comparison with every vector would find
/// (``SignSketch/mostDifferences(similarity:bits:)`` says how nearly always). 100,000 vectors of 384 take 160 MB, of
/// which a search reads little more than the first 1.6.
struct VectorIndex {
    let dimensions: Int
    private let sketcher: SignSketch
    /// Of the entry at each place.
    private var ids: [Int] = []
    private var places: [Int: Int] = [:]
    /// Words of the sketch at each place: the first two, the next two, the last four.
    private var first: [UInt64] = []
    private var second: [UInt64] = []
    private var rest: [UInt64] = []
    /// Normalized.
    private var coordinates: [Float] = []

    struct Match: Equatable {
        let id: Int
        /// The cosine: 1 for the same direction.
        let similarity: Float
    }

    init(dimensions: Int) {
        self.dimensions = dimensions
        sketcher = SignSketch(dimensions: dimensions)
    }

    var count: Int { ids.count }

    static func bytes(dimensions: Int) -> Int { 4 * dimensions + 8 * SignSketch.words + 64 }

    /// Of length 1. `nil`: a vector without a direction.
    static func normalized(_ vector: [Float]) -> [Float]? {
        let length = vector.reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
        guard length > 0, length.isFinite else { return nil }
        return vector.map { $0 / length }
    }

    /// - Parameter vector: normalized.
    mutating func add(_ vector: [Float], id: Int) {
        precondition(places[id] == nil && vector.count == dimensions)
        let sketch = sketcher.sketch(vector)
        places[id] = ids.count
        ids.append(id)
        first += sketch[0..<2]
        second += sketch[2..<4]
        rest += sketch[4..<8]
        coordinates += vector
    }

    mutating func remove(_ id: Int) {
        guard let place = places.removeValue(forKey: id) else { return }
        let last = ids.count - 1
        if place != last {
            ids[place] = ids[last]
            places[ids[place]] = place
        }
        ids.removeLast()
        // The last vector takes the place.
        Self.removeBySwapping(&first, 2, place, last)
        Self.removeBySwapping(&second, 2, place, last)
        Self.removeBySwapping(&rest, 4, place, last)
        Self.removeBySwapping(&coordinates, dimensions, place, last)
    }

    private static func removeBySwapping<Element>(_ array: inout [Element], _ width: Int, _ place: Int, _ last: Int) {
        if place != last {
            for index in 0..<width { array[place * width + index] = array[last * width + index] }
        }
        array.removeLast(width)
    }

    func vector(of id: Int) -> [Float]? {
        places[id].map { Array(coordinates[$0 * dimensions..<($0 + 1) * dimensions]) }
    }

    /// The vector that is most similar, if it is at least so similar.
    /// - Parameters:
    ///   - vector: normalized.
    ///   - isWanted: whether the entry may be used.
    func nearest(to vector: [Float], atLeast similarity: Float, where isWanted: (Int) -> Bool) -> Match? {
        let sketch = sketcher.sketch(vector)
        let bounds = [128, 256, 512].map { SignSketch.mostDifferences(similarity: similarity, bits: $0) }
        var best: Match?
        unsafe first.withUnsafeBufferPointer { words in
            for place in 0..<ids.count {
                let near = unsafe Self.differences(words[2 * place] ^ sketch[0], words[2 * place + 1] ^ sketch[1])
                guard near <= bounds[0] else { continue }
                let more = near + Self.differences(second[2 * place] ^ sketch[2], second[2 * place + 1] ^ sketch[3])
                guard more <= bounds[1] else { continue }
                let all =
                    more + Self.differences(rest[4 * place] ^ sketch[4], rest[4 * place + 1] ^ sketch[5])
                    + Self.differences(rest[4 * place + 2] ^ sketch[6], rest[4 * place + 3] ^ sketch[7])
                guard all <= bounds[2] else { continue }
                let found = product(vector, place)
                if found >= similarity, found > best?.similarity ?? -2, isWanted(ids[place]) {
                    best = Match(id: ids[place], similarity: found)
                }
            }
        }
        return best
    }

    /// The bits that are set in both words. The processor's own instruction is no part of the least x86-64, for which a
    /// library is built; counted together the two take two thirds of the time (Warren, "Hacker's Delight", 5-1).
    private static func differences(_ left: UInt64, _ right: UInt64) -> Int {
        let pairs: UInt64 = 0x5555_5555_5555_5555
        let nibbles: UInt64 = 0x3333_3333_3333_3333
        let a = left &- (left >> 1 & pairs)
        let b = right &- (right >> 1 & pairs)
        let sum = (a & nibbles) &+ (a >> 2 & nibbles) &+ (b & nibbles) &+ (b >> 2 & nibbles)
        let bytes = (sum & 0x0F0F_0F0F_0F0F_0F0F) &+ (sum >> 4 & 0x0F0F_0F0F_0F0F_0F0F)
        return Int((bytes &* 0x0101_0101_0101_0101) >> 56)
    }

    private func product(_ vector: [Float], _ place: Int) -> Float {
        unsafe coordinates.withUnsafeBufferPointer { all in
            unsafe vector.withUnsafeBufferPointer { mine in
                let start = place * dimensions
                var sums = SIMD8<Float>.zero
                var index = 0
                while index + 8 <= dimensions {
                    var (left, right) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
                    for lane in 0..<8 {
                        left[lane] = unsafe mine[index + lane]
                        right[lane] = unsafe all[start + index + lane]
                    }
                    sums += left * right
                    index += 8
                }
                var sum = sums.sum()
                while index < dimensions {
                    sum += unsafe mine[index] * all[start + index]
                    index += 1
                }
                return sum
            }
        }
    }
}
