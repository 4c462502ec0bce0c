import HeadroomDecision
import HeadroomModel
import Testing

/// What Model §5.1 promises of every fill, over seeded problems. A failure names the seed and prints the problem for
/// `headroom allocate`.
@Suite struct FillPropertyTests {
    private static let seeds: ClosedRange<UInt64> = 1...250

    private func isNear(_ left: Double, _ right: Double, _ tolerance: Double = 1e-9) -> Bool {
        left == right || abs(left - right) <= tolerance * max(abs(left), abs(right))
    }

    private func solve(_ problem: FillProblem) -> FillResult {
        var engine = FillEngine()
        return engine.solve(problem)
    }

    /// Runs `check` over the seeds; it returns what is wrong.
    private func forEachSeed(
        _ seeds: ClosedRange<UInt64> = seeds, criticalities: Bool = true, _ check: (FillProblem, UInt64) -> String?
    ) {
        for seed in seeds {
            let problem = FillProblem.draw(seed, criticalities: criticalities)
            if let fault = check(problem, seed) {
                Issue.record("seed \(seed): \(fault)\n\(problem.json)")
                return
            }
        }
    }

    @Test func `every fill, limit and level equals the definition`() {
        forEachSeed { problem, _ in
            let definition = FillDefinition(problem)
            let result = solve(problem)
            for (index, band) in result.bands.enumerated() {
                guard isNear(band.level, definition.levels[index]), band.saturated == definition.saturated[index]
                else { return "band \(index) is \(band), not \(definition.levels[index])" }
            }
            for (i, share) in result.tenants.enumerated() {
                for (r, resource) in definition.resources.enumerated() {
                    guard isNear(share.fill[resource]!, definition.fill[i][r]) else {
                        return "fill \(i) is \(share.fill), not \(definition.fill[i])"
                    }
                    guard isNear(share.limit[resource]!, definition.limit[i][r]) else {
                        return "limit \(i) is \(share.limit), not \(definition.limit[i])"
                    }
                }
            }
            return nil
        }
    }

    @Test func `no resource is given out beyond its capacity, before and after rounding`() {
        forEachSeed { problem, _ in
            let result = solve(problem)
            for resource in problem.capacity.resources.members {
                let capacity = problem.capacity[resource]!
                let limits = result.tenants.map { $0.limit[resource]! }
                let sum = limits.reduce(0, +)
                guard sum <= capacity * (1 + 1e-13) else { return "\(resource) gives \(sum) of \(capacity)" }
                let total = Int(min(sum, capacity))
                let whole = LargestRemainder.integers(of: limits, total: total)
                guard whole.reduce(0, +) == total, zip(whole, limits).allSatisfy({ Double($0) <= $1.rounded(.up) })
                else { return "\(resource) is rounded to \(whole)" }
            }
            return nil
        }
    }

    @Test func `a ceiling holds in every resource`() {
        forEachSeed { problem, _ in
            for (tenant, share) in zip(problem.tenants, solve(problem).tenants) {
                for resource in problem.capacity.resources.members {
                    let most = tenant.ceiling[resource] ?? .infinity
                    guard share.fill[resource]! <= most, share.limit[resource]! <= most else {
                        return "\(tenant.id) has \(share)"
                    }
                }
            }
            return nil
        }
    }

    @Test func `floors are met, or nobody below its floor has less than another who was raised`() {
        forEachSeed { problem, _ in
            var problem = problem
            problem.bands = [FillBand(.floor)]
            let definition = FillDefinition(problem)
            let result = solve(problem)
            let shares = result.tenants.enumerated().map { $1.activity * definition.unit($0) }
            let most = shares.max() ?? 0
            for (i, share) in result.tenants.enumerated() {
                let bound = min(definition.floor(i), definition.ceiling(i))
                let isBelow = share.activity < bound * (1 - 1e-9)
                if isBelow && result.bands[0].saturated == nil { return "tenant \(i) is below a floor that fits" }
                if isBelow && shares[i] < most * (1 - 1e-9) { return "tenant \(i) gave way to a larger share" }
            }
            return nil
        }
    }

    @Test func `demand is unmet only when a resource is full`() {
        forEachSeed { problem, _ in
            let definition = FillDefinition(problem)
            let result = solve(problem)
            let activity = result.tenants.map(\.activity)
            let isFull = definition.resources.indices.contains {
                definition.use(activity, $0) >= definition.capacity[$0] * (1 - 1e-9)
            }
            for i in activity.indices where !isFull {
                let wanted = min(definition.demand(i), definition.ceiling(i))
                guard activity[i] >= wanted * (1 - 1e-9) else { return "tenant \(i) has \(activity[i]) of \(wanted)" }
            }
            return nil
        }
    }

    @Test func `overstating demand does not get a tenant more of what it really needs`() {
        forEachSeed(criticalities: false) { problem, seed in
            let i = Int(seed) % problem.tenants.count
            let needed = FillDefinition(problem).demand(i)
            let honest = solve(problem).tenants[i].activity
            var lie = problem
            lie.tenants[i].demand.interactive = problem.tenants[i].demand.interactive * 3
            // Where the demand is the direction, a tripled demand is a direction of three.
            let unit =
                FillDirection(of: lie.tenants[i], in: problem.capacity).dominantCost
                / FillDirection(of: problem.tenants[i], in: problem.capacity).dominantCost
            let told = solve(lie).tenants[i].activity * unit
            if problem.tenants[i].interval != FillInterval() { return nil }
            return min(told, needed) <= min(honest, needed) * (1 + 1e-9) ? nil : "tenant \(i): \(honest), \(told)"
        }
    }

    @Test func `a larger weight never gets a tenant less`() {
        forEachSeed { problem, seed in
            let i = Int(seed) % problem.tenants.count
            var heavier = problem
            heavier.tenants[i].weight *= 1.7
            let (before, after) = (solve(problem).tenants[i].activity, solve(heavier).tenants[i].activity)
            return after >= before * (1 - 1e-9) ? nil : "tenant \(i) went from \(before) to \(after)"
        }
    }

    @Test func `a problem of another scale has the same answer at that scale`() {
        forEachSeed { problem, _ in
            let factor = 1000.0
            var scaled = problem
            scaled.capacity = problem.capacity * factor
            for i in scaled.tenants.indices {
                // Activities are given in units of the direction, which scales where it is the demand.
                let unit = FillDirection(of: problem.tenants[i], in: problem.capacity).dominantCost
                for criticality in Criticality.allCases {
                    scaled.tenants[i].demand[criticality] = problem.tenants[i].demand[criticality] * factor
                }
                scaled.tenants[i].floor = problem.tenants[i].floor * factor
                scaled.tenants[i].ceiling = problem.tenants[i].ceiling * factor
                let newUnit = FillDirection(of: scaled.tenants[i], in: scaled.capacity).dominantCost
                scaled.tenants[i].start *= unit / newUnit
                scaled.tenants[i].burst *= unit / newUnit
                scaled.tenants[i].interval.least *= unit / newUnit
                scaled.tenants[i].interval.most *= unit / newUnit
            }
            let (before, after) = (solve(problem), solve(scaled))
            guard
                zip(before.bands, after.bands).allSatisfy({ isNear($0.level, $1.level) && $0.saturated == $1.saturated }
                )
            else { return "\(before.bands), then \(after.bands)" }
            for (old, new) in zip(before.tenants, after.tenants) {
                for resource in problem.capacity.resources.members {
                    guard isNear(old.fill[resource]! * factor, new.fill[resource]!) else {
                        return "\(old), then \(new)"
                    }
                }
            }
            return nil
        }
    }

    @Test func `the order of tenants changes nothing`() {
        forEachSeed { problem, seed in
            var random = SplitMix64(seed: seed)
            var permuted = problem
            permuted.tenants.shuffle(using: &random)
            let after = Dictionary(uniqueKeysWithValues: zip(permuted.tenants.map(\.id), solve(permuted).tenants))
            for (tenant, old) in zip(problem.tenants, solve(problem).tenants) {
                let new = after[tenant.id]!
                guard isNear(old.activity, new.activity, 1e-12), old.constraint == new.constraint else {
                    return "\(tenant.id): \(old), then \(new)"
                }
            }
            return nil
        }
    }

    @Test func `an engine that solved another problem before gives the same bits`() {
        var used = FillEngine()
        forEachSeed { problem, _ in
            var earlier = problem
            earlier.capacity = problem.capacity * 0.9
            _ = used.solve(earlier)
            let (warm, cold) = (used.solve(problem), solve(problem))
            return warm.bands == cold.bands && warm.tenants.elementsEqual(cold.tenants) ? nil : "\(warm.bands)"
        }
    }

    @Test func `more capacity by one factor in all resources lowers nobody`() {
        forEachSeed { problem, _ in
            var larger = problem
            larger.capacity = problem.capacity * 1.3
            for (i, (old, new)) in zip(solve(problem).tenants, solve(larger).tenants).enumerated() {
                guard new.activity >= old.activity * (1 - 1e-9) else { return "tenant \(i): \(old), then \(new)" }
            }
            return nil
        }
    }

    @Test(arguments: [1, 2, 3, 4, 5]) func `the named constraint is the one that binds`(offset: UInt64) {
        forEachSeed(offset * 1000...offset * 1000 + 60) { problem, _ in
            let definition = FillDefinition(problem)
            let result = solve(problem)
            for (i, share) in result.tenants.enumerated() {
                let isRight =
                    switch share.constraint {
                    case .ceiling, .slew: share.activity <= definition.ceiling(i)
                    case .demand: share.activity >= definition.demand(i) * (1 - 1e-9)
                    case .floor:
                        isNear(share.activity, definition.floor(i)) || isNear(share.activity, problem.tenants[i].start)
                    case .level: share.activity < definition.ceiling(i)
                    case .burst: isNear(share.activity, problem.tenants[i].burst)
                    default: false
                    }
                guard isRight else { return "tenant \(i): \(share)" }
            }
            return nil
        }
    }

    @Test func `a hundred thousand tenants stand where the level puts them, and fill a resource`() {
        var random = SplitMix64(seed: 7)
        var (demands, tokens) = ([Double](), [Double]())
        let tenants = (0..<100_000).map { index in
            demands.append(random.uniform(1, 1000))
            tokens.append(random.uniform(50, 60_000))
            return FillTenant(
                id: TenantID(unchecked: "t\(index)"), weight: Double(index % 9 + 1),
                demand: Rates(rpm: demands[index], tpm: demands[index] * tokens[index]),
                floor: index % 2 == 0 ? Rates(rpm: demands[index] / 3) : .none, shape: Rates(rpm: 1, tpm: tokens[index])
            )
        }
        let wanted = zip(demands, tokens).map { $0 * $1 }.reduce(0, +)
        let capacity = Rates(rpm: demands.reduce(0, +) * 0.9, tpm: wanted * 0.6)
        let result = solve(
            FillProblem(capacity: capacity, bands: [FillBand(.floor), FillBand(.demand)], tenants: tenants))
        #expect(result.bands.map(\.saturated) == [nil, .tokens])

        let level = result.bands[1].level
        var (use, misplaced) = (0.0, 0)
        for (index, activity) in result.tenants.lazy.map(\.activity).enumerated() {
            let dominantCost = max(1 / capacity[.requests]!, tokens[index] / capacity[.tokens]!)
            let raised = level * Double(index % 9 + 1) / dominantCost
            let expected = min(max(raised, index % 2 == 0 ? demands[index] / 3 : 0), demands[index])
            if !isNear(activity, expected, 1e-12) { misplaced += 1 }
            use += activity * tokens[index]
        }
        #expect(misplaced == 0)
        #expect(isNear(use, capacity[.tokens]!, 1e-12))
    }
}
