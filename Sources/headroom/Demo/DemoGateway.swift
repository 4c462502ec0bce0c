import Foundation
import HeadroomEnforcement
import HeadroomModel
import HeadroomSimulator

/// An enforcement gateway: a thin shell around ``PoolGate`` that replays its part of the trace.
///
/// The gate decides which call goes next; this carries calls to the provider, allocations in and telemetry out.
actor DemoGateway {
    /// More wait here, after the gate has let them go, for a free connection.
    static let maxCallsInFlight = 256
    /// How often the gate is asked when nothing is known to change earlier.
    private static let pauseSeconds = 0.025

    let id: GatewayID
    let plan: DemoPlan
    let time: TimeSource
    let links: DemoLinks
    private let arrivals: [DemoPlan.Arrival]

    var gate: PoolGate
    var holder = SnapshotHolder()
    var etag: String?
    var spool = DemoSpool()
    var tally: DemoTally
    private var estimator = TokenEstimator()
    private var generator: SeededGenerator

    private var start: Timestamp
    private var nextArrival = 0
    private var inFlight = 0
    private var ready: [Dispatch] = []
    private var isEnding = false
    private var answers = 0

    init(index: Int, plan: DemoPlan, time: TimeSource, links: DemoLinks) {
        id = DemoPlan.gateways[index]
        self.plan = plan
        self.time = time
        self.links = links
        arrivals = plan.arrivals[index]
        start = time.now()
        gate = PoolGate(pool: DemoPlan.pool, gateway: id, at: start)
        tally = DemoTally(tenants: plan.roster.entries.count)
        generator = SeededGenerator(seed: plan.seed &+ UInt64(index), stream: "gateway")
    }

    /// Replays everything from `start` on, then sends what telemetry is left and says goodbye. Ends early after ``end()``.
    func run(from start: Timestamp) async {
        self.start = start
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.keepPolling() }
            group.addTask { await self.keepReporting() }
            await serve()
            group.cancelAll()
        }
        await reportRest()
        await links.sayGoodbye(of: id)
    }

    /// No more calls; those on their way are waited for.
    func end() { isEnding = true }

    private func serve() async {
        await withDiscardingTaskGroup { group in
            while !isEnding {
                let now = time.now()
                guard now < start.adding(seconds: plan.seconds) else { break }
                admitArrivals(at: now)
                for call in gate.expire(at: now) { noteDenied(call, at: now) }
                ready += gate.dispatch(at: now)
                while !ready.isEmpty, inFlight < DemoGateway.maxCallsInFlight {
                    let dispatch = ready.removeFirst()
                    inFlight += 1
                    group.addTask { await self.carryOut(dispatch) }
                }
                await pause(from: now)
            }
        }
        tally.waiting = gate.queues(at: time.now()).reduce(0) { $0 + Int($1.depth) } + ready.count
    }

    private func pause(from now: Timestamp) async {
        var wake = now.adding(seconds: DemoGateway.pauseSeconds)
        if let gateWake = gate.nextWake(after: now) { wake = min(wake, gateWake) }
        if nextArrival < arrivals.count { wake = min(wake, start.adding(seconds: arrivals[nextArrival].seconds)) }
        try? await Task.sleep(for: .seconds(max(0.001, wake.seconds(since: now))))
    }

    private func admitArrivals(at now: Timestamp) {
        while nextArrival < arrivals.count {
            let arrival = arrivals[nextArrival]
            let instant = start.adding(seconds: arrival.seconds)
            guard instant <= now else { return }
            let entry = plan.roster.entries[arrival.tenant]
            let call = WaitingCall(
                id: nextArrival, tenant: entry.tenant, criticality: entry.criticality,
                estimate: estimator.estimate(
                    for: entry.tenant, inputTokens: Double(arrival.inputTokens), maxTokens: nil),
                arrival: instant, deadline: instant.adding(seconds: DemoPlan.patienceSeconds(entry.criticality)))
            tally.tenants[arrival.tenant].offered += work(of: nextArrival)
            nextArrival += 1
            if !gate.enqueue(call, at: now) { noteDenied(call, at: now) }
        }
    }

    // MARK: Calls

    private func carryOut(_ dispatch: Dispatch) async {
        let arrival = arrivals[dispatch.call.id]
        let sent = time.now()
        let answer = await links.call(inputTokens: arrival.inputTokens, outputTokens: arrival.outputTokens)
        inFlight -= 1
        conclude(dispatch, answer, sent: sent, at: time.now())
    }

    private func conclude(_ dispatch: Dispatch, _ answer: DemoLinks.Answer?, sent: Timestamp, at now: Timestamp) {
        let call = dispatch.call
        let arrival = arrivals[call.id]
        let signal = answer?.signal ?? ProviderSignal(kind: .server)
        var record = callRecord(call, outcome: Outcome(signal.kind), at: now)
        record.attempt = dispatch.attempt
        record.status = answer?.status
        record.latencyMilliseconds = 1000 * now.seconds(since: sent)
        record.queuedMilliseconds = max(0, 1000 * sent.seconds(since: call.arrival))
        switch signal.kind {
        case .ok:
            let actual = work(of: call.id)
            gate.settle(call.id, actual: actual, at: now)
            estimator.learn(from: call.tenant, outputTokens: Double(arrival.outputTokens), maxTokens: nil)
            tally.tenants[arrival.tenant].served += actual
            record.outputTokens = arrival.outputTokens
            record.countedTokens = Int64(actual[.tokens])
        case .quota, .overload, .ramp:
            tally.refused += 1
            // An answer's headers are as old as its call; only a refusal is quick enough to tell of now.
            gate.observe(signal, at: now)
            _ = gate.refused(
                call.id, resetSeconds: signal.retryAfterMilliseconds.map { $0 / 1000 },
                jitter: generator.drawUniform(), at: now)
        case .billing, .auth, .client, .server:
            tally.failed += 1
            gate.settle(call.id, actual: .zero, at: now)
        }
        spool.append(.call(record))
        answers += 1
        // Refusals tell of limits; of the others every twentieth does.
        if let answer, signal.kind != .ok || answers % 20 == 1 {
            let response = ResponseRecord(
                at: now, request: record.request, gateway: id, pool: DemoPlan.pool, model: DemoPlan.model,
                endpoint: "chat", provider: DemoPlan.provider, status: answer.status, signal: signal)
            spool.append(
                .response(response), id: nextLineID(), headers: answer.headers,
                body: signal.kind == .ok ? nil : answer.body)
        }
    }

    private func noteDenied(_ call: WaitingCall, at now: Timestamp) {
        tally.tenants[arrivals[call.id].tenant].denied += 1
        var record = callRecord(call, outcome: .denied, at: now)
        record.queuedMilliseconds = 1000 * now.seconds(since: call.arrival)
        spool.append(.call(record))
    }

    /// Its tokens are the estimate until a provider's answer tells better.
    private func callRecord(_ call: WaitingCall, outcome: Outcome, at now: Timestamp) -> CallRecord {
        CallRecord(
            id: nextLineID(), request: "\(id)-r\(call.id)", at: now, gateway: id, tenant: call.tenant,
            pool: DemoPlan.pool, model: DemoPlan.model, endpoint: "chat", criticality: call.criticality,
            outcome: outcome, inputTokens: arrivals[call.id].inputTokens,
            countedTokens: Int64(call.estimate[.tokens].rounded()))
    }

    private func work(of index: Int) -> Work {
        let arrival = arrivals[index]
        return Work(
            requests: 1, tokens: Double(arrival.inputTokens + arrival.outputTokens),
            inputTokens: Double(arrival.inputTokens), outputTokens: Double(arrival.outputTokens))
    }

    /// Ascending, so that the store need not search.
    func nextLineID() -> String {
        let digits = String(spool.appended)
        return "\(id):" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}

extension Outcome {
    /// The provider's word for what became of a call.
    fileprivate init(_ kind: ResponseKind) {
        switch kind {
        case .ok: self = .ok
        case .quota: self = .quota
        case .overload: self = .overload
        case .ramp: self = .ramp
        case .billing: self = .billing
        case .auth: self = .auth
        case .client: self = .client
        case .server: self = .server
        }
    }
}

/// The counts of one gateway, for the summary.
struct DemoTally: Sendable {
    struct Tenant: Sendable {
        var offered = Work.zero
        var served = Work.zero
        /// Calls that gave up before the gate let them go.
        var denied = 0
    }

    /// In the order of ``Roster/entries``.
    var tenants: [Tenant]
    /// Attempts that the provider refused.
    var refused = 0
    /// Attempts without a usable answer.
    var failed = 0
    /// Calls that waited when the run ended.
    var waiting = 0
    /// The part of each generation that this gateway was given.
    var parts: [SnapshotVersion: Part] = [:]

    struct Part: Sendable {
        let budget: Rates
        let capacity: Rates
    }

    init(tenants: Int) {
        self.tenants = Array(repeating: Tenant(), count: tenants)
    }
}
