import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomWire

/// `POST /v1/plan`: what another policy, or other contracts, would have done in the last hours. Nothing is set.
struct PlanRoutes: Sendable {
    let rules: any RuleSource
    /// `nil`: nothing is recorded here.
    let replay: PlanReplaying?

    private static let hours = 0.1...24
    private static let wanted =
        #"{"hours":2,"files":{"rules.json5":"TEXT","pools/NAME.json5":"TEXT"},"contracts":"TEXT"}"#

    var all: [Route] {
        guard let replay else { return [] }
        return [
            .person(
                .post, "/v1/plan", AccessRule.overriders, .everything("a replay of everybody's telemetry"),
                bodyLimit: PolicyLoader.maxFileSize
            ) { call in
                try await plan(call, replay)
            }
        ]
    }

    private func plan(_ call: PeopleCall, _ replay: PlanReplaying) async throws -> HTTPResponse {
        try call.check(query: [])
        let document: JSONNode
        do { document = try JSONNode.parse(call.body) } catch {
            throw HTTPError(.badRequest, "the body is not valid JSON: \(error); send \(Self.wanted)", cause: error)
        }
        guard let members = document.members,
            members.allSatisfy({ ["hours", "files", "contracts"].contains($0.key) })
        else { throw HTTPError(.badRequest, "send \(Self.wanted); files and contracts may be left out") }
        guard let hours = document["hours"]?.number, Self.hours.contains(hours) else {
            throw HTTPError(.badRequest, "hours must be a number from 0.1 to 24: how far back to replay")
        }
        let present = try await rules.rules()
        var candidate = Rules(policy: present.policy, contracts: present.contracts)
        if let files = document["files"] {
            guard let files = files.members else { throw HTTPError(.badRequest, "send \(Self.wanted)") }
            candidate.policy = try policy(of: try PolicyRoutes.texts(of: files))
        }
        if let text = document["contracts"] {
            guard let text = text.string else { throw HTTPError(.badRequest, "send \(Self.wanted)") }
            for contract in try contracts(in: text, under: candidate.policy) {
                candidate.contracts[contract.tenant] = contract
            }
        }
        let baseline = Rules(policy: present.policy, contracts: present.contracts)
        return .json(try await replay(candidate, baseline, hours))
    }

    private func policy(of texts: [(path: String, bytes: [UInt8])]) throws(HTTPError) -> Policy {
        do throws(PolicyError) { return try PolicyLoader.load(files: texts) } catch {
            throw HTTPError(
                .badRequest, "the policy would be refused",
                faults: error.faults.map { .init(.path("\($0.file): \($0.key)"), $0.message) }, cause: error)
        }
    }

    /// Of the tenants that the text names, as an import takes it; the others keep theirs.
    private func contracts(in text: String, under policy: Policy) throws(HTTPError) -> [Contract] {
        do throws(ContractImportError) {
            return try ContractImport.parse(Array(text.utf8), format: .json, checking: policy.faults)
        } catch {
            throw HTTPError(
                .badRequest, "the contracts would be refused",
                faults: error.faults.map { .init($0.line.map { .line($0) } ?? .path("contracts"), $0.message) },
                cause: error)
        }
    }
}
