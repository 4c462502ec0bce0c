import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomWire

/// `/v1/policy`: the rules in force, and whether others would be taken.
struct PolicyRoutes: Sendable {
    let rules: any RuleSource
    let files: @Sendable () async throws -> [(path: String, text: String)]

    var all: [Route] {
        [
            .person(.get, "/v1/policy", AccessRule.viewers, .scope) { call in try await show(call) },
            // Files may hold addresses that are secrets.
            .person(.get, "/v1/policy/files", AccessRule.operators, .everything("the policy as a whole")) { call in
                try await showFiles(call)
            },
            .person(
                .post, "/v1/policy/check", AccessRule.viewers, .nothing, bodyLimit: PolicyLoader.maxFileSize
            ) { call in try check(call) },
        ]
    }

    private func show(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let rules = try await rules.rules()
        let scope = call.grant.scope
        let policy = scope.isWhole ? rules.policy : Self.part(of: rules.policy, scope)
        // The words of a refusal name whatever is wrong.
        let refusal = scope.isWhole ? rules.refusal : rules.refusal.map { _ in "the changed policy was refused" }
        return .json(
            PeopleAnswer.policy(
                policy, refusal: refusal, rules: policy.encodedRules(), pools: policy.pools.map { $0.encoded() }))
    }

    /// Without other pools, other tenants' ceilings and the addresses of webhooks.
    private static func part(of policy: Policy, _ scope: AccessGrant.Scope) -> Policy {
        var part = policy
        part.pools.removeAll { !scope.holds($0.pool) }
        part.costBreaker.ceilings = policy.costBreaker.ceilings.filter { scope.holds($0.key) }
        part.alerts.sinks = []
        return part
    }

    private func showFiles(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let found: [(path: String, text: String)]
        do { found = try await files() } catch { throw .unreadable(error) }
        return .json { writer in
            writer.beginObject()
            writer.key("files")
            writer.beginObject()
            for (path, text) in found {
                writer.key(path)
                writer.string(text)
            }
            writer.endObject()
            writer.endObject()
        }
    }

    /// `{"files":{"rules.json5":"{…}","pools/openai.json5":"{…}"}}`: by path, each file as it is written.
    private func check(_ call: PeopleCall) throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let wanted = "{\"files\":{\"rules.json5\":\"TEXT\",\"pools/NAME.json5\":\"TEXT\"}}"
        let document: JSONNode
        do { document = try JSONNode.parse(call.body) } catch {
            throw HTTPError(.badRequest, "the body is not valid JSON: \(error); send \(wanted)", cause: error)
        }
        guard let members = document.members, members.count == 1, let files = document["files"]?.members else {
            throw HTTPError(.badRequest, "send the policy's files by name: \(wanted)")
        }
        let texts = try Self.texts(of: files)
        let report = PolicyCheckReport { () throws(PolicyError) in try PolicyLoader.load(files: texts) }
        return .json(report.encoded())
    }

    /// As the loader takes them.
    static func texts(of files: [JSONMember]) throws(HTTPError) -> [(path: String, bytes: [UInt8])] {
        var texts: [(path: String, bytes: [UInt8])] = []
        var faults: [ProblemDocument.Fault] = []
        for file in files {
            if let text = file.value.string {
                texts.append((path: file.key, bytes: Array(text.utf8)))
            } else {
                faults.append(.init(.path("files.\(file.key)"), "must be the file's text, as a string"))
            }
        }
        guard faults.isEmpty else { throw HTTPError(.badRequest, "some files are no texts", faults: faults) }
        return texts
    }
}
