import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RivalKarmaTests {
    @Test func `in the published example everyone has had the same after three quanta`() {
        var ledger = KarmaLedger(slices: 6, alpha: 0.5, initialCredits: 6)
        for _ in 0..<3 { _ = ledger.join() }
        let quanta: [(demands: [Int], allocations: [Int], credits: [Int])] = [
            ([4, 1, 1], [4, 1, 1], [4, 7, 7]),
            // Both idle users lend, the poorer one first.
            ([0, 3, 0], [0, 3, 0], [6, 6, 9]),
            // Three slices for wishes of six: the richest has them.
            ([2, 2, 5], [1, 1, 4], [7, 7, 7]),
        ]
        var totals = [0, 0, 0]
        for quantum in quanta {
            let found = ledger.allocate(quantum.demands).allocations
            #expect(found == quantum.allocations && ledger.credits == quantum.credits, "\(quantum): \(ledger.credits)")
            for user in totals.indices { totals[user] += found[user] }
        }
        #expect(totals == [5, 5, 5])
    }

    @Test func `a newcomer starts with the average of the others' credits`() {
        var ledger = KarmaLedger(slices: 8, alpha: 0.5, initialCredits: 10)
        for _ in 0..<2 { _ = ledger.join() }
        _ = ledger.allocate([6, 0])
        #expect(ledger.credits == [8, 14])
        #expect(ledger.join() == 2)
        #expect(ledger.credits == [8, 14, 11])
    }

    @Test func `the poorest owners lend first and public slices last`() {
        var ledger = KarmaLedger(slices: 20, alpha: 0.2, initialCredits: 100)
        for _ in 0..<4 { _ = ledger.join() }
        // Each owns four slices; the first user borrows one, then three more.
        #expect(ledger.allocate([5, 0, 4, 4]).lent == [0, 1, 0, 0])
        #expect(ledger.credits == [100, 102, 101, 101])
        #expect(ledger.allocate([7, 0, 2, 4]).lent == [0, 1, 2, 0])
        #expect(ledger.allocate([16, 0, 0, 4]).allocations == [16, 0, 0, 4])
    }

    @Test func `nobody borrows more than it has credits for`() {
        var ledger = KarmaLedger(slices: 12, alpha: 0.5, initialCredits: 1)
        for _ in 0..<2 { _ = ledger.join() }
        // One credit and three free ones.
        #expect(ledger.allocate([12, 0]).allocations == [7, 0])
        #expect(ledger.credits[0] == 0)
    }

    @Test func `slices go one by one to the richest and come one by one from the poorest`() {
        for seed in 0..<200 as Range<UInt64> {
            var random = SeededGenerator(seed: seed, stream: "karma")
            let users = 2 + random.drawIndex(below: 6)
            var ledger = KarmaLedger(slices: 60, alpha: 0.4, initialCredits: 40)
            for _ in 0..<users { _ = ledger.join() }
            for quantum in 0..<8 {
                let demands = (0..<users).map { _ in random.drawIndex(below: 40) }
                let before = ledger.credits
                let found = ledger.allocate(demands)
                let expected = slow(demands, credits: before, own: ledger.ownSlices, publicSlices: ledger.publicSlices)
                let isSame = found.allocations == expected.allocations && ledger.credits == expected.credits
                #expect(isSame, "seed \(seed) quantum \(quantum) demands \(demands) credits \(before)")
                #expect(found.allocations.reduce(0, +) <= 60)
            }
        }
    }

    /// The definition, slice by slice.
    private func slow(
        _ demands: [Int], credits: [Int], own: Int, publicSlices: Int
    ) -> (allocations: [Int], credits: [Int]) {
        let free = credits.map { $0 + publicSlices / demands.count }
        var offers = demands.map { max(0, own - $0) }
        var wishes = zip(demands, free).map { min(max(0, $0 - own), $1) }
        var supply = offers.reduce(publicSlices, +)
        var allocations = demands.map { min($0, own) }
        var levels = free
        var borrowed = 0
        while supply > 0,
            let user = demands.indices.filter({ wishes[$0] > 0 }).min(by: { (-levels[$0], $0) < (-levels[$1], $1) })
        {
            wishes[user] -= 1
            levels[user] -= 1
            allocations[user] += 1
            supply -= 1
            borrowed += 1
        }
        while borrowed > 0,
            let user = demands.indices.filter({ offers[$0] > 0 }).min(by: { (levels[$0], $0) < (levels[$1], $1) })
        {
            offers[user] -= 1
            levels[user] += 1
            borrowed -= 1
        }
        return (allocations, levels)
    }

    @Test func `the allocator counts a tenant from its first demand and leaves own slices that nobody borrows`() {
        var karma = Karma()
        func rates(_ demands: [Double]) -> [Double] {
            let tenants = demands.enumerated().map { index, demand in
                PoolObservation.Tenant(tenant: TenantID(unchecked: "t\(index)"), demand: Rates(rpm: demand))
            }
            return karma.allocate(PoolObservation(capacity: Rates(rpm: 120), periodSeconds: 1, tenants: tenants))
                .map { $0[.requests] ?? -1 }
        }
        // Two users own a quarter each, half is public.
        #expect(rates([20, 90, 0]) == [20, 90, 0])
        #expect(rates([10, 0, 0]) == [30, 30, 0])
        // The third joins: now a sixth each.
        #expect(rates([20, 20, 20]) == [20, 20, 20])
        let short = rates([200, 200, 200])
        #expect(abs(short.reduce(0, +) - 120) < 0.2, "\(short)")
        #expect(short[0] > short[1], "the second has borrowed more: \(short)")
    }
}
