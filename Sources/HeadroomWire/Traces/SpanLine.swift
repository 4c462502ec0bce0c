import HeadroomJSON
import HeadroomModel

/// The `call` line that a span of a model call stands for.
struct SpanLine {
    let span: TraceSpan
    let settings: TraceDecoder
    let decoder: TelemetryDecoder
    /// The sender's token names one gateway, which stands for what spans do not say.
    let hasOwnGateway: Bool

    private var attributes: TraceAttributes { span.attributes }

    static func isCall(_ span: TraceSpan) -> Bool {
        let attributes = span.attributes
        if let operation = attributes.text(SpanNames.operation) {
            return !SpanNames.otherOperations.contains(operation.lowercased())
                && attributes.text(SpanNames.requestModel + SpanNames.responseModel) != nil
        }
        if let kind = attributes.text(SpanNames.inferenceKind) {
            return SpanNames.inferenceKinds.contains(kind.uppercased())
        }
        if attributes.text(SpanNames.requestType) != nil { return true }
        if attributes.text(SpanNames.workflowKind) != nil { return false }
        return attributes.integer(SpanNames.inputTokens + SpanNames.outputTokens) != nil
            && attributes.text(SpanNames.requestModel + SpanNames.responseModel) != nil
    }

    /// What a sender can mend only by its instrumentation, in words of spans.
    var fault: String? {
        guard tenant == nil else { return nil }
        return "span (\(span.name)): the tenant is missing: neither the span nor its resource has the attribute "
            + "\(settings.tenantAttribute), which Headroom-Tenant-Attribute may rename"
    }

    func write(to writer: inout JSONWriter) {
        let outcome = outcome
        writer.beginObject()
        writer.field("type", "call")
        if !span.trace.isEmpty, !span.span.isEmpty { writer.field("id", "\(span.trace)-\(span.span)") }
        if span.endNanoseconds > 0 { writer.field("at", span.endNanoseconds / 1_000_000) }
        writer.field("gateway", gateway)
        writer.field("tenant", tenant)
        writer.field("pool", pool)
        writer.field("model", attributes.text(SpanNames.responseModel + SpanNames.requestModel))
        writer.field("endpoint", endpoint)
        writer.field("criticality", attributes.text(SpanNames.criticality))
        writer.field("task", attributes.text(SpanNames.task))
        writer.field("parent", attributes.text(SpanNames.parent))
        writer.field("outcome", outcome.name)
        writer.field("status", outcome.status.map(Int64.init))
        if span.endNanoseconds > span.startNanoseconds, span.startNanoseconds > 0 {
            writer.field("latency_ms", Double(span.endNanoseconds - span.startNanoseconds) / 1_000_000)
        }
        writer.field("input_tokens", attributes.integer(SpanNames.inputTokens))
        writer.field("output_tokens", attributes.integer(SpanNames.outputTokens))
        writer.field("cached_input_tokens", attributes.integer(SpanNames.cachedTokens))
        writer.field("max_tokens", maxTokens)
        writer.endObject()
    }

    private var tenant: String? { attributes.text([settings.tenantAttribute]) }

    private var gateway: String? {
        if let named = attributes.text(SpanNames.gateway) ?? settings.gateway?.text { return named }
        guard !hasOwnGateway, let service = attributes.text(SpanNames.service) else { return nil }
        // A service may have a name that no gateway could have: `unknown_service:python3` is one, `my shop` is not.
        return GatewayID(service)?.text
    }

    private var endpoint: String? {
        attributes.text(SpanNames.operation + SpanNames.requestType)
            ?? attributes.text(SpanNames.inferenceKind)?.lowercased()
    }

    private var provider: String? { attributes.text(SpanNames.provider) }

    /// The pool that the span names, or the sender; else the one that is called as the provider and the model.
    private var pool: String? {
        if let named = attributes.text(SpanNames.pool) ?? settings.pool?.text { return named }
        let models = [SpanNames.requestModel, SpanNames.responseModel].compactMap { attributes.text($0) }
        guard let provider, let first = models.first else { return nil }
        if let rules = decoder.limits.rules {
            for provider in SpanNames.providers(provider) {
                for model in models.flatMap({ [$0, SpanNames.withoutDate($0)] }) {
                    if let pool = PoolID("\(provider):\(model)"), rules.has(pool) { return pool.text }
                }
            }
        }
        return "\(provider.lowercased()):\(first)"
    }

    private var maxTokens: Int64? {
        if let stated = attributes.integer(SpanNames.maxTokens) { return stated }
        guard let text = attributes.text(SpanNames.parameters), let node = try? JSONNode.parse(Array(text.utf8)) else {
            return nil
        }
        for key in ["max_completion_tokens", "max_output_tokens", "max_tokens"] {
            if let number = node[key]?.number, let count = Int64(exactly: number) { return count }
        }
        return nil
    }

    private var outcome: (name: String, status: Int?) {
        let message =
            [span.message, attributes.text(SpanNames.errorMessage) ?? ""]
            .max { $0.utf8.count < $1.utf8.count } ?? ""
        let type = attributes.text(SpanNames.errorType)
        let stated = attributes.integer(SpanNames.status).flatMap { Int(exactly: $0) }
            .flatMap { (100...599).contains($0) ? $0 : nil }
        let hasFailed = span.hasFailed || type != nil || (stated ?? 200) >= 400
        guard hasFailed else { return (Outcome.ok.name, stated) }
        let status = stated ?? Self.status(in: message)
        guard let likely = status ?? type.flatMap(SpanNames.status(ofErrorType:)) else {
            return (Outcome.error.name, nil)
        }
        let response = ProviderResponse(
            provider: provider.map { SpanNames.providers($0).last ?? $0 }, status: likely, body: message)
        let kind = decoder.classify(response).kind
        // An error behind a success: a stream that broke, or an answer that the program could not read.
        return (kind == .ok ? Outcome.error.name : kind.name, status)
    }

    /// `Error code: 429 - {…}`, as the libraries of OpenAI and Anthropic say it.
    private static func status(in message: String) -> Int? {
        let marker = "Error code: "
        guard let start = message.utf8.firstRange(of: marker.utf8)?.upperBound else { return nil }
        let digits = message.utf8[start...].prefix(4).prefix { (0x30...0x39).contains($0) }
        guard digits.count == 3, let status = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        return (100...599).contains(status) ? status : nil
    }
}
