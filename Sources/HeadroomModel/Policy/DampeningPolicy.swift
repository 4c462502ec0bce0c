/// How far the assured rates may move between two generations (Model §5.2). Every parameter is a time or a fraction.
public struct DampeningPolicy: Equatable, Sendable {
    /// The assured rate follows the fill's mean over this time: what is faster is lent and not assured
    /// (ControlLaw, rule 16). A rate that would turn back waits for one to four times as long (rule 25).
    public var observationSeconds: Double
    /// Deviations below this part of a tenant's rate move nothing at first …
    public var deadband: Double
    /// … and everything after so many seconds of the same sign, so that no error is permanent.
    public var deadbandSeconds: Double
    /// A rate rises at most by this factor in ``slewSeconds`` …
    public var slewFactor: Double
    public var slewSeconds: Double
    /// … or by this part of capacity, whichever is more.
    public var slewShare: Double
    /// Part of what tenants share that is assured. The rest is lent; small falls of the estimate are taken from it and
    /// do not count as losses of capacity.
    public var assuredShare: Double

    public init(
        observationSeconds: Double = 60, deadband: Double = 0.3, deadbandSeconds: Double = 60,
        slewFactor: Double = 1.5, slewSeconds: Double = 2, slewShare: Double = 0.03, assuredShare: Double = 0.95
    ) {
        self.observationSeconds = observationSeconds
        self.deadband = deadband
        self.deadbandSeconds = deadbandSeconds
        self.slewFactor = slewFactor
        self.slewSeconds = slewSeconds
        self.slewShare = slewShare
        self.assuredShare = assuredShare
    }
}
