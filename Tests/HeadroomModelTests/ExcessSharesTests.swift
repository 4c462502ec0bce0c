import HeadroomModel
import Testing

@Suite struct ExcessSharesTests {
    private func pool(_ tenants: [(TenantID, demand: Rates, assured: Rates)]) -> PoolReport {
        let nominal = Rates(rpm: 100, tpm: 100_000)
        return PoolReport(
            pool: "p", state: .pressured, nominal: nominal, estimated: nominal, capacityReason: .contract,
            confidence: 1, budget: nominal, assured: nominal, consumed: nominal, calls: [:],
            tenants: tenants.map {
                TenantReport(tenant: $0.0, tier: "free", demand: $0.1, assured: $0.2, consumed: $0.2)
            })
    }

    @Test func `the largest parts of the excess come first and sum to one`() {
        let found = ExcessShares.largest(
            5,
            of: pool([
                ("content", Rates(rpm: 5, tpm: 5000), Rates(rpm: 9, tpm: 9000)),
                // By tokens: 0.2 of the pool. By requests: 0.6 of it.
                ("tokens", Rates(rpm: 1, tpm: 30000), Rates(rpm: 1, tpm: 10000)),
                ("requests", Rates(rpm: 70, tpm: 9000), Rates(rpm: 10, tpm: 9000)),
            ]))
        #expect(found.map(\.tenant) == ["requests", "tokens"])
        #expect(abs(found[0].share - 0.75) < 1e-12 && abs(found[1].share - 0.25) < 1e-12)
    }

    @Test func `ties are ordered by name, and only so many are told`() {
        let tenants = ["c", "a", "b"].map { (TenantID($0)!, demand: Rates(rpm: 2), assured: Rates(rpm: 1)) }
        #expect(ExcessShares.largest(2, of: pool(tenants)).map(\.tenant) == ["a", "b"])
        #expect(ExcessShares.largest(2, of: pool([])).isEmpty)
    }
}
