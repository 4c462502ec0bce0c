import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/starvation`, and what `headroom report starvation --json` prints.
package struct StarvationAnswer: Sendable {
    private let starved: [StarvedTenant]
    private let from: Timestamp
    private let to: Timestamp

    /// - Parameter starved: the longest starved first.
    package init(_ starved: [StarvedTenant], from: Timestamp, to: Timestamp) {
        self.starved = starved
        self.from = from
        self.to = to
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("from", from)
        writer.field("to", to)
        writer.field("tenants", each: starved) { $0.starved($1) }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func starved(_ tenant: StarvedTenant) {
        beginObject()
        field("tenant", tenant.tenant.text)
        field("pool", tenant.pool.text)
        field("reason", tenant.reason.rawValue)
        field("starved_seconds", tenant.starvedSeconds)
        field("longest_spell_seconds", tenant.longestSpellSeconds)
        field("longest_wait_seconds", tenant.longestWaitSeconds)
        field("asked_tokens", tenant.askedTokens)
        field("counted_tokens", tenant.countedTokens)
        field("first", tenant.first)
        field("last", tenant.last)
        field("starved_since", tenant.starvedSince)
        field("spells", each: tenant.spells) { writer, spell in
            writer.beginObject()
            writer.field("first", spell.first)
            writer.field("last", spell.last)
            writer.field("delivery_seconds", spell.deliverySeconds)
            writer.field("shortage_seconds", spell.shortageSeconds)
            writer.field("longest_wait_seconds", spell.longestWaitSeconds)
            writer.field("asked_tokens", spell.askedTokens)
            writer.field("counted_tokens", spell.countedTokens)
            writer.endObject()
        }
        endObject()
    }
}
