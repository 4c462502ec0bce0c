import HeadroomModel

extension ContractStore {
    /// An approval is for this content and no other, and for one import: it ends with it. A question about other content is
    /// withdrawn, so that nobody approves what they have not seen.
    package func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp, within limit: ContractLimit
    ) throws(SteeringError) -> ContractOutcome {
        try perform {
            try connection.transaction { () throws(StorageError) -> Result<ContractOutcome, SteeringError> in
                let old = try all()
                let difference = ContractDifference(from: old, to: contracts)
                switch try permission(
                    for: difference, of: old.count, about: Proposal.allTenants,
                    ContractStore.fingerprint(of: contracts), "an import of contracts", by: author, at: now,
                    within: limit)
                {
                case .given(let approval):
                    try replace(with: contracts, difference, approval: approval, by: author, at: now)
                    return .success(.replaced(difference))
                case .asked(let question): return .success(.awaitsApproval(question))
                case .refused(let error): return .failure(error)
                }
            }
        }
    }

    enum Permission {
        /// Nobody has to agree, or somebody has: the number of that question.
        case given(approval: Int64?)
        case asked(Proposal)
        case refused(SteeringError)
    }

    /// Inside a transaction, before anything is written.
    ///
    /// - Parameters:
    ///   - tenant: whose contract it is; ``Proposal/allTenants`` for an import.
    ///   - fingerprint: of the content: an approval is for no other.
    ///   - what: for the question's reason.
    func permission(
        for difference: ContractDifference, of count: Int, about tenant: TenantID, _ fingerprint: String,
        _ what: String, by author: String, at now: Timestamp, within limit: ContractLimit
    ) throws(StorageError) -> Permission {
        if limit.share >= 1 { return .given(approval: nil) }
        let earlier = try earlierChanges(
            by: author, since: now.adding(seconds: -limit.windowSeconds),
            besides: difference.changed + difference.removed)
        guard let reason = limit.reason(for: difference, of: count, earlier: earlier) else {
            return .given(approval: nil)
        }
        let table = ProposalTable(connection: connection)
        let questions = try table.standing(at: now).filter { $0.kind == .contracts && $0.tenant == tenant }
        // The newest word on it counts.
        if let known = questions.last(where: { $0.evidence.last == fingerprint }) {
            switch known.state {
            case .approved:
                try table.endDecision(known.id, at: now)
                try ChangeCounter.steering.raise(connection)
                return .given(approval: known.id)
            case .pending: return .asked(known)
            case .denied, .expired: return .refused(ContractStore.denial(of: known))
            }
        }
        for question in questions where question.state == .pending { _ = try table.withdraw(question.id) }
        return try ask(
            Proposal(
                changing: difference, of: tenant, because: reason, fingerprint: fingerprint,
                authorship: Authorship(
                    author: author, reason: what, at: now, until: now.adding(seconds: limit.pendingSeconds))))
    }

    /// Contracts of other tenants that `author` has changed or removed since then without a second person, as the audit log
    /// has it.
    private func earlierChanges(
        by author: String, since start: Timestamp, besides tenants: [TenantID]
    ) throws(StorageError) -> Int {
        let own = Set(tenants.map(AuditLog.digest))
        var others: Set<[UInt8]> = []
        try connection.statement(ContractStore.selectTouched)
            .bind(":author", author).bind(":since", start.milliseconds)
            .forEachRow { row in
                let tenant = row.bytes(0)
                if !own.contains(tenant) { others.insert(tenant) }
            }
        let unnamed =
            try connection.statement(ContractStore.countUnnamed)
            .bind(":author", author).bind(":since", start.milliseconds).bind(":named", Int64(ContractStore.maxNoted))
            .first { $0.integer(0) } ?? 0
        return others.count + Int(clamping: unnamed)
    }

    private func ask(_ question: Proposal) throws(StorageError) -> Permission {
        let authorship = question.authorship
        let table = ProposalTable(connection: connection)
        try table.expire(at: authorship.at)
        guard let question = try table.ask(question, keepingAuthorship: false) else {
            return .refused(
                SteeringError(
                    .conflict, "\(SteeringStore.maxPending) approvals are pending, the most there may be; decide some"))
        }
        try audit.append(
            AuditAct(
                "contracts.ask", by: authorship.author,
                [("approval", .integer(question.id)), ("why", .text(question.evidence.first))] + authorship.detail),
            at: authorship.at)
        try ChangeCounter.steering.raise(connection)
        return .asked(question)
    }

    /// The condition on the action is that of the index `audit_contract`.
    private static let selectTouched: StaticString = """
        SELECT DISTINCT tenant_sha256 FROM audit
        WHERE action IN ('contract.put', 'contract.changed', 'contract.removed', 'contracts.import')
            AND author = :author AND at_ms > :since AND tenant_sha256 IS NOT NULL
            AND json_extract(detail, '$.approval') IS NULL
            AND (action != 'contract.put' OR json_extract(detail, '$.changes') = 1)
        """
    /// Changes of large imports that have no row of their own.
    private static let countUnnamed: StaticString = """
        SELECT CAST(coalesce(sum(json_extract(detail, '$.changed') + json_extract(detail, '$.removed') - :named), 0) AS BIGINT)
        FROM audit
        WHERE action IN ('contract.put', 'contract.changed', 'contract.removed', 'contracts.import')
            AND author = :author AND at_ms > :since AND action = 'contracts.import'
            AND json_extract(detail, '$.approval') IS NULL
            AND json_extract(detail, '$.changed') + json_extract(detail, '$.removed') > :named
        """

    private static func denial(of question: Proposal) -> SteeringError {
        let decision = question.decision ?? question.authorship
        return SteeringError(
            .conflict,
            "\(decision.author) has denied this change (\(question.id)): \(decision.reason); change the contracts, or ask "
                + "again after \(decision.until)")
    }

    /// The content, whatever file it came in: for people as well as for the comparison.
    static func fingerprint(of contracts: [Contract]) -> String {
        var writer = ByteWriter()
        writer.write(contracts.sorted { $0.tenant < $1.tenant }) { writer, contract in
            writer.write(contract.tenant.text)
            writer.write(contract.tier) { $0.write($1) }
            writer.write(contract.isStrategic)
            writer.write(contract.terms) { writer, terms in
                writer.write(terms.pool.text)
                writer.write(terms.floor)
                writer.write(terms.ceiling)
            }
            writer.write(contract.cost) { writer, cost in
                writer.write(cost.currency)
                writer.write(cost.period.rawValue)
                writer.write(cost.most)
                writer.write(cost.prices) { writer, price in
                    writer.write(price.pool?.text) { $0.write($1) }
                    writer.write(price.perMillionInputTokens)
                    writer.write(price.perMillionCachedInputTokens)
                    writer.write(price.perMillionOutputTokens)
                    writer.write(price.perRequest)
                }
            }
            writer.write(contract.taskBudgets) { writer, budget in
                writer.write(budget.taskKind) { $0.write($1) }
                for measure in TaskMeasure.allCases { writer.write(budget.limits[measure]) { $0.write($1) } }
            }
        }
        return "SHA-256 of the contracts: \(SHA256.hexadecimalDigest(of: writer.bytes))"
    }
}
