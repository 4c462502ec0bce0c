import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomSimulator

/// The form in which a provider takes calls and answers them.
enum MockWire: CaseIterable, Sendable {
    case openAI, anthropic

    /// Of one event of a stream.
    private static let tokensAnEvent = 20

    var path: String {
        switch self {
        case .openAI: "/v1/chat/completions"
        case .anthropic: "/v1/messages"
        }
    }

    /// The whole answer, or all events of its stream.
    func response(_ answer: ProviderAnswer, to call: MockCall, at now: Timestamp) -> HTTPResponse {
        let headers = headers(answer, at: now)
        guard answer.verdict == .served else {
            return error(
                status: answer.status, type: refusalType(answer), refusalText(answer, model: call.model),
                headers: headers)
        }
        guard call.isStream else {
            var writer = JSONWriter(capacity: 1024)
            switch self {
            case .openAI: MockWire.writeCompletion(answer.number, call, at: now, to: &writer)
            case .anthropic: MockWire.writeMessage(answer.number, call, hasText: true, to: &writer)
            }
            return HTTPResponse(type: "application/json", headers: headers, body: writer.bytes)
        }
        let events =
            self == .openAI ? MockWire.chunks(answer.number, call, at: now) : MockWire.events(answer.number, call)
        return HTTPResponse(type: "text/event-stream", headers: headers, body: events)
    }

    func error(
        status: Int, type: String, _ message: String, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        if self == .anthropic { writer.field("type", "error") }
        writer.key("error")
        writer.beginObject()
        writer.field("type", type)
        writer.field("message", message)
        if self == .openAI {
            writer.key("param")
            writer.null()
            writer.key("code")
            if status == 429 { writer.string("rate_limit_exceeded") } else { writer.null() }
        }
        writer.endObject()
        writer.endObject()
        return HTTPResponse(status: status, type: "application/json", headers: headers, body: writer.bytes)
    }

    func outageType(_ status: Int) -> String {
        switch self {
        case .openAI: "server_error"
        case .anthropic: status == 529 ? "overloaded_error" : "api_error"
        }
    }

    // MARK: Limits

    /// OpenAI tells the time until a limit is whole again, Anthropic the instant.
    private func headers(_ answer: ProviderAnswer, at now: Timestamp) -> [(name: String, value: String)] {
        guard self == .anthropic else { return answer.headers.filter { $0.name != "content-type" } }
        var headers = [(name: "request-id", value: "req_\(answer.number)")]
        for told in answer.toldLimits {
            let name = "anthropic-ratelimit-" + told.resource.name.replacing("_", with: "-")
            let reset = now.adding(seconds: told.secondsUntilFull).milliseconds
            headers.append((name + "-limit", String(told.limit)))
            headers.append((name + "-remaining", String(told.remaining)))
            headers.append((name + "-reset", RFC3339.format(milliseconds: reset)))
        }
        if let wait = answer.retryAfterSeconds { headers.append(("retry-after", String(Int(wait.rounded(.up))))) }
        return headers
    }

    private func refusalType(_ answer: ProviderAnswer) -> String {
        guard self == .openAI else { return "rate_limit_error" }
        return answer.verdict == .refused(.requests) ? "requests" : "tokens"
    }

    private func refusalText(_ answer: ProviderAnswer, model: String) -> String {
        guard case .refused(let resource) = answer.verdict else { return "Overloaded" }
        let limit = answer.toldLimits.first { $0.resource == resource }.map { String($0.limit) }
        let words = resource.name.replacing("_", with: " ")
        let seconds = answer.retryAfterSeconds ?? 0
        switch self {
        case .openAI:
            return "Rate limit reached for \(model) on \(words) per min (\(resource.rateName.uppercased()))"
                + (limit.map { ": Limit \($0)" } ?? "") + ". Please try again in \(seconds)s."
        case .anthropic:
            return "This request would exceed your organization's rate limit of"
                + (limit.map { " \($0)" } ?? "") + " \(words) per minute."
        }
    }

    // MARK: Answers

    private static func text(tokens: Int, from first: Int = 0) -> String {
        // Each another word: some gateways break off answers that repeat themselves.
        (first..<first + tokens).map { "word\($0) " }.joined()
    }

    /// The places at which a stream's text is cut: first token and count.
    private static func cuts(_ call: MockCall) -> [(first: Int, count: Int)] {
        stride(from: 0, to: call.outputTokens, by: tokensAnEvent)
            .map { ($0, min(tokensAnEvent, call.outputTokens - $0)) }
    }

    private static func writeCompletion(
        _ number: Int, _ call: MockCall, at now: Timestamp, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        beginCompletion(number, call, "chat.completion", at: now, &writer)
        writer.key("choices")
        writer.beginArray()
        writer.beginObject()
        writer.field("index", 0)
        writer.key("message")
        writer.beginObject()
        writer.field("role", "assistant")
        writer.field("content", text(tokens: call.outputTokens))
        writer.endObject()
        writer.field("finish_reason", "stop")
        writer.endObject()
        writer.endArray()
        writeUsage(call, &writer)
        writer.endObject()
    }

    private static func beginCompletion(
        _ number: Int, _ call: MockCall, _ object: String, at now: Timestamp, _ writer: inout JSONWriter
    ) {
        writer.field("id", "chatcmpl-\(number)")
        writer.field("object", object)
        writer.field("created", now.milliseconds / 1000)
        writer.field("model", call.model)
    }

    private static func writeUsage(_ call: MockCall, _ writer: inout JSONWriter) {
        writer.key("usage")
        writer.beginObject()
        writer.field("prompt_tokens", call.inputTokens)
        writer.field("completion_tokens", call.outputTokens)
        writer.field("total_tokens", call.inputTokens + call.outputTokens)
        writer.endObject()
    }

    private static func chunks(_ number: Int, _ call: MockCall, at now: Timestamp) -> [UInt8] {
        var events: [UInt8] = []
        func add(_ write: (inout JSONWriter) -> Void) {
            var writer = JSONWriter(capacity: 512)
            writer.beginObject()
            beginCompletion(number, call, "chat.completion.chunk", at: now, &writer)
            write(&writer)
            writer.endObject()
            events += Array("data: ".utf8) + writer.bytes + Array("\n\n".utf8)
        }
        func choice(_ content: String?, finish: String?) -> (inout JSONWriter) -> Void {
            { writer in
                writer.key("choices")
                writer.beginArray()
                writer.beginObject()
                writer.field("index", 0)
                writer.key("delta")
                writer.beginObject()
                if let content {
                    writer.field("role", "assistant")
                    writer.field("content", content)
                }
                writer.endObject()
                writer.field("finish_reason", finish)
                writer.endObject()
                writer.endArray()
            }
        }
        for cut in cuts(call) { add(choice(text(tokens: cut.count, from: cut.first), finish: nil)) }
        add(choice(nil, finish: "stop"))
        if call.wantsUsage {
            add { writer in
                writer.key("choices")
                writer.beginArray()
                writer.endArray()
                writeUsage(call, &writer)
            }
        }
        return events + Array("data: [DONE]\n\n".utf8)
    }

    /// - Parameter hasText: false for the message that begins a stream.
    private static func writeMessage(_ number: Int, _ call: MockCall, hasText: Bool, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("id", "msg_\(number)")
        writer.field("type", "message")
        writer.field("role", "assistant")
        writer.field("model", call.model)
        writer.key("content")
        writer.beginArray()
        if hasText {
            writer.beginObject()
            writer.field("type", "text")
            writer.field("text", text(tokens: call.outputTokens))
            writer.endObject()
        }
        writer.endArray()
        writer.field("stop_reason", hasText ? "end_turn" : nil)
        writer.key("stop_sequence")
        writer.null()
        writer.key("usage")
        writer.beginObject()
        writer.field("input_tokens", call.inputTokens)
        writer.field("output_tokens", hasText ? call.outputTokens : 1)
        writer.endObject()
        writer.endObject()
    }

    private static func events(_ number: Int, _ call: MockCall) -> [UInt8] {
        var events: [UInt8] = []
        func add(_ type: String, _ write: (inout JSONWriter) -> Void) {
            var writer = JSONWriter(capacity: 512)
            writer.beginObject()
            writer.field("type", type)
            write(&writer)
            writer.endObject()
            events += Array("event: \(type)\ndata: ".utf8) + writer.bytes + Array("\n\n".utf8)
        }
        func block(_ key: String, _ type: String, _ text: String) -> (inout JSONWriter) -> Void {
            { writer in
                writer.field("index", 0)
                writer.key(key)
                writer.beginObject()
                writer.field("type", type)
                writer.field("text", text)
                writer.endObject()
            }
        }
        add("message_start") { writer in
            writer.key("message")
            writeMessage(number, call, hasText: false, to: &writer)
        }
        add("content_block_start", block("content_block", "text", ""))
        for cut in cuts(call) {
            add("content_block_delta", block("delta", "text_delta", text(tokens: cut.count, from: cut.first)))
        }
        add("content_block_stop") { $0.field("index", 0) }
        add("message_delta") { writer in
            writer.key("delta")
            writer.beginObject()
            writer.field("stop_reason", "end_turn")
            writer.key("stop_sequence")
            writer.null()
            writer.endObject()
            writer.key("usage")
            writer.beginObject()
            writer.field("output_tokens", call.outputTokens)
            writer.endObject()
        }
        add("message_stop") { _ in }
        return events
    }
}
