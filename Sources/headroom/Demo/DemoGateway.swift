import Foundation
import HeadroomClient
import HeadroomHTTP
import HeadroomModel
import HeadroomSimulator
import Synchronization

/// An enforcement gateway as a platform builds one: ``BudgetManager`` says which call goes next, and this carries calls to
/// the provider. It replays its part of the trace.
actor DemoGateway {
    /// More wait, after they have had their turn, for a free connection.
    static let maxCallsInFlight = 256
    /// How often the end of the run is looked for.
    private static let pauseSeconds = 0.025

    let manager: BudgetManager
    private let id: GatewayID
    private let plan: DemoPlan
    private let time: TimeSource
    private let links: DemoLinks
    private let arrivals: [DemoPlan.Arrival]
    private let received: ReceivedParts
    private var counts: DemoTally
    private var isEnding = false
    private var hasEnded = false

    init(index: Int, plan: DemoPlan, time: TimeSource, links: DemoLinks, headroom: ListenAddress) throws {
        id = DemoPlan.gateways[index]
        self.plan = plan
        self.time = time
        self.links = links
        arrivals = plan.arrivals[index]
        counts = DemoTally(tenants: plan.roster.entries.count)
        let received = ReceivedParts()
        self.received = received
        guard let address = URL(string: "http://\(headroom)") else { throw CommandError("no URL for \(headroom)") }
        manager = try BudgetManager(
            BudgetManager.Settings(gateway: id, addresses: [address]), time: time,
            seed: plan.seed &+ UInt64(index), applied: { received.note($0) })
    }

    var tally: DemoTally {
        var tally = counts
        tally.parts = received.parts
        return tally
    }

    /// True once the gateway has its own part: the first answer is for readers, and is acknowledged to take part. False
    /// when it has none within `seconds`.
    func connect(withinSeconds seconds: Double) async -> Bool {
        let end = time.now().adding(seconds: seconds)
        while !hasPart, time.now() < end { try? await Task.sleep(for: .seconds(DemoGateway.pauseSeconds)) }
        return hasPart
    }

    private var hasPart: Bool {
        manager.poolStates.first { $0.pool == DemoPlan.pool }?.status.allocation?.enforce ?? false
    }

    /// Replays everything from `start` on, then sends what telemetry is left and says goodbye. Ends early after ``end()``.
    func run(from start: Timestamp) async {
        await withDiscardingTaskGroup { group in
            for (index, arrival) in arrivals.enumerated() where arrival.seconds < plan.seconds {
                await pause(until: start.adding(seconds: arrival.seconds))
                guard !isEnding else { break }
                counts.tenants[arrival.tenant].offered += arrival.work
                group.addTask { await self.play(arrival, request: "\(self.id)-r\(index)") }
            }
            await pause(until: start.adding(seconds: plan.seconds))
            hasEnded = true
            counts.waiting = manager.refuseWaiting()
        }
        await manager.stop()
    }

    /// No more calls; those on their way are waited for.
    func end() { isEnding = true }

    private func pause(until instant: Timestamp) async {
        while !isEnding {
            let left = instant.seconds(since: time.now())
            guard left > 0 else { return }
            try? await Task.sleep(for: .seconds(min(left, DemoGateway.pauseSeconds)))
        }
    }

    // MARK: Calls

    private func play(_ arrival: DemoPlan.Arrival, request: String) async {
        let entry = plan.roster.entries[arrival.tenant]
        let call = Call(
            tenant: entry.tenant, pool: DemoPlan.pool, criticality: entry.criticality,
            inputTokens: Int(arrival.inputTokens), maxWait: .seconds(DemoPlan.patienceSeconds(entry.criticality)),
            request: request, model: DemoPlan.model, endpoint: "chat", provider: DemoPlan.provider)
        do throws(Refusal) {
            var slot = try await manager.slot(for: call)
            while case .after = await carryOut(slot, arrival).retry { slot = try await slot.again() }
        } catch {
            // Those that wait when the run ends are counted there.
            if !hasEnded { counts.tenants[arrival.tenant].denied += 1 }
        }
    }

    private func carryOut(_ slot: Slot, _ arrival: DemoPlan.Arrival) async -> Advice {
        let answer = await links.call(inputTokens: arrival.inputTokens, outputTokens: arrival.outputTokens)
        guard let answer else {
            counts.failed += 1
            return slot.finish(.fault(.connection))
        }
        let isServed = answer.status == 200
        let advice = slot.finish(
            .answer(
                status: answer.status, headers: answer.headers, body: answer.body,
                inputTokens: isServed ? Int(arrival.inputTokens) : nil,
                outputTokens: isServed ? Int(arrival.outputTokens) : nil))
        switch advice.kind {
        case .ok: counts.tenants[arrival.tenant].served += arrival.work
        case .quota, .overload, .ramp: counts.refused += 1
        case .billing, .auth, .client, .server: counts.failed += 1
        }
        return advice
    }
}

/// The part of each generation that a gateway was given.
private final class ReceivedParts: Sendable {
    private let state = Mutex<[SnapshotVersion: DemoTally.Part]>([:])

    var parts: [SnapshotVersion: DemoTally.Part] { state.withLock { $0 } }

    func note(_ snapshot: Snapshot) {
        // A first poll gets the whole, which is not enforced: it is nobody's part.
        guard let allocation = snapshot.pools.first(where: { $0.pool == DemoPlan.pool }), allocation.enforce else {
            return
        }
        state.withLock {
            $0[snapshot.version] = DemoTally.Part(budget: allocation.budget, capacity: allocation.capacity)
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
