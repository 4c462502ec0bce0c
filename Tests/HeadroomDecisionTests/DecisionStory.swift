import HeadroomDecision
import HeadroomModel

/// A pool that decides every two seconds: what tests of dampening, guardrails and explanations tell.
struct DecisionStory {
    static let start = Timestamp(milliseconds: 1_793_000_000_000)
    static let nominal = Rates(rpm: 6_000, tpm: 6_000_000)

    /// One tenant's needs, in tokens a minute.
    struct Needs {
        var interactive = 0.0
        var batch = 0.0
        var consumed = 0.0
        var confidence = 1.0
        var isDiscounted = false
        var midTask: Work?
        var repayment = 1.0
        var tokensPerRequest = 1000.0
        var inputTokensPerRequest = 0.0
        /// Interactive work of the last hour; `nil`: nothing is known of it.
        var usual: Double?
    }

    var policy: PoolPolicy
    var rules: Rules
    var capacity = Self.nominal
    var state = PoolState.healthy
    /// Tenants that are seen.
    var needs: [TenantID: Needs] = [:]
    /// While the loop learns.
    var lastKnown: PoolAllocation?
    private(set) var now = Self.start
    private(set) var last: PoolDecision?
    /// As they would be stored.
    private(set) var credits: [TenantID: CreditBalance] = [:]
    private var allocator: PoolAllocator

    init(policy: Policy = Policy(loop: LoopPolicy(unlistedShare: 0)), mode: PoolMode = .full) {
        self.policy = PoolPolicy(pool: "demo:pool", nominal: Self.nominal, mode: mode)
        rules = Rules(policy: policy)
        allocator = PoolAllocator(pool: "demo:pool", at: now)
    }

    /// The process starts anew; what it published last holds until it has learned.
    mutating func restart() {
        let stored = credits.keys.sorted().map { credits[$0]! }
        allocator = PoolAllocator(pool: "demo:pool", credits: stored, at: now)
        lastKnown = last?.allocation
    }

    @discardableResult
    mutating func tick(afterSeconds seconds: Double = 2) -> PoolDecision {
        now = now.adding(seconds: seconds)
        let tenants = needs.keys.sorted().map { id -> TenantDemand in
            let need = needs[id]!
            func rates(_ tokens: Double) -> Rates { Rates(rpm: tokens / need.tokensPerRequest, tpm: tokens) }
            return TenantDemand(
                tenant: id,
                demand: PerCriticality(
                    interactive: rates(need.interactive), nearRealTime: rates(0), batch: rates(need.batch)),
                shape: Work(
                    requests: 1, tokens: need.tokensPerRequest, inputTokens: need.inputTokensPerRequest),
                consumed: rates(need.consumed),
                confidence: need.confidence, repayment: need.repayment, midTask: need.midTask,
                isDiscounted: need.isDiscounted,
                profile: need.usual.map { usual in
                    TenantProfileReport(flows: [
                        TenantProfileReport.Flow(
                            criticality: .interactive, demand: rates(need.interactive), burnFast: rates(0),
                            burnSlow: rates(0), usualDemand: rates(usual), trend: 0, shape: nil)
                    ])
                })
        }
        let decision = allocator.decide(
            policy,
            capacity: PoolCapacity(pool: policy.pool, capacity: capacity, nominal: policy.nominal, state: state),
            demand: PoolDemand(pool: policy.pool, tenants: tenants), under: rules.holding(at: now),
            learningFrom: lastKnown, at: now)
        last = decision
        for balance in decision.credits { credits[balance.tenant] = balance }
        return decision
    }

    @discardableResult
    mutating func run(seconds: Double) -> PoolDecision {
        var decision = tick()
        for _ in 1..<max(1, Int(seconds / 2)) { decision = tick() }
        return decision
    }

    /// Tokens a minute of its work that the tenant is assured.
    func assured(_ tenant: TenantID) -> Double {
        last?.allocation.tenants.first { $0.tenant == tenant }?.assuredWork ?? 0
    }

    /// What the undampened fill gives each tenant just now.
    func target() -> [TenantID: Double] {
        var undampened = self
        undampened.allocator = PoolAllocator(pool: policy.pool, at: now)
        undampened.rules.policy.dampening.slewShare = 1000
        undampened.tick()
        return Dictionary(
            uniqueKeysWithValues: undampened.last!.allocation.tenants.map { ($0.tenant, $0.assuredWork) })
    }

    mutating func promise(
        _ tenant: TenantID, tier: String? = nil, floor: Double? = nil, ceiling: Double? = nil
    ) {
        func rates(_ tokens: Double?) -> Rates { tokens.map { Rates(rpm: $0 / 1000, tpm: $0) } ?? .none }
        rules.contracts[tenant] = Contract(
            tenant: tenant, tier: tier,
            terms: [Contract.Terms(pool: policy.pool, floor: rates(floor), ceiling: rates(ceiling))])
    }

    /// Twelve tenants of all tiers, some promised a floor, some idle, some with batch work; capacity between a third and
    /// all of the contract.
    static func drawn(using random: inout some RandomNumberGenerator) -> DecisionStory {
        var story = DecisionStory()
        story.capacity = nominal * .random(in: 0.3...1, using: &random)
        for number in 10..<22 {
            let id = TenantID(unchecked: "t\(number)")
            let tier = story.rules.policy.tiers.randomElement(using: &random)!.name
            let hasFloor = Double.random(in: 0...1, using: &random) < 0.4
            story.promise(id, tier: tier, floor: hasFloor ? .random(in: 1e4...1e5, using: &random) : nil)
            story.needs[id] = needs(using: &random)
        }
        return story
    }

    static func needs(using random: inout some RandomNumberGenerator) -> Needs {
        if Double.random(in: 0...1, using: &random) < 0.2 { return Needs() }
        let size = Double.random(in: 0...1, using: &random)
        return Needs(
            interactive: 2e6 * size * size * size,
            batch: Bool.random(using: &random) ? .random(in: 0...5e5, using: &random) : 0)
    }
}

extension TenantAllocation {
    /// Tokens a minute of requests of 1,000 tokens that fit into the assured rate.
    var assuredWork: Double { min(assured[.tokens] ?? 0, 1000 * (assured[.requests] ?? 0)) }
}
