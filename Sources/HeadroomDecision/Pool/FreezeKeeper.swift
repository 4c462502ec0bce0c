import HeadroomModel

/// Keeps a pool's numbers while a freeze or a roll-back is in force (Model §5.4).
struct FreezeKeeper: Sendable {
    /// The number at which one member is frozen.
    private struct FrozenNumber: Sendable {
        /// Of nominal capacity.
        var share: Double
        var rates: Rates
    }

    /// The freeze in force.
    private var freeze: Int64?
    /// One a member, `nil` for one that came later; empty without a freeze.
    private var frozen: [FrozenNumber?] = []

    var isFrozen: Bool { freeze != nil }

    mutating func admit(_ origins: [Int?]) {
        if isFrozen { frozen = frozen.moved(origins) { _ in nil } }
    }

    /// Notes what a freeze that begins keeps: what is in force, or an old generation's numbers.
    mutating func follow(_ input: DecisionInput, inForce: PublishedNumbers) {
        let conditions = input.conditions
        let current = conditions.rules.steering.freezes.last { $0.pool == nil || $0.pool == conditions.pool.pool }
        guard current?.id != freeze else { return }
        freeze = current?.id
        frozen = []
        guard let current else { return }
        let numbers = current.numbers.first { $0.pool == conditions.pool.pool }?.tenants ?? []
        var old = TenantWalk(numbers)
        let members = input.members
        frozen = members.indices.map { index in
            if let place = old.place(of: members.tenants[index]) {
                let activity = members.activity(within: numbers[place].assured, of: index)
                return FrozenNumber(
                    share: activity * members.members[index].nominalCost, rates: numbers[place].assured)
            }
            guard !inForce.rows[index].isNew else { return nil }
            return FrozenNumber(share: inForce.rows[index].share, rates: inForce.assured[index])
        }
    }

    /// A member that came after the freeze began may start as an idle tenant does.
    func interval(of index: Int, current: Double, _ input: DecisionInput) -> FillInterval {
        if let number = frozen[index] {
            return FillInterval(exactly: number.share / input.members.members[index].nominalCost, .frozen)
        }
        let start =
            input.conditions.startShare / input.conditions.shared.dominantCost(of: input.members.rows[index].cost)
        return FillInterval(
            least: 0, leastConstraint: .frozen, most: max(current, start), mostConstraint: .frozen)
    }

    /// The frozen rates of a member, as long as its share is the frozen one.
    func rates(of index: Int, share: Double) -> Rates? {
        guard isFrozen, let number = frozen[index], abs(share - number.share) <= 1e-9 * number.share else {
            return nil
        }
        return number.rates
    }
}

/// Keeps the last known allocation after a start, until the loop has seen enough to decide (learning mode, Model §6).
struct LearningMode: Sendable {
    /// False once the last known numbers no longer fitted. They do not come back: by then other numbers were published.
    private var isLearning = true

    /// Returns the last known allocation while it stays in force, in place of what was decided.
    mutating func keep(_ lastKnown: PoolAllocation?, inPlaceOf decided: PoolAllocation) -> PoolAllocation? {
        isLearning = lastKnown.map { isLearning && $0.fits(decided) } ?? true
        return isLearning ? lastKnown : nil
    }
}

extension PoolAllocation {
    /// True while the pool still has the capacity that this divides.
    fileprivate func fits(_ decided: PoolAllocation) -> Bool {
        nominal == decided.nominal
            && budget.resources.members.allSatisfy { (budget[$0] ?? 0) <= (decided.budget[$0] ?? 0) }
    }
}
