import HeadroomJSON
import HeadroomModel

/// Whether files are a policy, and every fault where they are not: `headroom policy check` and `POST /v1/policy/check`.
package struct PolicyCheckReport: Sendable {
    /// `nil` when there are faults.
    package let policy: Policy?
    package let faults: [PolicyFault]

    /// - Parameter load: gives the policy, or throws its faults.
    package init(_ load: () throws(PolicyError) -> Policy) {
        do throws(PolicyError) {
            policy = try load()
            faults = []
        } catch {
            policy = nil
            faults = error.faults
        }
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("valid", policy != nil)
        if let policy {
            writer.field("policy", policy.label)
            writer.key("pools")
            writer.beginArray()
            for pool in policy.pools { writer.string(pool.pool.text) }
            writer.endArray()
        }
        writer.key("faults")
        writer.beginArray()
        for fault in faults {
            writer.beginObject()
            writer.field("code", fault.code.rawValue)
            writer.field("file", fault.file)
            for (key, place) in [("line", fault.line), ("column", fault.column)] {
                writer.key(key)
                if let place { writer.integer(place) } else { writer.null() }
            }
            writer.field("key", fault.key)
            writer.field("message", fault.message)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}
