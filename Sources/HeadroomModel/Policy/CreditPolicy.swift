/// Burst credit: assured rate that was not used, saved up, and spent by a burst in the middle of a task (Model §5.6).
public struct CreditPolicy: Equatable, Sendable {
    /// Part of what a tenant is assured and leaves unused that it earns as credit.
    public var accrualShare: Double
    /// Most that a tenant may hold, as seconds of its assured rate.
    public var capSeconds: Double
    /// Unspent credit falls by half in this time.
    public var halfLifeHours: Double
    /// Part of the budget that all grants together may take.
    public var shareTotal: Double
    /// Longest time of one grant.
    public var grantSeconds: Double
    /// Least repayment score, 0 to 1, of a tenant that is granted a burst.
    public var leastRepayment: Double

    public init(
        accrualShare: Double = 0.5, capSeconds: Double = 600, halfLifeHours: Double = 24, shareTotal: Double = 0.1,
        grantSeconds: Double = 120, leastRepayment: Double = 0.5
    ) {
        self.accrualShare = accrualShare
        self.capSeconds = capSeconds
        self.halfLifeHours = halfLifeHours
        self.shareTotal = shareTotal
        self.grantSeconds = grantSeconds
        self.leastRepayment = leastRepayment
    }
}
