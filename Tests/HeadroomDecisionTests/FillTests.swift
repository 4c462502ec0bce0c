import HeadroomDecision
import HeadroomModel
import Testing

@Suite struct FillTests {
    /// WireFormat §4.1, word for word.
    private let documented = FillTenant(
        id: "a", tier: "premium", weight: 4, demand: Rates(rpm: 50, tpm: 500_000), floor: Rates(tpm: 100_000),
        ceiling: Rates(rpm: 400), shape: Rates(rpm: 1, tpm: 10_000))

    private let usualBands = [FillBand(.floor), FillBand(.demand), FillBand(.ceiling)]

    private func solve(_ capacity: Rates, _ bands: [FillBand], _ tenants: [FillTenant]) -> FillResult {
        var engine = FillEngine()
        return engine.solve(FillProblem(capacity: capacity, bands: bands, tenants: tenants))
    }

    private func isNear(_ rates: [Rates], _ resource: Resource, _ expected: [Double]) -> Bool {
        zip(rates, expected).allSatisfy { abs($0[resource]! - $1) <= 1e-12 * $1 }
    }

    @Test func `the documented example comes out as documented`() {
        let result = solve(Rates(rpm: 1000, tpm: 1_000_000), usualBands, [documented])
        #expect(result.bands.map(\.level) == [0.025, 0.125, 0.25])
        #expect(result.bands.map(\.saturated) == [nil, nil, .tokens])
        #expect(
            Array(result.tenants) == [
                FillShare(
                    activity: 100, fill: Rates(rpm: 100, tpm: 1_000_000), limit: Rates(rpm: 400, tpm: 1_000_000),
                    constraint: .level)
            ])
    }

    @Test func `one tenant alone gets the whole pool in the resource that it uses most`() {
        let result = solve(
            Rates(rpm: 100, tpm: 50_000), [FillBand(.ceiling)], [FillTenant(id: "a", shape: Rates(rpm: 1, tpm: 5000))])
        #expect(result.bands == [FillResult.Band(level: 1, saturated: .tokens)])
        #expect(result.tenants[0].fill == Rates(rpm: 10, tpm: 50_000))
    }

    @Test func `water fills from the bottom`() {
        let cases: [(capacity: Double, expected: [Double])] = [
            (30, [10, 10, 10]), (60, [10, 25, 25]), (90, [10, 30, 50]), (120, [10, 30, 80]), (500, [10, 30, 80]),
        ]
        let tenants = zip(["a", "b", "c"], [10.0, 30, 80]).map { id, demand in
            FillTenant(id: TenantID(unchecked: id), demand: Rates(rpm: demand))
        }
        for (capacity, expected) in cases {
            let result = solve(Rates(rpm: capacity), [FillBand(.demand)], tenants)
            #expect(isNear(result.tenants.map(\.fill), .requests, expected), "capacity \(capacity)")
        }
    }

    @Test func `floors that do not fit degrade by weight`() {
        let tenants = [
            FillTenant(id: "a", weight: 3, floor: Rates(rpm: 100)), FillTenant(id: "b", floor: Rates(rpm: 100)),
        ]
        let result = solve(Rates(rpm: 80), usualBands, tenants)
        #expect(result.tenants.map { $0.fill[.requests]! } == [60, 20])
        #expect(result.bands.map(\.saturated) == [.requests, .requests, .requests])
        #expect(result.bands[1].level == result.bands[0].level)
    }

    @Test func `interactive demand of all comes before batch demand of any`() {
        let tenants = [
            FillTenant(
                id: "a",
                demand: PerCriticality(interactive: Rates(rpm: 20), nearRealTime: .none, batch: Rates(rpm: 200))),
            FillTenant(id: "b", demand: Rates(rpm: 60)),
        ]
        let bands = [FillBand(.demand, criticality: .interactive), FillBand(.demand)]
        let result = solve(Rates(rpm: 100), bands, tenants)
        #expect(result.tenants.map { $0.fill[.requests]! } == [40, 60])
        #expect(result.tenants.map(\.constraint) == [.level, .demand])
    }

    @Test func `a band of one tier leaves the others where they are`() {
        let tenants = [
            FillTenant(id: "a", tier: "critical", floor: Rates(rpm: 70)), FillTenant(id: "b", floor: Rates(rpm: 70)),
        ]
        let bands = [FillBand(.floor, tiers: ["critical"]), FillBand(.floor)]
        let result = solve(Rates(rpm: 100), bands, tenants)
        #expect(isNear(result.tenants.map(\.fill), .requests, [70, 30]))
        #expect(result.tenants.map(\.constraint) == [.floor, .level])
    }

    @Test func `a capacity of zero in one resource stops everyone`() {
        let result = solve(Rates(rpm: 100, tpm: 0), usualBands, [documented])
        #expect(result.bands == Array(repeating: FillResult.Band(level: 0, saturated: .tokens), count: 3))
        #expect(result.tenants[0].fill == Rates(rpm: 0, tpm: 0))
        #expect(result.tenants[0].limit == Rates(rpm: 0, tpm: 0))
        #expect(result.tenants[0].constraint == .level)
    }

    @Test func `a pool without tenants has no levels to raise`() {
        let result = solve(Rates(rpm: 100), usualBands, [])
        #expect(result.bands == Array(repeating: FillResult.Band(level: 0, saturated: nil), count: 3))
        #expect(result.tenants.isEmpty)
    }

    @Test func `bounds that fit to the last unit are reached, and the next band finds the resource full`() {
        // 20/91 + 71/91 is more than 1, as doubles add up.
        let tenants = [FillTenant(id: "a", floor: Rates(rpm: 20)), FillTenant(id: "b", floor: Rates(rpm: 71))]
        let result = solve(Rates(rpm: 91), usualBands, tenants)
        #expect(result.bands.map(\.saturated) == [nil, .requests, .requests])
        #expect(result.tenants.map { $0.fill[.requests]! } == [20, 71])
    }

    @Test func `a level that can rise for nothing rises to where the next tenant would`() {
        // At 0.3 the pool is full, and b, which has 0.7, begins to rise only there.
        let tenants = [
            FillTenant(id: "a", demand: Rates(rpm: 30)),
            FillTenant(id: "b", demand: Rates(rpm: 80), floor: Rates(rpm: 70)),
        ]
        let result = solve(Rates(rpm: 100), [FillBand(.floor), FillBand(.demand)], tenants)
        #expect(abs(result.bands[1].level - 0.7) < 1e-12)
        #expect(result.bands[1].saturated == .requests)
        #expect(result.tenants.map { $0.fill[.requests]! } == [30, 70])
    }

    @Test func `a tenant that lives on the rest that others leave gets just that`() {
        // Twenty thousand demands that make all but a ten-millionth, and that as exact as doubles can tell.
        var random = SplitMix64(seed: 3)
        let demands = (0..<20_000).map { _ in random.uniform(0, (1 - 1e-7) / 10_050) }
        var (sum, lost) = (0.0, 0.0)
        func add(_ demand: Double) {
            let next = sum + demand
            lost += demand - (next - sum)
            sum = next
        }
        demands.forEach(add)
        let last = 1 - 1e-7 - sum
        add(last)
        let rest = 1 - sum - lost
        var tenants = (demands + [last]).enumerated().map { index, demand in
            FillTenant(id: TenantID(unchecked: "t\(index)"), demand: Rates(rpm: demand))
        }
        tenants.append(FillTenant(id: "rest", weight: 1e-9, demand: Rates(rpm: 5)))
        let result = solve(Rates(rpm: 1), [FillBand(.demand)], tenants)
        #expect(last > 0)
        #expect(abs(result.tenants.last!.fill[.requests]! / rest - 1) < 2e-9)
    }

    @Test func `direction is the shape, else a whole demand, else a request of a thousand tokens`() {
        let capacity = Rates(rpm: 100, tpm: 100_000, otpm: 10_000)
        let cases: [(FillTenant, Rates)] = [
            (FillTenant(id: "a", shape: Rates(rpm: 2, tpm: 600, otpm: 100)), Rates(rpm: 100, tpm: 30_000, otpm: 5000)),
            (FillTenant(id: "b", demand: Rates(rpm: 2, tpm: 600, otpm: 100)), Rates(rpm: 100, tpm: 30_000, otpm: 5000)),
            (FillTenant(id: "c", demand: Rates(rpm: 2, tpm: 600)), Rates(rpm: 50, tpm: 50_000, otpm: 10_000)),
            // What the shape does not name is as good as free.
            (FillTenant(id: "d", shape: Rates(rpm: 1)), Rates(rpm: 100, tpm: 0.1, otpm: 0.02)),
            // What the pool does not limit does not count.
            (
                FillTenant(id: "e", floor: Rates(itpm: 5), ceiling: Rates(itpm: 5), shape: Rates(itpm: 7)),
                Rates(rpm: 50, tpm: 50_000, otpm: 10_000)
            ),
        ]
        for (tenant, expected) in cases {
            let fill = solve(capacity, [FillBand(.ceiling)], [tenant]).tenants[0].fill
            for resource in capacity.resources.members {
                #expect(abs(fill[resource]! / expected[resource]! - 1) < 1e-12, "\(tenant.id) \(resource)")
            }
        }
    }

    @Test func `slack in a resource that is not full goes out in proportion, up to ceilings`() {
        let tenants = [
            FillTenant(id: "a", demand: Rates(rpm: 10, tpm: 50_000), ceiling: Rates(rpm: 12)),
            FillTenant(id: "b", demand: Rates(rpm: 10, tpm: 50_000)), FillTenant(id: "idle"),
        ]
        let result = solve(Rates(rpm: 100, tpm: 100_000), [FillBand(.demand)], tenants)
        #expect(result.tenants.map { $0.limit[.tokens]! } == [50_000, 50_000, 0])
        #expect(isNear(result.tenants.map(\.limit), .requests, [12, 88, 0]))
    }

    @Test func `an interval bounds the activity and names its ends`() {
        let interval = FillInterval(least: 20, leastConstraint: .guardrail, most: 30, mostConstraint: .deadband)
        let tenants = [
            FillTenant(id: "a", demand: Rates(rpm: 90), shape: Rates(rpm: 1), interval: interval),
            FillTenant(id: "b", shape: Rates(rpm: 1), interval: interval),
        ]
        let result = solve(Rates(rpm: 100), [FillBand(.least), FillBand(.demand)], tenants)
        #expect(result.tenants.map(\.activity) == [30, 20])
        #expect(result.tenants[0].constraint == .deadband)
    }
}
