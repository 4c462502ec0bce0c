import HeadroomModel
import HeadroomWire

/// `GET /v1/costs`: showback, from what is recorded and the prices of contracts and pools.
struct CostRoutes: Sendable {
    let records: any RecordReading
    let rules: any RuleSource
    let time: TimeSource

    /// Times between which no price changes, in one answer: years of monthly prices.
    private static let maxIntervals = 100

    var all: [Route] {
        [.person(.get, "/v1/costs", AccessRule.viewers) { call in try await costs(call) }]
    }

    private func costs(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["from", "to", "by"])
        guard let dimension = try call.choice("by", of: CostReport.Dimension.allCases, named: \.rawValue) else {
            let names = CostReport.Dimension.allCases.map(\.rawValue).joined(separator: ", ")
            throw HTTPError(.badRequest, "by is missing: one of \(names)")
        }
        // Whole hours: that is how long prices hold, and use is kept.
        let to = try call.instant("to") ?? time.now()
        let from = try call.instant("from") ?? Timestamp(day: CivilMonth(containing: to.day).days.lowerBound)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let rules = try await rules.rules()
        let first = Self.hour(from)
        let last = Self.hour(Timestamp(milliseconds: to.milliseconds + 3_599_999))
        var edges: Set<Timestamp> = []
        for price in rules.policy.pools.flatMap(\.prices) {
            if let from = price.from { edges.insert(Self.hour(from)) }
            if let until = price.until { edges.insert(Self.hour(until)) }
        }
        let cuts: [Timestamp] = edges.filter { first < $0 && $0 < last }.sorted()
        guard cuts.count < Self.maxIntervals else {
            throw HTTPError(.badRequest, "prices change \(cuts.count) times from from to to: ask for a shorter time")
        }
        var report = CostReport(by: dimension)
        let scope = call.grant.scope
        for (start, end) in zip([first] + cuts, cuts + [last]) {
            let uses: [Rollup]
            do { uses = try await records.usage(from: start, to: end) } catch { throw .unreadable(error) }
            for use in uses where scope.holds(use.tenant, in: use.pool) {
                report.add(
                    use, contract: rules.contracts[use.tenant]?.cost, prices: rules.policy.pool(use.pool)?.prices ?? [])
            }
        }
        return .json(CostAnswer(report, from: first, to: last).encoded())
    }

    /// The one that `instant` lies in.
    private static func hour(_ instant: Timestamp) -> Timestamp {
        Timestamp(milliseconds: instant.milliseconds / 3_600_000 * 3_600_000)
    }
}
