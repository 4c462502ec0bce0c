import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// A caller's question to the gate: a call, and how long its place may be kept.
struct SlotRequest: Sendable {
    var call: Call
    /// 2 and more for a caller that comes back.
    var attempt = 1
    /// How long after its patience the caller's place is kept: until its own time-out.
    var heldSeconds: Double

    /// Without a word of the caller's, as `POST /v1/slots` and `GET /check` wait by default.
    static let defaultWaitSeconds = 10.0
    /// Longer, nobody waits for an answer to come.
    static let maxWaitSeconds = 600.0
    /// Of the time that a caller has left, what it may spend on waiting. Later, its answer finds nobody, and a call that has
    /// its turn has no time to be made in.
    static let waitingShare = 0.8
    /// A place is kept for so long at most.
    static let maxHeldSeconds = 60.0
    /// A call of which nothing is known: the mean request of the model (Model §5.1).
    static let unknownTokens = 1000

    /// The key under which the caller's place is found again: its request, else any place of the same flow.
    var placeKey: String {
        let flow = "\(call.tenant) \(call.pool) \(call.criticality.rawValue)"
        return call.request.map { "\(flow) \($0)" } ?? flow
    }

    private init(call: Call, heldSeconds: Double) {
        self.call = call
        self.heldSeconds = heldSeconds
    }

    // MARK: By its body

    /// `POST /v1/slots`. Fields that are not known are ignored; a field that is known must be right.
    init(_ body: [UInt8], _ defaults: GateDefaults, at now: Timestamp, wall: Timestamp) throws(HTTPError) {
        let fields: Fields
        do { fields = Fields(try JSONNode.parse(body)) } catch {
            throw HTTPError(.badRequest, "the body is no JSON: \(error.message)")
        }
        guard let tenant = try fields.name("tenant", TenantID.self) ?? defaults.tenant else {
            throw HTTPError(.badRequest, "tenant is missing: name the tenant whose call it is")
        }
        guard let pool = try fields.name("pool", PoolID.self) ?? defaults.pool else {
            throw HTTPError(.badRequest, "pool is missing: name the pool, or start the gate with --pool")
        }
        var call = Call(tenant: tenant, pool: pool, inputTokens: 0)
        call.criticality = try fields.criticality() ?? .interactive
        call.inputTokens = try fields.tokens() ?? Self.unknownTokens
        call.maxOutputTokens = try fields.count("max_output_tokens")
        call.request = try fields.text("request")
        call.task = try fields.text("task")
        call.parent = try fields.text("parent")
        call.taskKind = try fields.text("task_kind")
        call.work = try fields.work()
        call.isFinishing = try fields.text("step") == "finish"
        call.model = try fields.text("model")
        call.endpoint = try fields.text("endpoint")
        call.provider = try fields.text("provider")
        call.fallback = try fields.fallback()
        let wait = try fields.number("max_wait_ms").map { $0 / 1000 } ?? Self.defaultWaitSeconds
        self.init(call: call, wait: wait, left: try fields.instant("deadline").map { $0.seconds(since: wall) })
        attempt = try fields.whole("attempt", in: 0...1_000_000) ?? 1
    }

    /// - Parameters:
    ///   - wait: the patience, in seconds.
    ///   - left: seconds until the caller's own time-out; `nil` when it is not known.
    init(call: Call, wait: Double, left: Double?) {
        let left = max(0, left ?? .infinity)
        let wait = min(max(0, wait), left * Self.waitingShare, Self.maxWaitSeconds)
        var call = call
        call.maxWait = .milliseconds(Int64(wait * 1000))
        self.init(call: call, heldSeconds: min(Self.maxHeldSeconds, left - wait))
    }

    /// The members of a body, read by name.
    struct Fields {
        private let document: JSONNode

        init(_ document: JSONNode) {
            self.document = document
        }

        /// `nil` for null too.
        private func node(_ key: String) -> JSONNode? { document[key].flatMap { $0.isNull ? nil : $0 } }

        func any(_ key: String) -> JSONNode? { node(key) }

        func work() throws(HTTPError) -> Call.WorkKind {
            guard let text = try text("work") else { return .model }
            guard let work = Call.WorkKind(rawValue: text) else {
                throw HTTPError(.badRequest, "work: \"\(text)\" must be model or tool")
            }
            return work
        }

        func text(_ key: String) throws(HTTPError) -> String? {
            guard let node = node(key) else { return nil }
            guard let text = node.string, text.utf8.count <= 256 else {
                throw HTTPError(.badRequest, "\(key): must be a text of at most 256 bytes")
            }
            return text
        }

        func name<Kind>(_ key: String, _: Identifier<Kind>.Type) throws(HTTPError) -> Identifier<Kind>? {
            guard let text = try text(key) else { return nil }
            guard let name = Identifier<Kind>(text) else {
                throw HTTPError(.badRequest, "\(key): \"\(text)\" is no name; one is \(Identifier<Kind>.rule)")
            }
            return name
        }

        func number(_ key: String) throws(HTTPError) -> Double? {
            guard let node = node(key) else { return nil }
            guard let number = node.number, number >= 0, number <= 1e12 else {
                throw HTTPError(.badRequest, "\(key): must be a number, 0 or more")
            }
            return number
        }

        /// Tokens.
        func count(_ key: String) throws(HTTPError) -> Int? { try whole(key, in: CallBounds.tokens) }

        func whole(_ key: String, in range: ClosedRange<Int>) throws(HTTPError) -> Int? {
            guard let node = node(key) else { return nil }
            return try CallNumber.whole(key, node.number, in: range)
        }

        func flag(_ key: String) throws(HTTPError) -> Bool? {
            guard let node = node(key) else { return nil }
            guard let flag = node.bool else { throw HTTPError(.badRequest, "\(key): must be true or false") }
            return flag
        }

        func criticality() throws(HTTPError) -> Criticality? {
            guard let text = try text("criticality") else { return nil }
            guard let criticality = Criticality(name: text) else {
                throw HTTPError(
                    .badRequest, "criticality: \"\(text)\" must be interactive, near_real_time or batch")
            }
            return criticality
        }

        func fallback() throws(HTTPError) -> Call.Fallback {
            switch try text("fallback") {
            case nil, "fail": return .fail
            case "smaller_model": return .smallerModel
            case "cached": return .cached
            case "degrade": return .degrade
            case let text?:
                throw HTTPError(
                    .badRequest, "fallback: \"\(text)\" must be smaller_model, cached, degrade or fail")
            }
        }

        /// Milliseconds since 1970, or RFC 3339.
        func instant(_ key: String) throws(HTTPError) -> Timestamp? {
            guard let node = node(key) else { return nil }
            let milliseconds = node.number.flatMap { Int64(exactly: $0) } ?? node.string.flatMap { RFC3339.parse($0) }
            guard let milliseconds else {
                throw HTTPError(.badRequest, "\(key): must be milliseconds since 1970 or a time by RFC 3339")
            }
            return Timestamp(milliseconds: milliseconds)
        }

        func tokens() throws(HTTPError) -> Int? {
            if let tokens = try count("tokens") { return tokens }
            if let text = node("text")?.string { return PromptEstimate.tokens(of: text) }
            return node("messages").map { PromptText.tokens(ofMessages: $0) }
        }
    }
}

/// The defaults of what a caller leaves out.
package struct GateDefaults: Sendable {
    package var tenant: TenantID?
    package var pool: PoolID?
    /// Tenant and pool may also be what the caller itself writes, in `baggage` and in the fairness IDs of others.
    package var trustsCallers: Bool

    package init(tenant: TenantID? = nil, pool: PoolID? = nil, trustsCallers: Bool = false) {
        self.tenant = tenant
        self.pool = pool
        self.trustsCallers = trustsCallers
    }
}
