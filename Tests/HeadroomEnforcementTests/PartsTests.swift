import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct PartsTests {
    @Test func `every number sums over gateways to the whole and fits into each gateway's budget`() {
        for seed in 1...200 {
            var random = SplitMix64(seed: seed)
            let (whole, shares) = randomProblem(using: &random)
            let parts = Parts(meanRequest: Work(requests: 1, tokens: 700)).divide(whole, over: shares)
            #expect(parts.map(\.gateway) == shares.map(\.gateway).sorted())
            let faults = faults(of: parts.map(\.allocation), dividing: whole)
            #expect(faults.isEmpty, "seed \(seed): \(faults) in \(whole) over \(shares)")
        }
    }

    @Test func `the division does not depend on the order of the shares`() {
        for seed in 1...20 {
            var random = SplitMix64(seed: seed)
            let (whole, shares) = randomProblem(using: &random)
            let one = Parts().divide(whole, over: shares)
            let other = Parts().divide(whole, over: shares.shuffled(using: &random))
            #expect(one.map(\.allocation) == other.map(\.allocation), "seed \(seed)")
        }
    }

    @Test func `a tenth of the budget is even and the rest follows the work`() {
        let shares = [
            GatewayShare(gateway: "a", budgetWeight: 3), GatewayShare(gateway: "b", budgetWeight: 1),
        ]
        let parts = Parts().divide(allocation(rpm: 10_000, tpm: 100_000), over: shares)
        #expect(parts[0].allocation.budget == Rates(rpm: 7250, tpm: 72_500))
        #expect(parts[1].allocation.budget == Rates(rpm: 2750, tpm: 27_500))
    }

    @Test func `each resource of the budget follows its own part of the work`() {
        // Short calls at one gateway, long ones at the other.
        let traffic = PoolTraffic(
            gateways: ["a", "b"], loads: [SIMD4(3, 1, 0, 0), SIMD4(1, 3, 0, 0)], fallbackWeights: [1, 1], tenants: [],
            demand: [])
        let parts = Parts().divide(allocation(rpm: 10_000, tpm: 100_000), over: traffic)
        #expect(parts.map(\.allocation.budget) == [Rates(rpm: 7250, tpm: 27_500), Rates(rpm: 2750, tpm: 72_500)])
    }

    @Test func `an idle gateway's part holds one mean request per burst`() {
        let shares = [
            GatewayShare(gateway: "a", budgetWeight: 1), GatewayShare(gateway: "b", budgetWeight: 0),
        ]
        let parts = Parts(meanRequest: Work(requests: 1, tokens: 2000))
            .divide(allocation(rpm: 600, tpm: 100_000, burstSeconds: 5), over: shares)
        #expect(parts[1].allocation.budget == Rates(rpm: 30, tpm: 24_000))
    }

    @Test func `assured rates follow a minute's demand, with 15 percent even`() {
        let shares = [
            GatewayShare(gateway: "a", budgetWeight: 1, demand: ["acme": 1]),
            GatewayShare(gateway: "b", budgetWeight: 1, demand: [:]),
        ]
        let whole = allocation(
            rpm: 1000, tpm: 1_000_000,
            tenants: [tenant("acme", rpm: 200, tpm: 20_000, ceiling: Rates(rpm: 600))])
        let parts = Parts().divide(whole, over: shares).map { $0.allocation.tenants[0] }
        #expect(parts.map(\.assured) == [Rates(rpm: 185, tpm: 18_500), Rates(rpm: 15, tpm: 1500)])
        #expect(parts.map(\.ceiling) == [Rates(rpm: 555), Rates(rpm: 45)])
    }

    @Test func `gateways beyond the greatest number of parts share the last one`() {
        let shares = (10..<30).map { GatewayShare(gateway: GatewayID(unchecked: "gw-\($0)"), budgetWeight: 1) }
        let whole = allocation(
            rpm: 1000, tpm: 1_000_000, fallback: Rates(rpm: 900, tpm: 900_000),
            tenants: [tenant("acme", rpm: 100, tpm: 1)])
        let parts = Parts(maxParts: 4).divide(whole, over: shares).map(\.allocation)
        #expect(parts.count == 20)
        #expect(parts[3...].allSatisfy { $0 == parts[3] })
        for resource in [Resource.requests, .tokens] {
            let budget = parts.reduce(0) { $0 + ($1.budget[resource] ?? 0) }
            #expect(budget <= whole.budget[resource] ?? 0)
            #expect(budget > (whole.budget[resource] ?? 0) - 17)
            #expect(parts.allSatisfy { ($0.tenants[0].assured[resource] ?? 0) <= ($0.budget[resource] ?? 0) })
        }
    }

    @Test(arguments: [4, 12, 64])
    func `with more gateways than parts every number still sums to at most the whole's, by criticality too`(
        _ maxParts: Int
    ) {
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let (whole, _) = randomProblem(using: &random)
            let shares = (0..<256).map { index in
                GatewayShare(
                    gateway: GatewayID(unchecked: "gw-\(1000 + index)"),
                    budgetWeight: Double.random(in: 0...100, using: &random),
                    fallbackWeight: Double.random(in: 0...100, using: &random))
            }
            let parts = Parts(maxParts: maxParts).divide(whole, over: shares).map(\.allocation)
            for resource in [Resource.requests, .tokens] {
                func exceeds(_ rates: (PoolAllocation) -> Rates) -> Bool {
                    parts.reduce(0) { $0 + (rates($1)[resource] ?? 0) } > rates(whole)[resource] ?? 0
                }
                #expect(!exceeds(\.budget), "seed \(seed)")
                for tenant in whole.tenants.indices {
                    #expect(!exceeds { $0.tenants[tenant].assured }, "seed \(seed)")
                    for criticality in Criticality.allCases {
                        #expect(!exceeds { $0.tenants[tenant].criticality[criticality] }, "seed \(seed)")
                    }
                    let isWhole = parts.allSatisfy { part in
                        let entry = part.tenants[tenant]
                        let sum = Criticality.allCases.reduce(0) { $0 + (entry.criticality[$1][resource] ?? 0) }
                        return sum == entry.assured[resource]
                    }
                    #expect(isWhole, "seed \(seed)")
                }
            }
        }
    }

    private func randomProblem(using random: inout SplitMix64) -> (PoolAllocation, [GatewayShare]) {
        let gateways = Int.random(in: 1...12, using: &random)
        let count = Int.random(in: 0...30, using: &random)
        var tenants: [TenantAllocation] = []
        var sum = Rates(rpm: Double(Int.random(in: 0...50, using: &random)), tpm: 0)
        let unlisted = sum
        for index in 0..<count {
            var entry = tenant(TenantID(unchecked: "t\(100 + index)"))
            for resource in [Resource.requests, .tokens] {
                // Many are small: a few units over a dozen gateways is where rounding bites.
                let scale = Bool.random(using: &random) ? 20 : (resource == .tokens ? 1_000_000 : 2000)
                let parts = Criticality.allCases.map { _ in Double(Int.random(in: 0...scale, using: &random)) }
                let whole = parts.reduce(0, +)
                for criticality in Criticality.allCases {
                    entry.criticality[criticality][resource] = parts[criticality.rawValue]
                }
                entry.assured[resource] = whole
                entry.safe[resource] = (whole * 0.9).rounded(.down)
                if Bool.random(using: &random) { entry.ceiling[resource] = whole + Double(scale) }
                entry.plain[resource] = min(whole * 2, entry.ceiling[resource] ?? .infinity)
                sum[resource] = (sum[resource] ?? 0) + whole
            }
            tenants.append(entry)
        }
        // Half of the problems have no slack: then every misfit must move.
        let slack = Bool.random(using: &random) ? 0.0 : 100
        let budget = sum.map { $1 + slack }
        var whole = allocation(rpm: budget[.requests], tpm: budget[.tokens], fallback: budget, unlisted: unlisted)
        whole.tenants = tenants
        let shares = (0..<gateways).map { index in
            var demand: [TenantID: Double] = [:]
            for entry in tenants where Int.random(in: 0..<3, using: &random) == 0 {
                demand[entry.tenant] = Double.random(in: 0...1000, using: &random)
            }
            return GatewayShare(
                gateway: GatewayID(unchecked: "gw-\(index)"),
                budgetWeight: Bool.random(using: &random) ? 0 : Double.random(in: 0...100, using: &random),
                fallbackWeight: Double.random(in: 0...100, using: &random), demand: demand)
        }
        return (whole, shares)
    }

    private func faults(of parts: [PoolAllocation], dividing whole: PoolAllocation) -> [String] {
        var faults: [String] = []
        func check(_ name: String, _ rates: (PoolAllocation) -> Rates) {
            for resource in Resource.allCases {
                let sum = parts.reduce(0.0) { $0 + (rates($1)[resource] ?? 0) }
                if sum != (rates(whole)[resource] ?? 0) { faults.append("Σ \(name) \(resource.rateName) is \(sum)") }
                for part in parts {
                    if (rates(part)[resource] == nil) != (rates(whole)[resource] == nil) {
                        faults.append("\(name) \(resource.rateName) is limited in one and not in the other")
                    }
                    let rate = rates(part)[resource] ?? 0
                    if rate < 0 || rate != rate.rounded() { faults.append("\(name) \(resource.rateName) of \(rate)") }
                }
            }
        }
        check("budget", \.budget)
        check("fallback", \.fallback)
        check("unlisted", \.unlisted)
        for index in whole.tenants.indices {
            check("assured of \(index)") { $0.tenants[index].assured }
            check("safe of \(index)") { $0.tenants[index].safe }
            check("plain of \(index)") { $0.tenants[index].plain }
            check("ceiling of \(index)") { $0.tenants[index].ceiling }
            for criticality in Criticality.allCases {
                check("\(criticality.name) of \(index)") { $0.tenants[index].criticality[criticality] }
            }
        }
        for (gateway, part) in parts.enumerated() {
            for resource in [Resource.requests, .tokens] {
                let assured = part.tenants.reduce(part.unlisted[resource] ?? 0) { $0 + ($1.assured[resource] ?? 0) }
                if assured > part.budget[resource] ?? 0 { faults.append("Σ assured \(assured) at \(gateway)") }
                let safe = part.tenants.reduce(0) { $0 + ($1.safe[resource] ?? 0) }
                if safe > part.fallback[resource] ?? 0 { faults.append("Σ safe \(safe) at \(gateway)") }
                for entry in part.tenants {
                    let parts = Criticality.allCases.reduce(0) { $0 + (entry.criticality[$1][resource] ?? 0) }
                    if parts != entry.assured[resource] { faults.append("criticalities \(parts) at \(gateway)") }
                    let (assured, plain) = (entry.assured[resource] ?? 0, entry.plain[resource] ?? 0)
                    if plain < assured { faults.append("plain \(plain) of assured \(assured) at \(gateway)") }
                    if let ceiling = entry.ceiling[resource], ceiling < plain {
                        faults.append("ceiling \(ceiling) of plain \(plain) at \(gateway)")
                    }
                }
            }
        }
        return faults
    }
}
