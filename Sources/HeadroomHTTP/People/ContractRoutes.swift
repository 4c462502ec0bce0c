import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomWire

/// Contracts, as admins and CRM exports change them.
struct ContractRoutes: Sendable {
    let contracts: any ContractDesk
    let rules: any RuleSource
    let time: TimeSource

    private static let admins: Set<Role> = [.admin]
    /// A hundred thousand tenants in five pools each.
    private static let importBytes = 8 << 20
    /// Faults that an answer lists; the first ones tell what is wrong with the rest.
    private static let maxFaults = 100

    var all: [Route] {
        [
            .person(.put, "/v1/tenants/{id}", Self.admins, .scope, bodyLimit: Route.personBodyBytes) { call in
                try await put(call)
            },
            .person(.delete, "/v1/tenants/{id}", Self.admins, .scope) { call in try await erase(call) },
            .person(
                .post, "/v1/tenants/import", Self.admins, .everything("the import of all contracts"),
                bodyLimit: Self.importBytes,
                contentTypes: ["application/json", "text/csv"]
            ) { call in try await replaceAll(call) },
        ]
    }

    private func put(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let tenant: TenantID = try call.identifier()
        let contract = try reading { try ContractBody.decode(call.body, tenant: tenant) }
        let scope = call.grant.scope
        try call.requireScope(scope.holds(tenant), "\(tenant)")
        for terms in contract.terms { try call.requireScope(scope.holds(terms.pool), "the pool \(terms.pool)") }
        // Terms in other pools would go with the contract that this one replaces.
        try call.requireScope(scope.pools == nil, "a contract as a whole")
        let policy = try await rules.rules().policy
        let limit = ContractLimit(policy.contracts, canAsk: !call.grant.isOpen)
        // Faults of other tenants do not stop this one.
        let outcome = try await asking {
            try await contracts.put(contract, by: call.grant.author, at: time.now(), within: limit) { all in
                policy.faults(in: all).filter { fault in
                    fault.tenant.map { $0 == tenant } ?? contract.terms.contains { $0.pool == fault.pool }
                }
            }
        }
        switch outcome {
        case .put: return .json(ContractBody.encode(contract))
        case .faulty(let faults):
            throw refusal(faults.map { .init(.path($0.path), $0.message) })
        case .awaitsApproval(let question): return Self.waiting(for: question)
        }
    }

    private static func waiting(for question: Proposal) -> HTTPResponse {
        .json(
            status: 202,
            PeopleAnswer.approvalNeeded(question, reasons: Array(question.evidence.prefix(1)), warnings: []))
    }

    private func erase(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let tenant: TenantID = try call.identifier()
        let scope = call.grant.scope
        try call.requireScope(scope.holds(tenant) && scope.pools == nil, "\(tenant) in all pools")
        let limit = ContractLimit(try await rules.rules().policy.contracts, canAsk: !call.grant.isOpen)
        let question = try await asking {
            try await contracts.erase(tenant, by: call.grant.author, at: time.now(), within: limit)
        }
        return question.map(Self.waiting) ?? .noContent
    }

    /// An import that would remove most contracts is more often an export that failed than a decision, so it must be
    /// confirmed: by the number of contracts that go, which a dry run tells.
    private func replaceAll(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["dry_run", "confirm"])
        let isDryRun = try call.choice("dry_run", of: [true, false], named: \.description) ?? false
        let confirmed = try call.query("confirm", in: 0...Int64(ContractImport.maxRowCount))
        let policy = try await rules.rules().policy
        let format = call.contentType == "text/csv" ? ContractImport.Format.csv : .json
        let read: [Contract]
        do throws(ContractImportError) {
            read = try ContractImport.parse(
                call.body, format: format, mapping: policy.contracts, checking: policy.faults)
        } catch {
            throw refusal(
                error.faults.map { .init($0.line.map { .line($0) } ?? .path(""), $0.message) }, cause: error)
        }
        let old = try await asking { try await contracts.contracts() }
        let imported = ContractImport.completed(read, from: format, after: old)
        let difference = ContractDifference(from: old, to: imported)
        let answer = ContractImportAnswer(imported, difference, isDryRun: isDryRun)
        if isDryRun { return .json(answer.encoded()) }
        let isConfirmed = confirmed.map { $0 == Int64(answer.removed.count) } ?? !difference.removesMost
        guard isConfirmed else {
            throw HTTPError(
                .conflict,
                "\(answer.removed.count) of \(old.count) contracts would be removed, and nothing was changed: "
                    + "dry_run=true shows which; confirm=\(answer.removed.count) says that this is meant")
        }
        let limit = ContractLimit(policy.contracts, canAsk: !call.grant.isOpen)
        switch try await asking({
            try await contracts.replaceAll(with: imported, by: call.grant.author, at: time.now(), within: limit)
        }) {
        case .replaced: return .json(answer.encoded())
        case .awaitsApproval(let question):
            return Self.waiting(for: question)
        }
    }

    private func refusal(_ faults: [ProblemDocument.Fault], cause: (any Error)? = nil) -> HTTPError {
        let count = faults.count
        let more = count > Self.maxFaults ? "; the first \(Self.maxFaults) are listed" : ""
        return HTTPError(
            .badRequest, "\(count == 1 ? "1 fault" : "\(count) faults")\(more): nothing was changed",
            faults: Array(faults.prefix(Self.maxFaults)), cause: cause)
    }
}

extension ContractFault {
    /// As `acme.pools.openai:gpt-4o`.
    fileprivate var path: String {
        let parts = [tenant?.text, pool.map { "pools.\($0)" }].compactMap(\.self)
        return parts.joined(separator: ".")
    }
}
