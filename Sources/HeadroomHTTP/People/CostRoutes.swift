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
        [.person(.get, "/v1/costs", AccessRule.viewers, .scope) { call in try await costs(call) }]
    }

    private func costs(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["from", "to", "by"])
        guard let dimension = try call.choice("by", of: CostReport.Dimension.allCases, named: \.rawValue) else {
            let names = CostReport.Dimension.allCases.map(\.rawValue).joined(separator: ", ")
            throw HTTPError(.badRequest, "by is missing: one of \(names)")
        }
        // Whole hours: that is how long prices hold, and use is kept.
        let now = time.now()
        let to = try call.instant("to") ?? now
        let from = try call.instant("from") ?? Timestamp(day: CivilMonth(containing: to.day).days.lowerBound)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let rules = try await rules.rules()
        let first = Self.hour(from)
        let last = Self.hour(Timestamp(milliseconds: to.milliseconds + 3_599_999))
        let report = try await report(dimension, from: first, to: last, call.grant.scope, rules)
        let projection = try await projection(dimension, from: first, to: last, call.grant.scope, rules, at: now)
        return .json(CostAnswer(report, projection: projection, from: first, to: last).encoded())
    }

    private func report(
        _ dimension: CostReport.Dimension, from first: Timestamp, to last: Timestamp, _ scope: AccessGrant.Scope,
        _ rules: Rules
    ) async throws(HTTPError) -> CostReport {
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
        for (start, end) in zip([first] + cuts, cuts + [last]) {
            let uses: [ModelUse]
            do { uses = try await records.usage(from: start, to: end) } catch { throw .unreadable(error) }
            for use in uses where scope.holds(use.tenant, in: use.pool) {
                report.add(
                    use, contract: rules.contracts[use.tenant]?.cost, prices: rules.policy.pool(use.pool)?.prices ?? [])
            }
        }
        return report
    }

    /// Of a month that was asked for from its first day on and has not ended: the last day's spending is supposed to go on
    /// as it is. `nil` for any other time.
    private func projection(
        _ dimension: CostReport.Dimension, from first: Timestamp, to last: Timestamp, _ scope: AccessGrant.Scope,
        _ rules: Rules, at now: Timestamp
    ) async throws(HTTPError) -> CostAnswer.Projection? {
        let month = CivilMonth(containing: now.day).days
        let end = Timestamp(day: month.upperBound)
        guard first == Timestamp(day: month.lowerBound), now <= last, last <= end else { return nil }
        let since = max(first, Self.hour(now.adding(seconds: -86_400)))
        let recent = try await report(dimension, from: since, to: last, scope, rules)
        return CostAnswer.Projection(
            recent: recent, recentHours: now.seconds(since: since) / 3600, hoursLeft: end.seconds(since: now) / 3600,
            until: end)
    }

    /// The one that `instant` lies in.
    private static func hour(_ instant: Timestamp) -> Timestamp {
        Timestamp(milliseconds: instant.milliseconds / 3_600_000 * 3_600_000)
    }
}
