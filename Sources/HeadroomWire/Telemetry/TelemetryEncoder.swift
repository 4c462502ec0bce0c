import HeadroomJSON
import HeadroomModel

/// Writes the NDJSON of `POST /v1/telemetry` (WireFormat §1): what gateways send. Absent values are left out.
package struct TelemetryEncoder: Sendable {
    private var writer: JSONWriter
    package private(set) var lines = 0

    package init(capacity: Int = 0) {
        writer = JSONWriter(capacity: capacity)
    }

    package var bytes: [UInt8] { writer.bytes }

    /// Adds a line. Calls and windows bear their own `id`; other kinds take the one given. The headers and the body,
    /// which a ``ResponseRecord`` holds only as they were understood, go into a `response` line.
    package mutating func append(
        _ record: TelemetryRecord, id: String? = nil, headers: [(name: String, value: String)] = [],
        body: String? = nil
    ) {
        writer.beginObject()
        writer.field("type", record.kind.rawValue)
        switch record {
        case .call(let call): append(call)
        case .window(let window): append(window)
        case .queue(let queue):
            string("id", id)
            append(queue)
        case .response(let response):
            string("id", id)
            append(response, headers: headers, body: body)
        case .task(let task):
            string("id", id)
            append(task)
        case .model(let model):
            string("id", id)
            append(model)
        }
        writer.endObject()
        writer.newline()
        lines += 1
    }

    package mutating func removeAll(keepingCapacity: Bool = false) {
        writer.removeAll(keepingCapacity: keepingCapacity)
        lines = 0
    }

    private mutating func append(_ call: CallRecord) {
        string("id", call.id)
        string("request", call.request)
        integer("at", call.at.milliseconds)
        string("gateway", call.gateway.text)
        string("tenant", call.tenant.text)
        string("pool", call.pool.text)
        string("model", call.model)
        string("endpoint", call.endpoint)
        string("criticality", call.criticality.name)
        string("task", call.task)
        string("parent", call.parent)
        string("task_kind", call.taskKind)
        if call.isToolWork { string("work", "tool") }
        integer("attempt", Int64(call.attempt))
        string("outcome", call.outcome.name)
        integer("status", call.status.map(Int64.init))
        number("latency_ms", call.latencyMilliseconds)
        number("queued_ms", call.queuedMilliseconds)
        integer("input_tokens", call.inputTokens)
        integer("output_tokens", call.outputTokens)
        integer("cached_input_tokens", call.cachedInputTokens)
        integer("max_tokens", call.maxTokens)
        integer("counted_tokens", call.countedTokens)
    }

    private mutating func append(_ window: WindowRecord) {
        string("id", window.id)
        integer("start", window.start.milliseconds)
        number("seconds", window.seconds)
        string("gateway", window.gateway.text)
        string("tenant", window.tenant.text)
        string("pool", window.pool.text)
        string("criticality", window.criticality.name)
        integer("requests", window.requests)
        integer("ok", window.ok)
        integer("quota", window.quota)
        integer("overload", window.overload)
        integer("error", window.error)
        integer("retries", window.retries)
        integer("denied", window.denied)
        integer("denied_tokens", window.deniedTokens)
        integer("input_tokens", window.inputTokens)
        integer("output_tokens", window.outputTokens)
        guard let latency = window.latency else { return }
        writer.key("latency_ms")
        writer.beginObject()
        integer("count", latency.count)
        number("p50", latency.p50Milliseconds)
        number("p95", latency.p95Milliseconds)
        number("p99", latency.p99Milliseconds)
        writer.endObject()
    }

    private mutating func append(_ queue: QueueRecord) {
        integer("at", queue.at.milliseconds)
        string("gateway", queue.gateway.text)
        string("tenant", queue.tenant.text)
        string("pool", queue.pool.text)
        string("criticality", queue.criticality.name)
        integer("depth", queue.depth)
        integer("tokens", queue.tokens)
        number("oldest_age_ms", queue.oldestAgeMilliseconds)
    }

    private mutating func append(
        _ response: ResponseRecord, headers: [(name: String, value: String)], body: String?
    ) {
        integer("at", response.at.milliseconds)
        string("request", response.request)
        string("gateway", response.gateway.text)
        string("pool", response.pool.text)
        string("model", response.model)
        string("endpoint", response.endpoint)
        string("provider", response.provider)
        integer("status", Int64(response.status))
        writer.key("headers")
        writer.beginObject()
        for header in headers {
            writer.key(header.name)
            writer.string(header.value)
        }
        writer.endObject()
        string("body", body)
    }

    private mutating func append(_ task: TaskRecord) {
        integer("at", task.at.milliseconds)
        string("gateway", task.gateway.text)
        string("tenant", task.tenant.text)
        string("pool", task.pool.text)
        string("criticality", task.criticality.name)
        string("task", task.task)
        string("parent", task.parent)
        string("state", task.state.name)
        number("progress", task.progress)
        integer("remaining_requests", task.remainingRequests)
        integer("remaining_tokens", task.remainingTokens)
    }

    private mutating func append(_ model: ModelRecord) {
        integer("at", model.at.milliseconds)
        string("gateway", model.gateway?.text)
        string("pool", model.pool.text)
        string("model", model.model)
        string("version", model.version)
    }

    private mutating func string(_ key: StaticString, _ value: String?) {
        guard let value else { return }
        writer.key(key)
        writer.string(value)
    }

    private mutating func integer(_ key: StaticString, _ value: Int64?) {
        guard let value else { return }
        writer.key(key)
        writer.integer(value)
    }

    private mutating func number(_ key: StaticString, _ value: Double?) {
        guard let value else { return }
        writer.key(key)
        writer.number(value)
    }
}
