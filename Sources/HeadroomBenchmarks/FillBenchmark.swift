import HeadroomDecision
import HeadroomModel

/// One full reallocation of a pool in three bands and two resources, on one core, against what could be hoped for (one
/// pass over the bytes of the problem) and what is usual (sort the kinks, walk them).
enum FillBenchmark {
    static func run(smoke: Bool) {
        print("fill: 3 bands x 2 resources, one core, median ms (ns a tenant)")
        print("  tenants | fresh engine | warm, 1% changed | every share read | memory sweep | sort and walk")
        for count in smoke ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000] {
            row(count, rounds: smoke ? 3 : max(5, min(101, 2_000_000 / count)))
        }
    }

    private static func row(_ count: Int, rounds: Int) {
        var random = SplitMix64(seed: 20_261_121)
        let problem = FillProblem.contended(tenants: count, using: &random)
        var changed = problem
        for index in stride(from: 0, to: count, by: 100) { changed.tenants[index].demand.interactive = .none }

        var engine = FillEngine()
        var result = engine.solve(problem)
        let cold = median(rounds) {
            var fresh = FillEngine()
            result = fresh.solve(problem)
        }
        var odd = false
        let warm = median(rounds) {
            odd.toggle()
            result = engine.solve(odd ? changed : problem)
        }
        result = engine.solve(problem)
        var sum = 0.0
        let read = median(rounds) { for share in result.tenants { sum += share.limit.perMinute[1] } }
        let sweep = median(rounds) { sum += problem.touched() }
        var level = 0.0
        let textbook = median(max(3, rounds / 10)) { level = TextbookFill(problem).level }

        precondition(sum > 0 && abs(level - result.bands[1].level) <= 1e-9 * level, "the two solvers disagree")
        func cell(_ seconds: Double) -> String {
            "\((seconds * 1e6).rounded() / 1e3) (\(Int(seconds * 1e9 / Double(count))))"
        }
        print(
            "  "
                + ["\(count)", cell(cold), cell(warm), cell(read), cell(sweep), cell(textbook)].joined(separator: " | ")
        )
    }

    private static func median(_ rounds: Int, _ body: () -> Void) -> Double {
        let clock = ContinuousClock()
        let times = (0..<rounds).map { _ in clock.measure(body) / .seconds(1) }
        return times.sorted()[rounds / 2]
    }

}

extension FillProblem {
    /// Weights 1 to 9, demand skewed by its cube over three orders of magnitude, half of the tenants with a floor, 30 %
    /// with a ceiling, shapes from 1:50 to 1:60,000; capacity half-way between all floors and all demand.
    fileprivate static func contended(tenants count: Int, using random: inout SplitMix64) -> FillProblem {
        var (floors, demands) = (SIMD2<Double>.zero, SIMD2<Double>.zero)
        var tenants: [FillTenant] = []
        tenants.reserveCapacity(count)
        for index in 0..<count {
            func rates(_ requests: Double, _ tokens: Double) -> Rates { Rates(rpm: requests, tpm: requests * tokens) }
            let tokens = Double.random(in: 50...60_000, using: &random)
            let skew = Double.random(in: 0...1, using: &random)
            let requests = 1 + 1000 * skew * skew * skew
            let floor = Bool.random(using: &random) ? requests * .random(in: 0...0.5, using: &random) : 0
            let ceiling =
                Double.random(in: 0...1, using: &random) < 0.3 ? requests * .random(in: 0.5...2, using: &random) : nil
            let most = min(requests, ceiling ?? .infinity)
            floors += SIMD2(floor, floor * tokens)
            demands += SIMD2(most, most * tokens)
            tenants.append(
                FillTenant(
                    id: TenantID(unchecked: "t\(index)"), weight: Double(Int.random(in: 1...9, using: &random)),
                    demand: rates(requests, tokens), floor: rates(floor, tokens),
                    ceiling: ceiling.map { rates($0, tokens) } ?? .none, shape: rates(1, tokens)))
        }
        let capacity = (floors + demands) / 2
        return FillProblem(
            capacity: Rates(rpm: capacity.x, tpm: capacity.y),
            bands: [FillBand(.floor), FillBand(.demand), FillBand(.ceiling)], tenants: tenants)
    }

    /// Reads every byte of the tenants once.
    fileprivate func touched() -> Double {
        var sum = SIMD4<Double>.zero
        for index in tenants.indices {
            sum += tenants[index].floor.perMinute + tenants[index].ceiling.perMinute + tenants[index].shape.perMinute
            sum += tenants[index].demand.interactive.perMinute + tenants[index].demand.nearRealTime.perMinute
            sum += tenants[index].demand.batch.perMinute
            sum[0] += tenants[index].weight
        }
        return sum.sum()
    }
}

/// The same fill as textbooks have it: sort the levels at which a tenant starts and stops to rise, walk them in order,
/// and keep use and slope of each resource on the way.
private struct TextbookFill {
    /// Of the band that a resource stops.
    private(set) var level = 0.0

    init(_ problem: FillProblem) {
        let capacity = SIMD2(problem.capacity[.requests]!, problem.capacity[.tokens]!)
        var (low, high, cost) = ([Double](), [Double](), [SIMD2<Double>]())
        var limits: [[Double]] = [[], [], []]
        for tenant in problem.tenants {
            let direction = FillDirection(of: tenant, in: problem.capacity)
            let unit = direction.dominantCost / tenant.weight
            let ceiling = direction.activity(within: tenant.ceiling) * unit
            limits[0].append(min(direction.activity(within: tenant.floor) * unit, ceiling))
            limits[1].append(min(direction.activity(within: tenant.demand.interactive) * unit, ceiling))
            limits[2].append(ceiling)
            cost.append(SIMD2(tenant.shape[.requests]!, tenant.shape[.tokens]!) / capacity / unit)
            low.append(0)
        }
        high = low
        for limit in limits {
            low = high
            high = zip(low, limit).map { max($0, $1) }
            var kinks: [(level: Double, tenant: Int, rises: Bool)] = []
            var (use, slope) = (SIMD2<Double>.zero, SIMD2<Double>.zero)
            for index in low.indices {
                use += low[index] * cost[index]
                guard high[index] > low[index] else { continue }
                kinks.append((low[index], index, true))
                kinks.append((high[index], index, false))
            }
            kinks.sort { $0.level < $1.level }
            var reached = 0.0
            for kink in kinks {
                let next = use + slope * (kink.level - reached)
                if slope.max() > 0, next.max() >= 1 {
                    level = reached + ((SIMD2(repeating: 1) - use) / slope).min()
                    return
                }
                (use, reached) = (next, kink.level)
                slope += kink.rises ? cost[kink.tenant] : -cost[kink.tenant]
            }
        }
    }
}
