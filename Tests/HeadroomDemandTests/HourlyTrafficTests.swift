import HeadroomDemand
import HeadroomModel
import Testing

/// What fallbacks follow (Model §6): each gateway's part of about the last hour, and what each tenant does as a rule.
@Suite struct HourlyTrafficTests {
    private static let start = ClassifiedPool.start
    private var estimator = DemandEstimator(
        pool: PoolPolicy(pool: ClassifiedPool.pool, nominal: ClassifiedPool.nominal),
        settings: DemandEstimator.Settings(Policy()), at: start)

    /// A second's calls at each gateway, from one minute to another.
    private mutating func run(_ minutes: Range<Int>, _ callsASecond: [(gateway: GatewayID, calls: Int)]) {
        for second in minutes.lowerBound * 60..<minutes.upperBound * 60 {
            let at = Self.start.adding(seconds: Double(second))
            for (gateway, calls) in callsASecond {
                for _ in 0..<calls {
                    estimator.fold(
                        .call(
                            CallRecord(
                                at: at, gateway: gateway, tenant: "acme", pool: ClassifiedPool.pool, outcome: .ok,
                                inputTokens: 900, outputTokens: 100)), at: at)
                }
            }
        }
    }

    /// Of the whole, at the end of a minute.
    private mutating func part(of gateway: GatewayID, at minute: Int) -> Double {
        let traffic = estimator.estimate(at: Self.start.adding(seconds: Double(minute) * 60)).hourlyGateways
        let all = traffic.reduce(0) { $0 + $1.weight }
        return (traffic.first { $0.gateway == gateway }?.weight ?? 0) / all
    }

    @Test mutating func `a minute's burst at one of two gateways hardly moves their parts`() {
        run(0..<60, [("gw-1", 1), ("gw-2", 1)])
        #expect(abs(part(of: "gw-2", at: 60) - 0.5) < 0.001)
        run(60..<61, [("gw-1", 1), ("gw-2", 10)])
        let after = part(of: "gw-2", at: 61)
        #expect(after > 0.5 && after < 0.55, "\(after)")
    }

    @Test mutating func `a gateway without work for a minute keeps its part, and loses it in hours`() {
        run(0..<60, [("gw-1", 1), ("gw-2", 3)])
        #expect(abs(part(of: "gw-2", at: 60) - 0.725) < 0.01)
        run(60..<61, [("gw-1", 1)])
        #expect(abs(part(of: "gw-2", at: 61) - 0.725) < 0.01)
        run(61..<420, [("gw-1", 1)])
        #expect(part(of: "gw-2", at: 420) < 0.1)
    }

    @Test(arguments: [(minutes: 1, calls: 1, from: 0.30, to: 0.36), (2, 1, 0.30, 0.36), (1, 10, 0.45, 0.62)])
    mutating func `one that joins counts by what it does, and as an average one as long as little is known of it`(
        minutes: Int, calls: Int, from least: Double, to most: Double
    ) {
        run(0..<60, [("gw-1", 1), ("gw-2", 1)])
        run(60..<60 + minutes, [("gw-1", 1), ("gw-2", 1), ("gw-3", calls)])
        let part = part(of: "gw-3", at: 60 + minutes)
        #expect(part > least && part < most, "\(part)")
    }

    @Test mutating func `in a pool's first minutes parts go from even to what there was`() {
        run(0..<2, [("gw-1", 1), ("gw-2", 3)])
        let first = part(of: "gw-2", at: 2)
        #expect(first > 0.52 && first < 0.6, "\(first)")
        run(2..<20, [("gw-1", 1), ("gw-2", 3)])
        let part = part(of: "gw-2", at: 20)
        #expect(part > 0.68 && part < 0.75, "\(part)")
    }

    @Test(arguments: [(minutes: 1, atOnce: 60.0), (3, 60), (20, 60), (90, 60)])
    mutating func `what a tenant does as a rule is its mean over the time for which it is known`(
        minutes: Int, atOnce: Double
    ) throws {
        run(0..<minutes, [("gw-1", 1)])
        let usual = try usualRequests(at: minutes)
        #expect(abs(usual - atOnce) < 0.05 * atOnce, "\(usual)")
        // A minute at ten times that, and one with nothing.
        run(minutes..<minutes + 1, [("gw-1", 10)])
        let burst = try usualRequests(at: minutes + 1)
        #expect(burst <= atOnce * (1 + 9.5 / Double(min(minutes, 60))), "\(burst)")
        let later = try usualRequests(at: minutes + 31)
        #expect(later < burst && later > 0, "\(later)")
    }

    private mutating func usualRequests(at minute: Int) throws -> Double {
        let tenant = estimator.estimate(at: Self.start.adding(seconds: Double(minute) * 60)).tenants.first
        return try #require(tenant?.profile?.flows.first?.usualDemand[.requests])
    }
}
