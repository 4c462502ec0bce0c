import HeadroomModel

/// Budget from the pool's float, for what waits when the local budget is used up (Model §5.8).
///
/// A gate that draws holds half a second of its budget. What exceeds it is returned: its next request tells so.
extension PoolGate {
    /// The gate's statements to the float, and its requests.
    struct Drawing: Sendable {
        let boot: String
        var sequence: Int64 = 0
        /// Running totals since the boot.
        var returned = Work.zero
        var used = Work.zero
        /// The last request, until it is answered or given up.
        var open: Open?
        /// Not before.
        var askAt: Timestamp
        var askedAt: Timestamp?
        var answeredAt: Timestamp?
        /// The local bucket is small, and what it cannot hold is returned.
        var isReturning = false
        /// The term that knows all that was spent.
        var epoch: Int64?
        /// While the float answers, it has the larger part of what flows in.
        var isYielding = false

        /// Some request may be due: the one on its way again, or the next.
        func isDue(at now: Timestamp) -> Bool {
            if let open, now.seconds(since: open.askedAt) < DrawRequest.patienceSeconds {
                // The same request again: the float answers it once, however often it comes.
                return !open.request.waiting.isEmpty && now.seconds(since: open.sentAt) >= DrawRequest.resendSeconds
            }
            return now >= min(askAt, reportsAt(now))
        }

        func reportsAt(_ now: Timestamp) -> Timestamp { askedAt?.adding(seconds: DrawRequest.reportSeconds) ?? now }

        struct Open: Sendable {
            let askedAt: Timestamp
            let request: DrawRequest
            /// The last time.
            var sentAt: Timestamp
        }
    }

    /// From now on what waits may draw.
    /// - Parameter boot: Names this process and no other of the gateway's.
    public mutating func startDrawing(boot: String, at now: Timestamp) {
        drawing = Drawing(boot: boot, askAt: now)
        advance(to: now)
        changeRates(at: now)
    }

    /// Small bursts, and draws, as long as Headroom is heard of.
    var isDrawing: Bool { isEnforcing && !isOnFallback && drawing != nil }

    /// The request to send now; `nil` when none is due, which is asked for free.
    ///
    /// One is due when eligible work waits, a batch after the last; without such work once a second, for what is
    /// returned. At most one is on its way.
    /// - Parameter epoch: of the snapshot in force.
    public mutating func nextDraw(epoch: Int64, at now: Timestamp) -> DrawRequest? {
        // Asked at each call, it is seldom due.
        guard let isDue = drawing?.isDue(at: now), isDue else { return nil }
        advance(to: now)
        guard isDrawing, let askAt = drawing?.askAt, let reportsAt = drawing?.reportsAt(now) else { return nil }
        if let open = drawing?.open, now.seconds(since: open.askedAt) < DrawRequest.patienceSeconds {
            drawing?.open?.sentAt = now
            return open.request
        }
        let mayAsk = breaker == nil && now >= heldUntil && now >= askAt
        var waiting: [DrawRequest.Queue] = []
        if mayAsk { waiting = waitingHeads(at: now) }
        guard !waiting.isEmpty || now >= reportsAt else { return nil }
        return request(for: waiting, epoch: epoch, at: now)
    }

    private mutating func request(
        for waiting: [DrawRequest.Queue], epoch: Int64, at now: Timestamp
    ) -> DrawRequest? {
        guard var drawing else { return nil }
        drawing.returned += budget.takeOverflow(at: now)
        drawing.sequence += 1
        drawing.askedAt = now
        var spent: [DrawRequest.TenantWork] = []
        for index in accounts.indices.dropFirst() {
            let isNews = accounts[index].spent != accounts[index].acknowledgedSpent || drawing.epoch != epoch
            if let tenant = accounts[index].tenant, isNews {
                spent.append(DrawRequest.TenantWork(tenant: tenant, work: accounts[index].spent))
            }
            accounts[index].noteDraw()
        }
        let request = DrawRequest(
            gateway: gateway, boot: drawing.boot, sequence: drawing.sequence, pool: pool, epoch: epoch,
            totals: DrawRequest.Totals(returned: drawing.returned, grantedUsed: drawing.used, spent: spent),
            waiting: waiting)
        drawing.open = Drawing.Open(askedAt: now, request: request, sentAt: now)
        self.drawing = drawing
        return request
    }

    /// The float has the larger part of what flows in for as long as it answers, and not a moment longer.
    mutating func settleYield(at now: Timestamp) {
        guard let isYielding = drawing?.isYielding, isYielding != floatAnswers(at: now) else { return }
        let since =
            isYielding ? drawing?.answeredAt?.adding(seconds: DrawRequest.answeringSeconds) ?? now : now
        drawing?.isYielding = !isYielding
        budget.passOn(isYielding ? 0 : 1 - DrawRequest.keptShare, at: min(since, now))
    }

    /// Of tenants with an entry, ascending; the others live on what is lent here until they have one.
    private func waitingHeads(at now: Timestamp) -> [DrawRequest.Queue] {
        var waiting: [DrawRequest.Queue] = []
        waiting.reserveCapacity(backlogged.count)
        for index in backlogged.sorted() {
            guard let tenant = accounts[index].tenant else { continue }
            let heads = heads(of: index, at: now)
            if !heads.isEmpty { waiting.append(DrawRequest.Queue(tenant: tenant, heads: heads)) }
        }
        return waiting
    }

    private func heads(of index: Int, at now: Timestamp) -> [DrawRequest.Head] {
        var heads: [DrawRequest.Head] = []
        heads.reserveCapacity(min(accounts[index].queue.count, DrawRequest.maxHeads))
        accounts[index].queue.visit { queued in
            if calls.isWaiting(queued, at: now) {
                heads.append(
                    DrawRequest.Head(
                        estimate: calls.estimate(queued.place), criticality: queued.criticality,
                        waitedSeconds: now.seconds(since: queued.arrival),
                        patienceSeconds: calls[queued.place].waiting.deadline.seconds(since: now)))
            }
            return heads.count < DrawRequest.maxHeads
        }
        return heads
    }

    /// The answer to a draw: the calls that may go now, on the right ``CallRight/drawn``. What was granted for calls that
    /// went or gave up meanwhile serves the tenant's next ones as far as it reaches; the rest flows back. An answer
    /// that comes too late, or to another request than the last one, grants nothing.
    public mutating func receive(_ answer: DrawAnswer, at now: Timestamp) -> [Dispatch] {
        guard let open = drawing?.open, open.request.sequence == answer.sequence,
            now.seconds(since: open.askedAt) < DrawRequest.patienceSeconds
        else { return [] }
        drawing?.open = nil
        drawing?.answeredAt = now
        drawing?.epoch = open.request.epoch
        drawing?.askAt = open.askedAt.adding(seconds: Double(answer.waitMilliseconds) / 1000)
        advance(to: now)
        for index in accounts.indices.dropFirst() { accounts[index].acknowledgeDraw() }
        for told in answer.serviceClocks {
            let index = index(of: told.tenant)
            if index > 0 { accounts[index].acknowledge(clock: told.serviceClock, at: now) }
        }
        settleVirtualTime()
        settleBacklog()
        guard isDrawing, breaker == nil, now >= heldUntil else { return [] }
        var dispatched: [Dispatch] = []
        for granted in answer.granted {
            let index = index(of: granted.tenant)
            guard index > 0, let queue = open.request.waiting.first(where: { $0.tenant == granted.tenant }) else {
                continue
            }
            var left = queue.heads.prefix(granted.calls).reduce(Work.zero) { $0 + $1.estimate }
            for _ in 0..<min(granted.calls, queue.heads.count) {
                guard let queued = head(of: index, at: now) else { break }
                left -= calls.estimate(queued.place)
                guard left.amounts.min() > -PoolGate.roundingAmount else { break }
                dispatched.append(send(queued, from: index, grant: .drawn, at: now))
            }
        }
        return dispatched
    }

    /// Of sums of estimates.
    private static let roundingAmount = 1e-6

    /// Clocks of draws are newer than published ones, and of another origin.
    func drawsTellClocks(at now: Timestamp) -> Bool {
        guard isDrawing, let answeredAt = drawing?.answeredAt else { return false }
        return now.seconds(since: answeredAt) < PoolGate.clockSeconds
    }

    private static let clockSeconds = 5.0

    /// Work that is not assured here goes by the float's order, and not by the gate's own.
    func floatAnswers(at now: Timestamp) -> Bool {
        guard isDrawing, let answeredAt = drawing?.answeredAt else { return false }
        return now.seconds(since: answeredAt) < DrawRequest.answeringSeconds
    }

    /// When the next request is due, if something waits; `nil` when it does not draw.
    var nextDrawTime: Timestamp? {
        guard isDrawing else { return nil }
        guard let open = drawing?.open else { return drawing?.askAt }
        if open.request.waiting.isEmpty { return open.askedAt.adding(seconds: DrawRequest.patienceSeconds) }
        return min(
            open.sentAt.adding(seconds: DrawRequest.resendSeconds),
            open.askedAt.adding(seconds: DrawRequest.patienceSeconds))
    }
}
