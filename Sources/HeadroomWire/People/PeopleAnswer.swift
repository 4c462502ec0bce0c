import HeadroomJSON
import HeadroomModel

/// The bodies of answers to people that are a list, or are put together from several values.
package enum PeopleAnswer {
    package static func overrides(_ overrides: [Override]) -> [UInt8] {
        list("overrides", overrides) { $0.override($1) }
    }

    /// - Parameter warnings: what a person should look at although the override holds.
    package static func override(_ override: Override, warnings: [String]) -> [UInt8] {
        var writer = JSONWriter()
        writer.override(override, warnings: warnings)
        return writer.bytes
    }

    /// An override that waits for a second person, and why.
    package static func approvalNeeded(_ proposal: Proposal, reasons: [String], warnings: [String]) -> [UInt8] {
        object { writer in
            writer.key("approval")
            writer.proposal(proposal)
            writer.field("reasons", reasons)
            if !warnings.isEmpty { writer.field("warnings", warnings) }
        }
    }

    /// - Parameters:
    ///   - name: `approvals` or `recommendations`.
    ///   - proposals: of each the changes that are worth naming.
    package static func proposals(_ name: String, _ proposals: [Proposal]) -> [UInt8] {
        object { writer in
            writer.key(name)
            writer.array(proposals) { $0.proposal($1, isWhole: false) }
        }
    }

    package static func proposal(_ proposal: Proposal) -> [UInt8] {
        var writer = JSONWriter()
        writer.proposal(proposal)
        return writer.bytes
    }

    package static func freezes(_ freezes: [Freeze]) -> [UInt8] { list("freezes", freezes) { $0.freeze($1) } }

    package static func freeze(_ freeze: Freeze) -> [UInt8] {
        var writer = JSONWriter()
        writer.freeze(freeze)
        return writer.bytes
    }

    package static func pin(_ pin: CapacityPin) -> [UInt8] {
        var writer = JSONWriter()
        writer.pin(pin)
        return writer.bytes
    }

    package static func pools(_ pools: [PoolAnswer]) -> [UInt8] { list("pools", pools) { $0.pool($1) } }

    /// Ascending by gateway within those that were heard of and those that were not.
    package static func gateways(_ gateways: [GatewayAnswer]) -> [UInt8] {
        list("gateways", gateways) { $0.gateway($1) }
    }

    /// - Parameter next: `after` of the next page; `nil` on the last one.
    package static func tenants(_ tenants: some Sequence<TenantAnswer>, next: TenantID?) -> [UInt8] {
        object { writer in
            writer.field("tenants", each: tenants) { $0.tenant($1) }
            writer.field("next", next?.text)
        }
    }

    /// - Parameters:
    ///   - next: `after` of the next page; `nil` on the last one.
    ///   - verified: the last verification of the chain; `nil` before the first.
    package static func audit(
        _ entries: [AuditEntry], next: Int64?, verified: AuditVerification?
    ) -> [UInt8] {
        object { writer in
            writer.field("entries", each: entries) { $0.auditEntry($1) }
            writer.field("next", next)
            writer.key("verified")
            writer.auditVerification(verified)
        }
    }

    /// - Parameters:
    ///   - refusal: why changed files are not in force; `nil` when those in force are the newest.
    ///   - rules: as JSON, as each of `pools`.
    package static func policy(_ policy: Policy, refusal: String?, rules: [UInt8], pools: [[UInt8]]) -> [UInt8] {
        object { writer in
            writer.field("policy", policy.label)
            writer.field("refusal", refusal)
            writer.key("rules")
            writer.raw(rules)
            writer.field("pools", each: pools) { $0.raw($1) }
        }
    }

    private static func list<Element>(
        _ name: StaticString, _ elements: [Element], _ write: (inout JSONWriter, Element) -> Void
    ) -> [UInt8] {
        object { $0.field(name, each: elements, write) }
    }

    private static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        return writer.bytes
    }
}
