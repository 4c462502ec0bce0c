import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// How a call ended, as `POST /v1/slots/{id}/done` tells it.
///
/// A program sends JSON. A proxy that cannot write JSON names the status in the query or in a header, and may send what
/// the provider answered as it is: the body, and the provider's headers with `x-headroom-upstream-` before their names.
struct EndReport {
    private var status: Int?
    private var outcome: String?
    private var counts: [Count: Int] = [:]
    private var latency: Duration?
    private var headers: [(name: String, value: String)] = []
    /// Of the provider.
    private var body: String?

    private enum Count: String, CaseIterable {
        case input = "input_tokens"
        case output = "output_tokens"
        case cached = "cached_input_tokens"
        case created = "cache_creation_input_tokens"

        var header: StaticString {
            switch self {
            case .input: "x-headroom-input-tokens"
            case .output: "x-headroom-output-tokens"
            case .cached: "x-headroom-cached-input-tokens"
            case .created: "x-headroom-cache-creation-input-tokens"
            }
        }
    }

    private static let maxHeaders = 100
    private static let longestMilliseconds = 1e12

    static func read(_ request: LocalServer.Request) throws(HTTPError) -> CallEnd {
        if let told = try EndReport(plain: request) { return try told.end() }
        return try EndReport(json: request.takeBody()).end()
    }

    // MARK: By JSON

    private init(json body: [UInt8]) throws(HTTPError) {
        let document: JSONNode
        do { document = try JSONNode.parse(body) } catch {
            throw HTTPError(.badRequest, "the body is no JSON: \(error.message)")
        }
        for count in Count.allCases {
            guard let node = document[count.rawValue], !node.isNull else { continue }
            counts[count] = try CallNumber.whole(count.rawValue, node.number, in: CallBounds.tokens)
        }
        if let node = document["status"], !node.isNull {
            status = try CallNumber.whole("status", node.number, in: Self.statuses)
        }
        outcome = document["outcome"]?.string
        latency = Self.latency(document["latency_ms"]?.number)
        headers = (document["headers"]?.members ?? []).prefix(Self.maxHeaders).compactMap { member in
            member.value.string.map { (name: member.key, value: $0) }
        }
        self.body = document["body"].flatMap { $0.string ?? Self.text($0) }
    }

    private static let statuses = 100...599

    private static func latency(_ milliseconds: Double?) -> Duration? {
        milliseconds.flatMap { $0 >= 0 && $0 < longestMilliseconds ? .seconds($0 / 1000) : nil }
    }

    /// A body that was sent as JSON and not as a text.
    private static func text(_ node: JSONNode) -> String? {
        node.isNull ? nil : String(decoding: node.encoded(), as: UTF8.self)
    }

    // MARK: By query and headers

    /// `nil` when neither a status nor an outcome stands there. The query wins: a proxy may pass on its client's headers.
    private init?(plain request: LocalServer.Request) throws(HTTPError) {
        func word(_ name: String, _ header: StaticString) throws(HTTPError) -> String? {
            let text = try request.parameter(name) ?? request.header(header)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        outcome = try word("outcome", "x-headroom-outcome")
        if let text = try word("status", "x-headroom-status") {
            status = try CallNumber.whole("status", text: text, in: Self.statuses)
        }
        guard status != nil || outcome != nil else { return nil }
        for count in Count.allCases {
            guard let text = try word(count.rawValue, count.header) else { continue }
            counts[count] = try CallNumber.whole(count.rawValue, text: text, in: CallBounds.tokens)
        }
        latency = Self.latency(try word("latency_ms", "x-headroom-latency-ms").flatMap { Double($0) })
        headers = Array(request.headers(after: "x-headroom-upstream-").prefix(Self.maxHeaders))
        let bytes = request.takeBody()
        body = bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    // MARK: The end

    private func end() throws(HTTPError) -> CallEnd {
        if let status {
            return .answer(
                status: status, headers: headers, body: body, inputTokens: counts[.input],
                outputTokens: counts[.output], cachedInputTokens: counts[.cached],
                cacheCreationInputTokens: counts[.created], latency: latency)
        }
        let names = ResponseKind.allCases.map(\.name) + CallEnd.Fault.allCases.map(\.rawValue)
        guard let outcome else {
            throw HTTPError(
                .badRequest,
                "say how the call ended: status, with headers and body, or outcome, one of "
                    + names.joined(separator: ", "))
        }
        if let fault = CallEnd.Fault(rawValue: outcome) { return .fault(fault, latency: latency) }
        guard let kind = ResponseKind.allCases.first(where: { $0.name == outcome }) else {
            throw HTTPError(
                .badRequest,
                "outcome: \"\(outcome.prefix(40))\" must be one of \(names.joined(separator: ", "))")
        }
        return .outcome(
            kind, inputTokens: counts[.input], outputTokens: counts[.output], cachedInputTokens: counts[.cached],
            cacheCreationInputTokens: counts[.created], latency: latency)
    }
}
