import HeadroomModel
import HeadroomWire

/// The gateways that take part in the division of budgets. Answered from memory.
struct GatewayRoutes: Sendable {
    let board: SnapshotBoard

    var all: [Route] {
        [
            Route(method: .get, pattern: "/v1/gateways", access: .roles(AccessRule.viewers)) { _, _ in
                HTTPHandler(answer: { _ in .response(.json(PeopleAnswer.gateways(list()))) })
            },
            Route(
                method: .delete, pattern: "/v1/gateways/{id}", access: .roles(AccessRule.operators.union([.gateway]))
            ) { target, grant throws(HTTPError) in
                let gateway = try gateway(target, grant)
                return HTTPHandler(answer: { _ throws(HTTPError) in .response(try leave(gateway)) })
            },
        ]
    }

    // MARK: The goodbye

    private func gateway(_ target: RequestTarget, _ grant: AccessGrant) throws(HTTPError) -> GatewayID {
        let text = String(target.path.split(separator: "/").last ?? "")
        guard let gateway = GatewayID(text) else {
            throw HTTPError(.badRequest, "\"\(text)\" in the path is no name; one is \(GatewayID.rule)")
        }
        guard grant.role != .gateway || grant.maySpeak(for: gateway) else {
            throw HTTPError(.forbidden, "the token \"\(grant.name)\" does not speak for \(gateway)")
        }
        return gateway
    }

    private func leave(_ gateway: GatewayID) throws(HTTPError) -> HTTPResponse {
        guard board.leave(gateway) else {
            throw HTTPError(.noSuch, "no gateway \(gateway) takes part, and nothing is withheld for one")
        }
        return .noContent
    }

    // MARK: The list

    private func list() -> [GatewayAnswer] {
        let published = board.current
        var withheld = Dictionary(grouping: board.loop.newest?.withheld ?? [], by: \.gateway)
        let uses = Dictionary(grouping: board.loop.newest?.grantUses ?? [], by: \.gateway)
        let known = board.drifts().map { presence, drift in
            var answer = GatewayAnswer(
                presence, driftSeconds: drift, newest: published?.version,
                withheld: withheld.removeValue(forKey: presence.gateway) ?? [],
                parts: published?.parts(of: presence.gateway) ?? [])
            answer.grantUses = uses[presence.gateway] ?? []
            return answer
        }
        return known + withheld.sorted { $0.key < $1.key }.map { GatewayAnswer(gateway: $0.key, withheld: $0.value) }
    }
}
