import HeadroomModel

extension ContractStore {
    /// An approval is for this content and no other, and for one import: it ends with it. A question about other content is
    /// withdrawn, so that nobody approves what they have not seen.
    package func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp, within limit: ContractLimit
    ) throws(SteeringError) -> ContractOutcome {
        try perform {
            try connection.transaction {
                let old = try all()
                let difference = ContractDifference(from: old, to: contracts)
                guard let reason = limit.reason(for: difference, of: old.count) else {
                    try replace(with: contracts, difference, by: author, at: now)
                    return .success(.replaced(difference))
                }
                let table = ProposalTable(connection: connection)
                let fingerprint = ContractStore.fingerprint(of: contracts)
                let questions = try table.standing(at: now).filter { $0.kind == .contracts }
                // The newest word on it counts.
                if let known = questions.last(where: { $0.evidence.last == fingerprint }) {
                    switch known.state {
                    case .approved:
                        try replace(with: contracts, difference, by: author, at: now)
                        try table.endDecision(known.id, at: now)
                        try ChangeCounter.steering.raise(connection)
                        return .success(.replaced(difference))
                    case .pending:
                        return .success(.awaitsApproval(known))
                    case .denied, .expired:
                        return .failure(ContractStore.denial(of: known))
                    }
                }
                for question in questions where question.state == .pending { _ = try table.withdraw(question.id) }
                return try ask(
                    Proposal(
                        importing: difference, because: reason, fingerprint: fingerprint,
                        authorship: Authorship(
                            author: author, reason: "an import of contracts", at: now,
                            until: now.adding(seconds: limit.pendingSeconds))))
            }
        }
    }

    private func ask(_ question: Proposal) throws(StorageError) -> Result<ContractOutcome, SteeringError> {
        var question = question
        let authorship = question.authorship
        let table = ProposalTable(connection: connection)
        try table.expire(at: authorship.at)
        guard let id = try table.ask(question, keepingAuthorship: false) else {
            return .failure(
                SteeringError(
                    .conflict, "\(SteeringStore.maxPending) approvals are pending, the most there may be; decide some"))
        }
        question.id = id
        try audit.append(
            AuditAct(
                "contracts.ask", by: authorship.author,
                [("approval", .integer(id)), ("why", .text(question.evidence.first))] + authorship.detail),
            at: authorship.at)
        try ChangeCounter.steering.raise(connection)
        return .success(.awaitsApproval(question))
    }

    private static func denial(of question: Proposal) -> SteeringError {
        let decision = question.decision ?? question.authorship
        return SteeringError(
            .conflict,
            "\(decision.author) has denied this import (\(question.id)): \(decision.reason); change the contracts, or ask "
                + "again after \(decision.until)")
    }

    /// The content, whatever file it came in: for people as well as for the comparison.
    private static func fingerprint(of contracts: [Contract]) -> String {
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
