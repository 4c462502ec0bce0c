import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `/v1/approvals` and `/v1/recommendations`: what automation may not do by itself, and a person decides on.
struct ProposalRoutes: Sendable {
    let steering: any SteeringDesk
    let rules: any RuleSource
    let time: TimeSource

    /// The two lists: the same questions, under the words that people have for them.
    private struct List {
        /// Also the member of the answer.
        let name: String
        let kinds: [Proposal.Kind]
        let one: String
        /// The last segment of the path that decides, and what it decides.
        let verbs: [(word: String, state: Proposal.State)]

        static let approvals = List(
            name: "approvals", kinds: [.guardrail, .override, .contracts], one: "approval",
            verbs: [("approve", .approved), ("deny", .denied)])
        static let recommendations = List(
            name: "recommendations", kinds: [.recommendation], one: "recommendation",
            verbs: [("apply", .approved), ("dismiss", .denied)])
    }

    /// More than people read; the rest is asked for by state, tenant or pool.
    private static let maxListed = 500

    var all: [Route] {
        [List.approvals, .recommendations].flatMap { list in
            [
                Route.person(.get, "/v1/\(list.name)", AccessRule.viewers, .scope) { call in
                    try await answer(list, call)
                },
                .person(.get, "/v1/\(list.name)/{id}", AccessRule.viewers, .scope) { call in
                    try call.check(query: [])
                    return .json(PeopleAnswer.proposal(try await find(list, call).showing(call.grant.scope.tenants)))
                },
            ]
                + list.verbs.map { verb in
                    .person(
                        .post, "/v1/\(list.name)/{id}/\(verb.word)", AccessRule.operators, .scope,
                        bodyLimit: Route.personBodyBytes
                    ) { call in try await decide(list, verb.state, call) }
                }
        }
    }

    private func answer(_ list: List, _ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["state", "tenant", "pool"])
        let state = try state(list, call)
        let tenant: TenantID? = try call.query("tenant")
        let pool: PoolID? = try call.query("pool")
        let found = try await visible(list, state, call).filter { proposal in
            (tenant.map { tenant in proposal.concerns { $0 == tenant } } ?? true)
                && (pool == nil || (proposal.pool ?? pool) == pool)
        }
        let shown = found.prefix(Self.maxListed).map { $0.showing(call.grant.scope.tenants) }
        return .json(PeopleAnswer.proposals(list.name, shown))
    }

    /// By either of its names: a recommendation that is approved is applied.
    private func state(_ list: List, _ call: PeopleCall) throws(HTTPError) -> Proposal.State? {
        let named = Proposal.State.allCases.map { state in
            (name: Proposal.stateName(state, of: list.kinds[0]), state: state)
        }
        return try call.choice("state", of: named, named: \.name)?.state
    }

    private func decide(
        _ list: List, _ state: Proposal.State, _ call: PeopleCall
    ) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let request = try reading { try DecisionRequest.decode(call.body) }
        let proposal = try await find(list, call)
        let tenants = request.tenants.map(Set.init)
        let concerned = tenants.map(Array.init) ?? proposal.subjects
        try call.requireScope(
            concerned.allSatisfy { call.grant.scope.holds($0, in: proposal.pool) },
            tenants == nil && proposal.changes.count > 1
                ? "all tenants of \(proposal.id): name yours in \"tenants\""
                : "\(concerned.map(\.text).prefix(5).joined(separator: ", ")) in "
                    + (proposal.pool.map(\.text) ?? "all pools"))
        guard let revision = request.revision else {
            throw HTTPError(
                .conflict,
                "a decision names the revision that was read, and this one names none: read GET /v1/\(list.name)/"
                    + "\(proposal.id), which is at \(proposal.revision), and send \"revision\":\(proposal.revision)")
        }
        let change = proposal.refusal(readAt: revision, for: tenants) { call.grant.scope.holds($0) }
        if proposal.state == .pending, let change { throw HTTPError(change) }
        let now = time.now()
        let seconds: Double
        if let asked = request.expiresInSeconds {
            seconds = asked
        } else {
            seconds = standardSeconds(proposal, state, try await rules.rules().policy.guardrails)
        }
        let decision = Authorship(
            author: call.grant.author, reason: request.reason, at: now, until: now.adding(seconds: seconds))
        let decided = try await asking {
            do throws(SteeringError) {
                return try await steering.decide(
                    proposal.id, state, for: tenants, readAt: revision, as: decision)
            } catch {
                guard error.code == .forbidden, call.grant.isOpen else { throw error }
                throw SteeringError(
                    .forbidden,
                    "\(error.message); without tokens everybody is one person, \"\(decision.author)\": "
                        + "\"headroom token create\" makes them two")
            }
        }
        return .json(PeopleAnswer.proposal(decided.showing(call.grant.scope.tenants)))
    }

    private func find(_ list: List, _ call: PeopleCall) async throws(HTTPError) -> Proposal {
        let id = try call.number()
        let found = try await asking { try await steering.proposal(id) }
        guard let proposal = found, list.kinds.contains(proposal.kind),
            proposal.concerns({ call.grant.scope.sees($0, in: proposal.pool) })
        else {
            throw HTTPError(.noSuch, "there is no \(list.one) \(id); GET /v1/\(list.name) lists them")
        }
        return proposal
    }

    /// How long a decision holds where the person does not say.
    private func standardSeconds(
        _ proposal: Proposal, _ state: Proposal.State, _ guardrails: GuardrailPolicy
    ) -> Double {
        guard state == .approved else { return guardrails.quietHours * 3600 }
        // An override brings its own length.
        if let authorship = proposal.override?.authorship { return authorship.until.seconds(since: authorship.at) }
        return guardrails.approvedHours * 3600
    }

    private func visible(
        _ list: List, _ state: Proposal.State?, _ call: PeopleCall
    ) async throws(HTTPError) -> [Proposal] {
        let found = try await asking {
            try await steering.proposals(list.kinds, in: state)
        }
        return found.filter { proposal in proposal.concerns { call.grant.scope.sees($0, in: proposal.pool) } }
    }
}
