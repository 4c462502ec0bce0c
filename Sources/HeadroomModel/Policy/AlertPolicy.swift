/// When something is worth an alert.
public struct AlertPolicy: Equatable, Sendable {
    /// An alert closes when its cause has been gone for so long.
    public var closeSeconds: Double
    /// A pool has lost capacity when less than this part of its contract is left.
    public var capacityShare: Double
    /// p95 over its baseline by this factor, before any refusal.
    public var latencyFactor: Double
    /// Part of a tenant's cost ceiling from which on it is near.
    public var costShare: Double
    /// A question that nobody has decided for so long.
    public var waitingSeconds: Double
    /// A question or a decision that ends within this time.
    public var endingSeconds: Double
    /// Turns of a tenant's assured rate an hour, on average over the pool's tenants.
    public var reversalsPerHour: Double
    /// Tiers, from the first on, whose tenants' waits are worth an alert of their own; strategic accounts always are.
    public var topTiers: Int
    /// Gateways poll and report nothing of a pool for so long.
    public var silentSeconds: Double
    /// Part of the disk that is free.
    public var diskShare: Double
    public var certificateDays: Double
    /// A service level is missed so many times faster than it may be: over the last hour, and over the last day.
    public var fastBurn: Double
    public var slowBurn: Double
    /// Less than this missed in the hour is no evidence.
    public var leastMissedSeconds: Double
    /// Names unique.
    public var sinks: [AlertSinkPolicy]
    public var addresses: AddressRules

    public init(
        closeSeconds: Double = 120, capacityShare: Double = 0.8, latencyFactor: Double = 3, costShare: Double = 0.8,
        waitingSeconds: Double = 900, endingSeconds: Double = 1800, reversalsPerHour: Double = 60, topTiers: Int = 2,
        silentSeconds: Double = 300, diskShare: Double = 0.1, certificateDays: Double = 14,
        fastBurn: Double = 14.4, slowBurn: Double = 3, leastMissedSeconds: Double = 60,
        sinks: [AlertSinkPolicy] = [], addresses: AddressRules = AddressRules()
    ) {
        self.closeSeconds = closeSeconds
        self.capacityShare = capacityShare
        self.latencyFactor = latencyFactor
        self.costShare = costShare
        self.waitingSeconds = waitingSeconds
        self.endingSeconds = endingSeconds
        self.reversalsPerHour = reversalsPerHour
        self.topTiers = topTiers
        self.silentSeconds = silentSeconds
        self.diskShare = diskShare
        self.certificateDays = certificateDays
        self.fastBurn = fastBurn
        self.slowBurn = slowBurn
        self.leastMissedSeconds = leastMissedSeconds
        self.sinks = sinks
        self.addresses = addresses
    }
}
