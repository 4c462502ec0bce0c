import Foundation
import HeadroomClient
import HeadroomModel
import Synchronization
import Testing

@Suite struct AnswerCacheTests {
    private final class Clock: Sendable {
        private let now = Mutex(start)
        var source: TimeSource { TimeSource { self.now.withLock { $0 } } }
        func advance(seconds: Double) { now.withLock { $0 = $0.adding(seconds: seconds) } }
    }

    private func question(
        _ text: String, tenant: TenantID = "a", model: String = "m", work: Call.WorkKind = .model,
        vector: [Float]? = nil
    ) -> CacheQuestion {
        CacheQuestion(tenant: tenant, model: model, work: work, text: text, vector: vector)
    }

    private func words(_ answer: CachedAnswer?) -> String? { answer.map { String(decoding: $0.body, as: UTF8.self) } }

    @Test func `the same question of the same tenant and model has its answer, and no other`() throws {
        let cache = try AnswerCache(AnswerCache.Settings())
        #expect(cache.keep(Array("four".utf8), to: question("2+2"), inputTokens: 7, outputTokens: 1))
        let found = try #require(cache.answer(to: question("2+2")))
        #expect(words(found) == "four" && found.isExact && found.similarity == 1)
        #expect(found.inputTokens == 7 && found.outputTokens == 1)
        #expect(cache.answer(to: question("2 + 2")) == nil)
        #expect(cache.answer(to: question("2+2", tenant: "b")) == nil)
        #expect(cache.answer(to: question("2+2", model: "n")) == nil)
        #expect(
            !cache.keep([1], to: question("x", work: .tool)) && cache.answer(to: question("2+2", work: .tool)) == nil)
        #expect(cache.keep(Array("4".utf8), to: question("2+2")))
        #expect(words(cache.answer(to: question("2+2"))) == "4" && cache.size.answers == 1)
    }

    @Test func `a question that is alike enough has the answer of the most similar one`() throws {
        var settings = AnswerCache.Settings()
        settings.policy?.similarity = 0.9
        let cache = try AnswerCache(settings)
        cache.keep(Array("east".utf8), to: question("e", vector: [1, 0, 0]))
        cache.keep(Array("north".utf8), to: question("n", vector: [0, 2, 0]))
        let near = try #require(cache.answer(to: question("?", vector: [3, 0.3, 0])))
        #expect(words(near) == "east" && !near.isExact && abs(near.similarity - 0.995) < 0.001)
        #expect(cache.answer(to: question("?", vector: [1, 1, 0])) == nil)
        #expect(cache.answer(to: question("?", tenant: "b", vector: [1, 0, 0])) == nil)
        #expect(
            cache.answer(to: question("?", vector: [1, 0])) == nil
                && cache.answer(to: question("?", vector: [0, 0, 0])) == nil)
    }

    @Test func `tenants share answers only where their policies name one group`() throws {
        var settings = AnswerCache.Settings()
        for tenant: TenantID in ["a", "b"] { settings.policies[tenant] = CachePolicy(group: "g") }
        let cache = try AnswerCache(settings)
        cache.keep([1], to: question("q", vector: [1, 0]))
        #expect(cache.answer(to: question("q", tenant: "b"))?.body == [1])
        #expect(cache.answer(to: question("r", tenant: "b", vector: [1, 0]))?.body == [1])
        #expect(cache.answer(to: question("q", tenant: "c")) == nil)
        // A tenant that is called as the group is another owner.
        #expect(cache.answer(to: question("q", tenant: "g")) == nil)
    }

    @Test func `an answer ends with its time`() throws {
        let clock = Clock()
        let cache = try AnswerCache(
            AnswerCache.Settings(policy: CachePolicy(timeToLive: .seconds(60))), time: clock.source)
        cache.keep([1], to: question("q", vector: [1, 0]))
        clock.advance(seconds: 59)
        #expect(cache.answer(to: question("q"))?.age == .seconds(59))
        clock.advance(seconds: 1)
        #expect(cache.answer(to: question("r", vector: [1, 0])) == nil && cache.answer(to: question("q")) == nil)
        #expect(cache.size.answers == 0 && cache.size.bytes == 0)
    }

    @Test func `it is bounded, and the oldest make room but for those in use`() throws {
        var settings = AnswerCache.Settings()
        settings.maxAnswers = 10
        let cache = try AnswerCache(settings)
        for index in 0..<10 { cache.keep([UInt8(index)], to: question("\(index)", vector: [Float(index), 1])) }
        #expect(cache.answer(to: question("0")) != nil)
        cache.keep([10], to: question("10"))
        #expect(cache.answer(to: question("0")) != nil && cache.answer(to: question("1")) == nil)
        for index in 0..<10_000 { cache.keep([UInt8](repeating: 0, count: index % 100), to: question("more \(index)")) }
        #expect(cache.size.answers == 10 && cache.size.bytes < 10 * 400)
        settings.maxBytes = 1000
        let small = try AnswerCache(settings)
        #expect(!small.keep([UInt8](repeating: 0, count: 1000), to: question("large")))
        for index in 0..<100 { small.keep([UInt8](repeating: 0, count: 300), to: question("\(index)")) }
        #expect(small.size.answers == 1 && small.size.bytes <= 1000)
    }

    @Test func `answers outlive the process, what a crash cut off does not, and erasure reaches the disk`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "answers.cache")
        do {
            let cache = try AnswerCache(AnswerCache.Settings(), directory: directory.url)
            for index in 0..<20 { cache.keep([UInt8(index)], to: question("\(index)", vector: [Float(index), 1, 0])) }
            cache.keep(Array("of b".utf8), to: question("b's", tenant: "b"))
        }
        let again = try AnswerCache(AnswerCache.Settings(), directory: directory.url)
        #expect(again.size.answers == 21 && again.answer(to: question("7"))?.body == [7])
        #expect(again.answer(to: question("?", vector: [19, 1, 0]))?.body == [19])
        again.erase("b")
        #expect(try Data(contentsOf: file).firstRange(of: Data("of b".utf8)) == nil)
        let whole = try Data(contentsOf: file)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
        for cut in [whole.count - 1, whole.count / 2, 20, 16, 3, 0] {
            try whole.prefix(cut).write(to: file)
            let rest = try AnswerCache(AnswerCache.Settings(), directory: directory.url)
            #expect(rest.size.answers < 20 && rest.size.answers >= (cut > whole.count / 2 ? 19 : 0))
            rest.keep([99], to: question("after"))
            #expect(
                try AnswerCache(AnswerCache.Settings(), directory: directory.url).answer(to: question("after")) != nil)
        }
    }

    /// The definition: what a comparison with every vector finds, over vectors of one mean direction, as embeddings are.
    @Test(arguments: [UInt64(1), 2, 3])
    func `the search finds what a comparison with every vector finds`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let dimensions = [3, 96, 384][Int(seed) - 1]
        var settings = AnswerCache.Settings()
        settings.policy?.similarity = 0.8
        let cache = try AnswerCache(settings)
        func noise() -> Float { (0..<4).reduce(0) { sum, _ in sum + Float.random(in: -1...1, using: &random) } }
        let mean = (0..<dimensions).map { _ in noise() }
        var kept: [[Float]?] = []
        for index in 0..<600 {
            let vector = normalized(mean.map { $0 + noise() })
            cache.keep([UInt8(index & 255), UInt8(index >> 8)], to: question("\(index)", vector: vector))
            kept.append(vector)
        }
        // Some go, so that others take their places.
        for index in stride(from: 0, to: 600, by: 7) {
            cache.keep([0], to: question("\(index)"))
            kept[index] = nil
        }
        for _ in 0..<40 {
            let base = try #require(kept.compactMap(\.self).randomElement(using: &random))
            let asked = normalized(base.map { $0 + 0.6 * noise() / Float(dimensions).squareRoot() })
            let best = kept.indices.compactMap { index in
                kept[index].map { (index: index, similarity: zip($0, asked).reduce(Float(0)) { $0 + $1.0 * $1.1 }) }
            }.max { $0.similarity < $1.similarity }
            let found = cache.answer(to: question("?", vector: asked))
            let wanted = try #require(best)
            guard abs(wanted.similarity - 0.8) > 1e-4 else { continue }
            #expect((found != nil) == (wanted.similarity >= 0.8), "seed \(seed)")
            if let found { #expect(abs(found.similarity - Double(wanted.similarity)) < 1e-4, "seed \(seed)") }
        }
    }

    private func normalized(_ vector: [Float]) -> [Float] {
        let length = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        return vector.map { $0 / length }
    }
}
