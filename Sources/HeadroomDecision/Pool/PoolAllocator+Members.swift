import HeadroomModel

/// Who shares the pool, ascending by id, and what the rules say of each.
extension PoolAllocator {
    /// Those with a contract for this pool and those seen in it. Merges sorted lists: nobody is looked up whose terms are
    /// known.
    mutating func admit(_ demand: [TenantDemand], _ turn: PoolTurn) {
        let isSameLimit = nominal == turn.pool.nominal
        nominal = turn.pool.nominal
        if membership?.areStill(turn.rules) != true || !isSameLimit {
            membership = MembershipRules(turn.rules, for: turn.pool)
            hasNewContracts = true
            safe.at = nil
            allowances = nil
            for index in members.indices {
                terms[index] = MemberTerms(of: tenants[index], in: turn.pool, under: turn.rules)
                follow(termsOf: index, turn)
            }
        }
        guard !isComplete(demand) else { return }
        let places = places(of: demand, membership?.contracted ?? [])
        let known = places.map(\.known)
        if known.contains(nil) {
            safe.hasNewcomers = true
            allowances = nil
        }
        func moved<Row>(_ rows: [Row], _ new: (Int) -> Row) -> [Row] {
            known.indices.map { index in known[index].map { rows[$0] } ?? new(index) }
        }
        terms = moved(terms) { MemberTerms(of: places[$0].id, in: turn.pool, under: turn.rules) }
        windows = moved(windows) { _ in MemberWindows(at: clock) }
        fill = moved(fill) { _ in FillRow() }
        published = moved(published) {
            TenantAllocation(tenant: places[$0].id, assured: .none, safe: turn.pool.nominal * 0)
        }
        assured = moved(assured) { _ in .none }
        if !kept.isEmpty { kept = moved(kept) { _ in nil } }
        members = moved(members) { _ in PoolMember(at: clock) }
        tenants = places.map(\.id)
        for index in members.indices {
            members[index].demandIndex = places[index].seen
            members[index].isContracted = places[index].isContracted
            if known[index] == nil { follow(termsOf: index, turn) }
        }
    }

    /// Who is to be here, ascending: with the place among those that are here already, and in the list of demands.
    private func places(
        of demand: [TenantDemand], _ contracted: [TenantID]
    ) -> [(id: TenantID, known: Int?, seen: Int?, isContracted: Bool)] {
        var places: [(id: TenantID, known: Int?, seen: Int?, isContracted: Bool)] = []
        places.reserveCapacity(max(tenants.count, demand.count))
        var (here, seen, named) = (0, 0, 0)
        while seen < demand.count || named < contracted.count {
            let isNamedFirst =
                named < contracted.count && (seen == demand.count || contracted[named] < demand[seen].tenant)
            let id = isNamedFirst ? contracted[named] : demand[seen].tenant
            while here < tenants.count, tenants[here] < id { here += 1 }
            let isKnown = here < tenants.count && tenants[here] == id
            let isSeen = seen < demand.count && demand[seen].tenant == id
            let isContracted = named < contracted.count && contracted[named] == id
            places.append((id, isKnown ? here : nil, isSeen ? seen : nil, isContracted))
            if isSeen { seen += 1 }
            if isContracted { named += 1 }
        }
        return places
    }

    /// True when the members are just those with a contract and these; notes where each one's demand stands.
    private mutating func isComplete(_ demand: [TenantDemand]) -> Bool {
        guard !hasNewContracts else {
            hasNewContracts = false
            return false
        }
        let tenants = tenants
        let (demand, names) = (demand.span, tenants.span)
        var seen = 0
        for index in members.indices {
            var isSeen = false
            if seen < demand.count { isSeen = demand[seen].tenant == names[index] }
            guard isSeen || members[index].isContracted else { return false }
            members[index].demandIndex = isSeen ? seen : nil
            if isSeen { seen += 1 }
        }
        return seen == demand.count
    }

    mutating func follow(termsOf index: Int, _ turn: PoolTurn) {
        fill[index].tier = terms[index].rank
        fill[index].weight = terms[index].weight
        fill[index].ceilings = terms[index].ceiling.orUnlimited
        members[index].isRewritten = true
        follow(directionOf: index, turn)
    }

    /// What a unit of the tenant's activity costs, and its floor and ceiling in such units.
    mutating func follow(directionOf index: Int, _ turn: PoolTurn) {
        let direction = FillDirection(shape: members[index].unit, in: turn.nominal)
        members[index].nominalCost = direction.dominantCost
        fill[index].cost = direction.cost
        fill[index].floor = direction.activity(upTo: terms[index].floor)
        fill[index].ceiling = direction.activity(within: terms[index].ceiling)
    }

    /// `activity` as rates.
    func rates(_ activity: Double, of index: Int) -> Rates {
        Rates(perMinute: fill[index].cost * activity, resources: nominal.resources)
    }

    /// `rates` as an activity: the one that they allow in every resource that they name. For numbers that were published,
    /// whose other resources may hold more.
    func activity(within rates: Rates, of index: Int) -> Double {
        let cost = fill[index].cost
        let named = rates.resources.members.filter(nominal.resources.contains)
        return named.map { rates.perMinute[$0.rawValue] / cost[$0.rawValue] }.min() ?? 0
    }
}
