import HeadroomModel

/// The work that arrives for a pool at one gateway, in seconds of the pool's nominal capacity.
struct GatewayArrivals: Sendable {
    /// Of about the last ten seconds: what budgets follow.
    private(set) var lately: FadingWork
    /// Of about the last hour: what fallbacks follow.
    private var hourly: Fading
    private var since: Timestamp
    /// When in the loop's period new work arrives here, of all tenants: each counts the same, however many calls it makes.
    private var phases = LoopPhases()
    /// Its place in the table; a start gives out places anew, and counts the first call as another one's.
    private var lastTenant = -1
    /// How often a call is of another tenant than the one before it, of the last 32 or so.
    private var otherTenants: Float = 0

    /// As ``MinuteSeries/halfLifeMinutes``: what arrived an hour ago counts half.
    private static let halfLife = MinuteSeries.halfLifeMinutes * 60
    /// A new gateway counts as if it had had average traffic for this long before. Otherwise its first burst would be
    /// taken for its hourly mean.
    private static let averageSeconds = 300.0

    init(at now: Timestamp) {
        lately = FadingWork(at: now)
        hourly = Fading(at: now)
        since = now
    }

    /// - Parameter seconds: By resource.
    mutating func add(_ seconds: SIMD4<Float>, at now: Timestamp, latelyHalfLife: Double) {
        lately.add(seconds, at: now, halfLife: latelyHalfLife)
        hourly.add(seconds.max(), at: now, halfLife: Self.halfLife)
    }

    /// New work of a tenant.
    /// - Returns: false where nearly all tenants here seem to call at one moment of the loop's period: that is when the gateway
    ///   reports, and says nothing of any of them. Of a gateway with one tenant it cannot be told.
    mutating func notePhase(_ arrival: LoopPhases.Arrival, of tenant: Int) -> Bool {
        otherTenants += ((tenant == lastTenant ? 0 : 1) - otherTenants) / 32
        lastTenant = tenant
        phases.add(arrival.weight, to: arrival.part)
        return phases.sum < Self.leastPhases || otherTenants < 0.1 || phases.most < Self.rhythmShare * phases.sum
    }

    /// Two tenants over ten periods.
    private static let leastPhases: Float = 20
    /// With one of three tenants in step, chance puts half into a quarter of the period; with one of two, five eighths.
    private static let rhythmShare: Float = 0.85

    /// The arrivals since the gateway is known, each second weighted by its age, and the sum of those weights.
    private func history(at now: Timestamp) -> (amount: Double, seconds: Double) {
        let kept = decay(now.seconds(since: since), halfLife: Self.halfLife)
        let amount = Double(hourly.value(at: now, halfLife: Self.halfLife))
        return (amount, (1 - kept) * Self.halfLife / naturalLogarithmOf2)
    }

    /// The mean arrivals of about the last hour, one per gateway, in the order of `all`. Each is the mean over the time
    /// for which the gateway is known plus ``averageSeconds`` of average traffic.
    static func hourlyMeans(of all: [GatewayArrivals], at now: Timestamp) -> [Double] {
        let histories = all.map { $0.history(at: now) }
        let sum = histories.reduce((amount: 0, seconds: 0)) { ($0.amount + $1.amount, $0.seconds + $1.seconds) }
        let mean = sum.amount / max(sum.seconds, 1)
        return histories.map { ($0.amount + averageSeconds * mean) / ($0.seconds + averageSeconds) }
    }
}

extension GatewayArrivals {
    func write(to writer: inout ByteWriter) {
        lately.write(to: &writer)
        hourly.write(to: &writer)
        writer.write(since)
        // Without them each start would believe a gateway's rhythm to be its tenants' until it has learnt it again.
        phases.write(to: &writer)
        writer.write(otherTenants)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        lately = try FadingWork(from: &reader)
        hourly = try Fading(from: &reader)
        since = try reader.readTimestamp()
        phases = try LoopPhases(from: &reader)
        otherTenants = try reader.readFloatAmount()
    }
}
