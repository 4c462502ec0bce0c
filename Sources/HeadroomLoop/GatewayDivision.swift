import HeadroomEnforcement
import HeadroomModel

/// Which part of a generation each living gateway gets: budgets by where work arrives, as far as there is room for
/// them, then rights within the budgets, in whole units.
struct GatewayDivision: Sendable {
    private var rooms: [PoolID: Room] = [:]
    /// As of the last decision.
    private var demands: [PoolID: PoolDemand] = [:]
    /// That of the last publication.
    private(set) var policy = LoopPolicy()
    /// Those heard of within lease and grace; ascending.
    private var living: [GatewayID] = []

    /// Restores the budgets that gateways may still have from the term before.
    mutating func remember(_ start: LedgerStart, under policy: LoopPolicy, at now: Timestamp) {
        let lease = max(policy.leaseSeconds, start.last?.leaseSeconds ?? 0)
        for (pool, sent) in Dictionary(grouping: start.budgets, by: \.pool) {
            rooms[pool] = Room(
                remembering: sent, leaseSeconds: lease, graceSeconds: policy.graceSeconds, at: now)
        }
    }

    mutating func follow(_ demands: [PoolDemand]) {
        self.demands = Dictionary(uniqueKeysWithValues: demands.map { ($0.pool, $0) })
    }

    /// - Parameter presences: of those that take part, and of those that have left; ascending by gateway.
    mutating func observe(_ presences: [GatewayPresence], under policy: LoopPolicy, at now: Timestamp) {
        self.policy = policy
        let oldest = now.adding(seconds: -policy.vanishedSeconds)
        living = presences.filter { !$0.hasLeft && $0.lastSeen >= oldest }.map(\.gateway)
        for place in rooms.values.indices { rooms.values[place].observe(presences, under: policy, at: now) }
    }

    /// - Parameter last: where it is given, no gateway gets more than it has in it.
    func publication(of whole: Snapshot, within last: Publication? = nil) -> Publication {
        var parts = living.map { gateway in
            var part = whole
            part.pools = []
            return (gateway: gateway, snapshot: part)
        }
        guard !parts.isEmpty else { return Publication(whole: whole, parts: []) }
        for pool in whole.pools {
            let room = rooms[pool.pool] ?? Room()
            let demand = demands[pool.pool]
            let traffic = PoolTraffic(of: demand, at: living, isNew: living.map(room.isNew))
            let division = Parts(
                maxParts: policy.maxParts, meanRequest: demand?.consumed.meanRequest ?? Bucket.oneRequest)
            var wanted = division.budgets(of: pool, over: traffic)
            if let last { wanted = wanted.map { $0.lowered(to: last.budget(of: pool.pool, at: $0.gateway)) } }
            let budgets = room.fit(wanted, of: pool, expectedGateways: policy.expectedGateways)
            for (index, part) in division.divide(pool, over: traffic, within: budgets).enumerated() {
                var allocation = part.allocation
                allocation.gateways = living.count
                parts[index].snapshot.pools.append(allocation)
            }
        }
        return Publication(whole: whole, parts: parts)
    }

    /// It is in force from now on.
    mutating func publish(_ publication: Publication, at now: Timestamp) {
        let whole = publication.whole
        for pool in Set(rooms.keys).union(whole.pools.map(\.pool)) {
            let index = whole.pools.firstIndex { $0.pool == pool }
            if index == nil, rooms[pool]?.isEmpty == true {
                rooms[pool] = nil
                continue
            }
            let parts = index.map { index in
                publication.parts.map { part in
                    let own = part.snapshot.pools[index]
                    return GatewayBudget(gateway: part.gateway, budget: own.budget, fallback: own.fallback)
                }
            }
            rooms[pool, default: Room()].publish(
                whole.version, parts ?? [], of: index.map { whole.pools[$0] }, leaseSeconds: whole.leaseSeconds,
                at: now)
        }
    }

    /// Of the pools in `whole`, the publication in force; ascending by pool, then gateway.
    func withheld(of whole: Snapshot) -> [WithheldBudget] {
        whole.pools.flatMap { pool in
            (rooms[pool.pool]?.withheld(besides: living, of: pool, under: policy) ?? []).map {
                WithheldBudget(pool: pool.pool, gateway: $0.gateway, rates: $0.rates, until: $0.until)
            }
        }
    }

    /// By pool, those that live and had work of it lately.
    var workingGateways: [PoolID: [GatewayID]] {
        let living = Set(living)
        return demands.mapValues { $0.gateways.map(\.gateway).filter(living.contains) }
    }

    var overcommittedTokens: [PoolID: Double] { rooms.mapValues(\.overcommittedTokens) }
}

extension PoolTraffic {
    /// One column for each of `living`, ascending.
    ///
    /// A gateway that has just joined is taken to get its even part of the traffic; after that its reports count.
    fileprivate init(of demand: PoolDemand?, at living: [GatewayID], isNew: [Bool]) {
        let tenants = demand?.tenants ?? []
        var cells = [Double](repeating: 0, count: tenants.count * living.count)
        for row in tenants.indices {
            let traffic = tenants.span[row].gateways
            PoolTraffic.forEachPlace(of: traffic, by: \.gateway, in: living) {
                cells[row * living.count + $1] = $0.weight
            }
        }
        var loads = [SIMD4<Double>](repeating: .zero, count: living.count)
        PoolTraffic.forEachPlace(of: demand?.gateways ?? [], by: \.gateway, in: living) { loads[$1] = $0.seconds }
        var hourly = [Double](repeating: 0, count: living.count)
        PoolTraffic.forEachPlace(of: demand?.hourlyGateways ?? [], by: \.gateway, in: living) { hourly[$1] = $0.weight }

        // Without any traffic all have the same.
        let known = loads.filter { $0 != .zero }
        let knownHourly = hourly.filter { $0 > 0 }
        let even = known.reduce(.zero, +) / Double(max(known.count, 1))
        let evenHourly = knownHourly.reduce(0, +) / Double(max(knownHourly.count, 1))
        for index in living.indices where isNew[index] {
            if loads[index] == .zero { loads[index] = even }
            if hourly[index] == 0 { hourly[index] = evenHourly }
        }
        self.init(
            gateways: living, loads: loads, fallbackWeights: hourly, tenants: tenants.map(\.tenant), demand: cells)
    }

    /// Both ascend by gateway.
    private static func forEachPlace<Entry>(
        of traffic: [Entry], by gateway: (Entry) -> GatewayID, in living: [GatewayID], _ body: (Entry, Int) -> Void
    ) {
        var column = 0
        for entry in traffic {
            while column < living.count, living[column] < gateway(entry) { column += 1 }
            guard column < living.count else { return }
            if living[column] == gateway(entry) { body(entry, column) }
        }
    }
}

extension Rates {
    /// One request's cost in each resource at these rates; `nil` without requests.
    fileprivate var meanRequest: Work? {
        guard let requests = self[.requests], requests > 0 else { return nil }
        return Work(amounts: perMinute / requests)
    }
}

extension GatewayBudget {
    /// Nothing at all where there is no other.
    fileprivate func lowered(to other: GatewayBudget?) -> GatewayBudget {
        GatewayBudget(
            gateway: gateway, budget: Rates.least(budget, other?.budget ?? budget * 0),
            fallback: Rates.least(fallback, other?.fallback ?? fallback * 0))
    }
}

extension Publication {
    fileprivate func budget(of pool: PoolID, at gateway: GatewayID) -> GatewayBudget? {
        let part = parts.first { $0.gateway == gateway }?.snapshot.pools.first { $0.pool == pool }
        return part.map { GatewayBudget(gateway: gateway, budget: $0.budget, fallback: $0.fallback) }
    }
}
