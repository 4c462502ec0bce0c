/// The gateways that a token may speak for: names, and at most one prefix for worker processes (WireFormat, roles).
///
/// `litellm.*` stands for every name that begins with `litellm.` and goes on. Worker processes that a gateway starts
/// and ends by itself cannot each get a token of their own.
public struct GatewayNames: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// Why a list of names cannot be taken; `description` is for people.
    public enum Fault: Error, Equatable, CustomStringConvertible {
        case notAName(String)
        /// The second name that ends in `.*`.
        case secondPrefix(String)

        public var description: String {
            switch self {
            case .notAName(let text):
                "\"\(text)\": a gateway has a name of \(GatewayID.rule); one of several may end in .*"
            case .secondPrefix(let text): "\"\(text)\": only one name may end in .*"
            }
        }
    }

    private let names: Set<GatewayID>
    /// With its final dot.
    private let prefix: String?

    public init(arrayLiteral names: GatewayID...) {
        self.names = Set(names)
        prefix = nil
    }

    /// Reads names as people write them, and as they are stored.
    public init(parsing texts: [String]) throws(Fault) {
        var names: Set<GatewayID> = []
        var prefix: String?
        for text in texts {
            if text.hasSuffix(".*") {
                let start = String(text.dropLast(2))
                guard GatewayID(start) != nil else { throw .notAName(text) }
                guard prefix == nil || prefix == start + "." else { throw .secondPrefix(text) }
                prefix = start + "."
            } else {
                guard let name = GatewayID(text) else { throw .notAName(text) }
                names.insert(name)
            }
        }
        self.names = names
        self.prefix = prefix
    }

    public var isEmpty: Bool { names.isEmpty && prefix == nil }

    /// The gateway that the holder stands for without naming it; `nil` where there is a choice.
    public var only: GatewayID? { prefix == nil && names.count == 1 ? names.first : nil }

    /// As people write them: names ascending, the prefix last.
    public var texts: [String] { names.sorted().map(\.text) + (prefix.map { ["\($0)*"] } ?? []) }

    public func contains(_ gateway: GatewayID) -> Bool {
        if names.contains(gateway) { return true }
        guard let prefix else { return false }
        return gateway.text.hasPrefix(prefix) && gateway.text.utf8.count > prefix.utf8.count
    }
}
