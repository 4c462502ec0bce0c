import HeadroomModel

/// How one pool's budget was divided at a tick, in the pool's main resource: what is sure, what is lent, what lies in the
/// float, and which gateway may spend which part.
struct LiveDivision: Sendable {
    /// Σ of the contracts' floors.
    private(set) var floors = 0.0
    /// Σ of what tenants used above their assured rates: budget of others that was lent to them.
    private(set) var lent = 0.0
    /// Σ of what tenants left unused of their assured rates: others may be lent it.
    private(set) var unused = 0.0
    /// Budget that no gateway had work for.
    private(set) var float = 0.0
    /// Draws a minute since the tick before, by what became of them; `nil` where nobody has drawn yet.
    private(set) var draws: [DrawIntake.Result: Double]?
    /// Budgets, at most ``maxGateways``, the largest first.
    private(set) var gateways: [(gateway: GatewayID, budget: Double)] = []

    /// As many as a plot can tell apart.
    static let maxGateways = 8

    /// - Parameters:
    ///   - published: the generation in force; `nil` before the first.
    ///   - draws: as counted since the tick before.
    init(
        _ report: PoolReport, _ resource: Resource, published: PublishedGeneration?,
        draws: [DrawIntake.Result: Double]? = nil
    ) {
        self.draws = draws
        // By index: there may be many tenants, and each is a large struct to take out.
        for index in report.tenants.indices {
            let consumed = report.tenants[index].consumed[resource] ?? 0
            let assured = report.tenants[index].assured[resource] ?? 0
            lent += max(0, consumed - assured)
            unused += max(0, assured - consumed)
        }
        guard let published, let allocation = published.whole.pools.first(where: { $0.pool == report.pool }) else {
            return
        }
        float = allocation.float[resource] ?? 0
        for index in allocation.tenants.indices { floors += allocation.tenants[index].floor[resource] ?? 0 }
        gateways = published.budgets(of: report.pool, resource)
            .sorted { ($1.budget, $0.gateway) < ($0.budget, $1.gateway) }.prefix(Self.maxGateways).map(\.self)
    }
}
