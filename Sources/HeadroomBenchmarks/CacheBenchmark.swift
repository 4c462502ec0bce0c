import HeadroomClient
import HeadroomModel

/// A look-up among vectors of an embedding's size, by how alike questions have to be, beside a comparison with every vector.
enum CacheBenchmark {
    private static let dimensions = 384

    static func run(smoke: Bool) throws {
        let count = smoke ? 1_000 : 100_000
        let questions = smoke ? 10 : 200
        var random = SplitMix64(seed: 1)
        // As embeddings are: around one mean direction, and wider in some directions than in others.
        let mean = (0..<dimensions).map { _ in 0.5 * noise(&random) }
        let widths = (0..<dimensions).map { 4 / Float(1 + $0).squareRoot() }
        let vectors = (0..<count).map { _ in
            normalized((0..<dimensions).map { mean[$0] + widths[$0] * noise(&random) })
        }
        for similarity in [0.98, 0.95, 0.9, 0.85] {
            let cache = try AnswerCache(AnswerCache.Settings(policy: CachePolicy(similarity: similarity)))
            for (index, vector) in vectors.enumerated() {
                cache.keep(
                    Array("\(index)".utf8),
                    to: CacheQuestion(tenant: "acme", model: "m", text: "\(index)", vector: vector))
            }
            let asked = (0..<questions).map { index in
                // As alike as is wanted, or a little more or less.
                let part = Float(1 - similarity * similarity).squareRoot() * Float.random(in: 0.7...1, using: &random)
                return normalized(
                    vectors[index * 7 % count].map {
                        $0 * Float(similarity) + part * noise(&random) / Float(dimensions).squareRoot()
                    })
            }
            let clock = ContinuousClock()
            let start = clock.now
            let found = asked.map { vector in
                cache.answer(to: CacheQuestion(tenant: "acme", model: "m", text: "?", vector: vector))
            }
            let seconds = (clock.now - start) / .seconds(1)
            var (wanted, right) = (0, 0)
            let exactStart = clock.now
            for (vector, found) in zip(asked, found).prefix(smoke ? 10 : 50) {
                let best = vectors.indices.lazy.map { (index: $0, similarity: product(vectors[$0], vector)) }
                    .max { $0.similarity < $1.similarity }
                guard let best, Double(best.similarity) >= similarity else { continue }
                wanted += 1
                if let found, abs(found.similarity - Double(best.similarity)) < 1e-4 { right += 1 }
            }
            let exact = (clock.now - exactStart) / .seconds(1) / Double(smoke ? 10 : 50)
            print(
                "similarity \(similarity): \(microseconds(seconds / Double(questions))) µs a look-up among \(count), "
                    + "\(microseconds(exact)) µs by comparing every vector; \(right) of \(wanted) found as by that")
        }
    }

    private static func microseconds(_ seconds: Double) -> Int { Int((seconds * 1_000_000).rounded()) }

    /// About normal.
    private static func noise(_ random: inout SplitMix64) -> Float {
        (0..<4).reduce(0) { sum, _ in sum + Float.random(in: -0.87...0.87, using: &random) }
    }

    private static func product(_ left: [Float], _ right: [Float]) -> Float {
        var sum: Float = 0
        for index in left.indices { sum += left[index] * right[index] }
        return sum
    }

    private static func normalized(_ vector: [Float]) -> [Float] {
        let length = product(vector, vector).squareRoot()
        return vector.map { $0 / length }
    }
}
