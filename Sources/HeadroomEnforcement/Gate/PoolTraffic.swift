import HeadroomModel

/// Where a pool's work arrives and waits, in columns: one a gateway.
public struct PoolTraffic: Equatable, Sendable {
    /// Ascending, each once.
    public let gateways: [GatewayID]
    /// Arrivals of the last 10 s + backlog ÷ 5, in any one unit for each resource; what the budget follows. Lanes in the order
    /// of ``Resource``.
    public var loads: [SIMD4<Double>]
    /// Traffic of the last hour, in any one unit; what the fallback follows.
    public var fallbackWeights: [Double]
    /// Ascending, each once.
    public let tenants: [TenantID]
    /// Demand of the last 60 s, in any one unit per tenant; what its assured rate follows. A row a tenant.
    public let demand: [Double]

    public init(
        gateways: [GatewayID], loads: [SIMD4<Double>], fallbackWeights: [Double], tenants: [TenantID], demand: [Double]
    ) {
        precondition(
            loads.count == gateways.count && demand.count == gateways.count * tenants.count,
            "\(gateways.count) gateways × \(tenants.count) tenants, and \(demand.count) cells")
        self.gateways = gateways
        self.loads = loads
        self.fallbackWeights = fallbackWeights
        self.tenants = tenants
        self.demand = demand
    }

    /// With the same mix everywhere.
    /// - Parameter fallbackWeights: `nil` takes the budget's.
    public init(
        gateways: [GatewayID], budgetWeights: [Double], fallbackWeights: [Double]? = nil, tenants: [TenantID],
        demand: [Double]
    ) {
        self.init(
            gateways: gateways, loads: budgetWeights.map { SIMD4(repeating: $0) },
            fallbackWeights: fallbackWeights ?? budgetWeights, tenants: tenants, demand: demand)
    }

    /// Of a gateway's load, what its dominant resource says.
    var budgetWeights: [Double] { loads.map { $0.max() } }

    /// - Parameter shares: each gateway once, in any order.
    public init(_ shares: [GatewayShare]) {
        let shares = shares.sorted { $0.gateway < $1.gateway }
        let tenants = Set(shares.flatMap { $0.demand.keys }).sorted()
        self.init(
            gateways: shares.map(\.gateway), budgetWeights: shares.map(\.budgetWeight),
            fallbackWeights: shares.map(\.fallbackWeight), tenants: tenants,
            demand: tenants.flatMap { tenant in shares.map { $0.demand[tenant] ?? 0 } })
    }

    /// With everything from the gateway at `first` on in one column.
    func grouped(from first: Int) -> PoolTraffic {
        let columns = gateways.count
        func grouped(_ weights: ArraySlice<Double>) -> [Double] {
            Array(weights.prefix(first)) + [weights.dropFirst(first).reduce(0, +)]
        }
        return PoolTraffic(
            gateways: Array(gateways.prefix(first + 1)),
            loads: Array(loads.prefix(first)) + [loads.dropFirst(first).reduce(.zero, +)],
            fallbackWeights: grouped(fallbackWeights[...]), tenants: tenants,
            demand: tenants.indices.flatMap { grouped(demand[$0 * columns..<($0 + 1) * columns]) })
    }
}

/// The same for one gateway.
public struct GatewayShare: Equatable, Sendable {
    public var gateway: GatewayID
    public var budgetWeight: Double
    public var fallbackWeight: Double
    /// Absent is 0.
    public var demand: [TenantID: Double]

    /// - Parameter fallbackWeight: `nil` takes the budget's.
    public init(
        gateway: GatewayID, budgetWeight: Double, fallbackWeight: Double? = nil, demand: [TenantID: Double] = [:]
    ) {
        self.gateway = gateway
        self.budgetWeight = budgetWeight
        self.fallbackWeight = fallbackWeight ?? budgetWeight
        self.demand = demand
    }
}

/// One gateway's budget of a pool, and its fallback for the time after the lease. Whole numbers.
public struct GatewayBudget: Equatable, Sendable {
    public var gateway: GatewayID
    public var budget: Rates
    public var fallback: Rates

    public init(gateway: GatewayID, budget: Rates, fallback: Rates) {
        self.gateway = gateway
        self.budget = budget
        self.fallback = fallback
    }
}
