/// What one tenant did, and how it fared, in one minute or hour of one pool. Sums, so that two of the same minute add up.
package struct Rollup: Equatable, Sendable {
    /// The start of the minute or the hour.
    package var start: Timestamp
    package var tenant: TenantID
    package var pool: PoolID
    package var criticality: Criticality
    /// Attempts by outcome.
    package var ok: Int64
    package var quota: Int64
    package var overload: Int64
    package var error: Int64
    /// Attempts after the first, among the above.
    package var retries: Int64
    /// Unique work that was denied by gateways.
    package var denied: Int64
    package var deniedTokens: Int64
    package var inputTokens: Int64
    package var outputTokens: Int64
    /// As the provider charged them.
    package var countedTokens: Int64
    /// Sums over ticks, of rate × time: tokens that it wanted, that it was assured.
    package var demandTokens: Double
    package var assuredTokens: Double
    /// Seconds for which it was starved, by reason.
    package var starvedForDeliverySeconds: Double
    package var starvedForShortageSeconds: Double
    /// The longest wait of a queued call.
    package var oldestQueuedSeconds: Double

    package init(
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
