import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// A call's attributes by the headers of its request: our own names first, then W3C `baggage`, then the names that others use.
struct CallerHeaders {
    private let request: LocalServer.Request
    private let baggage: [Substring: Substring]

    init(_ request: LocalServer.Request) {
        self.request = request
        baggage = Self.members(of: request.header("baggage") ?? "")
    }

    /// `name=value;property, …` (W3C Baggage §3.3); values are percent-encoded where they need it, which ours do not.
    private static func members(of header: String) -> [Substring: Substring] {
        var members: [Substring: Substring] = [:]
        for member in header.split(separator: ",").prefix(64) {
            let pair = member.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            members[pair[0].trimmed] = pair[1].trimmed
        }
        return members
    }

    private func first(_ names: [StaticString], baggage key: Substring? = nil) -> String? {
        if let own = names.first.flatMap({ request.header($0) }), !own.isEmpty { return own }
        if let key, let value = baggage[key] { return String(value) }
        return names.dropFirst().lazy.compactMap { request.header($0) }.first { !$0.isEmpty }
    }

    var tenant: String? {
        first(
            ["x-headroom-tenant", "x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id"],
            baggage: "headroom.tenant")
    }

    var pool: String? { first(["x-headroom-pool"], baggage: "headroom.pool") }

    var task: String? {
        first(
            [
                "x-headroom-task", "x-litellm-trace-id", "x-litellm-session-id", "x-claude-code-session-id",
                "session-id",
                "thread-id", "x-session-id",
            ], baggage: "headroom.task") ?? baggage["session.id"].map(String.init) ?? traceID
    }

    /// `VERSION-TRACE-PARENT-FLAGS` (W3C Trace Context §3.2).
    private var traceID: String? {
        guard let parts = request.header("traceparent")?.split(separator: "-"), parts.count >= 4 else { return nil }
        return String(parts[1])
    }

    var parent: String? { first(["x-headroom-parent", "x-parent-session-id"], baggage: "headroom.parent") }

    var taskKind: String? {
        first(["x-headroom-task-kind"], baggage: "headroom.task-kind").flatMap {
            $0.utf8.count <= 256 ? $0 : nil
        }
    }

    var criticality: Criticality? {
        if let name = first(["x-headroom-criticality"], baggage: "headroom.criticality") {
            return Criticality(name: name)
        }
        // NVIDIA Dynamo: a larger number is more urgent.
        guard let priority = request.header("x-dynamo-request-priority").flatMap({ Double($0) }) else { return nil }
        return priority > 0 ? .interactive : priority < 0 ? .batch : .nearRealTime
    }

    /// How long the call may wait here, in seconds, if the caller says so.
    var maxWaitSeconds: Double? {
        milliseconds(first(["x-headroom-max-wait-ms", "x-llm-d-slo-ttft-ms"], baggage: "headroom.max-wait-ms"))
    }

    /// When its SDK gives up, in seconds.
    var timeoutSeconds: Double? {
        for name: StaticString in ["x-litellm-timeout", "x-stainless-read-timeout", "x-stainless-timeout"] {
            if let seconds = request.header(name).flatMap({ Double($0) }), seconds > 0, seconds.isFinite {
                return seconds
            }
        }
        return nil
    }

    /// 2 and more for an attempt that an SDK makes by itself: not new demand.
    var attempt: Int {
        request.header("x-stainless-retry-count").flatMap { Int($0) }.map { max(0, min($0, 100)) + 1 } ?? 1
    }

    /// The same for all attempts.
    var requestID: String? {
        first(["x-headroom-request", "idempotency-key"]).flatMap { $0.utf8.count <= 128 ? $0 : nil }
    }

    private func milliseconds(_ text: String?) -> Double? {
        guard let number = text.flatMap({ Double($0) }), number >= 0, number.isFinite else { return nil }
        return number / 1000
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}

extension SlotRequest {
    /// `/check`: by headers, and by the body where the proxy sends it along.
    init(check request: LocalServer.Request, _ defaults: GateDefaults) throws(HTTPError) {
        let headers = CallerHeaders(request)
        let tenantText = try request.parameter("tenant") ?? headers.tenant
        guard let tenant = try Self.name("tenant", tenantText) ?? defaults.tenant else {
            throw HTTPError(
                .badRequest,
                "the tenant is missing: let the proxy set x-headroom-tenant, or start the gate with --tenant")
        }
        let poolText = try request.parameter("pool") ?? headers.pool
        guard let pool = try Self.name("pool", poolText) ?? defaults.pool else {
            throw HTTPError(
                .badRequest, "the pool is missing: let the proxy set x-headroom-pool, or start the gate with --pool")
        }
        var call = Call(tenant: tenant, pool: pool, inputTokens: Self.unknownTokens)
        let body = request.takeBody()
        var tier: String?
        if !body.isEmpty, let document = try? JSONNode.parse(body), document.members != nil {
            call.inputTokens = PromptText.tokens(ofRequest: document)
            let bound = document["max_completion_tokens"] ?? document["max_tokens"] ?? document["max_output_tokens"]
            call.maxOutputTokens = bound?.number.flatMap { Int(exactly: $0) }
            call.model = document["model"]?.string
            tier = document["service_tier"]?.string
        }
        if let tokens = request.header("x-headroom-tokens").flatMap({ Int($0) }), tokens >= 0 {
            call.inputTokens = tokens
        } else if body.isEmpty, let bytes = request.header("x-headroom-bytes").flatMap({ Int($0) }), bytes >= 0 {
            // nginx has not read the body when it asks.
            call.inputTokens = PromptEstimate.tokens(ofBytes: bytes)
        }
        call.criticality =
            headers.criticality ?? (tier == "flex" ? .batch : .interactive)
        call.task = headers.task
        call.parent = headers.parent
        call.taskKind = headers.taskKind
        call.request = headers.requestID
        self.init(
            call: call, wait: headers.maxWaitSeconds ?? Self.defaultWaitSeconds, left: headers.timeoutSeconds)
        attempt = headers.attempt
    }

    private static func name<Kind>(_ what: String, _ text: String?) throws(HTTPError) -> Identifier<Kind>? {
        guard let text, !text.isEmpty else { return nil }
        guard let name = Identifier<Kind>(text) else {
            throw HTTPError(.badRequest, "\(what): \"\(text)\" is no name; one is \(Identifier<Kind>.rule)")
        }
        return name
    }
}
