import HeadroomModel

/// One tenant at one gateway: what it may use, what it has used, and what waits. All tenants without an entry in the
/// snapshot share one.
struct TenantAccount: Sendable {
    /// `nil` for the account that tenants without an entry share.
    let tenant: TenantID?
    var weight: Double
    /// In a gate that is alone its calls go before those of others, whatever their criticality.
    var isQuiet = false
    /// Beyond its ceiling it may have what nobody else waits for.
    var hasSoftCeiling = false
    /// The assured rate; the safe rate once the lease has run out.
    var own: Bucket
    /// How far lending may go: all that the tenant is served here counts.
    var ceiling: Bucket
    /// Stride of assured service: seconds of the own rate that were used, in the gate's virtual time.
    var assuredPass = 0.0
    var queue = ServiceQueue()
    /// The most urgent criticality in its queue, when it was last looked at; `nil` when nothing waits.
    var waitsAs: Criticality?

    /// The service clock as the control plane last sent it.
    private var publishedClock: Double
    private var publishedAt: Timestamp
    /// Service here that the published clock does not contain yet, in seconds of the pool over weight.
    private var unpublished = 0.0

    /// All service here since the start, and as much of it as the float knew last, and as the last draw reported.
    private(set) var spent = Work.zero
    private(set) var acknowledgedSpent = Work.zero
    private var toldSpent = Work.zero
    private var toldUnpublished = 0.0

    /// Charges are about this old when the control plane's clock contains them (telemetry is posted each second, the
    /// loop ticks every two), so a publication takes half of the charges of that age with it.
    private static let publicationHalfLifeSeconds = 2.0

    /// Without limits until its rates are changed to some: buckets then start full.
    init(tenant: TenantID?, weight: Double, clock: Double, at now: Timestamp) {
        self.tenant = tenant
        self.weight = weight
        own = Bucket(.none, burstSeconds: 0, at: now)
        ceiling = Bucket(.none, burstSeconds: 0, at: now)
        publishedClock = clock
        publishedAt = now
    }

    /// Seconds of the pool's capacity served over all gateways ÷ weight, as far as this gateway can know.
    var clock: Double { publishedClock + unpublished }

    mutating func publish(clock: Double, at now: Timestamp) {
        if unpublished != 0 {
            unpublished *= decay(now.seconds(since: publishedAt), halfLife: TenantAccount.publicationHalfLifeSeconds)
        }
        publishedClock = clock
        publishedAt = now
    }

    /// A draw tells of everything so far …
    mutating func noteDraw() {
        toldSpent = spent
        toldUnpublished = unpublished
    }

    mutating func acknowledgeDraw() { acknowledgedSpent = toldSpent }

    /// … and its answer has a clock that contains just that.
    mutating func acknowledge(clock: Double, at now: Timestamp) {
        unpublished -= toldUnpublished
        toldUnpublished = 0
        publishedClock = clock
        publishedAt = now
    }

    mutating func lift(clockTo least: Double) {
        publishedClock += max(0, least - clock)
    }

    /// Service of `work` on the right of `grant`; taken back with negative work.
    mutating func charge(_ work: Work, grant: CallRight, capacity: Rates, at now: Timestamp) {
        let sign = work.amounts.sum() < 0 ? -1.0 : 1.0
        unpublished += sign * (work * sign).seconds(of: capacity) / weight
        spent += work
        guard grant != .unlimited else { return }
        // Who is lent beyond a soft ceiling is not held below it later for that.
        if !hasSoftCeiling || sign < 0 || ceiling.admits(at: now) { ceiling.charge(work, at: now) }
        // Who is served by the float has that much less of a claim to go before it; lent work is no such service.
        if grant == .drawn, sign > 0 { own.drain(work, at: now) }
        if grant == .assured || grant == .unlisted {
            own.charge(work, at: now)
            assuredPass += sign * (work * sign).seconds(of: own.rates)
        }
    }
}
