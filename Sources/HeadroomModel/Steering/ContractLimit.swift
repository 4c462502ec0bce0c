/// How much one person may change before a second one has to agree, at once or by and by: an export that failed, or of another
/// system, looks like any other, and many small changes are as large as one.
public struct ContractLimit: Equatable, Sendable {
    /// Part of all contracts that may be changed or removed. 1 asks nobody.
    public var share: Double
    /// For how long a question waits for that person.
    public var pendingSeconds: Double
    /// What the same person has changed in this time counts too, but not what a second one has approved. 0: each change
    /// counts by itself.
    public var windowSeconds: Double

    /// A working day of any place.
    public static let standardWindowSeconds = 86_400.0

    public init(
        share: Double, pendingSeconds: Double, windowSeconds: Double = ContractLimit.standardWindowSeconds
    ) {
        self.share = share
        self.pendingSeconds = pendingSeconds
        self.windowSeconds = windowSeconds
    }

    /// Nobody is asked.
    public static let none = ContractLimit(share: 1, pendingSeconds: 0)

    /// - Parameter canAsk: false where everybody is one person, so that nobody could agree.
    public init(_ policy: ContractPolicy, canAsk: Bool = true) {
        self.init(share: canAsk ? policy.approvalShare : 1, pendingSeconds: policy.pendingHours * 3600)
    }

    /// Why a second person has to agree, in a sentence; `nil` when nobody has to. New contracts change nobody's, and what one
    /// tenant has bought may be put by one person anyway.
    ///
    /// - Parameters:
    ///   - count: of the contracts before.
    ///   - earlier: other contracts that the same person has changed or removed within the window.
    public func reason(for difference: ContractDifference, of count: Int, earlier: Int = 0) -> String? {
        let own = difference.changed.count + difference.removed.count
        let touched = own + earlier
        guard share < 1, own > 0, touched > 1, Double(touched) > share * Double(count) else { return nil }
        let hours = GroupedNumber.duration(seconds: windowSeconds)
        return
            "\(difference.changed.count) of \(count) contracts would change and \(difference.removed.count) be removed"
            + (earlier > 0 ? ", beside \(earlier) that the same person has changed or removed within \(hours)" : "")
            + " (\(GroupedNumber.percent(Double(touched) / Double(max(1, count))))); one person may change "
            + "\(GroupedNumber.percent(share))"
    }
}

/// What became of a contract that was to be put.
public enum ContractPut<Fault: Sendable>: Sendable {
    case put
    /// Nothing was changed: all contracts would have these faults.
    case faulty([Fault])
    /// Nothing was changed. Once it is approved, the same contract is taken.
    case awaitsApproval(Proposal)
}

public enum ContractOutcome: Equatable, Sendable {
    case replaced(ContractDifference)
    /// Nothing was changed. Once it is approved, the same import is taken.
    case awaitsApproval(Proposal)
}

extension Proposal {
    /// The question whether contracts may be changed so.
    ///
    /// - Parameter tenant: whose contract it is; ``allTenants`` for an import.
    public init(
        changing difference: ContractDifference, of tenant: TenantID = Proposal.allTenants, because reason: String,
        fingerprint: String, authorship: Authorship
    ) {
        func line(_ word: String, _ tenants: [TenantID]) -> String? {
            guard !tenants.isEmpty else { return nil }
            let named = tenants.prefix(20).map(\.text).joined(separator: ", ")
            return "\(tenants.count) \(word): \(named)"
                + (tenants.count > 20 ? " and \(tenants.count - 20) more" : "")
        }
        self.init(
            kind: .contracts, tenant: tenant, pool: nil,
            evidence: [
                reason, line("changed", difference.changed), line("removed", difference.removed),
                line("added", difference.added), fingerprint,
            ].compactMap(\.self), authorship: authorship)
    }
}
