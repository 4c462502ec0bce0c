import HeadroomModel

extension SteeringStore {
    package func proposals(
        _ kinds: [Proposal.Kind], in state: Proposal.State?
    ) throws(SteeringError) -> [Proposal] {
        let now = time.now()
        return try perform {
            let all = try ProposalTable(connection: connection)
                .all(in: state, at: now, limit: SteeringStore.maxListed)
            return .success(all.filter { kinds.contains($0.kind) })
        }
    }

    package func proposal(_ id: Int64) throws(SteeringError) -> Proposal? {
        let now = time.now()
        return try perform { .success(try ProposalTable(connection: connection).find(id, at: now)) }
    }

    package func decide(
        _ id: Int64, _ state: Proposal.State, for tenants: Set<TenantID>?, readAt revision: Int64?,
        as decision: Authorship
    ) throws(SteeringError) -> Proposal {
        try SteeringRules.check(decision)
        guard state == .approved || state == .denied else {
            throw SteeringError(.invalid, "a decision must be approved or denied, not \(state.name)")
        }
        return try change {
            let table = ProposalTable(connection: connection)
            guard var proposal = try table.find(id, at: decision.at) else {
                return .failure(SteeringError(.notFound, "there is no approval or recommendation \(id)"))
            }
            if let refusal = SteeringStore.refusal(of: proposal, to: decision.author) { return .failure(refusal) }
            if let revision, let refusal = proposal.refusal(readAt: revision, for: tenants) { return .failure(refusal) }
            if let tenants {
                if let refusal = proposal.refusal(naming: tenants) { return .failure(refusal) }
                if let (part, rest) = proposal.divided(by: tenants) {
                    let rest = rest.inPlace(of: proposal, at: decision.at)
                    try table.write(body: ProposalBody.encode(rest), of: id)
                    return .success(try enter(part, state, as: decision, in: table))
                }
            }
            proposal.state = state
            proposal.decision = decision
            if state == .approved, let wanted = proposal.override {
                switch try approve(wanted, at: decision.at) {
                case .failure(let refusal): return .failure(refusal)
                case .success(let override):
                    proposal.override = override
                    proposal.decision?.until = override.authorship.until
                    try table.write(body: ProposalBody.encode(proposal), of: id)
                }
            }
            let held = proposal.decision ?? decision
            try table.decide(id, state, as: held)
            try note(proposal, held, at: decision.at)
            return .success(proposal)
        }
    }

    /// The part of a question that is decided on becomes a proposal of its own.
    private func enter(
        _ part: Proposal, _ state: Proposal.State, as decision: Authorship, in table: ProposalTable
    ) throws(StorageError) -> Proposal {
        var part = part
        part.state = state
        part.decision = decision
        part.id = try table.insert(part)
        try table.decide(part.id, state, as: decision)
        try note(part, decision, at: decision.at)
        return part
    }

    /// One row for the decision. Where it is on several tenants, one more for each: what was done to a tenant can be found
    /// and erased by its name.
    private func note(_ proposal: Proposal, _ decision: Authorship, at now: Timestamp) throws(StorageError) {
        let subject: [(StaticString, AuditAct.Value)] = [
            ("id", .integer(proposal.id)), ("kind", .text(proposal.kind.name)), ("pool", .text(proposal.pool?.text)),
        ]
        func rates(_ change: Proposal.Change) -> [(StaticString, AuditAct.Value)] {
            [("from", .rates(change.from)), ("to", .rates(change.to))]
        }
        let isOne = proposal.changes.count == 1
        let tenant = isOne ? proposal.changes[0].tenant : proposal.tenant
        try audit.append(
            AuditAct(
                proposal.decisionAction, by: decision.author, tenant: tenant == Proposal.allTenants ? nil : tenant,
                subject
                    + (isOne
                        ? rates(proposal.changes[0])
                        : proposal.changes.isEmpty ? [] : [("tenants", .integer(Int64(proposal.changes.count)))])
                    + [
                        ("override", .integer(proposal.state == .approved ? proposal.override?.id : nil)),
                        ("asked_by", .text(proposal.authorship.author)),
                    ] + decision.detail), at: now)
        guard !isOne else { return }
        for change in proposal.changes {
            try audit.append(
                AuditAct(proposal.tenantAction, by: decision.author, tenant: change.tenant, subject + rates(change)),
                at: now)
        }
    }

    /// `nil` when `author` may decide on it.
    private static func refusal(of proposal: Proposal, to author: String) -> SteeringError? {
        guard proposal.state == .pending else {
            let how =
                proposal.state == .expired
                ? "has expired" : "was \(proposal.state.name) by \(proposal.decision?.author ?? "somebody")"
            return SteeringError(.conflict, "\(proposal.id) \(how): there is nothing to decide any more")
        }
        guard proposal.authorship.author != author else {
            return SteeringError(
                .forbidden, "\(proposal.id) was asked for by \(author): somebody else must decide on it")
        }
        return nil
    }

    /// Sets it for as long as was asked for, from now on.
    private func approve(_ wanted: Override, at now: Timestamp) throws(StorageError) -> Result<Override, SteeringError>
    {
        var override = wanted
        let milliseconds = wanted.authorship.until.milliseconds - wanted.authorship.at.milliseconds
        override.authorship.at = now
        override.authorship.until = Timestamp(milliseconds: now.milliseconds + milliseconds)
        return try enter(override)
    }
}
