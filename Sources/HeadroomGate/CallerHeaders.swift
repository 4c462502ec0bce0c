import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// A call's attributes by the headers of its request: our own names first, then W3C `baggage`, then the names that others use.
struct CallerHeaders {
    private let request: LocalServer.Request
    private let baggage: [Substring: Substring]

    init(_ request: LocalServer.Request) throws(HTTPError) {
        var names: Set<String> = []
        for (name, _) in request.headers(after: "x-headroom-") where !names.insert(name).inserted {
            throw HTTPError(
                .badRequest,
                "the header x-headroom-\(name) is given twice: the proxy has to replace what its client has written, and not to add to it"
            )
        }
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

    /// The first that is not empty: our own header, our member of `baggage`, the headers of others.
    private func first(
        own: StaticString? = nil, baggage key: Substring? = nil, _ others: [StaticString] = []
    ) -> String? {
        if let own, let value = self.own(own) { return value }
        if let key, let value = baggage[key], !value.isEmpty { return String(value) }
        return others.lazy.compactMap { self.own($0) }.first
    }

    /// An empty header is none.
    private func own(_ name: StaticString) -> String? {
        request.header(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// By the proxy. ``callersTenant`` has what the caller itself says.
    var tenant: String? { own("x-headroom-tenant") }
    var pool: String? { own("x-headroom-pool") }

    /// Anybody can write these: they count only where the operator trusts all callers.
    var callersTenant: String? {
        first(baggage: "headroom.tenant", ["x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id"])
    }
    var callersPool: String? { first(baggage: "headroom.pool") }

    var task: String? {
        first(
            own: "x-headroom-task", baggage: "headroom.task",
            [
                "x-litellm-trace-id", "x-litellm-session-id", "x-claude-code-session-id",
                "session-id",
                "thread-id", "x-session-id",
            ]) ?? baggage["session.id"].map(String.init) ?? traceID
    }

    /// `VERSION-TRACE-PARENT-FLAGS` (W3C Trace Context §3.2).
    private var traceID: String? {
        guard let parts = request.header("traceparent")?.split(separator: "-"), parts.count >= 4 else { return nil }
        return String(parts[1])
    }

    var parent: String? { first(own: "x-headroom-parent", baggage: "headroom.parent", ["x-parent-session-id"]) }

    var taskKind: String? {
        first(own: "x-headroom-task-kind", baggage: "headroom.task-kind")
    }

    func work() throws(HTTPError) -> Call.WorkKind {
        guard let text = first(own: "x-headroom-work", baggage: "headroom.work") else { return .model }
        guard let work = Call.WorkKind(rawValue: text) else {
            throw HTTPError(.badRequest, "x-headroom-work: \"\(text.prefix(40))\" must be model or tool")
        }
        return work
    }

    /// The call ends its task.
    var isFinishing: Bool { first(own: "x-headroom-step", baggage: "headroom.step") == "finish" }

    func criticality() throws(HTTPError) -> Criticality? {
        if let name = own("x-headroom-criticality") {
            guard let criticality = Criticality(name: name) else {
                throw HTTPError(
                    .badRequest,
                    "the header x-headroom-criticality: \"\(name.prefix(40))\" must be interactive, near_real_time or batch"
                )
            }
            return criticality
        }
        if let name = baggage["headroom.criticality"], let criticality = Criticality(name: String(name)) {
            return criticality
        }
        // NVIDIA Dynamo: a larger number is more urgent.
        guard let priority = request.header("x-dynamo-request-priority").flatMap({ Double($0) }) else { return nil }
        return priority > 0 ? .interactive : priority < 0 ? .batch : .nearRealTime
    }

    /// How long the call may wait here, in seconds, if the proxy or the caller says so.
    func maxWaitSeconds() throws(HTTPError) -> Double? {
        if let text = own("x-headroom-max-wait-ms") {
            return Double(try CallNumber.whole("x-headroom-max-wait-ms", text: text, in: 0...86_400_000)) / 1000
        }
        return milliseconds(first(baggage: "headroom.max-wait-ms", ["x-llm-d-slo-ttft-ms"]))
    }

    /// The size of the prompt, by the proxy.
    func tokens() throws(HTTPError) -> Int? {
        guard let text = own("x-headroom-tokens") else { return nil }
        return try CallNumber.whole("x-headroom-tokens", text: text, in: CallBounds.tokens)
    }

    /// The size of a body that the proxy has not read when it asks.
    func bytes() throws(HTTPError) -> Int? {
        guard let text = own("x-headroom-bytes") else { return nil }
        return try CallNumber.whole("x-headroom-bytes", text: text, in: CallBounds.bytes)
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
        first(own: "x-headroom-request", ["idempotency-key"]).flatMap { $0.utf8.count <= 128 ? $0 : nil }
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
    ///
    /// The proxy's own headers win. The query counts only on the path `/check` itself: behind any other path it is what the
    /// proxy's client has written.
    init(check request: LocalServer.Request, _ defaults: GateDefaults) throws(HTTPError) {
        let headers = try CallerHeaders(request)
        let isExact = request.target.path == "/check"
        var tenantText = headers.tenant
        var poolText = headers.pool
        if isExact {
            if tenantText == nil { tenantText = try request.parameter("tenant") }
            if poolText == nil { poolText = try request.parameter("pool") }
        }
        if defaults.trustsCallers {
            tenantText = tenantText ?? headers.callersTenant
            poolText = poolText ?? headers.callersPool
        }
        guard let tenant = try Self.name("tenant", tenantText) ?? defaults.tenant else {
            throw HTTPError(
                .badRequest,
                "the tenant is missing: let the proxy set x-headroom-tenant, or start the gate with --tenant")
        }
        guard let pool = try Self.name("pool", poolText) ?? defaults.pool else {
            throw HTTPError(
                .badRequest, "the pool is missing: let the proxy set x-headroom-pool, or start the gate with --pool")
        }
        var call = Call(tenant: tenant, pool: pool, inputTokens: Self.unknownTokens)
        let body = request.takeBody()
        var tier: String?
        if !body.isEmpty {
            // A body that is cut off, or that only its provider understands, is at least as long as it is.
            call.inputTokens = PromptEstimate.tokens(ofBytes: body.count)
            if let document = try? JSONNode.parse(body), document.members != nil {
                call.inputTokens = PromptText.tokens(ofRequest: document)
                call.maxOutputTokens = PromptText.answerBound(ofRequest: document)
                call.model = document["model"]?.string
                tier = document["service_tier"]?.string
            }
        }
        if let tokens = try headers.tokens() {
            call.inputTokens = tokens
        } else if let bytes = try headers.bytes(), body.isEmpty {
            call.inputTokens = PromptEstimate.tokens(ofBytes: bytes)
        }
        call.criticality = try headers.criticality() ?? (tier == "flex" ? .batch : .interactive)
        call.task = headers.task
        call.parent = headers.parent
        call.taskKind = headers.taskKind
        call.work = try headers.work()
        call.isFinishing = headers.isFinishing
        call.request = headers.requestID
        self.init(
            call: call, wait: try headers.maxWaitSeconds() ?? Self.defaultWaitSeconds, left: headers.timeoutSeconds)
        attempt = headers.attempt
    }

    private static func name<Kind>(_ what: String, _ text: String?) throws(HTTPError) -> Identifier<Kind>? {
        guard let text, !text.isEmpty else { return nil }
        guard let name = Identifier<Kind>(text) else {
            throw HTTPError(.badRequest, "\(what): \"\(text.prefix(140))\" is no name; one is \(Identifier<Kind>.rule)")
        }
        return name
    }
}
