import HeadroomModel

/// The conditions of one decision of a pool: its policy, its capacity, the rules in force, and what follows from them for
/// every tenant alike. The same for all steps of the decision.
struct PoolConditions: Sendable {
    let pool: PoolPolicy
    let capacity: PoolCapacity
    let rules: Rules
    let now: Timestamp
    /// Parts of the rules that are needed for every tenant.
    let dampening: Dampening
    let guardrails: GuardrailPolicy
    let deadband: Double
    let flaggedDemandFactor: Double
    /// The part that is left, since the last decision, of what falls by the half-life of demand.
    let demandKept: Double
    let fallbackShare: Double
    /// The most that one idle tenant may start with.
    let startShare: Double
    let isOpen: Bool
    /// The bands of the policy, inside the intervals.
    let bands: [FillRaise]

    /// In whole numbers: the capacity less what stays in the float.
    let budget: Rates
    let float: Rates
    let unlisted: Rates
    /// The budget less the part of `unlisted`: what listed tenants share …
    let whole: Rates
    /// … and the part of it that is assured to them; floors may need more (``assurable(covering:)``).
    private let assurableShare: Double
    let shared: FillCapacity
    let nominal: FillCapacity

    /// Questions about this pool that are pending, or decided and still in force.
    let proposals: [Proposal]
    /// The rates of approved changes beyond the guardrails, and of applied recommendations; the newest decision on each tenant.
    let approved: [TenantID: Rates]
    let applied: [TenantID: Rates]

    init(
        _ pool: PoolPolicy, _ capacity: PoolCapacity, _ rules: Rules, elapsed: Double,
        at now: Timestamp
    ) {
        self.pool = pool
        self.capacity = capacity
        self.rules = rules
        self.now = now
        dampening = Dampening(rules.policy.dampening, elapsed: elapsed, growth: capacity.growth, at: now)
        guardrails = rules.policy.guardrails
        deadband = rules.policy.dampening.deadband
        flaggedDemandFactor = rules.policy.trust.flaggedDemandFactor
        demandKept = decay(elapsed, halfLife: rules.policy.demand.halfLifeSeconds)
        fallbackShare = rules.policy.loop.fallbackShare
        startShare = rules.policy.start.shareEach
        isOpen = capacity.state == .open
        let tiers = rules.policy.tiers.map(\.name)
        bands = ([FillBand(.least)] + rules.policy.bands.map(FillBand.init)).map { FillRaise($0, tiers: tiers) }

        let loop = rules.policy.loop
        let all = capacity.capacity.map { $1.rounded(.down) }
        let float = all.map { ($1 * loop.floatShare).rounded(.down) }
        let budget = all.map { resource, rate in rate - (float[resource] ?? 0) }
        let unlisted = budget.map { ($1 * loop.unlistedShare).rounded(.down) }
        whole = budget.map { resource, rate in
            max(0, rate - (unlisted[resource] ?? 0))
        }
        (self.float, self.budget, self.unlisted) = (float, budget, unlisted)
        assurableShare = rules.policy.dampening.assuredShare
        shared = FillCapacity(whole)
        nominal = FillCapacity(pool.nominal)
        let proposals = rules.steering.proposals.filter { $0.pool == pool.pool && $0.kind != .override }
        func approved(_ kind: Proposal.Kind) -> [TenantID: Rates] {
            // A part that was decided on by itself has an id of its own: not ids but decisions say what is newer.
            let found = proposals.filter { $0.kind == kind && $0.state == .approved }
                .sorted { ($0.decision?.at ?? $0.authorship.at, $0.id) < ($1.decision?.at ?? $1.authorship.at, $1.id) }
            return Dictionary(found.flatMap(\.changes).map { ($0.tenant, $0.to) }) { _, newer in newer }
        }
        self.proposals = proposals
        self.approved = approved(.guardrail)
        applied = approved(.recommendation)
    }

    /// The rates to divide: the assured share of what listed tenants share, and more where `floors` need it, up to all.
    func assurable(covering floors: SIMD4<Double>) -> Rates {
        var assurable = whole * assurableShare
        for resource in whole.resources.members {
            let needed = floors[resource.rawValue] * (1 + 1e-12)
            assurable[resource] = min(whole[resource] ?? 0, max(assurable[resource] ?? 0, needed))
        }
        return assurable
    }
}

extension FillBand {
    init(_ band: Band) {
        let bound: Bound =
            switch band.bound {
            case .floor: .floor
            case .floorInDemand: .floorInDemand
            case .leastShare: .leastShare
            case .start: .start
            case .demand: .demand
            case .burst: .burst
            case .ceiling: .ceiling
            }
        self.init(bound, criticality: band.criticality, tiers: band.tiers)
    }

    /// `demand:interactive`, say.
    var name: String {
        let name =
            switch bound {
            case .least: "least"
            case .floor: "floor"
            case .floorInDemand: "floor_in_demand"
            case .leastShare: "least_share"
            case .start: "start"
            case .demand: "demand"
            case .burst: "burst"
            case .ceiling: "ceiling"
            }
        return criticality.map { "\(name):\($0.name)" } ?? name
    }
}
