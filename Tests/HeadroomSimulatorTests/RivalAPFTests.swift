import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RivalAPFTests {
    /// A level that has had a steady demand for one period.
    private func level(
        nominal: Double, least: Double = 0, most: Double = .infinity, demand: Double
    ) -> APFBorrowing.Level {
        var seats = SeatDemand()
        seats.note([demand, demand])
        return APFBorrowing.Level(nominal: nominal, least: least, most: most, demand: seats)
    }

    @Test func `above what is nominal shares follow demand so that inflating it pays`() {
        for (claim, share) in [(40.0, 26.7), (160.0, 59.3)] {
            // All seats belong to a level that is idle and lends them.
            let levels =
                [claim, 80, 30].map { level(nominal: 0, demand: $0) } + [level(nominal: 100, demand: 0)]
            let limits = APFBorrowing.divide(100, over: levels)
            #expect(abs(limits[0] - share) < 0.05, "needs \(claim): \(limits)")
        }
    }

    @Test func `what a lender used in the last period it has back in the next one`() {
        let idle = [level(nominal: 50, demand: 0), level(nominal: 50, demand: 500)]
        let back = [level(nominal: 50, demand: 50), level(nominal: 50, demand: 500)]
        #expect(APFBorrowing.divide(100, over: idle)[0] < 0.1)
        #expect(APFBorrowing.divide(100, over: back) == [50, 50])
    }

    @Test func `limits that do not fit keep what is never lent and cut the rest in one proportion`() {
        let levels = [
            level(nominal: 60, least: 20, demand: 100), level(nominal: 60, least: 10, demand: 40),
        ]
        // 30 of the 70 that would be due above 20 and 10.
        let limits = APFBorrowing.divide(60, over: levels)
        #expect(abs(limits[0] - 37.143) < 0.001 && abs(limits[1] - 22.857) < 0.001, "\(limits)")
        // And when even these do not fit, it over-commits.
        #expect(APFBorrowing.divide(25, over: levels) == [20, 10])
    }

    @Test func `smoothed demand jumps up at once and falls with a half life of 298 seconds`() {
        var seats = SeatDemand()
        seats.note([100, 100])
        #expect(seats.smoothed == 100)
        var periods = 0
        while seats.smoothed > 50 {
            seats.note([0, 0])
            periods += 1
        }
        // 29.8 periods of 10 s.
        #expect(periods == 30)
        let before = seats.smoothed / SeatDemand.smoothingCoefficient
        #expect(abs(290 + 10 * (before - 50) / (before - seats.smoothed) - 298) < 0.5)
        seats.note([60, 100])
        #expect(seats.smoothed == 100 && seats.highWatermark == 100)
    }

    @Test func `every part stands at one proportion of its target or at a bound`() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed, stream: "clamp")
            let parts = (0..<(1 + random.drawIndex(below: 9))).map { _ in
                let lower = random.drawIndex(below: 3) == 0 ? 0 : random.drawUniform() * 10
                let upper = random.drawIndex(below: 4) == 0 ? Double.infinity : lower + random.drawUniform() * 30
                return ClampedProportion.Part(target: 0.001 + random.drawUniform() * 20, lower: lower, upper: upper)
            }
            let total = random.drawUniform() * 150
            let found = ClampedProportion.divide(total, over: parts)
            let lowest = parts.reduce(0) { $0 + $1.lower }
            let highest = parts.reduce(0) { $0 + $1.upper }
            let sum = found.reduce(0, +)
            #expect(abs(sum - min(max(total, lowest), highest)) < 1e-9 * 150, "seed \(seed) \(total) \(parts)")

            let ratios = zip(found, parts).map { ($0 / $1.target, part: $1, found: $0) }
            let free = ratios.filter { $0.found > $0.part.lower + 1e-9 && $0.found < $0.part.upper - 1e-9 }
            guard let common = free.first?.0 else { continue }
            for ratio in ratios {
                let isFair =
                    abs(ratio.0 - common) < 1e-9 * max(1, common)
                    || (ratio.found <= ratio.part.lower + 1e-9 && ratio.0 > common)
                    || (ratio.found >= ratio.part.upper - 1e-9 && ratio.0 < common)
                #expect(isFair, "seed \(seed) \(total) \(parts): \(found)")
            }
        }
    }

    private func observation(_ seconds: [[Double]], floors: [Double]) -> PoolObservation {
        PoolObservation(
            capacity: Rates(rpm: 120), periodSeconds: 10,
            tenants: seconds.enumerated().map { index, demands in
                PoolObservation.Tenant(
                    tenant: TenantID(unchecked: "t\(index)"), floor: Rates(rpm: floors[index]),
                    demand: Rates(rpm: demands.last ?? 0), demandEachSecond: demands.map { Rates(rpm: $0) })
            })
    }

    @Test func `the allocator gives nominal limits at first then lends what is idle but not the floor`() {
        var allocator = APFBorrowing()
        let floors = [30.0, 60, 0]
        let nominals = [30.0, 60, 30].map { Rates(rpm: $0) }
        #expect(allocator.allocate(observation([[], [], []], floors: floors)) == nominals)

        let busy = Array(repeating: 500.0, count: 10)
        let idle = Array(repeating: 0.0, count: 10)
        var rates = allocator.allocate(observation([busy, idle, idle], floors: floors)).map { $0[.requests] ?? -1 }
        #expect(rates[1] == 60 && abs(rates[2] - 3) < 1e-9 && abs(rates[0] - 57) < 1e-9, "\(rates)")

        for _ in 0..<2 {
            rates = allocator.allocate(observation([busy, idle, busy], floors: floors)).map { $0[.requests] ?? -1 }
        }
        #expect(rates[1] == 60 && rates[2] >= 30 - 1e-9, "the lender has its own back: \(rates)")
    }

    @Test func `one request in ten seconds is no peak`() {
        var allocator = APFBorrowing()
        let floors = [0.0, 0, 0]
        // 60 a minute for one second is one request; in a call's time that is 6 a minute.
        let lone = [60.0] + Array(repeating: 0.0, count: 9)
        let busy = Array(repeating: 500.0, count: 10)
        let rates = allocator.allocate(observation([busy, lone, busy], floors: floors)).map { $0[.requests] ?? -1 }
        #expect(abs(rates[1] - 6) < 1e-9 && abs(rates[0] - 57) < 1e-9, "\(rates)")
    }
}
