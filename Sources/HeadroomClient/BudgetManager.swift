import Foundation
import HeadroomEnforcement
import HeadroomModel
import HeadroomWire
import Synchronization

/// Enforces Headroom's allocations in a gateway: calls ask it for their turn, and say how they ended.
///
/// ```swift
/// let manager = try BudgetManager(.init(gateway: "gw-1", addresses: [URL(string: "http://127.0.0.1:8420")!]))
/// async let serving: Void = manager.run()
///
/// let slot = try await manager.slot(for: Call(tenant: "acme", pool: "openai:gpt-4o", inputTokens: 1200))
/// // … send the call …
/// slot.finish(.answer(status: 200, headers: headers, inputTokens: 1180, outputTokens: 310))
/// await manager.stop()
/// ```
///
/// Nothing that a call waits for depends on Headroom. Before the first snapshot everything passes and is counted; when
/// the lease has run out, the snapshot's fallback is in force. Telemetry waits in bounded memory, and then on disk.
public final class BudgetManager: Sendable {
    public struct Settings: Sendable {
        /// Its name at Headroom. Processes that share no counters need names of their own, as `gw-1.0` and `gw-1.1`.
        public var gateway: GatewayID
        /// Of Headroom: `http` or `https`. When one does not answer, the next is asked.
        public var addresses: [URL]
        /// Of role gateway; `nil` on a machine whose Headroom has no tokens.
        public var token: String?
        /// Where the last good snapshot is kept, and telemetry while Headroom is away. `nil`: in memory only. Of one process:
        /// one that is killed and starts again there takes its part over at once, where it would have to wait for the end
        /// of the dead one's lease.
        public var directory: URL?
        /// Waiting calls draw from what other gateways leave unused; otherwise they live on what this gateway has.
        public var draws = true
        /// Answers are kept and used again; `nil`: none are. They outlive the process where there is a directory.
        public var cache: AnswerCache.Settings?
        /// What becomes of calls for a pool that the snapshot does not name.
        public var unknownPools = UnlimitedCalls.refuse
        /// What becomes of calls before the first snapshot.
        public var beforeAllocations = UnlimitedCalls.pass
        /// Of an answer without a bound, as long as neither the tenant's own answers nor Headroom say more. Means of five
        /// recorded workloads of chat and code are 28 to 346; models that reason at length give thousands.
        public var defaultOutputTokens = 300
        /// Calls that wait or are on their way, per pool.
        public var maxCalls = 100_000

        public init(gateway: GatewayID, addresses: [URL], token: String? = nil, directory: URL? = nil) {
            self.gateway = gateway
            self.addresses = addresses
            self.token = token
            self.directory = directory
        }
    }

    /// What becomes of calls that nothing limits.
    public enum UnlimitedCalls: String, CaseIterable, Sendable {
        case refuse
        /// They pass, with a warning, and are counted.
        case pass
    }

    /// Settings that cannot be used; says what would be right.
    public struct SettingsError: Error, Equatable, Sendable, CustomStringConvertible {
        public let description: String
    }

    package let settings: Settings
    package let reporter: Reporter
    /// `nil` where the settings have none.
    public let cache: AnswerCache?
    private let time: TimeSource
    /// Tells this process from others under its name.
    private let boot: String
    private let applied: @Sendable (Snapshot) -> Void
    private let link: HeadroomLink
    private let feed: AllocationFeed
    private let pools: PoolBudgets
    private let tasks = TaskBudgets()
    private let draws: AsyncStream<DrawRequest>
    private let saved: Mutex<SavedSnapshot?>
    private let stopped: AsyncStream<Void>
    private let stopping: AsyncStream<Void>.Continuation
    private let finished: AsyncStream<Void>
    private let finishing: AsyncStream<Void>.Continuation

    /// Throws ``SettingsError``. Nothing is sent before ``run()``.
    public convenience init(_ settings: Settings) throws {
        try self.init(
            settings, time: .anchored(atMillisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000)),
            seed: UInt64.random(in: 0...UInt64.max))
    }

    /// - Parameter applied: is told of each snapshot that has come into force.
    package init(
        _ settings: Settings, time: TimeSource, seed: UInt64, applied: @escaping @Sendable (Snapshot) -> Void = { _ in }
    ) throws {
        guard !settings.addresses.isEmpty else {
            throw SettingsError(
                description: "there is no address of Headroom: give at least one, as http://127.0.0.1:8420")
        }
        for address in settings.addresses where address.host == nil || !["http", "https"].contains(address.scheme) {
            throw SettingsError(
                description:
                    "\"\(address.absoluteString)\" is no address of Headroom: one is http://HOST:PORT or https://HOST")
        }
        self.settings = settings
        self.time = time
        self.applied = applied
        let now = time.now()
        boot = "b" + String(seed, radix: 36)
        let claim: ProcessClaim?
        do {
            claim = try settings.directory.map { [boot] in
                try ProcessClaim(directory: $0, gateway: settings.gateway, boot: boot)
            }
            cache = try settings.cache.map {
                try AnswerCache($0, directory: settings.directory?.appending(path: "cache"), time: time)
            }
            saved = Mutex(try settings.directory.map { try SavedSnapshot(directory: $0) })
            reporter = Reporter(
                firstNumber: now.milliseconds,
                spool: try settings.directory.map { try Spool(directory: $0.appending(path: "spool")) })
        } catch {
            throw SettingsError(
                description:
                    "\(settings.directory?.path ?? "") cannot be used: name a directory that this process may write to")
        }
        link = HeadroomLink(addresses: settings.addresses, token: settings.token, time: time)
        feed = AllocationFeed(
            gateway: settings.gateway, boot: boot, claim: claim, seed: seed, link: link, time: time)
        // A draw that is not sent is asked for again.
        let (draws, drawing) = AsyncStream.makeStream(of: DrawRequest.self, bufferingPolicy: .bufferingNewest(256))
        self.draws = draws
        let draw: @Sendable (DrawRequest) -> Void = { _ = drawing.yield($0) }
        pools = PoolBudgets(
            settings, seed: seed, boot: boot, time: time, reporter: reporter, tasks: tasks,
            draw: settings.draws ? draw : nil)
        (stopped, stopping) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        (finished, finishing) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
        if let snapshot = saved.withLock({ $0?.load() }) { pools.load(snapshot, leaseUntil: now) }
    }

    // MARK: Calls

    /// Waits for the call's turn, at most ``Call/maxWait``. Where the pool is broken, the first of its fail-over list that
    /// is not takes the call: ``Slot/pool`` says which.
    ///
    /// Throws what to do instead. Cancelling the task gives the call's place up.
    public func slot(for call: Call) async throws(Refusal) -> Slot {
        let slot = Slot(try await PoolBudget.follow(await pools.pool(for: call.pool).turn(for: call)))
        guard !Task.isCancelled else {
            slot.giveBack()
            throw Refusal(.fail, "the task was cancelled before the call's turn")
        }
        return slot
    }

    /// The call's turn if it may go at once. It may not while more urgent work waits.
    public func tryAdmit(_ call: Call) throws(Refusal) -> Slot {
        var pool = try pools.pool(for: call.pool)
        for _ in 0..<PoolBudget.maxDiversions {
            guard case .answered(let answer, _) = pool.begin(call, patience: 0, isAwaited: true) else { break }
            switch answer {
            case .turn(let turn): return Slot(turn)
            case .refused(let refusal): throw refusal
            case .diverted(let way): pool = way.budget
            }
        }
        throw PoolBudget.allBroken
    }

    /// An answer to the question that was kept before, in place of the call. It is reported as `cached`, with the tokens
    /// that it saves: it takes nothing from the pool and counts in no budget.
    public func cachedAnswer(to question: CacheQuestion, for call: Call) -> CachedAnswer? {
        guard let answer = cache?.answer(to: question) else { return nil }
        reporter.append(
            .call(
                CallRecord(
                    request: call.request, at: time.now(), gateway: settings.gateway, tenant: call.tenant,
                    pool: call.pool, model: call.model ?? question.model, endpoint: call.endpoint,
                    criticality: call.criticality, task: call.task, parent: call.parent, outcome: .cached,
                    inputTokens: Int64(answer.inputTokens), outputTokens: Int64(answer.outputTokens),
                    taskKind: call.taskKind)))
        return answer
    }

    // MARK: Headroom

    /// Polls allocations and sends telemetry until ``stop()``: then it sends what is left and says goodbye, so that other
    /// gateways have this one's part at once. Cancelling its task ends it without that.
    ///
    /// Once.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.feed.run { self.apply($0) } }
            group.addTask { await self.keepReporting() }
            group.addTask { await self.keepDrawing() }
            for await _ in stopped { break }
            group.cancelAll()
        }
        for _ in 0..<Self.maxTriesAtEnd {
            if await report() { break }
            try? await Task.sleep(for: .seconds(Self.reportSeconds))
        }
        _ = await link.exchange("DELETE", "v1/gateways/\(settings.gateway)", withinSeconds: 2)
        link.close()
        finishing.finish()
    }

    /// Ends ``run()`` in order, and returns when it has ended. Calls that wait are refused.
    public func stop() async {
        refuseWaiting()
        stopping.finish()
        for await _ in finished {}
    }

    /// Refuses all calls that wait, and says how many they were.
    @discardableResult
    package func refuseWaiting() -> Int { pools.all.reduce(0) { $0 + $1.refuseWaiting() } }

    private static let reportSeconds = 1.0
    private static let maxTriesAtEnd = 3

    private func keepReporting() async {
        while !Task.isCancelled {
            // Throws when the manager stops; the loop's condition says so.
            try? await Task.sleep(for: .seconds(Self.reportSeconds))
            for pool in pools.all {
                for queue in pool.queues() { reporter.append(.queue(queue)) }
                // What flowed back is told once a second, also where nothing waits.
                pool.serve()
            }
            await report()
        }
    }

    @discardableResult
    private func report() async -> Bool {
        await reporter.sendAll { batch in
            let headers = [
                "Content-Type": "application/x-ndjson", "Headroom-Batch": String(batch.number),
                "Headroom-Sent-At": String(time.now().milliseconds), "Headroom-Boot": boot,
            ]
            guard
                let answer = await link.exchange(
                    "POST", "v1/telemetry", headers: headers, body: batch.bytes, withinSeconds: 10)
            else { return .unanswered }
            switch answer.status {
            case 200:
                guard let read = try? TelemetryAnswer.decode(answer.body) else {
                    return .refused("an answer that cannot be read")
                }
                for (pool, clocks) in read.serviceClocks { pools[pool]?.update(serviceClocks: clocks) }
                return .answered(read.receipt)
            // The token may be put right.
            case 401, 403, 408, 429, 500...: return .unanswered
            default: return .refused(answer.problem)
            }
        }
    }

    /// Until the task is cancelled.
    private func keepDrawing() async {
        await withDiscardingTaskGroup { group in
            for await request in draws { group.addTask { await self.send(request) } }
        }
    }

    private func send(_ request: DrawRequest) async {
        let answer = await link.exchange(
            "POST", "v1/draw", headers: ["Content-Type": "application/json"], body: request.encoded(),
            withinSeconds: 1)
        // Without an answer the gate lends what it has, and asks again.
        guard let answer, answer.status == 200, let read = try? DrawAnswer.decode(answer.body) else { return }
        pools[request.pool]?.receive(read)
    }

    private func apply(_ change: AllocationFeed.Change) {
        guard let snapshot = change.snapshot else { return pools.renew(leaseUntil: change.leaseUntil) }
        pools.load(snapshot, leaseUntil: change.leaseUntil)
        applied(snapshot)
        saved.withLock { $0?.save(snapshot, at: time.now()) }
    }

    // MARK: State

    /// What is in force here.
    public struct State: Sendable {
        public enum Lease: Equatable, Sendable {
            /// There has been no snapshot: everything passes.
            case none
            case live(left: Duration)
            /// The fallback is in force.
            case expired
        }

        /// `EPOCH.GENERATION`; `nil` before the first snapshot.
        public var version: String?
        public var lease: Lease
        /// Why Headroom cannot be used just now.
        public var problem: String?
        /// Lines of telemetry: that Headroom has, that it refused, and that there was no room for while it was away.
        public var reported: Int
        public var rejected: Int
        /// Calls since the start for pools that the snapshot did not name.
        public var unknownPoolCalls: Int
        public var dropped: Int
        /// Calls that were refused since the start because of their agent tasks: the budget is used up, the task is
        /// stopped, or the call names none where it has to.
        public var refusedByTask: Int
    }

    public var state: State {
        let now = time.now()
        let lease: State.Lease =
            switch feed.lease.state(at: now) {
            case .none: .none
            case .live(let until): .live(left: .milliseconds(until.milliseconds - now.milliseconds))
            case .expired: .expired
            }
        let counts = reporter.counts
        return State(
            version: feed.version?.description, lease: lease,
            problem: link.problem ?? reporter.faults.last.map { "refused telemetry: \($0.detail)" },
            reported: counts.accepted, rejected: counts.rejected,
            unknownPoolCalls: pools.unknownCalls, dropped: counts.dropped,
            refusedByTask: tasks.refused)
    }

    /// Each pool's, ascending by id.
    package var poolStates: [(pool: PoolID, status: PoolBudget.Status)] {
        pools.all.map { ($0.pool, $0.status()) }
    }

    /// Why nothing limits the calls of a pool; `nil` where Headroom names it.
    package func warning(of budget: PoolBudget) -> String? { pools.warning(of: budget.pool) }

    package func pool(_ id: PoolID) throws(Refusal) -> PoolBudget { try pools.pool(for: id) }

    /// For tests, which have no Headroom and a clock of their own.
    package func load(_ snapshot: Snapshot, leaseUntil: Timestamp) { pools.load(snapshot, leaseUntil: leaseUntil) }
    package func serve() { pools.serve() }
}
