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

    /// - Parameter tenants: whose effects the reader may see; `nil` is all.
    package mutating func proposal(_ proposal: Proposal, showing tenants: Set<TenantID>? = nil) {
        beginObject()
        field("id", proposal.id)
        field("kind", proposal.kind.name)
        field("state", Proposal.stateName(proposal.state, of: proposal.kind))
        field("tenant", proposal.tenant.text)
        field("pool", proposal.pool?.text)
        field("from", proposal.from)
        field("to", proposal.to)
        field("evidence", proposal.evidence)
        key("effects")
        beginArray()
        for effect in proposal.effects where tenants?.contains(effect.tenant) ?? true {
            beginObject()
            field("tenant", effect.tenant.text)
            field("from", effect.from)
            field("to", effect.to)
            endObject()
        }
        endArray()
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

extension Proposal {
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
