import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RivalStaticTests {
    private func observation(
        _ tenants: [(weight: Double, floor: Double?, ceiling: Double?)], capacity: Double = 120
    ) -> PoolObservation {
        PoolObservation(
            capacity: Rates(rpm: capacity, tpm: capacity * 1000), periodSeconds: 60,
            tenants: tenants.enumerated().map { index, tenant in
                PoolObservation.Tenant(
                    tenant: TenantID(unchecked: "t\(index)"), weight: tenant.weight, floor: Rates(rpm: tenant.floor),
                    ceiling: Rates(rpm: tenant.ceiling), demand: Rates(rpm: 5, tpm: 7))
            })
    }

    @Test func `equal parts are equal in every resource whatever the contract says`() {
        let rates = StaticEqual().allocate(observation([(8, 100, nil), (1, nil, 1), (1, nil, nil)]))
        #expect(rates == Array(repeating: Rates(rpm: 40, tpm: 40_000), count: 3))
    }

    @Test func `contracts give floors and then weights up to ceilings and all of the capacity`() {
        let cases: [([(weight: Double, floor: Double?, ceiling: Double?)], [Double])] = [
            ([(1, nil, nil), (2, nil, nil), (3, nil, nil)], [20, 40, 60]),
            ([(1, 60, nil), (2, nil, nil), (3, nil, nil)], [60, 24, 36]),
            ([(1, nil, nil), (2, nil, nil), (3, nil, 30)], [30, 60, 30]),
            // The ceilings alone are below the capacity.
            ([(1, nil, 10), (2, nil, 20), (3, nil, 30)], [10, 20, 30]),
            // Floors for twice the pool.
            ([(1, 120, nil), (2, 60, nil), (3, 60, nil)], [60, 30, 30]),
        ]
        for (tenants, expected) in cases {
            let rates = StaticContract().allocate(observation(tenants)).map { $0[.requests] ?? -1 }
            #expect(zip(rates, expected).allSatisfy { abs($0 - $1) < 1e-9 }, "\(tenants): \(rates)")
        }
    }

    @Test func `a resource in which nothing was promised goes by weight`() {
        let rates = StaticContract().allocate(observation([(1, 60, nil), (2, nil, nil), (3, nil, 30)]))
        #expect(rates.map { ($0[.tokens] ?? -1).rounded() } == [20_000, 40_000, 60_000])
    }

    @Test func `every rival has a name of its own`() {
        let names = (Strategy.rivals + Strategy.rivalsThatLend).map(\.name)
        #expect(Set(names).count == names.count && names.count == 14)
    }
}
