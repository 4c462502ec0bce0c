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

    package func decide(
        _ id: Int64, _ state: Proposal.State, as decision: Authorship
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
            try audit.append(SteeringStore.act(proposal, held), at: decision.at)
            return .success(proposal)
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

    private static func act(_ proposal: Proposal, _ decision: Authorship) -> AuditAct {
        let verb =
            switch (proposal.kind, proposal.state) {
            case (.recommendation, .approved): "recommendation.apply"
            case (.recommendation, _): "recommendation.dismiss"
            case (_, .approved): "approval.approve"
            default: "approval.deny"
            }
        return AuditAct(
            verb, by: decision.author, tenant: proposal.kind == .contracts ? nil : proposal.tenant,
            [
                ("id", .integer(proposal.id)), ("kind", .text(proposal.kind.name)),
                ("pool", .text(proposal.pool?.text)),
                ("from", .rates(proposal.from)), ("to", .rates(proposal.to)),
                ("override", .integer(proposal.state == .approved ? proposal.override?.id : nil)),
                ("asked_by", .text(proposal.authorship.author)),
            ] + decision.detail)
    }
}
