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
            .person(.get, "/v1/policy", AccessRule.viewers) { call in try await show(call) },
            // Files may hold addresses that are secrets.
            .person(.get, "/v1/policy/files", AccessRule.operators) { call in try await showFiles(call) },
            .person(
                .post, "/v1/policy/check", AccessRule.viewers, bodyLimit: PolicyLoader.maxFileSize
            ) { call in try check(call) },
        ]
    }

    private func show(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let rules = try await rules.rules()
        let policy = rules.policy
        let pools = policy.pools.filter { call.grant.scope.holds($0.pool) }.map { $0.encoded() }
        return .json(
            PeopleAnswer.policy(policy, refusal: rules.refusal, rules: policy.encodedRules(), pools: pools))
    }

    private func showFiles(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        try call.requireScope(call.grant.scope.isWhole, "the policy as a whole")
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
