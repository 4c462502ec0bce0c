import HeadroomModel

/// All that is known of one tenant in one pool.
///
/// Rings of seconds, queues and arrivals are there only while there is something in them: an active tenant of one
/// criticality takes 1.9 KB and 16 bytes a gateway, an idle one 0.8 KB (``release(at:)``).
struct TenantProfile: Sendable {
    /// Its work of one criticality.
    struct Flow: Sendable {
        // In the order that leaves no gaps: 240 bytes.
        /// As last estimated: per minute.
        var demand = Work.zero
        var minutes = MinuteSeries()
        var shape = Shape()
        var criticality: Criticality
        var retries: UInt32 = 0
        /// New work by the second of its end, and what was served.
        var wanted: SecondRing?
        var served: SecondRing?
        /// Counted, of what was served.
        var tokens = 0.0

        init(criticality: Criticality) {
            self.criticality = criticality
        }
    }

    /// A gateway's last word on what waits there.
    struct Queue: Sendable {
        var gateway: UInt16
        var criticality: Criticality
        var at: Timestamp
        var depth: Int64
        var tokens: Int64
        var oldestSeconds: Float
    }

    /// Where its work arrives: an amount that fades.
    struct Arrivals: Sendable {
        // In this order 16 bytes.
        var amount: Fading
        var gateway: UInt16
    }

    let tenant: TenantID
    /// Of its name.
    let fingerprint: UInt64
    var lastSeen: Timestamp
    /// The gateway that reported it first, where that counts against the gateway's bound; else ``nobody``.
    var broughtBy = TenantProfile.nobody
    static let nobody = UInt16.max
    /// In the order of ``Criticality``; those that it has used.
    var flows: [Flow] = []
    /// Over all flows.
    var shape = Shape()
    var correction = TokenCorrection()
    /// Served calls, fading over days.
    var evidence: Fading
    /// A minute or so of attempts beyond the first.
    var retried: Fading
    /// Of calls; windows do not say when.
    var retrySeconds = RetrySeconds()
    /// Ascending by gateway's name, then criticality; bounded.
    var queues: [Queue] = []
    /// Ascending by gateway's name; bounded.
    var arrivals: [Arrivals] = []
    var waiting = WaitingBook()
    var lately = AskedLately()
    var demandAt: Timestamp
    /// Since the last estimate.
    var servedLately = Work.zero
    var tasks = TaskTally()
    var watch: GamingWatch
    var burstiness = Burstiness()
    var repayment = Repayment()
    /// The newest minute of all flows' series, and Σ weight of the minutes that were closed.
    var newestMinute: Int64
    var firstMinute: Int64
    var closedWeight: Float = 0

    init(_ tenant: TenantID, at now: Timestamp) {
        self.tenant = tenant
        fingerprint = tenant.text.fingerprint
        lastSeen = now
        evidence = Fading(at: now)
        retried = Fading(at: now)
        demandAt = now
        watch = GamingWatch(at: now)
        newestMinute = now.minute
        firstMinute = now.minute
    }

    // MARK: Fold

    /// The place of the flow, made if need be.
    mutating func flow(_ criticality: Criticality) -> Int {
        for index in flows.indices {
            if flows[index].criticality == criticality { return index }
            if flows[index].criticality > criticality {
                flows.insert(Flow(criticality: criticality), at: index)
                return index
            }
        }
        flows.append(Flow(criticality: criticality))
        return flows.count - 1
    }

    mutating func serve(_ work: Work, flow: Int, at instant: Timestamp, ringSeconds: Int) {
        serve(work, flow: flow, second: instant.second, ringSeconds: ringSeconds)
        flows[flow].shape.learn(work)
        shape.learn(work)
    }

    /// Without learning the shape: a part of a window.
    mutating func serve(_ work: Work, flow: Int, second: Int64, ringSeconds: Int) {
        if flows[flow].served == nil { flows[flow].served = SecondRing(seconds: ringSeconds, endingAt: second) }
        flows[flow].served!.add(work, at: second)
        servedLately += work
        flows[flow].tokens += work[.tokens]
        if isOpen(minute: second / 60) { flows[flow].minutes.add(served: work, at: second / 60) }
    }

    /// - Parameter arrival: the minute in which the work came; one that is closed counts as the oldest that is open.
    mutating func want(_ work: Work, flow: Int, second: Int64, arrival: Int64, ringSeconds: Int) {
        if flows[flow].wanted == nil { flows[flow].wanted = SecondRing(seconds: ringSeconds, endingAt: second) }
        flows[flow].wanted!.add(work, at: second)
        repayment.note(work, at: second)
        guard isOpen(minute: second / 60) else { return }
        flows[flow].minutes.add(wanted: work, at: min(max(arrival, oldestOpenMinute), newestMinute))
    }

    /// Work that was not served is reported as an estimate, or not at all.
    /// - Parameter poolShare: of `max_tokens`, what all tenants' answers use: for one that is new.
    mutating func claim(_ call: CallRecord, poolShare: Float?) -> Work {
        if !isBoundKnown(call, poolShare), let counted = call.countedTokens ?? claimedByBound(call), counted > 0 {
            correction.learn(claimedTokens: Float(counted), items: 1)
        }
        return estimate(call, poolShare: poolShare)
    }

    private func isBoundKnown(_ call: CallRecord, _ poolShare: Float?) -> Bool {
        (call.maxTokens ?? 0) > 0 && (correction.outputShare ?? poolShare) != nil
    }

    /// What the call would have cost.
    func estimate(_ call: CallRecord, poolShare: Float?) -> Work {
        let mean = shape.mean
        let input = call.inputTokens.map(Double.init) ?? 0
        let isInputReported = input > 0
        // The part of a token that the provider charges, as cached ones may be free.
        let split = mean[.inputTokens] + mean[.outputTokens]
        let charged = split > 0 ? mean[.tokens] / split : 1
        let knownInput = isInputReported ? input : mean[.inputTokens]
        if let bound = call.maxTokens, bound > 0, let part = correction.outputShare ?? poolShare {
            let output = Double(bound) * Double(part)
            return Work(
                requests: 1, tokens: (knownInput + output) * charged, inputTokens: knownInput, outputTokens: output)
        }
        if let counted = call.countedTokens ?? claimedByBound(call), counted > 0 {
            let tokens = Double(counted) * Double(correction.factor(served: Float(mean[.tokens])))
            let part = split > 0 ? mean[.inputTokens] / split : 0.5
            let inputTokens = isInputReported ? min(input, tokens) : tokens * part
            return Work(
                requests: 1, tokens: tokens, inputTokens: inputTokens, outputTokens: max(0, tokens - inputTokens))
        }
        let output = max(Double(call.outputTokens ?? 0), mean[.outputTokens])
        return Work(
            requests: 1, tokens: (knownInput + output) * charged, inputTokens: knownInput, outputTokens: output)
    }

    private func claimedByBound(_ call: CallRecord) -> Int64? {
        guard let bound = call.maxTokens else { return nil }
        return min(bound, 1 << 40) + min(call.inputTokens ?? 0, 1 << 40)
    }

    /// They are made anew, for a window of another length.
    mutating func dropRings() {
        for index in flows.indices {
            flows[index].wanted = nil
            flows[index].served = nil
        }
    }

    /// An idle tenant's lists make room. What arrived so long ago is below the 24 bits of whatever comes next.
    mutating func release(at now: Timestamp) {
        if queues.isEmpty, queues.capacity > 0 { queues = [] }
        if !arrivals.isEmpty, now.seconds(since: lastSeen) > 25 * DemandEstimator.tenantHalfLife { arrivals = [] }
    }

    // MARK: Minutes

    private func isOpen(minute: Int64) -> Bool {
        minute <= newestMinute && minute >= oldestOpenMinute
    }

    private var oldestOpenMinute: Int64 { max(newestMinute - Int64(MinuteSeries.open) + 1, firstMinute) }

    /// Closes the minutes that no late line may reach any more.
    mutating func advance(to minute: Int64) {
        guard minute > newestMinute else { return }
        let oldest = oldestOpenMinute
        let newestClosed = minute - Int64(MinuteSeries.open)
        newestMinute = minute
        guard oldest <= newestClosed else { return }
        let last = min(newestClosed, oldest + Int64(MinuteSeries.open) - 1)
        for closing in oldest...last { close(closing) }
        guard newestClosed > last else { return }
        let kept = Float(decay(Double(newestClosed - last), halfLife: MinuteSeries.halfLifeMinutes))
        for index in flows.indices { flows[index].minutes.closeIdle(keeping: kept) }
        burstiness.closeIdle(keeping: kept)
        closedWeight = closedWeight * kept + (1 - kept)
    }

    private mutating func close(_ minute: Int64) {
        var wanted = SIMD2<Float>.zero
        for index in flows.indices {
            wanted += flows[index].minutes[minute].lowHalf
            flows[index].minutes.close(minute)
        }
        burstiness.close(minute, wanted: wanted)
        closedWeight = closedWeight * MinuteSeries.keptPerMinute + (1 - MinuteSeries.keptPerMinute)
    }

    /// Per minute over the last five and the one under way: requests and tokens wanted, requests and tokens served.
    func fast(_ flow: Flow, at now: Timestamp) -> MinuteSeries.Amounts {
        fastSum(flow) / Float(max(fastMinutes(at: now), 1 / 3))
    }

    /// Over the last five minutes and the one under way: requests and tokens wanted, requests and tokens served.
    func fastSum(_ flow: Flow) -> MinuteSeries.Amounts {
        (oldestFastMinute...newestMinute).reduce(.zero) { $0 + flow.minutes[$1] }
    }

    private var oldestFastMinute: Int64 { max(newestMinute - 5, firstMinute) }

    /// So long do those minutes last until now.
    func fastMinutes(at now: Timestamp) -> Double { Double(now.milliseconds - oldestFastMinute * 60_000) / 60_000 }

    /// Per minute over the last hour or so, the minutes that are open among them: over what is known of a tenant that
    /// is not known for so long.
    func usual(_ flow: Flow, at now: Timestamp) -> MinuteSeries.Amounts {
        let oldest = oldestOpenMinute
        var sum = MinuteSeries.Amounts.zero
        for minute in oldest...newestMinute { sum += flow.minutes[minute] }
        // The minutes of one that is idle are not closed.
        let idleMinutes = max(0, now.minute - newestMinute)
        let minutes =
            idleMinutes > 0 ? Double(newestMinute + 1 - oldest) : Double(now.milliseconds - oldest * 60_000) / 60_000
        let kept = Float(decay(Double(idleMinutes), halfLife: MinuteSeries.halfLifeMinutes))
        let each = 1 - MinuteSeries.keptPerMinute
        let weight = (closedWeight + each * Float(max(minutes, 1 / 3))) * kept + (1 - kept)
        return (flow.minutes.closed + sum * each) * (kept / weight)
    }

    /// Per minute over the last hour or so; `nil` before ten minutes were closed.
    func slow(_ flow: Flow) -> MinuteSeries.Amounts? {
        closedWeight >= 0.1 ? flow.minutes.closed / closedWeight : nil
    }
}
