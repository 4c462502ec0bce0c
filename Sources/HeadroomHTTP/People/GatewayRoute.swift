import HeadroomJSON
import HeadroomModel

extension Route {
    /// `GET /v1/gateways`: who polls, and how far behind they are. Answered from memory.
    static func gateways(_ board: SnapshotBoard) -> Route {
        Route(method: .get, pattern: "/v1/gateways", access: .roles(AccessRule.viewers)) { _, _ in
            HTTPHandler(answer: { _ in .response(.json { $0.gateways(board) }) })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func gateways(_ board: SnapshotBoard) {
        let since = board.time.now().adding(seconds: -GatewayRegister.memorySeconds)
        let newest = board.current?.version
        let drifts = Dictionary(uniqueKeysWithValues: board.drifts(since: since).map { ($0.gateway, $0.seconds) })
        beginObject()
        key("gateways")
        beginArray()
        for presence in board.gateways(since: since) {
            beginObject()
            key("gateway")
            string(presence.gateway.text)
            key("last_seen")
            timestamp(milliseconds: presence.lastSeen.milliseconds)
            version("applied", presence.applied)
            version("sent", presence.sent)
            key("drift_generations")
            // Generations of different epochs have no distance.
            if let newest, let applied = presence.applied ?? presence.sent, applied.epoch == newest.epoch {
                integer(newest.generation - applied.generation)
            } else {
                null()
            }
            key("drift_seconds")
            number(drifts[presence.gateway] ?? 0)
            endObject()
        }
        endArray()
        endObject()
    }

    /// `EPOCH.GENERATION`, as gateways write it.
    private mutating func version(_ name: StaticString, _ version: SnapshotVersion?) {
        key(name)
        if let version { string(version.description) } else { null() }
    }
}
