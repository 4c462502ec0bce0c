/// The bounds on assured rates that automation may not cross without a person's approval (DESIGN §5.4).
package struct GuardrailPolicy: Equatable, Sendable {
    /// A tenant whose demand reaches it keeps at least this part of its floor.
    package var leastOfFloor: Double
    /// Most that one tenant may be assured, as a part of the pool's nominal capacity.
    package var mostOfNominal: Double
    /// An approval that nobody decides expires after this time.
    package var pendingHours: Double
    /// How long an approved change holds, where the person who approves it does not say.
    package var approvedHours: Double
    /// A denied change is not asked for again for so long.
    package var quietHours: Double

    package init(
        leastOfFloor: Double = 0.5, mostOfNominal: Double = 0.6, pendingHours: Double = 4, approvedHours: Double = 24,
        quietHours: Double = 4
    ) {
        self.leastOfFloor = leastOfFloor
        self.mostOfNominal = mostOfNominal
        self.pendingHours = pendingHours
        self.approvedHours = approvedHours
        self.quietHours = quietHours
    }
}

/// Which overrides one person may set alone; what goes beyond them needs a second person.
package struct OverrideLimits: Equatable, Sendable {
    /// Tiers up or down from the contract's.
    package var tierSteps: Int
    /// Factor, up or down, on the contract's weight.
    package var weightFactor: Double
    package var hours: Double
    /// One that waits for a second person, and finds none, expires after this time.
    package var pendingHours: Double

    package init(tierSteps: Int = 1, weightFactor: Double = 2, hours: Double = 24, pendingHours: Double = 4) {
        self.tierSteps = tierSteps
        self.weightFactor = weightFactor
        self.hours = hours
        self.pendingHours = pendingHours
    }
}
