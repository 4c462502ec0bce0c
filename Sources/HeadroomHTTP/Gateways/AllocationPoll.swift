import HeadroomModel

/// Answers one connection's polls for one query.
final class AllocationPoll {
    private let board: SnapshotBoard
    private let query: AllocationQuery
    /// The full body of the generation that the last poll saw: an unchanged poll looks nothing up.
    private var newest: (generation: PublishedGeneration, response: PreparedResponse, etag: [UInt8])?
    /// Until when the request in hand waits, on the monotonic clock; `nil` before it has been parked.
    private var deadline: Int64?

    init(board: SnapshotBoard, query: AllocationQuery) {
        self.board = board
        self.query = query
    }

    func answer(_ exchange: HTTPExchange) throws(HTTPError) -> HTTPAnswer {
        if !exchange.hasWaited { deadline = nil }
        // Another round only when a generation was published between the look and the wait.
        while true {
            guard let current = try look() else {
                throw HTTPError(.notReady, "nothing has been published yet", retryAfterSeconds: 1)
            }
            guard let full = fullBody(of: current) else {
                switch park(exchange, behind: current, seconds: board.joinSeconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused:
                    throw HTTPError(
                        .notReady, "no room has been made for this gateway yet", retryAfterSeconds: 1)
                }
            }
            let comparison = compare(exchange, with: current, full.etag)
            if comparison != .changed, query.waitSeconds > 0 {
                let seconds = min(query.waitSeconds, current.leaseSeconds / 2)
                switch park(exchange, behind: current, seconds: seconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused: break
                }
            }
            return .response(response(comparison, current, full.response))
        }
    }

    func delivered() {
        if let member = query.member { board.delivered(to: member) }
    }

    private func look() throws(HTTPError) -> PublishedGeneration? {
        guard let member = query.member else { return board.current }
        return try board.visit(member, applied: query.applied, view: query.view)
    }

    private func fullBody(of current: PublishedGeneration) -> (response: PreparedResponse, etag: [UInt8])? {
        if let newest, newest.generation === current { return (newest.response, newest.etag) }
        guard let response = current.response(for: query.view) else { return nil }
        let etag = Array(current.etag(for: query.view).utf8)
        newest = (current, response, etag)
        return (response, etag)
    }

    private func park(
        _ exchange: HTTPExchange, behind current: PublishedGeneration, seconds: Double
    ) -> SnapshotBoard.Parking {
        let now = MonotonicClock.milliseconds()
        let deadline = self.deadline ?? now + Int64(seconds * 1000)
        guard now < deadline else { return .refused }
        self.deadline = deadline
        return board.park(exchange, behind: current, until: deadline)
    }

    private enum Comparison { case changed, sameTag, sameVersion }

    /// `If-None-Match` wins over `since`.
    private func compare(
        _ exchange: HTTPExchange, with current: PublishedGeneration, _ etag: [UInt8]
    ) -> Comparison {
        exchange.withHeader("If-None-Match") { span in
            guard let span else { return query.since == current.version ? .sameVersion : .changed }
            return span.isEqual(to: etag) || span.lists(etag) ? .sameTag : .changed
        }
    }

    private func response(
        _ comparison: Comparison, _ current: PublishedGeneration, _ full: PreparedResponse
    ) -> HTTPResponse {
        switch comparison {
        case .sameTag:
            // The library leaves the body out, and `Content-Length` says what a 200 would have had (RFC 9110 §8.6).
            return HTTPResponse(status: 304, prepared: full)
        case .sameVersion, .changed:
            let base = query.since.flatMap { board.generation($0) }
            return HTTPResponse(
                status: 200, prepared: base.flatMap { current.response(for: query.view, since: $0) } ?? full)
        }
    }
}

extension RawSpan {
    /// True when an `If-None-Match` list holds the tag, weak or strong, or is `*` (RFC 9110 §13.1.2).
    fileprivate func lists(_ etag: [UInt8]) -> Bool {
        let tag = String(decoding: etag, as: UTF8.self)
        return text.split(separator: ",").contains { item in
            var item = item.drop { $0 == " " }
            while item.last == " " { item.removeLast() }
            return item == "*" || (item.hasPrefix("W/") ? item.dropFirst(2) : item) == tag
        }
    }
}

extension Route {
    static func allocations(_ board: SnapshotBoard) -> Route {
        Route(
            method: .get, pattern: "/v1/allocations", access: .roles(AccessRule.viewers.union([.gateway]))
        ) { target, grant throws(HTTPError) in
            let poll = AllocationPoll(board: board, query: try AllocationQuery(target, grant))
            return HTTPHandler(
                answer: { exchange throws(HTTPError) in try poll.answer(exchange) }, delivered: { poll.delivered() })
        }
    }
}
