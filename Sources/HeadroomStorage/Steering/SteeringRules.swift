import HeadroomModel

/// The rules for everything that people set. The edge checks what needs the policy (tiers and pools that exist).
enum SteeringRules {
    private static let maxAuthorCharacters = 200

    static func check(_ override: Override) throws(SteeringError) {
        try check(override.authorship)
        guard override.tier != nil || override.weight != nil else {
            throw SteeringError(.invalid, "an override must name a tier or a weight, or both")
        }
        if let tier = override.tier, tier.isEmpty || tier.count > 128 {
            throw SteeringError(.invalid, "tier: must have 1 to 128 characters")
        }
        let weights = SteeringLimits.weights
        if let weight = override.weight, !weights.contains(weight) {
            throw SteeringError(
                .invalid, "weight: must be a number from \(weights.lowerBound) to \(weights.upperBound), not \(weight)")
        }
    }

    static func check(_ pin: CapacityPin) throws(SteeringError) {
        try check(pin.authorship)
        guard !pin.capacity.isEmpty else {
            throw SteeringError(.invalid, "capacity: must name at least one resource")
        }
        for resource in pin.capacity.resources.members {
            let rate = pin.capacity[resource] ?? 0
            guard rate.isFinite, rate > 0 else {
                throw SteeringError(
                    .invalid, "capacity.\(resource.rateName): must be a finite number above 0, not \(rate)")
            }
        }
    }

    static func check(_ authorship: Authorship) throws(SteeringError) {
        guard (1...maxAuthorCharacters).contains(authorship.author.count) else {
            throw SteeringError(.invalid, "the author's name must have 1 to \(maxAuthorCharacters) characters")
        }
        guard !authorship.reason.allSatisfy(\.isWhitespace),
            authorship.reason.count <= SteeringLimits.maxReasonCharacters
        else {
            throw SteeringError(
                .invalid,
                "reason: must say why, in 1 to \(SteeringLimits.maxReasonCharacters) characters that are not all blank")
        }
        // In milliseconds first: a difference of absurd times must not trap.
        let (length, overflow) = authorship.until.milliseconds.subtractingReportingOverflow(authorship.at.milliseconds)
        guard !overflow, length > 0, Double(length) <= SteeringLimits.maxSeconds * 1000 else {
            throw SteeringError(.invalid, "the end must lie in the future, and at most 90 days ahead")
        }
    }
}

extension Authorship {
    /// Columns author, reason, at_ms, until_ms.
    init(_ row: SQLStatement, firstColumn column: Int32) {
        self.init(
            author: row.text(column), reason: row.text(column + 1),
            at: Timestamp(milliseconds: row.integer(column + 2)),
            until: Timestamp(milliseconds: row.integer(column + 3)))
    }

    /// For the audit log, which has the author and the time anyway.
    var detail: [(StaticString, AuditAct.Value)] {
        [("reason", .text(reason)), ("until_ms", .integer(until.milliseconds))]
    }
}

extension SQLStatement {
    /// Parameters `:author`, `:reason`, `:at_ms`, `:until_ms`.
    @discardableResult func bind(_ authorship: Authorship) -> SQLStatement {
        bind(":author", authorship.author)
        bind(":reason", authorship.reason)
        bind(":at_ms", authorship.at.milliseconds)
        return bind(":until_ms", authorship.until.milliseconds)
    }

    /// Four columns, in the order of ``Resource``.
    func rates(firstColumn column: Int32) -> Rates {
        Rates(
            rpm: optionalDouble(column), tpm: optionalDouble(column + 1), itpm: optionalDouble(column + 2),
            otpm: optionalDouble(column + 3))
    }
}
