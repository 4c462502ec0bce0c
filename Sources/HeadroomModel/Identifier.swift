/// The name of a pool, tenant or gateway: `[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}`.
///
/// `Kind` keeps the three apart at compile time. The alphabet is ASCII, so `<` orders bytewise, which is the order
/// of every list that Headroom publishes.
public struct Identifier<Kind>: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let text: String

    /// The permitted alphabet, in the words of an error message.
    public static var rule: String { "1 to 128 characters out of A-Z a-z 0-9 . _ : @ -, the first a letter or digit" }

    /// `nil` when `text` breaks ``rule``.
    public init?(_ text: String) {
        var text = text
        let isValid = text.withUTF8 { unsafe Identifier.isValid($0) }
        guard isValid else { return nil }
        self.text = text
    }

    /// For text that was checked before: a row that Headroom itself stored, say.
    public init(unchecked text: String) {
        self.text = text
    }

    public var description: String { text }

    public static func < (left: Identifier, right: Identifier) -> Bool { left.text < right.text }

    private static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard (1...128).contains(bytes.count) else { return false }
        for index in bytes.indices {
            switch unsafe bytes[index] {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                continue
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "-"):
                if index == 0 { return false }
            default:
                return false
            }
        }
        return true
    }
}

extension Identifier: ExpressibleByStringLiteral {
    /// For names written in code; a literal that breaks the rule is a programmer's mistake.
    public init(stringLiteral text: String) {
        guard let identifier = Identifier(text) else { preconditionFailure("not an identifier: \(text)") }
        self = identifier
    }
}

public enum PoolKind {}
public enum TenantKind {}
public enum GatewayKind {}

/// One upstream limit that tenants share: a provider account × model group × region, e.g. `openai:gpt-4o`.
public typealias PoolID = Identifier<PoolKind>
/// A consumer of the quota.
public typealias TenantID = Identifier<TenantKind>
/// An enforcement point; several processes that share counters use one name.
public typealias GatewayID = Identifier<GatewayKind>
