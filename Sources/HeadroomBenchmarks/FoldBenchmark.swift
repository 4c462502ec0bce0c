import Glibc
import HeadroomLoop
import HeadroomModel
import HeadroomSimulator

/// Call records folded into both actors that read telemetry, on all cores, and a tick's estimate; and what a tenant in a
/// pool takes of memory while it is active and when it is idle.
enum FoldBenchmark {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    /// Records a second of virtual time, as of real time.
    private static let rate = 100_000

    static func run(smoke: Bool) {
        // The benchmarks' main is not asynchronous; what is measured stays on its thread.
        CallingThreadExecutor().run {
            await measure(pools: 10, tenants: smoke ? 500 : 10_000, seconds: smoke ? 2 : 30)
        }
    }

    private static func measure(pools: Int, tenants: Int, seconds: Int) async {
        let (classifier, observer) = await telemetryReaders(pools: pools, at: start)
        print("fold: \(tenants) tenants x \(pools) pools, \(rate) call records a second of virtual time")

        let before = MemoryUse.now
        // Every pair once, so that all profiles are there.
        let first = page(second: 0, count: tenants * pools, tenants: tenants, pools: pools, isInOrder: true)
        await classifier.fold(first, at: start)
        _ = await classifier.estimate(capacities: await observer.estimate(at: start), at: start)
        var folded = 0
        var (classifying, observing, estimating) = (0.0, 0.0, [Double]())
        let clock = ContinuousClock()
        for second in 1...seconds {
            let records = page(second: second, count: rate, tenants: tenants, pools: pools, isInOrder: false)
            let now = start.adding(seconds: Double(second))
            let began = clock.now
            await observer.fold(records, at: now)
            let middle = clock.now
            await classifier.fold(records, at: now)
            observing += began.duration(to: middle) / .seconds(1)
            classifying += middle.duration(to: clock.now) / .seconds(1)
            folded += records.count
            if second.isMultiple(of: 2) {
                let capacities = await observer.estimate(at: now)
                let began = clock.now
                _ = await classifier.estimate(capacities: capacities, at: now)
                estimating.append(began.duration(to: clock.now) / .seconds(1))
            }
        }
        line("folded into both", Double(folded) / (classifying + observing), "records/s")
        line("of it the classifier", classifying * 1e9 / Double(folded), "ns a record")
        line("of it the observer", observing * 1e9 / Double(folded), "ns a record")
        line("a tick's estimate, all active", (estimating.sorted()[estimating.count / 2]) * 1e3, "ms")
        await giveBack(classifier, observer, from: seconds)
        memory("all active", since: before, pairs: tenants * pools)

        await idle(classifier, observer, from: seconds, pairs: tenants * pools, before: before)
    }

    /// Once a minute the service gives freed memory back, and the next tick takes pages anew.
    private static func giveBack(
        _ classifier: TenantConsumptionClassifier, _ observer: UpstreamCapacityObserver, from second: Int
    ) async {
        let now = start.adding(seconds: Double(second))
        let clock = ContinuousClock()
        let began = clock.now
        MemoryUse.giveBackFreed()
        line("giving freed memory back", began.duration(to: clock.now) / .milliseconds(1), "ms")
        let capacities = await observer.estimate(at: now)
        let tick = clock.now
        _ = await classifier.estimate(capacities: capacities, at: now)
        line("the tick's estimate behind it", tick.duration(to: clock.now) / .milliseconds(1), "ms")
    }

    /// Half an hour later, when rings and demand are gone.
    private static func idle(
        _ classifier: TenantConsumptionClassifier, _ observer: UpstreamCapacityObserver, from second: Int, pairs: Int,
        before: MemoryUse
    ) async {
        for minute in 1...30 {
            let now = start.adding(seconds: Double(second + 60 * minute))
            _ = await classifier.estimate(capacities: await observer.estimate(at: now), at: now)
            // As each minute's checkpoint does.
            await classifier.forgetRollups()
        }
        let now = start.adding(seconds: Double(second + 60 * 31))
        let capacities = await observer.estimate(at: now)
        let clock = ContinuousClock()
        var ticks: [Double] = []
        for _ in 1...9 {
            let began = clock.now
            _ = await classifier.estimate(capacities: capacities, at: now)
            ticks.append(began.duration(to: clock.now) / .milliseconds(1))
        }
        line("a tick's estimate, all idle", ticks.sorted()[4], "ms")
        memory("all idle", since: before, pairs: pairs)
        let saving = clock.now
        let bytes = await classifier.checkpoint()
        line("a checkpoint of it", saving.duration(to: clock.now) / .milliseconds(1), "ms")
        line("its size", Double(bytes.count) / Double(pairs), "bytes a tenant x pool")
    }

    /// Requests, sizes, outcomes and gateways as telemetry has them; every pair of tenant and pool alike, which is the
    /// hardest on caches.
    private static func page(
        second: Int, count: Int, tenants: Int, pools: Int, isInOrder: Bool
    ) -> [TelemetryRecord] {
        var state = UInt64(second) &* 0x9E37_79B9_7F4A_7C15 | 1
        func draw(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        return (0..<count).map { index in
            let tenant = isInOrder ? index / pools : draw(tenants)
            let pool = isInOrder ? index % pools : draw(pools)
            let outcome: Outcome = draw(20) == 0 ? .denied : draw(50) == 0 ? .quota : .ok
            return .call(
                CallRecord(
                    request: "request-of-\(second)-\(index)",
                    at: start.adding(seconds: Double(second) - 1 + Double(index) / Double(count)),
                    gateway: gateways[draw(gateways.count)], tenant: TenantID(unchecked: "tenant-\(tenant)"),
                    pool: PoolID(unchecked: "pool-\(pool)"), model: "model-1", endpoint: "chat", outcome: outcome,
                    latencyMilliseconds: Double(200 + draw(3000)), inputTokens: Int64(100 + draw(4000)),
                    outputTokens: outcome == .ok ? Int64(10 + draw(600)) : nil, maxTokens: 2048))
        }
    }

    private static let gateways = (1...16).map { GatewayID(unchecked: "gateway-\($0)") }

    private static func memory(_ what: String, since before: MemoryUse, pairs: Int) {
        let peak = MemoryUse.now - before
        MemoryUse.giveBackFreed()
        let use = MemoryUse.now - before
        line("memory in use, \(what)", Double(use.allocated) / Double(pairs), "bytes a tenant x pool")
        line("resident, \(what), behind a tick", Double(peak.resident) / Double(pairs), "bytes a tenant x pool")
        line(
            "resident, \(what), once freed is given back", Double(use.resident) / Double(pairs), "bytes a tenant x pool"
        )
    }

    private static func line(_ what: String, _ value: Double, _ unit: String) {
        print("  \(what): \((value * 10).rounded() / 10) \(unit)")
    }
}
