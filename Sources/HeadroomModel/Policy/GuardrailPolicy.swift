/// The bounds on assured rates that automation may not cross without a person's approval (Model §5.4).
public struct GuardrailPolicy: Equatable, Sendable {
    /// A tenant whose demand reaches it keeps at least this part of its floor.
    public var leastOfFloor: Double
    /// Most that one tenant may be assured, as a part of the pool's nominal capacity.
    public var mostOfNominal: Double
    /// An approval that nobody decides expires after this time.
    public var pendingHours: Double
    /// How long an approved change holds, where the person who approves it does not say.
    public var approvedHours: Double
    /// A denied change is not asked for again for so long.
    public var quietHours: Double
    /// A question names those other tenants one by one that it changes by this part of the pool's nominal capacity or more;
    /// the others it counts.
    public var moverShare: Double

    public init(
        leastOfFloor: Double = 0.5, mostOfNominal: Double = 0.6, pendingHours: Double = 4, approvedHours: Double = 24,
        quietHours: Double = 4, moverShare: Double = 0.01
    ) {
        self.leastOfFloor = leastOfFloor
        self.mostOfNominal = mostOfNominal
        self.pendingHours = pendingHours
        self.approvedHours = approvedHours
        self.quietHours = quietHours
        self.moverShare = moverShare
    }
}

/// Which overrides one person may set alone; what goes beyond them needs a second person.
public struct OverrideLimits: Equatable, Sendable {
    /// Tiers up or down from the contract's.
    public var tierSteps: Int
    /// Factor, up or down, on the contract's weight.
    public var weightFactor: Double
    public var hours: Double
    /// One that waits for a second person, and finds none, expires after this time.
    public var pendingHours: Double

    public init(tierSteps: Int = 1, weightFactor: Double = 2, hours: Double = 24, pendingHours: Double = 4) {
        self.tierSteps = tierSteps
        self.weightFactor = weightFactor
        self.hours = hours
        self.pendingHours = pendingHours
    }
}
