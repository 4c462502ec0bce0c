import HeadroomJSON

/// A chat call, of either wire, as far as its limits and the form of its answer go.
struct MockCall: Sendable {
    struct Fault: Error {
        let message: String
    }

    let model: String
    let isStream: Bool
    /// The caller of a stream wants its usage; Anthropic's streams tell it always.
    let wantsUsage: Bool
    let inputTokens: Int
    let outputTokens: Int

    private static let bytesAToken = 4
    private static let maxModelBytes = 200

    init(_ body: [UInt8], usualOutputTokens: Int) throws(Fault) {
        let node: JSONNode
        do throws(JSONError) { node = try JSONNode.parse(body) } catch {
            throw Fault(message: "The body is no JSON: \(error.description)")
        }
        guard let model = node["model"]?.string, !model.isEmpty, model.utf8.count <= MockCall.maxModelBytes else {
            throw Fault(message: "model: must be a text of 1 to \(MockCall.maxModelBytes) bytes")
        }
        guard let messages = node["messages"], messages.array?.isEmpty == false else {
            throw Fault(message: "messages: must be an array with at least one message")
        }
        self.model = model
        isStream = node["stream"]?.bool ?? false
        wantsUsage = node["stream_options"]?["include_usage"]?.bool ?? false
        let bytes = Self.textBytes(messages) + (node["system"].map(Self.textBytes) ?? 0)
        inputTokens = max(1, bytes / MockCall.bytesAToken)
        var output = usualOutputTokens
        for key in ["max_tokens", "max_completion_tokens"] {
            guard let value = node[key], !value.isNull else { continue }
            guard let most = value.number.flatMap({ Int(exactly: $0) }), most >= 1 else {
                throw Fault(message: "\(key): must be a whole number from 1")
            }
            output = min(output, most)
        }
        outputTokens = output
    }

    /// Of all texts that are anywhere in `node`; the reader bounds how deep that is.
    private static func textBytes(_ node: JSONNode) -> Int {
        switch node.value {
        case .string(let text): text.utf8.count
        case .array(let elements): elements.reduce(0) { $0 + textBytes($1) }
        case .object(let members): members.reduce(0) { $0 + textBytes($1.value) }
        case .null, .bool, .number: 0
        }
    }
}
