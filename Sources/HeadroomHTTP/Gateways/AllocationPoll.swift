import HeadroomModel

/// Answers one connection's polls for one query.
final class AllocationPoll {
    private let board: SnapshotBoard
    private let query: AllocationQuery
    /// The end of the caller's token: a parked poll does not outlive it.
    private let expiresAt: Timestamp?
    /// The full body of the generation that the last poll saw: an unchanged poll looks nothing up.
    private var newest: NewestBody?
    /// The answer in hand renews the lease. A refusal must not: the second process under a name would keep the first alive.
    private var renewsLease = false

    private struct NewestBody {
        let generation: PublishedGeneration
        let view: SnapshotView
        let body: EncodedBody
        let tag: [UInt8]
        let compressedTag: [UInt8]
    }

    init(board: SnapshotBoard, query: AllocationQuery, expiresAt: Timestamp?) {
        self.board = board
        self.query = query
        self.expiresAt = expiresAt
    }

    func answer(_ exchange: HTTPExchange) throws(HTTPError) -> HTTPAnswer {
        renewsLease = false
        // Another round only when a generation was published between the look and the wait.
        while true {
            let (visit, current, view) = try look(exchange)
            guard let full = fullBody(of: current, view) else {
                switch park(exchange, behind: current, seconds: board.joinSeconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused:
                    throw HTTPError(
                        .notReady, "no room has been made for this gateway yet", retryAfterSeconds: 1)
                }
            }
            let comparison = compare(exchange, with: full, visit)
            if comparison != .changed, query.waitSeconds > 0 {
                let seconds = min(query.waitSeconds, current.leaseSeconds / 2)
                switch park(exchange, behind: current, seconds: seconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused: break
                }
            }
            renewsLease = true
            return answer(exchange, comparison, full, visit)
        }
    }

    func delivered() {
        if renewsLease, let visitor = query.visitor { board.delivered(to: visitor.key) }
    }

    /// The newest generation, and what of it the caller may see.
    private func look(
        _ exchange: HTTPExchange
    ) throws(HTTPError) -> (SnapshotBoard.Visit?, PublishedGeneration, SnapshotView) {
        var visit: SnapshotBoard.Visit?
        if var visitor = query.visitor {
            visitor.hasWaited = exchange.waitsUntil != nil
            visit = try board.visit(visitor)
        }
        guard let current = visit.map({ $0.newest }) ?? board.current else {
            throw HTTPError(.notReady, "nothing has been published yet", retryAfterSeconds: 1)
        }
        var view = query.view
        if visit?.takesPart == false { view.part = .unenforced }
        return (visit, current, view)
    }

    private func fullBody(of current: PublishedGeneration, _ view: SnapshotView) -> NewestBody? {
        if let newest, newest.generation === current, newest.view == view { return newest }
        guard let body = current.body(for: view) else { return nil }
        let found = NewestBody(
            generation: current, view: view, body: body, tag: Array(body.tag.utf8),
            compressedTag: Array(body.tag(isCompressed: true).utf8))
        newest = found
        return found
    }

    private func park(
        _ exchange: HTTPExchange, behind current: PublishedGeneration, seconds: Double
    ) -> SnapshotBoard.Parking {
        let now = MonotonicClock.milliseconds()
        let left = expiresAt.map { max(0, $0.milliseconds - board.time.now().milliseconds) } ?? .max
        let deadline = exchange.waitsUntil ?? now + min(Int64(seconds * 1000), left)
        guard now < deadline else { return .refused }
        exchange.waitsUntil = deadline
        return board.park(exchange, behind: current, until: deadline)
    }

    private enum Comparison { case changed, sameTag, sameVersion }

    /// `If-None-Match` wins over `since`.
    private func compare(
        _ exchange: HTTPExchange, with full: NewestBody, _ visit: SnapshotBoard.Visit?
    ) -> Comparison {
        exchange.withHeader("If-None-Match") { span in
            guard let span else {
                // A gateway that has just come to take part has read the whole of it, and has not seen its part.
                if let visit, visit.takesPart, !visit.mayCountFromSince { return .changed }
                return query.since == full.generation.version ? .sameVersion : .changed
            }
            let isSame =
                span.isEqual(to: full.tag) || span.isEqual(to: full.compressedTag) || span.lists(full.tag)
                || span.lists(full.compressedTag)
            return isSame ? .sameTag : .changed
        }
    }

    private func answer(
        _ exchange: HTTPExchange, _ comparison: Comparison, _ full: NewestBody, _ visit: SnapshotBoard.Visit?
    ) -> HTTPAnswer {
        if comparison == .sameTag {
            let isCompressed = full.body.isCompressible && exchange.takesGzip
            return .response(
                HTTPResponse(status: 304, prepared: full.body.unchangedResponse(isCompressed: isCompressed)))
        }
        let mayCount = comparison == .sameVersion || visit?.mayCountFromSince ?? true
        let base = mayCount ? query.since.flatMap { board.generation($0) } : nil
        let body = base.flatMap { full.generation.body(for: full.view, since: $0) } ?? full.body
        let plain = HTTPResponse(status: 200, prepared: body.plain)
        guard body.isCompressible, exchange.takesGzip else { return .response(plain) }
        switch body.compression() {
        case .ready(let response): return .response(HTTPResponse(status: 200, prepared: response))
        case .onTask: return .later(instead: plain) { HTTPResponse(status: 200, prepared: body.compress()) }
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
            let poll = AllocationPoll(
                board: board, query: try AllocationQuery(target, grant), expiresAt: grant.expiresAt)
            return HTTPHandler(
                answer: { exchange throws(HTTPError) in try poll.answer(exchange) }, delivered: { poll.delivered() })
        }
    }
}
