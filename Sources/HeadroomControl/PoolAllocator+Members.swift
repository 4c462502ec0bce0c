import HeadroomModel

/// Who shares the pool, ascending by id, and what the rules say of each.
extension PoolAllocator {
    /// Those with a contract for this pool and those seen in it. Merges sorted lists: nobody is looked up whose terms are
    /// known.
    mutating func admit(_ demand: [TenantDemand], _ turn: PoolTurn) {
        if membership?.areStill(turn.rules) != true {
            membership = MembershipRules(turn.rules, for: turn.pool)
            for index in members.indices {
                members[index].terms = MemberTerms(of: members[index].id, in: turn.pool, under: turn.rules)
                write(termsOf: index)
            }
        }
        let contracted = membership?.contracted ?? []
        guard !isComplete(demand, contracted) else { return }

        var (next, nextFill) = ([PoolMember](), [FillTenant]())
        next.reserveCapacity(max(members.count, demand.count))
        nextFill.reserveCapacity(max(members.count, demand.count))
        var (known, seen, named) = (0, 0, 0)
        while seen < demand.count || named < contracted.count {
            let id: TenantID
            if named < contracted.count, seen == demand.count || contracted[named] < demand[seen].tenant {
                id = contracted[named]
            } else {
                id = demand[seen].tenant
            }
            while known < members.count, members[known].id < id { known += 1 }
            if known < members.count, members[known].id == id {
                next.append(members[known])
                nextFill.append(fill[known])
            } else {
                let terms = MemberTerms(of: id, in: turn.pool, under: turn.rules)
                next.append(PoolMember(id, terms, at: clock))
                nextFill.append(FillTenant(id: id, demand: Rates.none))
            }
            next[next.count - 1].demandIndex = nil
            if seen < demand.count, demand[seen].tenant == id {
                next[next.count - 1].demandIndex = seen
                seen += 1
            }
            if named < contracted.count, contracted[named] == id { named += 1 }
        }
        members = next
        fill = nextFill
        for index in members.indices where members[index].isNew { write(termsOf: index) }
    }

    /// True when the members are just these; notes where each one's demand stands.
    private mutating func isComplete(_ demand: [TenantDemand], _ contracted: [TenantID]) -> Bool {
        var (seen, named) = (0, 0)
        for index in members.indices {
            let isSeen = seen < demand.count && demand[seen].tenant == members[index].id
            let isNamed = named < contracted.count && contracted[named] == members[index].id
            guard isSeen || isNamed else { return false }
            members[index].demandIndex = isSeen ? seen : nil
            if isSeen { seen += 1 }
            if isNamed { named += 1 }
        }
        return seen == demand.count && named == contracted.count
    }

    private mutating func write(termsOf index: Int) {
        fill[index].tier = members[index].terms.tier
        fill[index].weight = members[index].terms.weight
        fill[index].floor = members[index].terms.floor
        fill[index].ceiling = members[index].terms.ceiling
    }
}
