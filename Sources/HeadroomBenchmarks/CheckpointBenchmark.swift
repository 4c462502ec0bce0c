import HeadroomLoop
import HeadroomModel
import HeadroomStorage

/// The checkpoint of each minute, where every tenant was active in every pool: what the loop's tick pays, what the store
/// pays, and how long telemetry that comes meanwhile waits for its commit.
enum CheckpointBenchmark {
    private static let start = Timestamp(milliseconds: 1_793_000_040_000)

    static func run(smoke: Bool) throws {
        try waitFor { try await measure(pools: 10, tenants: smoke ? 500 : 10_000) }
    }

    private static func measure(pools: Int, tenants: Int) async throws {
        let (classifier, observer) = await telemetryReaders(pools: pools, at: start)
        let directory = try BenchmarkDirectory()
        let coding = SnapshotStore.Coding(encode: { _ in [] }, decode: { _ in throw CancellationError() })
        let database = try Database(
            path: directory.path + "/headroom.db", use: .service, coding: coding, time: TimeSource { start })
        print("checkpoint: \(tenants) tenants x \(pools) pools, each active in each of three minutes, synchronous FULL")
        for minute in 0..<3 {
            let now = start.adding(seconds: Double(60 * minute + 30))
            for tenant in 0..<tenants {
                let calls = (0..<pools).map { call(of: tenant, in: $0, at: now) }
                await observer.fold(calls, at: now)
                await classifier.fold(calls, at: now)
            }
            _ = await classifier.estimate(capacities: await observer.estimate(at: now), at: now)
            try await save(classifier, observer, in: database, minute: minute, at: now)
        }
    }

    private static func save(
        _ classifier: TenantConsumptionClassifier, _ observer: UpstreamCapacityObserver, in database: Database,
        minute: Int, at now: Timestamp
    ) async throws {
        let clock = ContinuousClock()
        let began = clock.now
        let checkpoint = Checkpoint(
            at: now, cursor: .start, observer: await observer.checkpoint(),
            classifier: await classifier.checkpoint())
        let encoded = clock.now
        let rollups = await classifier.unstoredRollups()
        let summed = clock.now
        async let waited = longestWait(in: database, minute: minute, at: now)
        try await database.checkpoints.save(checkpoint, rollups: rollups)
        let stored = clock.now
        await classifier.forgetRollups()
        func milliseconds(_ from: ContinuousClock.Instant, _ to: ContinuousClock.Instant) -> Int {
            Int(from.duration(to: to) / .milliseconds(1))
        }
        print(
            "  minute \(minute + 1): state \(milliseconds(began, encoded)) ms "
                + "(\(checkpoint.classifier.count / 1_000_000) MB), sums \(milliseconds(encoded, summed)) ms "
                + "(\(rollups.count) rows), stored in \(milliseconds(summed, stored)) ms; "
                + "telemetry waited \(Int(try await waited / .milliseconds(1))) ms")
    }

    /// Of batches of a line that follow each other while the checkpoint is stored.
    private static func longestWait(in database: Database, minute: Int, at now: Timestamp) async throws -> Duration {
        let clock = ContinuousClock()
        var longest = Duration.zero
        for number in 0..<20 {
            let line = TelemetryBatch.Line(number: 1, id: "m\(minute)-\(number)", record: call(of: 0, in: 0, at: now))
            let batch = TelemetryBatch(gateway: "gw-1", received: now, lines: [line])
            let began = clock.now
            _ = try await database.telemetry.append(batch)
            longest = max(longest, began.duration(to: clock.now))
        }
        return longest
    }

    private static func call(of tenant: Int, in pool: Int, at now: Timestamp) -> TelemetryRecord {
        .call(
            CallRecord(
                request: "r-\(now.milliseconds)-\(tenant)-\(pool)", at: now, gateway: "gw-1",
                tenant: TenantID(unchecked: "tenant-\(tenant)"), pool: PoolID(unchecked: "pool-\(pool)"), outcome: .ok,
                latencyMilliseconds: 800, inputTokens: 1_000, outputTokens: 200))
    }
}
