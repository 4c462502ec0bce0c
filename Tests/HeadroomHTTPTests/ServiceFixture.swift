import HeadroomDecision
import HeadroomEnforcement
import HeadroomHTTP
import HeadroomJSON
import HeadroomMemoryStores
import HeadroomModel
import HeadroomWire
import Synchronization

/// The real service on a real socket, with a clock and a sink that the test holds.
final class ServiceFixture: Sendable {
    let clock: TestClock
    let board: SnapshotBoard
    let access: AccessControl
    let sink: TestSink
    let desk: MemoryDesk
    let conditions = ServiceConditions()
    let float: TestFloat
    let service: HTTPService
    let address: ListenAddress

    /// Starts a service, runs `test`, stops it.
    static func run(
        tokens: [AccessToken] = [], joinSeconds: Double = 3, viewersOnly: Bool = false, openMetrics: Bool = false,
        hasSecureCookies: Bool = false, rules: TelemetryRules? = nil, settings: ServerSettings = .test(),
        snapshotBytes: Int = SnapshotBoard.defaultMemoryBytes,
        _ test: @Sendable (ServiceFixture) async throws -> Void
    ) async throws {
        let fixture = try ServiceFixture(
            settings: settings, tokens: tokens, joinSeconds: joinSeconds, viewersOnly: viewersOnly,
            openMetrics: openMetrics, hasSecureCookies: hasSecureCookies, rules: rules, snapshotBytes: snapshotBytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await fixture.service.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await test(fixture)) } catch { result = .failure(error) }
            fixture.sink.open()
            await fixture.service.stop()
            try await group.waitForAll()
            try result.get()
        }
    }

    private init(
        settings: ServerSettings, tokens: [AccessToken], joinSeconds: Double, viewersOnly: Bool, openMetrics: Bool,
        hasSecureCookies: Bool, rules: TelemetryRules?, snapshotBytes: Int
    ) throws {
        clock = TestClock()
        let time = clock.source
        desk = MemoryDesk(time: time)
        board = SnapshotBoard(time: time, joinSeconds: joinSeconds, memoryBytes: snapshotBytes)
        // The digest of a secret is the secret itself, which no test has to compute.
        access = AccessControl(tokens: tokens, hasSecureCookies: hasSecureCookies, time: time) { $0 }
        sink = TestSink()
        var decoder = TelemetryDecoder { response in
            ProviderSignal(kind: response.status == 200 ? .ok : .quota)
        }
        decoder.limits.rules = rules
        float = TestFloat(at: clock.now)
        service = HTTPService(
            settings: settings, board: board, access: access,
            telemetry: TelemetryIntake(decoder: decoder, sink: sink, digest: { $0 }),
            draws: DrawIntake { [float] request, now throws(DrawRefusal) in try float.draw(request, at: now) },
            people: desk.ports,
            conditions: conditions, viewersOnly: viewersOnly, openMetrics: openMetrics)
        address = try service.start()
    }

    func client() throws -> RawClient { try RawClient(address) }

    func publish(_ generation: Int64, gateways: [GatewayID] = [], pools: [PoolAllocation]? = nil, lease: Double = 15) {
        board.publish(.sample(generation, gateways: gateways, pools: pools, lease: lease))
    }
}

extension ServerSettings {
    /// Any free port, and what else the test needs.
    static func test(_ change: (inout ServerSettings) -> Void = { _ in }) -> ServerSettings {
        var settings = ServerSettings(listen: ListenAddress(host: "127.0.0.1", port: 0))
        settings.stopSeconds = 2
        change(&settings)
        return settings
    }
}

extension MemoryDesk {
    var ports: PeoplePorts {
        PeoplePorts(
            steering: self, contracts: self, records: self, alerts: self, rules: self, preview: OverridePreview.effects,
            plan: { candidate, present, hours in
                // Enough to see what would be replayed.
                var writer = JSONWriter()
                writer.beginObject()
                writer.field("from", Timestamp(milliseconds: 0))
                writer.field("step_seconds", hours)
                for name in ["stretches", "tenants", "questions"] as [StaticString] { writer.field(name, []) }
                writer.field("tiers", each: [candidate, present]) { writer, rules in
                    writer.beginObject()
                    writer.field("pool", rules.policy.name)
                    writer.endObject()
                }
                writer.field("tenant_count", candidate.contracts.count)
                writer.endObject()
                return writer.bytes
            },
            share: { tenant, _, author, until in (name: "share-\(tenant)-\(author)", secret: "secret", until: until) },
            policyFiles: { [(path: "rules.json5", text: "{}")] })
    }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_793_000_000_000)

    private let wallAheadSeconds = Mutex(0.0)

    var source: TimeSource {
        TimeSource({ self.now }, wall: { self.now.adding(seconds: self.wallAheadSeconds.withLock { $0 }) })
    }
    var now: Timestamp { Timestamp(milliseconds: milliseconds.withLock { $0 }) }

    func setWall(byHours hours: Double) { wallAheadSeconds.withLock { $0 += hours * 3600 } }

    func advance(seconds: Double) {
        milliseconds.withLock { $0 += Int64(seconds * 1000) }
    }
}

/// The ledger of one pool, `openai:gpt-4o`, half of which is in the float.
final class TestFloat: Sendable {
    private let ledger: Mutex<FloatLedger>

    init(at now: Timestamp) {
        let rates = Rates(rpm: 600, tpm: 600_000)
        var pool = PoolAllocation.sample("openai:gpt-4o", rpm: 600)
        (pool.capacity, pool.nominal, pool.float, pool.budget) = (rates, rates, rates * 0.5, rates * 0.5)
        var ledger = FloatLedger(pool: pool.pool, epoch: Publication.epoch, at: now)
        ledger.follow(pool, budgets: [("gw-1", rates * 0.5)], at: now)
        self.ledger = Mutex(ledger)
    }

    var counts: FloatLedger.Counts { ledger.withLock { $0.counts } }

    func draw(_ request: DrawRequest, at now: Timestamp) throws(DrawRefusal) -> DrawAnswer {
        try ledger.withLock { ledger throws(DrawRefusal) in try ledger.draw(request, at: now) }
    }
}

/// Takes batches; commits when it is open, or fails.
final class TestSink: TelemetrySink {
    private struct State {
        var batches: [TelemetryBatch] = []
        var isOpen = true
        var refusal: TelemetryError?
        var waiting: [CheckedContinuation<Void, Never>] = []
        var entered = 0
    }

    private let state = Mutex(State())

    var batches: [TelemetryBatch] { state.withLock { $0.batches } }
    /// Calls of ``append(_:)`` so far.
    var entered: Int { state.withLock { $0.entered } }

    func close() { state.withLock { $0.isOpen = false } }
    func fill() { refuse(TelemetryError(.unavailable, "the disk is full")) }
    func refuse(_ refusal: TelemetryError) { state.withLock { $0.refusal = refusal } }
    func empty() { state.withLock { $0.refusal = nil } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func append(_ batch: TelemetryBatch) async throws(TelemetryError) -> TelemetryReceipt {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.entered += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
        if let refusal = state.withLock({ $0.refusal }) { throw refusal }
        state.withLock { $0.batches.append(batch) }
        return TelemetryReceipt(accepted: batch.lines.count, duplicate: 0, late: 0, rejected: batch.faults)
    }
}

extension Publication {
    static let epoch: Int64 = 1_793_000_000

    /// A pool of two tenants whose rates follow the generation; each gateway gets half of it.
    static func sample(
        _ generation: Int64, gateways: [GatewayID] = [], pools: [PoolAllocation]? = nil, lease: Double = 15
    ) -> Publication {
        let pools = pools ?? [.sample("openai:gpt-4o", rpm: 100), .sample("azure:gpt-4o", rpm: Double(generation))]
        let whole = Snapshot(
            version: SnapshotVersion(epoch: epoch, generation: generation),
            issuedAt: Timestamp(milliseconds: 1_793_000_000_000), leaseSeconds: lease, policy: "default@0",
            pools: pools.sorted { $0.pool < $1.pool })
        return Publication(
            whole: whole,
            parts: gateways.map { gateway in
                var part = whole
                for index in part.pools.indices { part.pools[index].budget = part.pools[index].budget * 0.5 }
                return (gateway: gateway, snapshot: part)
            })
    }
}

extension PoolAllocation {
    static func sample(_ pool: PoolID, rpm: Double) -> PoolAllocation {
        PoolAllocation(
            pool: pool, capacity: Rates(rpm: rpm), nominal: Rates(rpm: rpm), budget: Rates(rpm: rpm),
            tenants: [
                TenantAllocation(tenant: "acme", assured: Rates(rpm: rpm / 2)),
                TenantAllocation(tenant: "globex", assured: Rates(rpm: 10)),
            ])
    }
}

extension AccessToken {
    /// The secret is the name.
    static func sample(
        _ name: String, _ role: Role, gateways: GatewayNames = [], pools: Set<PoolID>? = nil,
        tenants: Set<TenantID>? = nil, expires: Timestamp? = nil
    ) -> AccessToken {
        AccessToken(
            name: name, role: role, gateways: gateways, pools: pools, tenants: tenants,
            secretDigest: Array(name.utf8), expires: expires)
    }
}
