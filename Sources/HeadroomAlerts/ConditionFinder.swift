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

extension Rates {
    /// `900,000 tokens and 500 requests a minute`: the tokens first, as people speak of a pool.
    var sentence: String {
        let order: [Resource] = [.tokens, .inputTokens, .outputTokens, .requests]
        let words: [String] = order.compactMap { resource in
            self[resource].map { "\(GroupedNumber.whole($0)) \(resource.words)" }
        }
        return words.isEmpty ? "nothing" : words.joined(separator: " and ") + " a minute"
    }
}

extension Resource {
    /// As in a sentence.
    var words: String {
        switch self {
        case .requests: "requests"
        case .tokens: "tokens"
        case .inputTokens: "input tokens"
        case .outputTokens: "output tokens"
        }
    }
}
