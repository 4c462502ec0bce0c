import HeadroomClient
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/slots/{id}/done`: how the call ended.
enum EndReport {
    static func read(_ body: [UInt8]) throws(HTTPError) -> CallEnd {
        let document: JSONNode
        do { document = try JSONNode.parse(body) } catch {
            throw HTTPError(.badRequest, "the body is no JSON: \(error.message)")
        }
        func count(_ key: String) throws(HTTPError) -> Int? {
            guard let node = document[key], !node.isNull else { return nil }
            guard let number = node.number.flatMap({ Int(exactly: $0) }), (0...1_000_000_000_000).contains(number)
            else {
                throw HTTPError(.badRequest, "\(key): must be a whole number, 0 or more")
            }
            return number
        }
        let input = try count("input_tokens")
        let output = try count("output_tokens")
        let cached = try count("cached_input_tokens")
        let latency = document["latency_ms"]?.number.flatMap {
            $0 >= 0 && $0 < 1e12 ? Duration.seconds($0 / 1000) : nil
        }
        if let status = try count("status") {
            guard (100...599).contains(status) else {
                throw HTTPError(.badRequest, "status: \(status) is no HTTP status; one is 100 to 599")
            }
            let headers = (document["headers"]?.members ?? []).prefix(Self.maxHeaders).compactMap { member in
                member.value.string.map { (name: member.key, value: $0) }
            }
            return .answer(
                status: status, headers: headers, body: document["body"].flatMap { $0.string ?? Self.text($0) },
                inputTokens: input, outputTokens: output, cachedInputTokens: cached, latency: latency)
        }
        let names = ResponseKind.allCases.map(\.name) + CallEnd.Fault.allCases.map(\.rawValue)
        guard let outcome = document["outcome"]?.string else {
            throw HTTPError(
                .badRequest,
                "say how the call ended: status, with headers and body, or outcome, one of "
                    + names.joined(separator: ", "))
        }
        if let fault = CallEnd.Fault(rawValue: outcome) { return .fault(fault, latency: latency) }
        guard let kind = ResponseKind.allCases.first(where: { $0.name == outcome }) else {
            throw HTTPError(
                .badRequest, "outcome: \"\(outcome)\" must be one of \(names.joined(separator: ", "))")
        }
        return .outcome(
            kind, inputTokens: input, outputTokens: output, cachedInputTokens: cached, latency: latency)
    }

    private static let maxHeaders = 100

    /// A body that was sent as JSON and not as a text.
    private static func text(_ node: JSONNode) -> String? {
        node.isNull ? nil : String(decoding: node.encoded(), as: UTF8.self)
    }
}
