/// How much one import may change before a second person has to agree: an export that failed, or of another system, looks
/// like any other.
public struct ContractLimit: Equatable, Sendable {
    /// Part of all contracts that may be changed or removed. 1 asks nobody.
    public var share: Double
    /// For how long a question waits for that person.
    public var pendingSeconds: Double

    public init(share: Double, pendingSeconds: Double) {
        self.share = share
        self.pendingSeconds = pendingSeconds
    }

    /// - Parameter canAsk: false where everybody is one person, so that nobody could agree.
    public init(_ policy: ContractPolicy, canAsk: Bool = true) {
        self.init(share: canAsk ? policy.approvalShare : 1, pendingSeconds: policy.pendingHours * 3600)
    }

    /// Why a second person has to agree, in a sentence; `nil` when nobody has to. New contracts change nobody's, and what one
    /// tenant has bought may be put by one person anyway.
    ///
    /// - Parameter count: of the contracts before.
    public func reason(for difference: ContractDifference, of count: Int) -> String? {
        let touched = difference.changed.count + difference.removed.count
        guard touched > 1, Double(touched) > share * Double(count) else { return nil }
        return
            "\(difference.changed.count) of \(count) contracts would change and \(difference.removed.count) be removed "
            + "(\(GroupedNumber.percent(Double(touched) / Double(count)))); one person may change "
            + "\(GroupedNumber.percent(share))"
    }
}

public enum ContractOutcome: Equatable, Sendable {
    case replaced(ContractDifference)
    /// Nothing was changed. Once it is approved, the same import is taken.
    case awaitsApproval(Proposal)
}

extension Proposal {
    /// The question whether an import of contracts may be taken.
    public init(
        importing difference: ContractDifference, because reason: String, fingerprint: String, authorship: Authorship
    ) {
        func line(_ word: String, _ tenants: [TenantID]) -> String? {
            guard !tenants.isEmpty else { return nil }
            let named = tenants.prefix(20).map(\.text).joined(separator: ", ")
            return "\(tenants.count) \(word): \(named)"
                + (tenants.count > 20 ? " and \(tenants.count - 20) more" : "")
        }
        self.init(
            kind: .contracts, pool: nil,
            evidence: [
                reason, line("changed", difference.changed), line("removed", difference.removed),
                line("added", difference.added), fingerprint,
            ].compactMap(\.self), authorship: authorship)
    }
}
