/// One tenant's use of one pool in one minute or hour, and how it fared. Sums, so that two of the same minute add up.
public struct Rollup: Equatable, Sendable {
    /// The start of the minute or the hour.
    public var start: Timestamp
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    /// Attempts by outcome.
    public var ok: Int64
    public var quota: Int64
    public var overload: Int64
    public var error: Int64
    /// Attempts after the first, among the above.
    public var retries: Int64
    /// Unique work that was denied by gateways.
    public var denied: Int64
    public var deniedTokens: Int64
    public var inputTokens: Int64
    public var outputTokens: Int64
    /// As the provider charged them.
    public var countedTokens: Int64
    /// Sums over ticks, of rate × time: tokens that it wanted, that it was assured.
    public var demandTokens: Double
    public var assuredTokens: Double
    /// Seconds for which it was starved, by reason.
    public var starvedForDeliverySeconds: Double
    public var starvedForShortageSeconds: Double
    /// The longest wait of a queued call.
    public var oldestQueuedSeconds: Double

    public init(
        start: Timestamp, tenant: TenantID, pool: PoolID, criticality: Criticality, ok: Int64 = 0, quota: Int64 = 0,
        overload: Int64 = 0, error: Int64 = 0, retries: Int64 = 0, denied: Int64 = 0, deniedTokens: Int64 = 0,
        inputTokens: Int64 = 0, outputTokens: Int64 = 0, countedTokens: Int64 = 0, demandTokens: Double = 0,
        assuredTokens: Double = 0, starvedForDeliverySeconds: Double = 0, starvedForShortageSeconds: Double = 0,
        oldestQueuedSeconds: Double = 0
    ) {
        self.start = start
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.ok = ok
        self.quota = quota
        self.overload = overload
        self.error = error
        self.retries = retries
        self.denied = denied
        self.deniedTokens = deniedTokens
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.countedTokens = countedTokens
        self.demandTokens = demandTokens
        self.assuredTokens = assuredTokens
        self.starvedForDeliverySeconds = starvedForDeliverySeconds
        self.starvedForShortageSeconds = starvedForShortageSeconds
        self.oldestQueuedSeconds = oldestQueuedSeconds
    }
}
