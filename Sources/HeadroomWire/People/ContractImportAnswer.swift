import HeadroomJSON
import HeadroomModel

/// The answer to `POST /v1/tenants/import`: what was taken and what it changed, or would change.
package struct ContractImportAnswer: Equatable, Sendable {
    package struct Tenants: Equatable, Sendable {
        package var count: Int
        /// The first ones, ascending; at most ``maxNames``.
        package var first: [String]

        fileprivate init(_ tenants: [TenantID]) {
            count = tenants.count
            first = tenants.prefix(ContractImportAnswer.maxNames).map(\.text)
        }

        fileprivate init(_ node: JSONNode?) throws(WireError) {
            guard let node, let count = node["count"]?.number.flatMap({ Int(exactly: $0) }) else {
                throw WireError(.unreadable, "the answer to an import does not say what changes")
            }
            self.count = count
            first = (node["first"]?.array ?? []).compactMap(\.string)
        }
    }

    /// As many names as a person reads before saying yes.
    private static let maxNames = 20

    package var contracts: Int
    /// Tenant × pool.
    package var terms: Int
    /// Nothing was changed.
    package var isDryRun: Bool
    package var added: Tenants
    package var changed: Tenants
    package var removed: Tenants
    package var unchangedCount: Int

    package var changesNothing: Bool { added.count + changed.count + removed.count == 0 }

    package init(_ imported: [Contract], _ difference: ContractDifference, isDryRun: Bool) {
        contracts = imported.count
        terms = imported.reduce(0) { $0 + $1.terms.count }
        self.isDryRun = isDryRun
        added = Tenants(difference.added)
        changed = Tenants(difference.changed)
        removed = Tenants(difference.removed)
        unchangedCount = difference.unchangedCount
    }

    package static func decode(_ bytes: [UInt8]) throws(WireError) -> ContractImportAnswer {
        let document: JSONNode
        do { document = try JSONNode.parse(bytes) } catch {
            throw WireError(.unreadable, "not valid JSON: \(error)")
        }
        return try ContractImportAnswer(document)
    }

    private init(_ document: JSONNode) throws(WireError) {
        func count(_ key: String) -> Int { document[key]?.number.flatMap { Int(exactly: $0) } ?? 0 }
        contracts = count("contracts")
        terms = count("terms")
        isDryRun = document["dry_run"]?.bool ?? false
        added = try Tenants(document["added"])
        changed = try Tenants(document["changed"])
        removed = try Tenants(document["removed"])
        unchangedCount = count("unchanged")
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.beginObject()
        writer.field("contracts", contracts)
        writer.field("terms", terms)
        writer.field("dry_run", isDryRun)
        writer.key("added")
        writer.tenants(added)
        writer.key("changed")
        writer.tenants(changed)
        writer.key("removed")
        writer.tenants(removed)
        writer.field("unchanged", unchangedCount)
        writer.endObject()
        return writer.bytes
    }

    /// One line for each kind of change, as `3 removed: acme, globex, initech`.
    package var summary: String {
        let lines = [("added", added), ("changed", changed), ("removed", removed)].map { name, tenants in
            guard tenants.count > 0 else { return "0 \(name)" }
            let more = tenants.count - tenants.first.count
            return "\(tenants.count) \(name): " + tenants.first.joined(separator: ", ")
                + (more > 0 ? " and \(more) more" : "")
        }
        return (lines + ["\(unchangedCount) unchanged"]).joined(separator: "\n")
    }
}

extension JSONWriter {
    fileprivate mutating func tenants(_ tenants: ContractImportAnswer.Tenants) {
        beginObject()
        field("count", tenants.count)
        field("first", tenants.first)
        endObject()
    }
}
