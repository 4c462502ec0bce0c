import HeadroomModel

/// Answers one connection's polls for one query.
final class AllocationPoll {
    private let board: SnapshotBoard
    private let query: AllocationQuery
    /// The end of the caller's token: a parked poll does not outlive it.
    private let expiresAt: Timestamp?
    /// What the last poll saw: an unchanged poll looks nothing up.
    private var seen: Seen?
    /// The answer in hand renews the lease. A refusal must not: the second process under a name would keep the first alive.
    private var renewsLease = false

    /// A view of the newest generation. A connection that is idle must not keep a past generation, nor its bodies.
    private final class Seen {
        let version: SnapshotVersion
        let view: SnapshotView
        /// Of the view, which is the same from one generation to the next.
        let variant: String
        let tag: [UInt8]
        let compressedTag: [UInt8]
        weak var body: EncodedBody?

        init(_ view: SnapshotView, of generation: PublishedGeneration, variant: String) {
            self.view = view
            self.variant = variant
            version = generation.version
            let text = generation.tag(ofVariant: variant)
            tag = Array(text.utf8)
            compressedTag = Array(PreparedResponse.compressedTag(text).utf8)
        }
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
            guard let seen = see(view, of: current) else {
                switch park(exchange, behind: current, seconds: board.joinSeconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused:
                    throw HTTPError(
                        .notReady, "no room has been made for this gateway yet", retryAfterSeconds: 1)
                }
            }
            let comparison = compare(exchange, with: seen, visit)
            if comparison != .changed, query.waitSeconds > 0 {
                let seconds = min(query.waitSeconds, current.leaseSeconds / 2)
                switch park(exchange, behind: current, seconds: seconds) {
                case .parked: return .parked
                case .outdated: continue
                case .refused: break
                }
            }
            renewsLease = true
            return answer(exchange, comparison, current, view, visit)
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

    /// `nil` when there is no part for the view's gateway.
    private func see(_ view: SnapshotView, of current: PublishedGeneration) -> Seen? {
        if let seen, seen.version == current.version, seen.view == view { return seen }
        guard current.has(view) else { return nil }
        let variant = seen.flatMap { $0.view == view ? $0.variant : nil } ?? view.variant
        let found = Seen(view, of: current, variant: variant)
        seen = found
        return found
    }

    private func fullBody(of current: PublishedGeneration, _ view: SnapshotView) -> EncodedBody {
        if let body = seen?.body { return body }
        let body = current.body(for: view)
        seen?.body = body
        return body
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
        _ exchange: HTTPExchange, with full: Seen, _ visit: SnapshotBoard.Visit?
    ) -> Comparison {
        exchange.withHeader("If-None-Match") { span in
            guard let span else {
                // A gateway that has just come to take part has read the whole of it, and has not seen its part.
                if let visit, visit.takesPart, !visit.mayCountFromSince { return .changed }
                return query.since == full.version ? .sameVersion : .changed
            }
            let isSame =
                span.isEqual(to: full.tag) || span.isEqual(to: full.compressedTag) || span.lists(full.tag)
                || span.lists(full.compressedTag)
            return isSame ? .sameTag : .changed
        }
    }

    private func answer(
        _ exchange: HTTPExchange, _ comparison: Comparison, _ current: PublishedGeneration, _ view: SnapshotView,
        _ visit: SnapshotBoard.Visit?
    ) -> HTTPAnswer {
        if comparison == .sameTag {
            let full = fullBody(of: current, view)
            let isCompressed = full.isCompressible && exchange.takesGzip
            return .response(HTTPResponse(status: 304, prepared: full.unchangedResponse(isCompressed: isCompressed)))
        }
        let mayCount = comparison == .sameVersion || visit?.mayCountFromSince ?? true
        let base = mayCount ? query.since.flatMap { earlier($0, of: current, view) } : nil
        // Most answers hold what changed: then the whole is never encoded.
        let body = base == nil ? fullBody(of: current, view) : current.body(for: view, since: base)
        let plain = HTTPResponse(status: 200, prepared: body.plain)
        guard body.isCompressible, exchange.takesGzip else { return .response(plain) }
        switch body.compression() {
        case .ready(let response): return .response(HTTPResponse(status: 200, prepared: response))
        case .onTask: return .later(instead: plain) { HTTPResponse(status: 200, prepared: body.compress()) }
        }
    }

    private func earlier(
        _ since: SnapshotVersion, of current: PublishedGeneration, _ view: SnapshotView
    ) -> Snapshot? {
        since == current.version ? current.snapshot(for: view) : board.past(since, for: view)
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
            method: .get, pattern: "/v1/allocations", access: .roles(AccessRule.viewers.union([.gateway])),
            reach: .scope
        ) { target, grant throws(HTTPError) in
            let poll = AllocationPoll(
                board: board, query: try AllocationQuery(target, grant), expiresAt: grant.expiresAt)
            return HTTPHandler(
                answer: { exchange throws(HTTPError) in try poll.answer(exchange) }, delivered: { poll.delivered() })
        }
    }
}
