import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

/// Who may make which call: every call that the service has, by every role and without a token.
@Suite struct RoleTableTests {
    private static let viewers: Set<Role> = [.viewer, .success, .sre, .admin]
    private static let overriders: Set<Role> = [.success, .sre, .admin]
    private static let operators: Set<Role> = [.sre, .admin]

    /// By call; `nil`: anyone, with or without a token. A gateway's token is one for `gw-1`.
    private static let table: [String: Set<Role>?] = [
        "GET /v1/allocations": viewers.union([.gateway]), "POST /v1/telemetry": [.gateway], "POST /v1/draw": [.gateway],
        "POST /v1/traces": [.gateway],
        "GET /v1/gateways": viewers, "DELETE /v1/gateways/{id}": operators.union([.gateway]),
        "GET /v1/overrides": viewers, "POST /v1/overrides": overriders, "POST /v1/overrides/preview": overriders,
        "DELETE /v1/overrides/{id}": overriders,
        "GET /v1/approvals": viewers, "GET /v1/approvals/{id}": viewers, "POST /v1/approvals/{id}/approve": operators,
        "POST /v1/approvals/{id}/deny": operators,
        "GET /v1/recommendations": viewers, "GET /v1/recommendations/{id}": viewers,
        "POST /v1/recommendations/{id}/apply": operators,
        "POST /v1/recommendations/{id}/dismiss": operators,
        "GET /v1/pools": viewers, "PUT /v1/pools/{id}/capacity": operators, "DELETE /v1/pools/{id}/capacity": operators,
        "GET /v1/freeze": viewers, "POST /v1/freeze": operators, "DELETE /v1/freeze/{id}": operators,
        "POST /v1/rollback": operators,
        "GET /v1/cost-breaker": viewers, "POST /v1/cost-breaker/lifts": operators,
        "DELETE /v1/cost-breaker/lifts/{id}": operators,
        "GET /v1/tasks": viewers, "GET /v1/task-times": viewers, "POST /v1/tasks/stop": overriders,
        "POST /v1/tasks/lift": overriders,
        "GET /v1/tenants": viewers, "PUT /v1/tenants/{id}": [.admin], "DELETE /v1/tenants/{id}": [.admin],
        "POST /v1/tenants/import": [.admin], "POST /v1/tenants/{id}/share": overriders, "POST /v1/plan": overriders,
        "GET /v1/policy/files": operators,
        "GET /v1/explain": viewers, "GET /v1/history": viewers, "GET /v1/generations": viewers,
        "GET /v1/generations/{id}": viewers, "GET /v1/costs": viewers, "GET /v1/slos": viewers,
        "GET /v1/starvation": viewers,
        "GET /v1/alerts": viewers, "POST /v1/alerts/{id}/acknowledge": operators,
        "POST /v1/alerts/{id}/mute": operators,
        "GET /v1/audit": operators, "GET /v1/policy": viewers, "POST /v1/policy/check": viewers,
        "GET /v1/live": viewers, "GET /v1/live/series": viewers, "GET /v1/demo": viewers, "GET /metrics": viewers,
        "GET /v1/session": nil, "POST /v1/session": nil, "DELETE /v1/session": nil,
        "GET /healthz": nil, "GET /readyz": nil, "GET /openapi.json": nil, "GET /": nil,
    ]

    private static let tokens = [
        AccessToken.sample("gateway", .gateway, gateways: ["gw-1"]), .sample("viewer", .viewer),
        .sample("success", .success), .sample("sre", .sre), .sample("admin", .admin),
    ]

    /// A request that gets past the door: what it is then answered does not matter.
    private static func target(_ call: String) -> (method: String, target: String) {
        let words = call.split(separator: " ").map(String.init)
        let id = words[1].contains("gateways") ? "gw-1" : words[1].contains("pools") ? "openai:gpt-4o" : "1"
        let query = words[1] == "/v1/allocations" ? "?gateway=gw-1" : ""
        return (words[0], words[1].replacing("{id}", with: id) + query)
    }

    @Test func `each call takes the roles of the table, and no other`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            for call in fixture.service.calls {
                guard let roles = Self.table[call] else {
                    Issue.record("\(call) is not in the table: say who may make it")
                    continue
                }
                for role in Role.allCases {
                    var (method, target) = Self.target(call)
                    // Only a gateway's own token polls under its name.
                    if role != .gateway, let end = target.firstIndex(of: "?") { target = String(target[..<end]) }
                    let body = method == "GET" || method == "DELETE" ? [] : Array("{}".utf8)
                    let type = target == "/v1/telemetry" ? "application/x-ndjson" : "application/json"
                    let reply = try await client.call(
                        method, target,
                        headers: [
                            "Authorization: Bearer \(role.rawValue)", "Content-Type: \(type)",
                            "Headroom-Request: dashboard",
                        ], body: body)
                    let isAllowed = roles?.contains(role) ?? true
                    // Signing in and out is about the body's token, and not about this one.
                    let isRefused = target == "/v1/session" ? false : reply.status == 401 || reply.status == 403
                    #expect(isRefused == !isAllowed, "\(role.rawValue): \(call): \(reply.status) \(reply.text)")
                    if isRefused { #expect(reply.text.contains("has the role \(role.rawValue)"), "\(reply.text)") }
                }
            }
        }
    }

    @Test func `without a token there is what anyone may see, and nothing else`() async throws {
        let calls = Self.table.keys.sorted()
        // An address that goes on without a token is slowed down after some tries.
        for part in stride(from: 0, to: calls.count, by: 10) {
            try await ServiceFixture.run(tokens: Self.tokens) { fixture in
                fixture.publish(7)
                let client = try fixture.client()
                let known = Set(fixture.service.calls)
                for call in calls[part..<min(part + 10, calls.count)] where known.contains(call) {
                    guard let roles = Self.table[call] else { continue }
                    let (method, target) = Self.target(call)
                    let reply = try await client.call(
                        method, target, headers: ["Content-Type: application/json", "Headroom-Request: dashboard"])
                    #expect((reply.status == 401) == (roles != nil), "\(call): \(reply.status) \(reply.text)")
                }
            }
        }
    }

    /// `… (roles viewer, success, sre, admin)`, or `one's own (role success), any (roles sre, admin)`.
    @Test func `the document names the roles of the table`() throws {
        let paths = try #require(SchemaCheck.openAPI.document["paths"]?.members)
        for path in paths {
            for operation in path.value.members ?? [] {
                guard let summary = operation.value["summary"]?.string else { continue }
                let call = "\(operation.key.uppercased()) \(path.key)"
                guard let wanted = Self.table[call], let roles = wanted else { continue }
                let groups = summary.split(separator: "(").filter { $0.hasPrefix("role") }
                let named = groups.flatMap { $0.prefix { $0 != ")" }.split { !$0.isLetter } }
                    .compactMap { Role(rawValue: String($0)) }
                #expect(Set(named) == roles, "\(call): \(summary)")
            }
        }
    }
}
