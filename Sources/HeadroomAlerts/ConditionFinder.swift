import HeadroomJSON
import HeadroomModel

/// Finds what is wrong in an observation: which conditions hold, each with a sentence for a person.
///
/// It remembers only what a condition needs to compare with: counters of some minutes ago. Most conditions have two
/// thresholds, one to begin and a milder one to go on, so that a value that wavers about one of them is one alert.
package struct ConditionFinder: Sendable {
    /// Turns of assured rates by pool, over ``reversalSeconds``; oldest first.
    var reversals: [PoolID: [(at: Timestamp, count: Int)]] = [:]
    /// When each pool's counters last moved, and where they stood.
    var traffic: [PoolID: (at: Timestamp, calls: Int)] = [:]

    static let reversalSeconds = 600.0

    package init() {}

    package mutating func find(in seen: AlertObservation) -> FoundConditions {
        var found = FoundConditions()
        if let report = seen.report {
            for pool in report.pools {
                findPool(pool, seen, &found)
                findTenants(pool, seen, &found)
            }
            findTraffic(report, seen, &found)
            findCosts(report, seen, &found)
            findCostBreaks(report, seen, &found)
            findTasks(report, seen, &found)
            findTaskPaces(report, seen, &found)
            let names = Set(report.pools.map(\.pool))
            reversals = reversals.filter { names.contains($0.key) }
            traffic = traffic.filter { names.contains($0.key) }
        }
        findLevels(seen, &found)
        findGateways(seen, &found)
        findQuestions(seen, &found)
        findService(seen, &found)
        return found
    }
}

extension AlertObservation {
    /// A member that was not there before now, as far as anybody knows.
    func member(
        named name: String = "", tenant: TenantID? = nil, since: Timestamp? = nil, _ severity: AlertSeverity,
        _ sentence: String, _ recommendation: AlertRecommendation? = nil
    ) -> Alert.Member {
        Alert.Member(
            name: name, tenant: tenant, since: since ?? at, severity: severity, sentence: sentence,
            recommendation: recommendation)
    }
}

extension Timestamp {
    /// In a sentence, to the second: `2026-11-21T10:00:00Z`. Sentences name the moment at which something began, and not how
    /// long ago that is: they stand unchanged in lists, in webhooks' messages and after the end.
    var sentence: String {
        RFC3339.format(milliseconds: milliseconds).prefix(19) + "Z"
    }
}
