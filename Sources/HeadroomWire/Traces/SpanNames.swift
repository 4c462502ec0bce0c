/// The names that instrumentations give to the facts of a model call.
///
/// OpenTelemetry's GenAI conventions (`gen_ai.*`, of version 1.27 and later), OpenLLMetry (`gen_ai.*` and the older
/// `llm.*`) and OpenInference (`llm.*`). The first name of a list that a span has wins.
enum SpanNames {
    static let tenant = "headroom.tenant"
    static let pool = ["headroom.pool"]
    static let gateway = ["headroom.gateway"]
    static let service = ["service.name"]
    static let criticality = ["headroom.criticality"]
    static let task = ["headroom.task", "gen_ai.conversation.id", "session.id"]
    static let parent = ["headroom.parent"]

    static let provider = ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"]
    static let requestModel = ["gen_ai.request.model", "llm.request.model", "llm.model_name", "embedding.model_name"]
    static let responseModel = ["gen_ai.response.model", "llm.response.model"]
    static let operation = ["gen_ai.operation.name"]
    static let requestType = ["llm.request.type"]
    static let inferenceKind = ["openinference.span.kind"]
    static let workflowKind = ["traceloop.span.kind"]

    static let inputTokens = [
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt",
    ]
    static let outputTokens = [
        "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens",
        "llm.token_count.completion",
    ]
    static let cachedTokens = [
        "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
        "llm.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read",
    ]
    static let maxTokens = ["gen_ai.request.max_tokens", "llm.request.max_tokens"]
    /// OpenInference: the request's parameters, as JSON in a string.
    static let parameters = ["llm.invocation_parameters"]

    static let status = ["http.response.status_code", "http.status_code"]
    static let errorType = ["error.type", "exception.type"]
    static let errorMessage = ["exception.message"]

    static let all: Set<String> = Set(
        [
            [tenant], pool, gateway, service, criticality, task, parent, provider, requestModel, responseModel,
            operation,
            requestType, inferenceKind, workflowKind, inputTokens, outputTokens, cachedTokens, maxTokens, parameters,
            status, errorType, errorMessage,
        ].joined())

    /// Operations that are no call of a model: the work around calls, which may bear the sums of their tokens.
    static let otherOperations: Set<String> = [
        "create_agent", "invoke_agent", "invoke_workflow", "execute_tool", "retrieval", "plan",
    ]
    static let inferenceKinds: Set<String> = ["LLM", "EMBEDDING"]

    /// The names of a provider in pools, by those in spans: `azure.ai.openai` is Azure.
    static func providers(_ name: String) -> [String] {
        let name = name.lowercased()
        let parts = name.split { $0 == "." || $0 == "_" }
        let isOneOf = { (names: Set<Substring>) in parts.contains { names.contains($0) } }
        var names = [name]
        if isOneOf(["azure", "az"]) { names.append("azure") }
        if isOneOf(["aws", "bedrock"]) { names += ["bedrock", "aws"] }
        if isOneOf(["gcp", "google", "vertex", "gemini"]) { names += ["google", "vertex", "gemini"] }
        // mistral_ai, x_ai.
        if name.hasSuffix("_ai") { names.append(String(name.dropLast(3))) }
        return names
    }

    /// The status that an error of this type stands for, where a span has no status. The types of the providers' own
    /// libraries; a number is the status itself, by OpenTelemetry's rule for `error.type`.
    static func status(ofErrorType type: String) -> Int? {
        if let number = Int(type) { return (100...599).contains(number) ? number : nil }
        // `openai.RateLimitError`, `google.api_core.exceptions.ResourceExhausted`.
        let name = type.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return statuses.first { name.contains($0.word) }?.status
    }

    private static let statuses: [(word: String, status: Int)] = [
        ("ratelimit", 429), ("rate_limit", 429), ("toomanyrequests", 429), ("resourceexhausted", 429),
        ("throttling", 429), ("overloaded", 529), ("serviceunavailable", 503), ("authentication", 401),
        ("unauthenticated", 401), ("permissiondenied", 403), ("accessdenied", 403), ("notfound", 404),
        ("badrequest", 400), ("invalidargument", 400), ("validationexception", 400), ("unprocessable", 422),
        ("contextwindow", 400), ("contentpolicy", 400), ("internalserver", 500), ("timeout", 504),
        ("deadlineexceeded", 504), ("apiconnection", 502),
    ]

    /// `gpt-4o-2024-11-20`, `claude-3-5-sonnet-20241022` and `gpt-4-0613` without their dates.
    static func withoutDate(_ model: String) -> String {
        var parts = model.split(separator: "-", omittingEmptySubsequences: false)
        let isNumber = { (part: Substring, digits: Int) in
            part.utf8.count == digits && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        if parts.count > 3, isNumber(parts[parts.count - 1], 2), isNumber(parts[parts.count - 2], 2),
            isNumber(parts[parts.count - 3], 4)
        {
            parts.removeLast(3)
        } else if parts.count > 1, isNumber(parts[parts.count - 1], 8) || isNumber(parts[parts.count - 1], 4) {
            parts.removeLast()
        }
        return parts.joined(separator: "-")
    }
}
