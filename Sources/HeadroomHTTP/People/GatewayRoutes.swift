import HeadroomModel
import HeadroomWire

/// The gateways that take part in the division of budgets, and the word that one is gone.
struct GatewayRoutes: Sendable {
    let board: SnapshotBoard
    let steering: any SteeringDesk

    var all: [Route] {
        [
            Route(
                method: .get, pattern: "/v1/gateways", access: .roles(AccessRule.viewers), reach: .gateway
            ) { _, _ in
                HTTPHandler(answer: { _ in .response(.json(PeopleAnswer.gateways(list()))) })
            },
            Route(
                method: .delete, pattern: "/v1/gateways/{id}", access: .roles(AccessRule.operators.union([.gateway])),
                reach: .gateway
            ) { target, grant throws(HTTPError) in
                let gateway = try gateway(target, grant)
                guard grant.role != .gateway else {
                    return HTTPHandler(answer: { _ throws(HTTPError) in .response(try leave(gateway)) })
                }
                return HTTPHandler(answer: { _ in .later { await release(gateway, by: grant.author) } })
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
        guard board.leave(gateway) else { throw Self.unknown(gateway) }
        return .noContent
    }

    /// A person says it of another's gateway, so the audit log has it before it is done.
    private func release(_ gateway: GatewayID, by author: String) async -> HTTPResponse {
        do throws(HTTPError) {
            guard board.knows(gateway) else { throw Self.unknown(gateway) }
            try await asking { try await steering.noteRelease(of: gateway, by: author, at: board.time.now()) }
            return try leave(gateway)
        } catch {
            return HTTPResponse(error)
        }
    }

    private static func unknown(_ gateway: GatewayID) -> HTTPError {
        HTTPError(.noSuch, "no gateway \(gateway) takes part, and nothing is withheld for one")
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
