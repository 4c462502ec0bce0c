/// Counts of calls and tokens, and amounts of time, in one minute or longer. All of them add up, except the longest wait.
public struct RollupSums: Equatable, Sendable {
    /// Attempts by outcome.
    public var ok: Int64 = 0
    public var quota: Int64 = 0
    public var overload: Int64 = 0
    /// All other failures.
    public var error: Int64 = 0
    /// Among ``error``: refused because traffic grew too fast, and for want of money. Windows do not tell them apart.
    public var ramp: Int64 = 0
    public var billing: Int64 = 0
    /// Attempts after the first, among the above.
    public var retries: Int64 = 0
    /// Unique work that was denied by gateways.
    public var denied: Int64 = 0
    /// With what the answers would have cost, as estimated.
    public var deniedTokens: Int64 = 0
    public var inputTokens: Int64 = 0
    /// Among ``inputTokens``.
    public var cachedInputTokens: Int64 = 0
    public var outputTokens: Int64 = 0
    /// As the provider charged them.
    public var countedTokens: Int64 = 0
    /// Served calls that said how long they had waited at the gateway, and how long that was together.
    public var waits: Int64 = 0
    public var waitedSeconds = 0.0
    /// Seconds in which a tenant wanted something.
    public var activeSeconds = 0.0
    /// Of these, seconds in which it was not satisfied: it got clearly less than it was due, or its calls waited for longer
    /// than its tier's should.
    public var missedSeconds = 0.0
    /// What arrived, each piece of work once.
    public var asked = AskedWork()
    /// Of the active seconds, rate × time: the assured rate, and the ceiling.
    public var assuredTokens = 0.0
    public var assuredRequests = 0.0
    public var ceilingTokens = 0.0
    public var ceilingRequests = 0.0
    /// Seconds for which a tenant was starved, by reason.
    public var starvedForDeliverySeconds = 0.0
    public var starvedForShortageSeconds = 0.0
    /// The longest wait of a queued call.
    public var oldestQueuedSeconds = 0.0

    public init() {}

    /// With what `fill` sets.
    public init(_ fill: (inout RollupSums) -> Void) {
        fill(&self)
    }

    /// Something was asked for, tried or turned back.
    public var hasWork: Bool { !asked.isNothing || attempts > 0 || denied > 0 }

    /// The part of the tokens asked for that was served, 0 to 1; `nil` where nothing was asked for. Of a pool whose calls
    /// have no tokens, the part of the requests.
    public var servedShare: Double? {
        if asked.tokens > 0 { return min(1, Double(countedTokens) / Double(asked.tokens)) }
        return asked.requests > 0 ? min(1, Double(ok) / Double(asked.requests)) : nil
    }

    /// Attempts that reached the upstream.
    public var attempts: Int64 { ok + quota + overload + error }

    public mutating func add(_ other: RollupSums) {
        ok.addSaturating(other.ok)
        quota.addSaturating(other.quota)
        overload.addSaturating(other.overload)
        error.addSaturating(other.error)
        ramp.addSaturating(other.ramp)
        billing.addSaturating(other.billing)
        retries.addSaturating(other.retries)
        denied.addSaturating(other.denied)
        deniedTokens.addSaturating(other.deniedTokens)
        inputTokens.addSaturating(other.inputTokens)
        cachedInputTokens.addSaturating(other.cachedInputTokens)
        outputTokens.addSaturating(other.outputTokens)
        countedTokens.addSaturating(other.countedTokens)
        waits.addSaturating(other.waits)
        waitedSeconds += other.waitedSeconds
        activeSeconds += other.activeSeconds
        missedSeconds += other.missedSeconds
        asked.add(other.asked)
        assuredTokens += other.assuredTokens
        assuredRequests += other.assuredRequests
        ceilingTokens += other.ceilingTokens
        ceilingRequests += other.ceilingRequests
        starvedForDeliverySeconds += other.starvedForDeliverySeconds
        starvedForShortageSeconds += other.starvedForShortageSeconds
        oldestQueuedSeconds = max(oldestQueuedSeconds, other.oldestQueuedSeconds)
    }
}
