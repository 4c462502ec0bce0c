import HeadroomModel

/// The *members* of one pool: its tenants, ascending by id, with what the rules say of each and the direction of its
/// work.
///
/// All columns have the same order, so a loop over all tenants reads only the columns that it needs. The other parts of
/// ``PoolAllocator`` keep columns of their own in the same order, and update them by the table's ``Admission``.
struct MemberTable: Sendable {
    /// A tenant's place in the table, and the unit that its activity is measured in.
    struct Member: Sendable {
        /// Its index in this tick's demands; `nil` when it has not been heard of.
        fileprivate(set) var demandIndex: Int?
        /// It has terms in the pool, and so a place, whether it is heard of or not.
        fileprivate(set) var isContracted = false
        /// The cost of one unit of its activity: its mean request. Held until the mean has moved by a quarter, so that
        /// a rate that neither rises nor falls stays the number it is.
        fileprivate(set) var unit = Rates.none
        /// The part of nominal capacity that one unit takes.
        fileprivate(set) var nominalCost = 0.0
        /// How often its terms were looked up: once it has moved on, what is published of them is written anew.
        fileprivate(set) var termsRevision = 0
    }

    private(set) var tenants: [TenantID] = []
    private(set) var members: [Member] = []
    private(set) var terms: [MemberTerms] = []
    /// The rows that the fills read.
    private(set) var rows: [FillRow] = []
    /// The capacity by contract that directions and bounds are measured in.
    private(set) var nominal = Rates.none

    private var membership: MembershipRules?
    /// The list of tenants with a contract has changed since the members were listed.
    private var hasNewContracts = true
    /// The allowances by which the cost ceilings were made; `nil`: they are to be made anew.
    private var allowances: [TenantID: CostAllowance]?
    private var costBreaks: [CostBreak.Hold] = []

    var indices: Range<Int> { members.indices }

    // MARK: Admission

    /// How the members of one tick differ from those of the tick before.
    struct Admission {
        /// The rules or the limit are others than before.
        var hasNewRules = false
        /// Where each member stood before, `nil` for a newcomer; `nil` when the members are the same.
        var origins: [Int?]?

        var hasNewcomers: Bool { origins?.contains(nil) ?? false }
    }

    /// Admits those with a contract for this pool and those seen in it. Merges sorted lists, so that no known tenant is
    /// looked up.
    mutating func admit(_ demand: [TenantDemand], _ conditions: PoolConditions) -> Admission {
        var admission = Admission()
        let isSameLimit = nominal == conditions.pool.nominal
        nominal = conditions.pool.nominal
        if membership?.areStill(conditions.rules) != true || !isSameLimit {
            membership = MembershipRules(conditions.rules, for: conditions.pool)
            hasNewContracts = true
            allowances = nil
            admission.hasNewRules = true
            for index in members.indices {
                terms[index] = MemberTerms(of: tenants[index], in: conditions.pool, under: conditions.rules)
                follow(termsOf: index, conditions)
            }
        }
        if !isComplete(demand) { admission.origins = list(demand, conditions) }
        boundByCost(demand, conditions)
        return admission
    }

    /// Lists the members anew, and returns where each one stood before.
    private mutating func list(_ demand: [TenantDemand], _ conditions: PoolConditions) -> [Int?] {
        let places = places(of: demand, membership?.contracted ?? [])
        let origins = places.map(\.known)
        if origins.contains(nil) { allowances = nil }
        terms = terms.moved(origins) { MemberTerms(of: places[$0].id, in: conditions.pool, under: conditions.rules) }
        rows = rows.moved(origins) { _ in FillRow() }
        members = members.moved(origins) { _ in Member() }
        tenants = places.map(\.id)
        for index in members.indices {
            members[index].demandIndex = places[index].seen
            members[index].isContracted = places[index].isContracted
            if origins[index] == nil { follow(termsOf: index, conditions) }
        }
        return origins
    }

    /// All members to be, ascending, with their index among the present members and among the demands.
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

    /// True when the members are just those with a contract and these; notes the index of each one's demand.
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

    /// Makes the cost ceilings anew when an allowance has changed, which is once a minute, and for newcomers.
    private mutating func boundByCost(_ demand: [TenantDemand], _ conditions: PoolConditions) {
        let new = conditions.rules.allowances
        let breaks = conditions.rules.costBreaks.compactMap { CostBreak.Hold($0, in: conditions.pool.pool) }
        guard new != allowances || breaks != costBreaks else { return }
        (allowances, costBreaks) = (new, breaks)
        let held = Dictionary(
            conditions.rules.costBreaks.compactMap { stands in stands.subject.tenant.map { ($0, stands) } },
            uniquingKeysWith: { first, _ in first })
        for index in members.indices {
            let (allowance, stands) = (new[tenants[index]], held[tenants[index]])
            guard allowance != nil || stands != nil || terms[index].cost != nil || terms[index].breaker != nil else {
                continue
            }
            let mean = members[index].demandIndex.flatMap { demand[$0].shape } ?? FillDirection.defaultRequest
            terms[index].follow(allowance, stands, mean: mean, in: conditions.pool)
            follow(termsOf: index, conditions)
        }
    }

    private mutating func follow(termsOf index: Int, _ conditions: PoolConditions) {
        rows[index].tier = terms[index].rank
        rows[index].weight = terms[index].weight
        rows[index].ceilings = terms[index].ceiling.orUnlimited
        members[index].termsRevision += 1
        follow(directionOf: index, conditions)
    }

    // MARK: Directions

    /// Follows the tenants' mean requests, each once it lies far enough from the one in use. In a pool whose breaker is open
    /// only newcomers': rates stay as they are there, and so does what floors and ceilings make of them.
    mutating func followShapes(_ demand: [TenantDemand], _ conditions: PoolConditions) {
        let demand = demand.span
        let resources = nominal.resources
        for index in members.indices {
            guard let seen = members[index].demandIndex else { continue }
            if conditions.isOpen, !members[index].unit.isEmpty { continue }
            let mean: Rates
            if let shape = demand[seen].shape {
                mean = shape.rates(overSeconds: 60, of: resources)
            } else {
                let total =
                    demand[seen].demand.interactive.perMinute + demand[seen].demand.nearRealTime.perMinute
                    + demand[seen].demand.batch.perMinute
                mean = Rates(perMinute: total[0] > 0 ? total / total[0] : total, resources: resources)
            }
            if members[index].follow(mean) { follow(directionOf: index, conditions) }
        }
    }

    /// Sets the cost of a unit of the tenant's activity, and its floor and ceiling in such units.
    private mutating func follow(directionOf index: Int, _ conditions: PoolConditions) {
        let direction = FillDirection(shape: members[index].unit, in: conditions.nominal)
        members[index].nominalCost = direction.dominantCost
        rows[index].cost = direction.cost
        rows[index].floor = direction.activity(upTo: terms[index].floor)
        rows[index].ceiling = direction.activity(within: terms[index].ceiling)
    }

    /// `activity` as rates.
    func rates(_ activity: Double, of index: Int) -> Rates {
        Rates(perMinute: rows[index].cost * activity, resources: nominal.resources)
    }

    /// The activity that `rates` allow in every resource that they name. For published numbers, which may hold more of
    /// the resources that were not full.
    func activity(within rates: Rates, of index: Int) -> Double {
        let cost = rows[index].cost
        let named = rates.resources.members.filter(nominal.resources.contains)
        return named.map { rates.perMinute[$0.rawValue] / cost[$0.rawValue] }.min() ?? 0
    }

    // MARK: Terms

    /// The sum of all floors.
    var floors: SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for index in rows.indices where rows[index].floor > 0 { sum += rows[index].cost * rows[index].promised }
        return sum
    }

    /// Which of the tenant's ceilings its work meets first: what the cost breaker leaves it, that of its money, or that of its
    /// contract.
    func ceilingConstraint(of index: Int) -> Constraint {
        func activity(_ ceiling: Rates?) -> Double {
            guard let ceiling, !ceiling.isEmpty else { return .infinity }
            return self.activity(within: ceiling, of: index)
        }
        let breaker = activity(terms[index].breakerCeiling)
        let cost = activity(terms[index].costCeiling)
        let contract = activity(terms[index].contractCeiling)
        if breaker.isFinite, breaker <= min(cost, contract) { return .costBreaker }
        return cost.isFinite && cost <= contract ? .costCeiling : .ceiling
    }
}

extension CostBreak {
    /// What a pool's ceilings are made of: the rest moves with every tick.
    fileprivate struct Hold: Equatable, Sendable {
        let tenant: TenantID
        let state: State
        let limit: Double

        init?(_ stands: CostBreak, in pool: PoolID) {
            guard let tenant = stands.subject.tenant, let limit = stands.limit(in: pool) else { return nil }
            (self.tenant, state, self.limit) = (tenant, stands.state, limit)
        }
    }
}

extension MemberTable.Member {
    /// Takes `mean` as the new unit once it lies far enough from the one in use. Returns true when it did.
    fileprivate mutating func follow(_ mean: Rates) -> Bool {
        guard mean.perMinute != .zero else { return false }
        guard unit.resources == mean.resources else {
            unit = mean
            return true
        }
        let few = SIMD4(repeating: 1e-6)
        let ratios = mean.perMinute.raised(to: few) / unit.perMinute.raised(to: few)
        var (least, most) = (Double.infinity, 0.0)
        for resource in mean.resources.members {
            least = min(least, ratios[resource.rawValue])
            most = max(most, ratios[resource.rawValue])
        }
        guard most > 1.25 * least else { return false }
        unit = mean
        return true
    }
}

extension Array {
    /// A column in the new order of the members: the rows of those that stay, and new rows for newcomers.
    /// - Parameter origins: as ``MemberTable/Admission/origins``.
    func moved(_ origins: [Int?], newcomer: (Int) -> Element) -> [Element] {
        origins.indices.map { index in origins[index].map { self[$0] } ?? newcomer(index) }
    }
}
