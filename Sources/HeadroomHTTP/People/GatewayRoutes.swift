import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// The gateways that take part in the division of budgets. Answered from memory.
struct GatewayRoutes: Sendable {
    let board: SnapshotBoard

    var all: [Route] {
        [
            Route(method: .get, pattern: "/v1/gateways", access: .roles(AccessRule.viewers)) { _, _ in
                HTTPHandler(answer: { _ in .response(.json { list(&$0) }) })
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

    private func list(_ writer: inout JSONWriter) {
        let newest = board.current?.version
        let withheld = Dictionary(grouping: board.loop.newest?.withheld ?? [], by: \.gateway)
        let known = board.drifts()
        var gateways: Set<GatewayID> = []
        writer.beginObject()
        writer.key("gateways")
        writer.beginArray()
        for (presence, drift) in known {
            gateways.insert(presence.gateway)
            writer.beginObject()
            writer.key("gateway")
            writer.string(presence.gateway.text)
            writer.key("last_seen")
            writer.timestamp(milliseconds: presence.lastSeen.milliseconds)
            writer.version("applied", presence.applied)
            writer.version("sent", presence.sent)
            writer.key("drift_generations")
            // Generations of different epochs have no distance.
            if let newest, let applied = presence.applied ?? presence.sent, applied.epoch == newest.epoch {
                writer.integer(newest.generation - applied.generation)
            } else {
                writer.null()
            }
            writer.key("drift_seconds")
            writer.number(drift)
            writer.withheld(withheld[presence.gateway] ?? [])
            writer.endObject()
        }
        // Those that only the ledger knows: they were not heard of since the start.
        for (gateway, parts) in withheld.sorted(by: { $0.key < $1.key }) where !gateways.contains(gateway) {
            writer.beginObject()
            writer.key("gateway")
            writer.string(gateway.text)
            for name in ["last_seen", "applied", "sent", "drift_generations", "drift_seconds"] as [StaticString] {
                writer.key(name)
                writer.null()
            }
            writer.withheld(parts)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}

extension JSONWriter {
    /// `EPOCH.GENERATION`, as gateways write it.
    fileprivate mutating func version(_ name: StaticString, _ version: SnapshotVersion?) {
        key(name)
        if let version { string(version.description) } else { null() }
    }

    /// Budgets that the others are not given because this gateway, which vanished, may still be using them.
    fileprivate mutating func withheld(_ parts: [WithheldBudget]) {
        key("withheld")
        beginArray()
        for part in parts {
            beginObject()
            key("pool")
            string(part.pool.text)
            key("rates")
            rates(part.rates)
            key("until")
            timestamp(milliseconds: part.until.milliseconds)
            endObject()
        }
        endArray()
    }
}
