import HeadroomJSON
import HeadroomModel

extension TelemetryLineReader {
    private enum CallField: String, CaseIterable {
        case type, id, request, at, gateway, tenant, pool, model, endpoint, criticality, task, parent, attempt, outcome
        case status, work
        case taskKind = "task_kind"
        case latency = "latency_ms"
        case queued = "queued_ms"
        case inputTokens = "input_tokens"
        case outputTokens = "output_tokens"
        case cachedInputTokens = "cached_input_tokens"
        case maxTokens = "max_tokens"
        case countedTokens = "counted_tokens"
    }

    private static let callFields = WireFields(CallField.self)

    mutating func call() throws -> TelemetryBatch.Line {
        var at: Int64?
        var gateway: GatewayID?
        var tenant: TenantID?
        var pool: PoolID?
        var outcome: Outcome?
        // Everything else is optional and goes straight into the record; what is required replaces these stand-ins.
        var call = CallRecord(
            at: arrival.received, gateway: GatewayID(unchecked: ""), tenant: TenantID(unchecked: ""),
            pool: PoolID(unchecked: ""), outcome: .ok)
        let fields = TelemetryLineReader.callFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: call.id = try text()
            case .request: call.request = try text()
            case .at: at = try instant()
            case .gateway: gateway = try identifier()
            case .tenant: tenant = try identifier()
            case .pool: pool = try identifier()
            case .model: call.model = try label()
            case .endpoint: call.endpoint = try label()
            case .criticality: call.criticality = try criticality()
            case .task: call.task = try text()
            case .parent: call.parent = try text()
            case .taskKind: call.taskKind = try label()
            case .work: call.isToolWork = try work()
            case .attempt: call.attempt = Int(try integer(1...10_000))
            case .outcome: outcome = try self.outcome()
            case .status: call.status = Int(try integer(100...599))
            case .latency: call.latencyMilliseconds = try milliseconds()
            case .queued: call.queuedMilliseconds = try milliseconds()
            case .inputTokens: call.inputTokens = try count()
            case .outputTokens: call.outputTokens = try count()
            case .cachedInputTokens: call.cachedInputTokens = try count()
            case .maxTokens: call.maxTokens = try count()
            case .countedTokens: call.countedTokens = try count()
            }
        }
        call.gateway = try self.gateway(gateway)
        call.tenant = try required(tenant)
        call.pool = try required(pool)
        guard let outcome else { throw missing("outcome", list(Outcome.allCases.map(\.name))) }
        call.outcome = outcome
        let input = call.inputTokens ?? 0
        let output = call.outputTokens ?? 0
        try check(
            Claim(
                tokens: call.countedTokens ?? (input + output), inputTokens: input,
                outputTokens: max(output, call.maxTokens ?? 0)), in: call.pool)
        let time = try lineTime(at)
        call.at = time.at
        return TelemetryBatch.Line(number: lineNumber, id: call.id, record: .call(call), isLate: time.isLate)
    }

    /// True for a tool's.
    private mutating func work() throws -> Bool {
        let text = reader.string(of: try reader.readText())
        guard text == "tool" || text == "model" else { throw fault("\"\(text)\" is no kind of work: model, tool") }
        return text == "tool"
    }

    private mutating func outcome() throws -> Outcome {
        let text = try reader.readText()
        if reader.text(text, equals: "ok") { return .ok }
        guard let outcome = Outcome(name: reader.string(of: text)) else {
            throw fault("\(quoted(text)) is no outcome: \(list(Outcome.allCases.map(\.name)))")
        }
        return outcome
    }
}
