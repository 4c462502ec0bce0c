import Foundation
import HeadroomDemand
import HeadroomModel
import Testing

/// What fallbacks follow (Model §6): each gateway's part of about the last hour, and what each tenant does as a rule.
@Suite struct HourlyTrafficTests {
    private static let start = ClassifiedPool.start
    private var estimator = DemandEstimator(
        pool: PoolPolicy(pool: ClassifiedPool.pool, nominal: ClassifiedPool.nominal),
        settings: DemandEstimator.Settings(Policy()), at: start)
    /// What ``run(_:_:)`` has played: a second's calls at each gateway.
    private var history: [(minutes: Range<Int>, callsASecond: [(gateway: GatewayID, calls: Int)])] = []

    /// A second's calls at each gateway, from one minute to another.
    private mutating func run(_ minutes: Range<Int>, _ callsASecond: [(gateway: GatewayID, calls: Int)]) {
        history.append((minutes, callsASecond))
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

    /// The same by the definition, summed second by second: what arrived an hour ago counts half, and each gateway counts
    /// as an average one for 300 s before it was known.
    private func definedPart(of gateway: GatewayID, at minute: Int) -> Double {
        var arrived: [GatewayID: Double] = [:]
        var known: [GatewayID: Double] = [:]
        for (minutes, callsASecond) in history {
            for second in minutes.lowerBound * 60..<minutes.upperBound * 60 {
                let weight = exp2(-Double(minute * 60 - second) / 3600)
                for (gateway, calls) in callsASecond {
                    if known[gateway] == nil {
                        known[gateway] = (second..<minute * 60).reduce(0) {
                            $0 + exp2(-Double(minute * 60 - $1) / 3600)
                        }
                    }
                    arrived[gateway, default: 0] += weight * Double(calls)
                }
            }
        }
        let mean = arrived.values.reduce(0, +) / known.values.reduce(0, +)
        let means = known.map { (arrived[$0.key, default: 0] + 300 * mean) / ($0.value + 300) }
        let own = (arrived[gateway, default: 0] + 300 * mean) / (known[gateway, default: 0] + 300)
        return own / means.reduce(0, +)
    }

    private mutating func expectDefined(
        _ gateway: GatewayID, at minute: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (part, defined) = (part(of: gateway, at: minute), definedPart(of: gateway, at: minute))
        #expect(abs(part - defined) < 0.002, "\(part), by the definition \(defined)", sourceLocation: sourceLocation)
    }

    @Test mutating func `a minute's burst at one of two gateways hardly moves their parts`() {
        run(0..<60, [("gw-1", 1), ("gw-2", 1)])
        #expect(abs(part(of: "gw-2", at: 60) - 0.5) < 0.001)
        run(60..<61, [("gw-1", 1), ("gw-2", 10)])
        expectDefined("gw-2", at: 61)
        #expect(part(of: "gw-2", at: 61) < 0.55)
    }

    @Test mutating func `a gateway without work for a minute keeps its part, and loses it in hours`() {
        run(0..<60, [("gw-1", 1), ("gw-2", 3)])
        let before = part(of: "gw-2", at: 60)
        expectDefined("gw-2", at: 60)
        run(60..<61, [("gw-1", 1)])
        #expect(abs(part(of: "gw-2", at: 61) - before) < 0.01)
        run(61..<420, [("gw-1", 1)])
        expectDefined("gw-2", at: 420)
        #expect(part(of: "gw-2", at: 420) < 0.1)
    }

    @Test(arguments: [(minutes: 1, calls: 1), (2, 1), (1, 10)])
    mutating func `one that joins counts by what it does, and as an average one as long as little is known of it`(
        minutes: Int, calls: Int
    ) {
        run(0..<60, [("gw-1", 1), ("gw-2", 1)])
        run(60..<60 + minutes, [("gw-1", 1), ("gw-2", 1), ("gw-3", calls)])
        expectDefined("gw-3", at: 60 + minutes)
        // By what it does alone it would have five sixths.
        #expect(part(of: "gw-3", at: 60 + minutes) < 0.6)
    }

    @Test(arguments: [2, 20, 60])
    mutating func `in a pool's first minutes parts go from even to what there was`(minutes: Int) {
        run(0..<minutes, [("gw-1", 1), ("gw-2", 3)])
        expectDefined("gw-2", at: minutes)
        #expect((0.5..<0.75).contains(part(of: "gw-2", at: minutes)))
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
