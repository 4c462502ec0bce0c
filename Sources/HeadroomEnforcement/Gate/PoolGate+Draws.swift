import HeadroomModel

/// Budget from the pool's float, for what waits when the local budget is used up (Model §5.8).
///
/// A gate is in one of four states:
/// - *alone*: no other has a part of the pool. It keeps its whole burst and lends; nothing is drawn or returned;
/// - *holding*: no call has waited for the float lately, or the float does not answer. It keeps all that flows in, up to half of the
///   burst, and lends. What flows over is returned; what waits nevertheless may draw;
/// - *yielding*: calls wait somewhere, and the float answers. It holds half a second, returns nine tenths of what flows in, and
///   leaves the order to the float; but work of tenants that use less than their assured rate goes at once;
/// - *cut off*: the lease has run out. It lives on its fallback, and holds the whole burst.
///
/// What is returned is told by the next request, and is the gate's own until then.
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
        /// The last answer said that no call waits for the float anywhere.
        var isAmple = false
        /// The float takes calls to wait here that do not, or has granted more than was used.
        var owesWord = false
        /// What the local bucket cannot hold is returned.
        var isReturning = false
        /// The term that knows all that was spent.
        var epoch: Int64?
        /// The local bucket is small, and the float has the larger part of what flows in.
        var isYielding = false

        /// Some request may be due: the one on its way again, or the next.
        func isDue(at now: Timestamp) -> Bool {
            if let open, now.seconds(since: open.askedAt) < DrawRequest.patienceSeconds {
                // The same request again: the float answers it once, however often it comes.
                return !open.request.waiting.isEmpty && now.seconds(since: open.sentAt) >= DrawRequest.resendSeconds
            }
            return owesWord || now >= min(askAt, reportsAt(now))
        }

        /// When the float counts as gone unless it answers before; `nil` before its first answer.
        var silentAt: Timestamp? {
            guard let answeredAt else { return nil }
            let silentAt = answeredAt.adding(seconds: DrawRequest.answeringSeconds)
            return open.map { min(silentAt, $0.askedAt.adding(seconds: DrawRequest.silenceSeconds)) } ?? silentAt
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

    /// Draws, as long as Headroom is heard of and some other gateway has a part of the pool.
    var isDrawing: Bool { isEnforcing && !isOnFallback && !isAlone && drawing != nil }

    /// The request to send now; `nil` when none is due, which is asked for free.
    ///
    /// One is due when eligible work waits, a batch after the last; without such work once a second, for what is
    /// returned, and at once when a grant was not used, or the float takes something to wait here. At most one is on its way.
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
        let hasNews = drawing?.owesWord ?? false
        guard !waiting.isEmpty || hasNews && backlogged.allSatisfy({ accounts[$0].queue.isEmpty }) || now >= reportsAt
        else { return nil }
        return request(for: waiting, epoch: epoch, at: now)
    }

    private mutating func request(
        for waiting: [DrawRequest.Queue], epoch: Int64, at now: Timestamp
    ) -> DrawRequest? {
        guard var drawing else { return nil }
        // A gate whose half second holds no call would give up little else: it goes by the float call by call.
        if holdsOneCall { budget.payDebt(at: now) }
        drawing.returned += budget.takeOverflow(at: now)
        drawing.sequence += 1
        drawing.owesWord = false
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
            waiting: waiting, holds: !drawing.isYielding)
        drawing.open = Drawing.Open(askedAt: now, request: request, sentAt: now)
        self.drawing = drawing
        return request
    }

    /// The float has the larger part of what flows in for as long as calls wait and it answers, and not a moment longer.
    mutating func settleYield(at now: Timestamp) {
        guard let wasYielding = drawing?.isYielding, wasYielding != goesByFloat(at: now) else { return }
        drawing?.isYielding = !wasYielding
        var since = now
        if wasYielding, let silentAt = drawing?.silentAt { since = min(now, silentAt) }
        budget.passOn(wasYielding ? 0 : 1 - DrawRequest.keptShare, at: since)
        guard isDrawing, let burst = allocation?.burstSeconds else { return }
        budget.resize(burstSeconds: drawingBurstSeconds(of: burst), atLeast: .zero, at: since)
        if wasYielding { budget.keepOverflow(at: since) }
    }

    /// Whether the local bucket of a gate that yields holds a mean request.
    private var holdsOneCall: Bool {
        guard let burst = allocation?.burstSeconds else { return false }
        let held = budget.rates.work(overSeconds: DrawRequest.localBurstSeconds(of: burst))
        return budget.rates.resources.members.allSatisfy { meanRequest[$0] <= held[$0] }
    }

    /// The local bucket of a gate that draws.
    func drawingBurstSeconds(of burst: Double) -> Double {
        drawing?.isYielding == true ? DrawRequest.localBurstSeconds(of: burst) : DrawRequest.heldSeconds(of: burst)
    }

    /// Whether the tenant's next call goes on its assured rate. While calls wait for the float those go at once whose tenant has
    /// used less than its assured rate: a bucket that is half full says so, and granted work drains it too. Whoever has used
    /// all of it goes by the float's order, since others may be further behind elsewhere.
    mutating func isAssured(_ index: Int, at now: Timestamp) -> Bool {
        guard accounts[index].own.admits(at: now) else { return false }
        return !goesByFloat(at: now) || accounts[index].own.isFilled(to: DrawRequest.quietShare, at: now)
    }

    /// Whether the budget lets one more call go. While calls wait for the float, what has flowed over since the last request counts
    /// as well: it is the gate's own until somebody is told.
    mutating func budgetAdmits(at now: Timestamp) -> Bool {
        goesByFloat(at: now) ? budget.admitsWithOverflow(at: now) : budget.admits(at: now)
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
        drawing?.isAmple = answer.isAmple
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
        let told = open.request.waiting.reduce(0) { $0 + $1.heads.count }
        drawing?.owesWord = told > 0
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
        drawing?.owesWord = dispatched.count < told
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

    /// Calls wait for the float, and it answers: what is not assured here goes by its order, and not by the gate's own.
    func goesByFloat(at now: Timestamp) -> Bool {
        guard isDrawing, let drawing, !drawing.isAmple, let silentAt = drawing.silentAt else { return false }
        return now < silentAt
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
