import HeadroomJSON
import HeadroomModel

// Overrides, freezes, pins and proposals, as answers show them.
extension JSONWriter {
    /// - Parameter warnings: what a person should look at although the override holds.
    package mutating func override(_ override: Override, warnings: [String] = []) {
        beginObject()
        field("id", override.id)
        overrideMembers(override)
        authorship(override.authorship)
        if !warnings.isEmpty {
            field("warnings", warnings)
        }
        endObject()
    }

    private mutating func overrideMembers(_ override: Override) {
        field("tenant", override.tenant.text)
        field("pool", override.pool?.text)
        field("tier", override.tier)
        field("weight", finite: override.weight)
    }

    package mutating func freeze(_ freeze: Freeze) {
        beginObject()
        field("id", freeze.id)
        field("pool", freeze.pool?.text)
        key("generation")
        if let generation = freeze.generation { integer(generation) } else { null() }
        authorship(freeze.authorship)
        endObject()
    }

    package mutating func pin(_ pin: CapacityPin) {
        beginObject()
        field("pool", pin.pool.text)
        field("capacity", pin.capacity)
        authorship(pin.authorship)
        endObject()
    }

    /// - Parameter isWhole: with all changes; else with those worth naming, and how many there are.
    package mutating func proposal(_ proposal: Proposal, isWhole: Bool = true) {
        beginObject()
        field("id", proposal.id)
        field("kind", proposal.kind.name)
        field("revision", proposal.revision)
        field("state", Proposal.stateName(proposal.state, of: proposal.kind))
        field("tenant", proposal.tenant.text)
        field("pool", proposal.pool?.text)
        field("changes", each: proposal.changes.prefix(isWhole ? .max : proposal.movers)) { $0.change($1) }
        let raised = proposal.changes.count(where: \.isRaise)
        field("change_count", proposal.changes.count)
        field("raised", raised)
        field("lowered", proposal.changes.count - raised)
        field("evidence", proposal.evidence)
        field("effects", each: proposal.effects) { $0.change($1) }
        key("override")
        if let override = proposal.override {
            beginObject()
            overrideMembers(override)
            field("seconds", override.authorship.until.seconds(since: override.authorship.at))
            endObject()
        } else {
            null()
        }
        authorship(proposal.authorship)
        key("decision")
        if let decision = proposal.decision {
            beginObject()
            authorship(decision)
            endObject()
        } else {
            null()
        }
        endObject()
    }

    package mutating func change(_ change: Proposal.Change) {
        beginObject()
        field("tenant", change.tenant.text)
        field("from", change.from)
        field("to", change.to)
        endObject()
    }

    package mutating func auditVerification(_ verification: AuditVerification?) {
        guard let verification else { return null() }
        beginObject()
        key("at")
        instant(verification.at)
        field("sequence", verification.sequence)
        field("hash", verification.hash)
        key("fault")
        if let fault = verification.fault {
            beginObject()
            field("sequence", fault.sequence)
            field("detail", fault.detail)
            endObject()
        } else {
            null()
        }
        endObject()
    }

    package mutating func auditEntry(_ entry: AuditEntry) {
        beginObject()
        field("sequence", entry.sequence)
        field("at", entry.at)
        field("author", entry.author)
        field("action", entry.action)
        key("detail")
        // It was stored as JSON; what would break the answer is shown as the text that it is.
        if let detail = try? JSONNode.parse(Array(entry.detail.utf8)) {
            detail.write(to: &self)
        } else {
            string(entry.detail)
        }
        field("hash", entry.hash)
        endObject()
    }
}

extension Proposal.Change {
    /// By the resource that changes by the largest amount.
    fileprivate var isRaise: Bool {
        let largest = to.resources.members.map { (to[$0] ?? 0) - (from[$0] ?? 0) }.max { $0.magnitude < $1.magnitude }
        return largest ?? 0 > 0
    }
}

extension Proposal {
    /// For a reader who may see `tenants` only, which is all of them where it is `nil`: without the others, and without
    /// the sentences that count them.
    package func showing(_ tenants: Set<TenantID>?) -> Proposal {
        guard let tenants, !changes.isEmpty else { return self }
        var shown = limited(to: tenants) ?? self
        shown.effects.removeAll { !tenants.contains($0.tenant) }
        shown.evidence = []
        shown.authorship.reason =
            kind == .recommendation ? "The pool does not move by itself." : "A guardrail stops the change."
        return shown
    }

    /// A recommendation that was approved is applied, one that was denied is dismissed.
    package static func stateName(_ state: State, of kind: Kind) -> String {
        guard kind == .recommendation else { return state.name }
        switch state {
        case .pending, .expired: return state.name
        case .approved: return "applied"
        case .denied: return "dismissed"
        }
    }
}
