import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct PolicyContractTests {
    private let policy = Policy(pools: [PoolPolicy(pool: "p", nominal: Rates(rpm: 100, tpm: 1000))])

    @Test func `contracts that fit have no fault`() {
        #expect(
            faults([
                contract("a", "critical", floor: Rates(rpm: 50, tpm: 500)),
                contract("b", nil, floor: Rates(rpm: 50), ceiling: Rates(rpm: 60)), Contract(tenant: "c"),
            ]) == [])
    }

    @Test func `what the policy cannot hold is named with tenant and pool`() {
        let cases: [(Contract, String)] = [
            (
                contract("a", "gold"),
                "tenant a: the tier must be one of critical, premium, standard, free, found \"gold\""
            ),
            (
                Contract(tenant: "a", terms: [Contract.Terms(pool: "q")]),
                "tenant a, pool q: the policy has no such pool: add pools/NAME.json5 or correct the name"
            ),
            (
                Contract(
                    tenant: "a",
                    cost: CostTerms(currency: "EUR", period: .day, most: 5, prices: [CostTerms.Price(pool: "q")])),
                "tenant a, pool q: has a price, and the policy has no such pool: correct the name"
            ),
            (
                contract("a", floor: Rates(itpm: 1)),
                "tenant a, pool p: has a floor or a ceiling in itpm, which the pool does not limit: it limits rpm, tpm"
            ),
            (
                contract("a", floor: Rates(rpm: 9), ceiling: Rates(rpm: 8)),
                "tenant a, pool p: the floor of 9 rpm is over the ceiling, 8"
            ),
            (
                contract("a", "free", floor: Rates(rpm: 26)),
                "tenant a, pool p: the floor of 26 rpm is over the ceiling of the tier free, 25"
            ),
        ]
        for (contract, expected) in cases { #expect(faults([contract]) == [expected]) }
    }

    @Test func `floors that exceed a pool's nominal capacity together are named with the largest`() {
        let contracts = [
            contract("a", "critical", floor: Rates(tpm: 400)), contract("b", "critical", floor: Rates(tpm: 500)),
            contract("c", "critical", floor: Rates(tpm: 50)), contract("d", "critical", floor: Rates(tpm: 51)),
        ]
        #expect(
            faults(contracts) == [
                "pool p: the floors of 4 tenants sum to 1001 tpm, over the nominal 1000; "
                    + "the largest are b 500, a 400, d 51"
            ])
        #expect(faults(Array(contracts.dropLast())) == [])
    }

    private func faults(_ contracts: [Contract]) -> [String] { policy.faults(in: contracts).map(\.description) }

    private func contract(
        _ tenant: TenantID, _ tier: String? = nil, floor: Rates = .none, ceiling: Rates = .none
    ) -> Contract {
        Contract(tenant: tenant, tier: tier, terms: [Contract.Terms(pool: "p", floor: floor, ceiling: ceiling)])
    }
}
