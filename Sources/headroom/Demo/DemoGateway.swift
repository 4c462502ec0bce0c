import Foundation
import HeadroomClient
import HeadroomHTTP
import HeadroomModel
import HeadroomSimulator
import Synchronization

/// An enforcement gateway as a platform builds one: ``BudgetManager`` says which call goes next, and this carries calls to
/// the provider.
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
    private let record: DemoRecord
    private let received: ReceivedParts
    private var counts = DemoTally()

    init(
        index: Int, plan: DemoPlan, time: TimeSource, links: DemoLinks, record: DemoRecord, headroom: ListenAddress
    ) throws {
        id = DemoPlan.gateways[index]
        self.plan = plan
        self.time = time
        self.links = links
        self.record = record
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

    /// Sends a call when its turn has come, and again while the gate advises it. False when its caller's patience ended.
    func play(_ job: Job, name: String, from start: Timestamp) async -> Bool {
        let call = Call(
            tenant: plan.roster.entries[job.tenant].tenant, pool: DemoPlan.pool, criticality: job.criticality,
            inputTokens: Int(job.inputTokens), maxWait: .seconds(plan.scenario.clients.patience(of: job)),
            request: name,
            model: DemoPlan.model, endpoint: "chat", provider: DemoPlan.provider)
        let arrival = job.seconds
        do throws(Refusal) {
            var slot = try await manager.slot(for: call)
            while true {
                let second = time.now().seconds(since: start)
                let advice = await carryOut(slot, job)
                switch advice.kind {
                case .ok:
                    record.serve(job, arrivedAt: arrival, at: second)
                    return true
                case .quota, .overload, .ramp: record.refuse(at: second)
                case .billing, .auth, .client, .server: counts.failed += 1
                }
                guard case .after = advice.retry else { return false }
                slot = try await slot.again()
            }
        } catch {
            return false
        }
    }

    /// At the end of the run: all calls that wait are refused, and counted.
    func refuseWaiting() { counts.waiting += manager.refuseWaiting() }

    /// Sends what telemetry is left and says goodbye. Nothing may wait any more.
    func stop() async { await manager.stop() }

    private func carryOut(_ slot: Slot, _ job: Job) async -> Advice {
        let answer = await links.call(inputTokens: job.inputTokens, outputTokens: job.outputTokens)
        guard let answer else { return slot.finish(.fault(.connection)) }
        let isServed = answer.status == 200
        return slot.finish(
            .answer(
                status: answer.status, headers: answer.headers, body: answer.body,
                inputTokens: isServed ? Int(job.inputTokens) : nil,
                outputTokens: isServed ? Int(job.outputTokens) : nil))
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
}
