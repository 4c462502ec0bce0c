import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct BucketTests {
    @Test func `never admits more than rate · time + burst and one call of debt`() {
        for seed in 1...50 {
            var random = SplitMix64(seed: seed)
            let rates = Rates(rpm: Double.random(in: 1...6000, using: &random), tpm: 60_000)
            let burstSeconds = Double.random(in: 1...10, using: &random)
            var bucket = Bucket(rates, burstSeconds: burstSeconds, at: start)
            var admitted = Work.zero
            var largest = Work.zero
            var now = 0.0
            for step in 0..<2000 {
                now += Double.random(in: 0...0.2, using: &random)
                let work = Work(requests: 1, tokens: Double.random(in: 1...20_000, using: &random))
                if bucket.admits(at: after(now)) {
                    bucket.charge(work, at: after(now))
                    admitted += work
                    largest.amounts = largest.amounts.replacing(
                        with: work.amounts, where: work.amounts .> largest.amounts)
                }
                for resource in [Resource.requests, .tokens] {
                    // Two milliseconds for the rounding of instants, one request for the least burst.
                    let bound =
                        rates.work(overSeconds: now + 0.002 + burstSeconds)[resource] + largest[resource]
                        + (resource == .requests ? 1 : 0)
                    #expect(admitted[resource] <= bound, "seed \(seed) step \(step)")
                }
            }
        }
    }

    @Test func `all limited resources must have some left, the others do not count`() {
        var bucket = Bucket(Rates(rpm: 60, tpm: 6000), burstSeconds: 5, at: start)
        bucket.charge(Work(requests: 1, tokens: 500), at: start)
        #expect(bucket.admits(at: start) == false)
        #expect(bucket.admits(at: after(0.1)) == true)
        bucket.charge(Work(requests: 1, tokens: 1, inputTokens: 1e9), at: after(0.1))
        #expect(bucket.admits(at: after(0.1)) == true)
    }

    @Test func `a call larger than the burst goes, and the debt is paid before the next`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 5, at: start)
        #expect(bucket.admits(at: start) == true)
        bucket.charge(Work(tokens: 2500), at: start)
        #expect(bucket.admits(at: after(19.9)) == false)
        #expect(bucket.admission(after: start) == after(20.001))
        #expect(bucket.admits(at: after(20.1)) == true)
    }

    @Test func `a full bucket gains nothing from the time in which it was full`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 5, at: start)
        bucket.charge(Work(tokens: 1500), at: after(60))
        #expect(bucket.admits(at: after(69.9)) == false)
        #expect(bucket.admits(at: after(70.1)) == true)
    }

    @Test func `a change keeps the level in proportion, neither refilled nor emptied`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        bucket.charge(Work(tokens: 750), at: start)
        for (rate, level) in [(12_000.0, 500.0), (600, 25), (6000, 250)] {
            bucket.change(to: Rates(tpm: rate), burstSeconds: 10, at: start)
            #expect(abs(bucket.remaining[.tokens] - level) < 1e-9)
        }
    }

    @Test func `another size keeps what is saved up, as far as it fits`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        for (seconds, level) in [(0.5, 50.0), (10, 50), (0.2, 20)] {
            bucket.resize(burstSeconds: seconds, at: start)
            #expect(abs(bucket.remaining[.tokens] - level) < 1e-9)
        }
        // It holds as much as its size says.
        bucket.resize(burstSeconds: 10, at: start)
        #expect(bucket.admits(at: after(60)) == true)
        #expect(abs(bucket.remaining[.tokens] - 1000) < 1e-9)
    }

    @Test func `what is passed on flows over at once, and the bucket holds as much as before`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        bucket.charge(Work(tokens: 600), at: start)
        bucket.passOn(0.75, at: start)
        #expect(bucket.admission(after: start).map { $0.seconds(since: after(0)) < 0.01 } == true)
        #expect(abs(bucket.takeOverflow(at: after(4))[.tokens] - 300) < 1e-9)
        #expect(abs(bucket.remaining[.tokens] - 500) < 1e-9)
        bucket.charge(Work(tokens: 600), at: after(4))
        // 100 tokens of debt at a quarter of 100 a second.
        #expect(bucket.admission(after: after(4)).map { abs($0.seconds(since: after(8))) < 0.01 } == true)
        bucket.passOn(0, at: after(8))
        #expect(bucket.takeOverflow(at: after(10))[.tokens] == 300)
        #expect(abs(bucket.remaining[.tokens] - 200) < 1e-9)
    }

    @Test func `a call that leaves a reserve waits for it`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        bucket.charge(Work(tokens: 900), at: start)
        let kept = Work(tokens: 300)
        #expect(bucket.admits(at: start) == true)
        #expect(bucket.admits(keeping: kept, at: start) == false)
        #expect(bucket.admission(keeping: kept, after: start).map { abs($0.seconds(since: after(2))) < 0.01 } == true)
        #expect(bucket.admits(keeping: kept, at: after(2.01)) == true)
    }

    @Test func `a debt outlives a change as large as it was`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        bucket.charge(Work(tokens: 1500), at: start)
        bucket.change(to: Rates(tpm: 600), burstSeconds: 10, at: start)
        #expect(abs(bucket.remaining[.tokens] + 500) < 1e-9)
    }

    @Test func `a rate of 0 admits nothing, and opening it again starts empty`() {
        var bucket = Bucket(Rates(tpm: 6000), burstSeconds: 10, at: start)
        bucket.change(to: Rates(tpm: 0), burstSeconds: 10, at: start)
        #expect(bucket.admits(at: after(1000)) == false)
        #expect(bucket.admission(after: start) == nil)
        bucket.change(to: Rates(tpm: 6000), burstSeconds: 10, at: after(1000))
        #expect(bucket.admits(at: after(1000)) == false)
        #expect(bucket.admits(at: after(1000.01)) == true)
    }

    @Test func `the least burst is one request, however small the rate`() {
        var bucket = Bucket(Rates(rpm: 1), burstSeconds: 5, at: start)
        #expect(abs(bucket.remaining[.requests] - 1) < 1e-9)
        bucket.charge(Work(requests: 1), at: start)
        #expect(bucket.admits(at: after(120)) == true)
        #expect(abs(bucket.remaining[.requests] - 1) < 1e-9)
    }

    @Test func `overflow that is kept leaves nothing less than nothing, however sums are rounded`() {
        var generator = SplitMix64(seed: 7)
        for round in 0..<2000 {
            let rate = Double.random(in: 1...500_000, using: &generator)
            var bucket = Bucket(Rates(tpm: rate), burstSeconds: .random(in: 0.1...10, using: &generator), at: start)
            bucket.charge(Work(tokens: .random(in: 0...rate, using: &generator)), at: start)
            bucket.passOn(0.9, at: start)
            let now = after(.random(in: 0...20, using: &generator))
            bucket.keepOverflow(at: now)
            let left = bucket.takeOverflow(at: now)
            #expect(left[.tokens] >= 0, "round \(round): \(left[.tokens])")
        }
    }
}
