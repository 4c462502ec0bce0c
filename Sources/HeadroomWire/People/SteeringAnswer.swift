import HeadroomJSON
import HeadroomModel

// Overrides, freezes, pins and proposals, as answers show them.
extension JSONWriter {
    /// - Parameter warnings: what a person should look at although the override holds.
    package mutating func override(_ override: Override, warnings: [String] = []) {
        beginObject()
        key("id")
        integer(override.id)
        overrideMembers(override)
        authorship(override.authorship)
        if !warnings.isEmpty {
            key("warnings")
            strings(warnings)
        }
        endObject()
    }

    private mutating func overrideMembers(_ override: Override) {
        key("tenant")
        string(override.tenant.text)
        key("pool")
        text(override.pool?.text)
        key("tier")
        text(override.tier)
        key("weight")
        amount(override.weight)
    }

    package mutating func freeze(_ freeze: Freeze) {
        beginObject()
        key("id")
        integer(freeze.id)
        key("pool")
        text(freeze.pool?.text)
        key("generation")
        if let generation = freeze.generation { integer(generation) } else { null() }
        authorship(freeze.authorship)
        endObject()
    }

    package mutating func pin(_ pin: CapacityPin) {
        beginObject()
        key("pool")
        string(pin.pool.text)
        key("capacity")
        rates(pin.capacity)
        authorship(pin.authorship)
        endObject()
    }

    /// - Parameter tenants: whose effects the reader may see; `nil` is all.
    package mutating func proposal(_ proposal: Proposal, showing tenants: Set<TenantID>? = nil) {
        beginObject()
        key("id")
        integer(proposal.id)
        key("kind")
        string(proposal.kind.name)
        key("state")
        string(Proposal.stateName(proposal.state, of: proposal.kind))
        key("tenant")
        string(proposal.tenant.text)
        key("pool")
        text(proposal.pool?.text)
        key("from")
        rates(proposal.from)
        key("to")
        rates(proposal.to)
        key("evidence")
        strings(proposal.evidence)
        key("effects")
        beginArray()
        for effect in proposal.effects where tenants?.contains(effect.tenant) ?? true {
            beginObject()
            key("tenant")
            string(effect.tenant.text)
            key("from")
            rates(effect.from)
            key("to")
            rates(effect.to)
            endObject()
        }
        endArray()
        key("override")
        if let override = proposal.override {
            beginObject()
            overrideMembers(override)
            key("seconds")
            number(override.authorship.until.seconds(since: override.authorship.at))
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
        key("sequence")
        integer(verification.sequence)
        key("hash")
        string(verification.hash)
        key("fault")
        if let fault = verification.fault {
            beginObject()
            key("sequence")
            integer(fault.sequence)
            key("detail")
            string(fault.detail)
            endObject()
        } else {
            null()
        }
        endObject()
    }

    package mutating func auditEntry(_ entry: AuditEntry) {
        beginObject()
        key("sequence")
        integer(entry.sequence)
        key("at")
        instant(entry.at)
        key("author")
        string(entry.author)
        key("action")
        string(entry.action)
        key("detail")
        // It was stored as JSON; what would break the answer is shown as the text that it is.
        if let detail = try? JSONNode.parse(Array(entry.detail.utf8)) {
            detail.write(to: &self)
        } else {
            string(entry.detail)
        }
        key("hash")
        string(entry.hash)
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
