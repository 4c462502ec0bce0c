import HeadroomHTTP
import HeadroomJSON
import Testing

/// One person at a connection: every call bears the person's token.
struct Person: Sendable {
    let client: RawClient
    /// `nil`: without a token.
    let name: String?

    init(_ name: String?, _ fixture: ServiceFixture) throws {
        client = try fixture.client()
        self.name = name
    }

    func get(_ target: String) async throws -> RawClient.Reply { try await call("GET", target) }

    func delete(_ target: String) async throws -> RawClient.Reply { try await call("DELETE", target) }

    func post(_ target: String, _ body: String) async throws -> RawClient.Reply { try await call("POST", target, body) }

    func put(_ target: String, _ body: String) async throws -> RawClient.Reply { try await call("PUT", target, body) }

    func call(
        _ method: String, _ target: String, _ body: String = "", type: String = "application/json"
    ) async throws -> RawClient.Reply {
        var headers = name.map { ["Authorization: Bearer \($0)"] } ?? []
        if !body.isEmpty { headers.append("Content-Type: \(type)") }
        let reply = try await client.call(method, target, headers: headers, body: Array(body.utf8))
        // What is answered anywhere is what the document says.
        let faults = SchemaCheck.openAPI.faults(in: reply, to: method, target)
        #expect(faults.isEmpty, "\(method) \(target): \(faults) in \(reply.text.prefix(2000))")
        return reply
    }
}

extension RawClient.Reply {
    /// Null when it is no JSON.
    var json: JSONNode { (try? JSONNode.parse(body)) ?? JSONNode(.null) }

    /// The faults of a problem document, as `path: detail`.
    var faults: [String] {
        (json["errors"]?.array ?? []).map { fault in
            let place = fault["path"]?.string ?? fault["line"]?.number.map { "line \(Int($0))" } ?? ""
            return "\(place): \(fault["detail"]?.string ?? "")"
        }
    }
}
