/// How far a tenant's claims are believed (Model §4): cold start and gaming.
public struct TrustPolicy: Equatable, Sendable {
    /// Served calls after which the confidence in a new tenant is one half; 0: everyone is known at once.
    public var halfConfidenceCalls: Double
    /// Demand of a tenant with a gaming flag counts at most as so many times what it really consumed.
    public var flaggedDemandFactor: Double
    /// Evidence for gaming is gathered over this time.
    public var flagSeconds: Double

    public init(halfConfidenceCalls: Double = 20, flaggedDemandFactor: Double = 1.2, flagSeconds: Double = 600) {
        self.halfConfidenceCalls = halfConfidenceCalls
        self.flaggedDemandFactor = flaggedDemandFactor
        self.flagSeconds = flagSeconds
    }
}
