/// Karma's credits and slices: who may borrow unused slices goes by what everyone lent before.
///
/// `algorithm/src/karma_allocator.cpp` (resource-disaggregation/karma @510cdd9; Vuppalapati et al., OSDI 2023). A part
/// `alpha` of all slices is public, the rest is owned in equal parts. Each quantum everyone gets the public part's
/// worth of credits. Unused own slices are offered, and a borrowed slice costs its borrower a credit and earns its
/// owner one; public slices are borrowed last and nobody earns by them. The poorest owners lend first, the richest
/// borrowers get first, so credits draw together and everyone's long-run share with them. Equal weights, one resource,
/// no floors.
///
/// Where the original moves slices one by one in a heap, here the level is found to which a heap would move them; ties
/// go to who joined first.
package struct KarmaLedger: Sendable {
    package let slices: Int
    /// `alpha` of ``slices``.
    package let publicSlices: Int
    private let initialCredits: Int
    /// By user, in the order in which they joined.
    package private(set) var credits: [Int] = []

    /// - Parameter initialCredits: as published, so many that nobody runs out of them.
    package init(slices: Int, alpha: Double, initialCredits: Int = 999_999_999_999) {
        self.slices = slices
        publicSlices = Int(alpha * Double(slices))
        self.initialCredits = initialCredits
    }

    /// A newcomer starts with the average of the others' credits. Returns the user's index.
    package mutating func join() -> Int {
        credits.append(credits.isEmpty ? initialCredits : credits.reduce(0, +) / credits.count)
        return credits.count - 1
    }

    /// The result of one quantum.
    package struct Quantum: Equatable, Sendable {
        /// Slices by user: never more than it demanded.
        package var allocations: [Int]
        /// How many of its own slices others borrowed.
        package var lent: [Int]
    }

    /// Slices that everyone owns.
    package var ownSlices: Int { credits.isEmpty ? 0 : (slices - publicSlices) / credits.count }

    /// - Parameter demands: slices by user.
    package mutating func allocate(_ demands: [Int]) -> Quantum {
        precondition(demands.count == credits.count, "a demand for each user")
        let own = ownSlices
        for user in credits.indices { credits[user] += publicSlices / credits.count }

        let offers = demands.map { max(0, own - $0) }
        let wishes = zip(demands, credits).map { min(max(0, $0 - own), $1) }
        let supply = offers.reduce(publicSlices, +)
        let borrowed = KarmaLedger.fromLowest(min(supply, wishes.reduce(0, +)), up: wishes, from: credits.map { -$0 })
        let lent = KarmaLedger.fromLowest(
            min(offers.reduce(0, +), borrowed.reduce(0, +)), up: offers, from: credits)
        for user in credits.indices { credits[user] += lent[user] - borrowed[user] }
        return Quantum(allocations: zip(demands, borrowed).map { min($0, own) + $1 }, lent: lent)
    }

    /// `total` ones, each added to whoever stands lowest then and has not reached its limit; returns how many each got.
    /// - Precondition: `total` is at most the sum of `limits`.
    private static func fromLowest(_ total: Int, up limits: [Int], from levels: [Int]) -> [Int] {
        guard total > 0, let lowest = levels.min(), let highest = levels.max() else { return limits.map { _ in 0 } }
        func rise(to level: Int) -> [Int] { zip(limits, levels).map { min($0, max(0, level - $1)) } }
        // The highest level that `total` reaches for everyone.
        var reached = lowest
        var beyond = highest + total + 1
        while beyond - reached > 1 {
            let middle = reached + (beyond - reached) / 2
            if rise(to: middle).reduce(0, +) <= total { reached = middle } else { beyond = middle }
        }
        var counts = rise(to: reached)
        var left = total - counts.reduce(0, +)
        for index in counts.indices where left > 0 && levels[index] <= reached && counts[index] < limits[index] {
            counts[index] += 1
            left -= 1
        }
        return counts
    }
}
