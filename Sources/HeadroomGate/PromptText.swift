import HeadroomClient
import HeadroomJSON

/// The size of a request to a model, as OpenAI, Anthropic, Gemini and Bedrock spell it: its texts by ``PromptEstimate``,
/// and a stated price for each part that is none.
enum PromptText {
    /// Tokens of a part that is no text. Providers price an image by its size, which nobody here knows.
    enum PartPrice {
        /// OpenAI's tiles of a photo and Anthropic's most are 765 to 1,600.
        static let image = 1000
        /// `"detail":"low"` (OpenAI).
        static let lowDetailImage = 85
        /// Half a minute.
        static let audio = 1000
        /// A few pages of a PDF, or what else stands behind the name of a file.
        static let file = 5000
    }

    /// Of `messages`.
    static func tokens(ofMessages node: JSONNode) -> Int {
        (node.array ?? [node]).reduce(0) { $0 + PromptEstimate.tokensPerMessage + tokens(of: $1) }
    }

    /// Of a whole request: its messages with their tools and instructions.
    static func tokens(ofRequest node: JSONNode) -> Int {
        var sum = 0
        for key in ["messages", "contents"] { sum += node[key].map(tokens(ofMessages:)) ?? 0 }
        for key in [
            "system", "input", "prompt", "instructions", "systemInstruction", "tools", "functions", "toolConfig",
        ] {
            sum += node[key].map { tokens(of: $0) } ?? 0
        }
        return sum
    }

    /// The most that the answer may have, in all of its choices; `nil` where the request sets no bound.
    static func answerBound(ofRequest node: JSONNode) -> Int? {
        let bounds = [
            node["max_completion_tokens"], node["max_tokens"], node["max_output_tokens"],
            node["generationConfig"]?["maxOutputTokens"], node["inferenceConfig"]?["maxTokens"],
        ]
        guard let bound = bounds.compactMap({ CallNumber.clamped($0) }).max() else { return nil }
        // Both are at most a hundred million.
        return min(bound * choices(ofRequest: node), CallBounds.tokens.upperBound)
    }

    /// Answers to one request.
    private static func choices(ofRequest node: JSONNode) -> Int {
        max(1, CallNumber.clamped(node["n"] ?? node["generationConfig"]?["candidateCount"]) ?? 1)
    }

    /// Names, marks and references, which are no part of the text.
    private static let unread: Set<String> = [
        "role", "type", "id", "tool_use_id", "tool_call_id", "call_id", "cache_control", "status", "signature",
        "encrypted_content", "strict", "mime_type", "mimeType", "media_type", "format",
    ]

    /// Of any part: a text, a list of parts, or an object whose members are.
    private static func tokens(of node: JSONNode) -> Int {
        if let text = node.string { return PromptEstimate.tokens(of: text) }
        if let list = node.array { return list.reduce(0) { $0 + tokens(of: $1) } }
        guard let members = node.members else { return node.isNull ? 0 : 1 }
        if let price = price(of: node) { return price }
        return members.reduce(0) { sum, member in
            if let price = price(ofMember: member.key, member.value) { return sum + price }
            return unread.contains(member.key) ? sum : sum + tokens(of: member.value)
        }
    }

    /// Of a part that is no text by its `type`, or by the type of its data.
    private static func price(of part: JSONNode) -> Int? {
        switch part["type"]?.string {
        case "image_url", "input_image", "image":
            let detail = part["detail"] ?? part["image_url"]?["detail"]
            return detail?.string == "low" ? PartPrice.lowDetailImage : PartPrice.image
        case "input_audio", "audio": return PartPrice.audio
        case "file", "input_file", "document", "video_url", "input_video":
            // A document may be a text, or parts.
            if let source = part["source"], let inner = source["type"]?.string, inner == "text" || inner == "content" {
                return (source["data"] ?? source["content"]).map { tokens(of: $0) } ?? 0
            }
            return PartPrice.file
        default: return nil
        }
    }

    /// Gemini and Bedrock name the kind of a part by its key.
    private static func price(ofMember key: String, _ value: JSONNode) -> Int? {
        switch key {
        case "inlineData", "inline_data", "fileData", "file_data":
            guard value.members != nil else { return nil }
            let kind = (value["mimeType"] ?? value["mime_type"])?.string ?? ""
            if kind.hasPrefix("image/") { return PartPrice.image }
            return kind.hasPrefix("audio/") ? PartPrice.audio : PartPrice.file
        case "image" where value["source"] != nil: return PartPrice.image
        case "document" where value["source"] != nil, "video" where value["source"] != nil: return PartPrice.file
        default: return nil
        }
    }
}
