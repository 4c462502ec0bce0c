import HeadroomJSON
import HeadroomModel

/// The lines of `headroom classify`.
package enum ClassificationLine {
    /// Why a line is no provider response.
    package struct Fault: Error, Equatable {
        package let message: String

        package init(_ message: String) {
            self.message = message
        }
    }

    /// One response out of a JSON object with `status` and, where known, `provider`, `headers`, `body` and `received_at`.
    package static func read(_ line: [UInt8]) throws(Fault) -> ProviderResponse {
        let node: JSONNode
        do { node = try JSONNode.parse(line) } catch { throw Fault(error.description) }
        guard node.members != nil else { throw Fault("a line must be a JSON object") }
        guard let status = node["status"]?.number, status == status.rounded(), (0...999).contains(status) else {
            throw Fault("\"status\" must be a whole number from 0 to 999")
        }
        return ProviderResponse(
            provider: try optionalString(node, "provider"), status: Int(status), headers: try headers(node),
            body: try body(node), receivedAt: try receivedAt(node))
    }

    private static func optionalString(_ node: JSONNode, _ key: String) throws(Fault) -> String? {
        guard let value = node[key], !value.isNull else { return nil }
        guard let string = value.string else { throw Fault("\"\(key)\" must be a string") }
        return string
    }

    private static func headers(_ node: JSONNode) throws(Fault) -> [(name: String, value: String)] {
        guard let value = node["headers"], !value.isNull else { return [] }
        guard let members = value.members else { throw Fault("\"headers\" must be an object") }
        var headers: [(name: String, value: String)] = []
        for member in members {
            for value in member.value.array ?? [member.value] {
                switch value.value {
                case .string(let text): headers.append((member.key, text))
                case .number, .bool: headers.append((member.key, String(decoding: value.encoded(), as: UTF8.self)))
                case .null: break
                case .array, .object: throw Fault("header \"\(member.key)\" must be a string or strings")
                }
            }
        }
        return headers
    }

    /// A string, or the JSON itself.
    private static func body(_ node: JSONNode) throws(Fault) -> String? {
        guard let value = node["body"], !value.isNull else { return nil }
        return value.string ?? String(decoding: value.encoded(), as: UTF8.self)
    }

    private static func receivedAt(_ node: JSONNode) throws(Fault) -> Timestamp? {
        guard let value = node["received_at"], !value.isNull else { return nil }
        if let number = value.number, abs(number) < 1e15 { return Timestamp(milliseconds: Int64(number)) }
        if let instant = value.string.flatMap(RFC3339.parse(_:)) { return Timestamp(milliseconds: instant) }
        throw Fault("\"received_at\" must be an RFC 3339 instant or milliseconds since 1970")
    }

    /// `{"error":…}` for a line that cannot be read.
    package static func write(_ fault: Fault, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("error", fault.message)
        writer.endObject()
        writer.newline()
    }

    /// Writes the response's meaning: its kind and what decided that, the resources that a refusal names, and one limit a
    /// resource, each number `null` where the response does not say. Times in whole milliseconds.
    package static func write(answerTo response: ProviderResponse, to writer: inout JSONWriter) {
        let (signal, reason) = ProviderClassifier.explain(response)
        writer.beginObject()
        writer.field("kind", signal.kind.name)
        writer.field("reason", reason)
        writer.key("exhausted")
        writer.beginArray()
        for resource in Resource.allCases where signal.exhausted.contains(resource) { writer.string(resource.name) }
        writer.endArray()
        for resource in Resource.allCases {
            let window = mainWindow(of: resource, in: signal)
            write(window?.limit, "limit_\(resource.name)", to: &writer)
            write(window?.remaining, "remaining_\(resource.name)", to: &writer)
            write(window?.resetMilliseconds?.rounded(), "reset_\(resource.name)_ms", to: &writer)
            write(window?.windowSeconds, "window_\(resource.name)_s", to: &writer)
        }
        write(signal.retryAfterMilliseconds?.rounded(), "retry_after_ms", to: &writer)
        writer.endObject()
        writer.newline()
    }

    /// Of several limits on one resource, the first whose remaining count is stated, else the first: a limit that is
    /// counting here and now says more than one that is merely named, and ``ProviderSignal/windows`` begins with the
    /// shortest window.
    private static func mainWindow(of resource: Resource, in signal: ProviderSignal) -> QuotaWindow? {
        let windows = signal.windows.filter { $0.resource == resource }
        return windows.first { $0.remaining != nil } ?? windows.first
    }

    private static func write(_ number: Double?, _ key: String, to writer: inout JSONWriter) {
        writer.key(key)
        if let number { writer.number(number) } else { writer.null() }
    }
}
