import HeadroomModel
import Testing

@Suite struct ResourceTests {
    @Test func `an absent rate stays absent through arithmetic`() {
        let rates = Rates(rpm: 100, otpm: 7)
        #expect((rates * 2) == Rates(rpm: 200, otpm: 14))
        #expect(rates.map { $1 + 1 } == Rates(rpm: 101, otpm: 8))
        #expect(rates[.tokens] == nil)
        #expect(Rates(perMinute: SIMD4(1, 2, 3, 4), resources: [ResourceSet(.tokens)]) == Rates(tpm: 2))
        var changed = rates
        changed[.requests] = nil
        #expect(changed == Rates(otpm: 7))
    }

    @Test func `of two limits the lower holds, and one alone holds`() {
        let least = Rates.least(Rates(rpm: 10, tpm: 500), Rates(tpm: 300, itpm: 9))
        #expect(least == Rates(rpm: 10, tpm: 300, itpm: 9))
        #expect(Rates.least(.none, .none) == .none)
    }

    @Test func `work takes as long as the scarcest resource needs for it`() {
        let work = Work(requests: 10, tokens: 30_000, inputTokens: 20_000, outputTokens: 10_000)
        #expect(work.seconds(of: Rates(rpm: 60, tpm: 90_000)) == 20)
        #expect(work.seconds(of: Rates(rpm: 600)) == 1)
        #expect(work.seconds(of: .none) == 0)
    }

    @Test func `rates and work turn into each other over time`() {
        let work = Rates(rpm: 60, tpm: 6_000).work(overSeconds: 30)
        #expect(work == Work(requests: 30, tokens: 3_000))
        let both: ResourceSet = [ResourceSet(.requests), ResourceSet(.tokens)]
        #expect(work.rates(overSeconds: 30, of: both) == Rates(rpm: 60, tpm: 6_000))
    }

    @Test func `every set lists its members in order`() {
        for bits in UInt8(0)..<16 {
            let set = ResourceSet(rawValue: bits)
            #expect(Array(set.members) == Resource.allCases.filter { set.contains($0) })
        }
    }
}
