import HeadroomModel

/// Why a line was refused before storage saw it.
package enum TelemetryRefusal: String, CaseIterable, Sendable {
    /// It breaks the format, or its sender may not speak for its gateway.
    case unreadable
    /// Its time lies ahead, or too far back.
    case time
    /// Its pool or tenant lies outside what the sender's token is limited to.
    case outOfScope = "out_of_scope"
    /// No policy names its pool.
    case unknownPool = "unknown_pool"
    /// Its pool cannot have served what it claims.
    case implausible
}

/// The bounds of a line's claims, by the policy in force: a pool that there is, and no more than it can have served.
///
/// Without this bound one line moves a tenant's service clock by years, and a misspelled pool is stored and seen
/// nowhere.
package struct TelemetryRules: Sendable {
    private let nominal: [PoolID: Rates]
    private let maxTimesNominal: Double

    package init(_ policy: Policy) {
        nominal = Dictionary(policy.pools.map { ($0.pool, $0.nominal) }, uniquingKeysWith: { first, _ in first })
        maxTimesNominal = policy.telemetry.maxTimesNominal
    }

    func has(_ pool: PoolID) -> Bool { nominal[pool] != nil }

    /// The most that a line of `seconds` may bear in each resource that the pool has; `nil` for a pool that there is not.
    func limits(of pool: PoolID, seconds: Double) -> Limits? {
        guard let nominal = nominal[pool] else { return nil }
        let minutes = max(seconds, 60) / 60 * maxTimesNominal
        let input = nominal[.inputTokens]
        let output = nominal[.outputTokens]
        // A pool that limits only one of the two, and no sum, does not bound the sum.
        let sum = nominal[.tokens] ?? input.flatMap { input in output.map { input + $0 } }
        return Limits(
            requests: nominal[.requests].map { $0 * minutes }, tokens: sum.map { $0 * minutes },
            inputTokens: (input ?? sum).map { $0 * minutes }, outputTokens: (output ?? sum).map { $0 * minutes },
            times: maxTimesNominal)
    }

    /// `nil`: no bound.
    struct Limits {
        let requests: Double?
        let tokens: Double?
        let inputTokens: Double?
        let outputTokens: Double?
        /// The policy's factor, for the message.
        let times: Double

        func allow(_ claim: TelemetryLineReader.Claim) -> Bool {
            Double(claim.requests) <= requests ?? .infinity && Double(claim.tokens) <= tokens ?? .infinity
                && Double(claim.inputTokens) <= inputTokens ?? .infinity
                && Double(claim.outputTokens) <= outputTokens ?? .infinity
        }
    }

    /// The fault of a name that no policy has, for people.
    func unknown(_ pool: PoolID) -> String {
        let names = nominal.keys.map(\.text).sorted()
        let hint: String
        if let nearest = NearestName.of(pool.text, among: names) {
            hint = "did you mean \"\(nearest)\"?"
        } else if names.isEmpty {
            hint = "the policy has no pools"
        } else {
            hint = "there are \(names.prefix(8).joined(separator: ", "))\(names.count > 8 ? ", …" : "")"
        }
        return "pool: no policy names \"\(pool)\"; \(hint)"
    }
}
