import HeadroomModel

/// Seeded records and snapshots, small enough to read and varied enough to meet every field.
enum RandomWire {
    static let now: Int64 = 1_793_000_000_000

    static func record(_ generator: inout SplitMix64) -> TelemetryRecord {
        let at = Timestamp(milliseconds: now - Int64.random(in: 0...800_000, using: &generator))
        let gateway: GatewayID = ["gw-1", "gw-2"].randomElement(using: &generator)!
        let tenant: TenantID = ["acme", "b.c@d:e-f_g", "T9"].randomElement(using: &generator)!
        let pool: PoolID = ["openai:gpt-4o", "p"].randomElement(using: &generator)!
        let criticality = Criticality.allCases.randomElement(using: &generator)!
        func count() -> Int64 { Int64.random(in: 0...1_000_000_000_000, using: &generator) }
        func some<Value>(_ value: Value) -> Value? { Bool.random(using: &generator) ? value : nil }
        func text() -> String { ["", "r-77", "π \"\\\n", "gpt-4o-2024-11-20"].randomElement(using: &generator)! }
        func duration() -> Double { Double.random(in: 0...86_400_000, using: &generator) }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0:
            var call = CallRecord(
                id: some(text()), request: some(text()), at: at, gateway: gateway, tenant: tenant, pool: pool,
                model: some(text()), endpoint: some(text()), criticality: criticality, task: some(text()),
                parent: some(text()), attempt: Int.random(in: 1...9, using: &generator),
                outcome: Outcome.allCases.randomElement(using: &generator)!, status: some(429),
                latencyMilliseconds: some(duration()), queuedMilliseconds: some(duration()),
                inputTokens: some(count()), outputTokens: some(count()), cachedInputTokens: some(count()),
                maxTokens: some(count()), countedTokens: some(count()), taskKind: some(text()))
            call.isToolWork = Bool.random(using: &generator)
            return .call(call)
        case 1:
            let outcomes = (0..<4).map { _ in Int64.random(in: 0...1000, using: &generator) }
            let requests = outcomes.reduce(0, +)
            let seconds = Double(Int.random(in: 1...100_000, using: &generator)) / 1000
            return .window(
                WindowRecord(
                    id: some(text()), start: at.adding(seconds: -seconds), seconds: seconds, gateway: gateway,
                    tenant: tenant, pool: pool, criticality: criticality, requests: requests, ok: outcomes[0],
                    quota: outcomes[1], overload: outcomes[2], error: outcomes[3],
                    retries: Int64.random(in: 0...requests, using: &generator), denied: count(),
                    deniedTokens: count(), inputTokens: count(), outputTokens: count(),
                    latency: some(
                        .init(count: 3, p50Milliseconds: 0.1, p95Milliseconds: 2, p99Milliseconds: duration() + 2))))
        case 2:
            return .queue(
                QueueRecord(
                    at: at, gateway: gateway, tenant: tenant, pool: pool, criticality: criticality, depth: count(),
                    tokens: count(), oldestAgeMilliseconds: duration()))
        case 3:
            return .response(
                ResponseRecord(
                    at: at, request: some(text()), gateway: gateway, pool: pool, model: some(text()),
                    endpoint: some(text()), provider: some("openai"), status: 429,
                    signal: ProviderSignal(kind: .quota)))
        case 4:
            return .task(
                TaskRecord(
                    at: at, gateway: gateway, tenant: tenant, pool: pool, criticality: criticality, task: text(),
                    parent: some(text()), state: TaskRecord.State.allCases.randomElement(using: &generator)!,
                    progress: some(Double.random(in: 0...1, using: &generator)), remainingRequests: some(count()),
                    remainingTokens: some(count())))
        default:
            return .model(ModelRecord(at: at, gateway: some(gateway), pool: pool, model: text(), version: text()))
        }
    }

    static func snapshot(generation: Int64, _ generator: inout SplitMix64) -> Snapshot {
        let names = ["a", "azure:gpt-4o", "b", "openai:gpt-4o", "z9"]
        let pools = names.filter { _ in Bool.random(using: &generator) }.map { name in
            var pool = PoolAllocation(
                pool: PoolID(unchecked: name), state: PoolState.allCases.randomElement(using: &generator)!,
                mode: PoolMode.allCases.randomElement(using: &generator)!, enforce: Bool.random(using: &generator),
                level: Double.random(in: 0...2, using: &generator), capacity: rates(&generator),
                nominal: rates(&generator),
                capacityReason: CapacityReason.allCases.randomElement(using: &generator)!, budget: rates(&generator),
                float: rates(&generator), fallback: rates(&generator), burstSeconds: 0.5,
                failover: Bool.random(using: &generator) ? ["other"] : [],
                retry: .init(afterMilliseconds: Int64.random(in: 0...9, using: &generator), jitterMilliseconds: 2),
                tenants: tenants(&generator), unlisted: rates(&generator))
            if Bool.random(using: &generator) {
                pool.breaker = BreakerPolicy(
                    openShare: .random(in: 0.01...1, using: &generator), windowSeconds: 7, leastAttempts: 3,
                    openSeconds: .random(in: 1...60, using: &generator), probesPerSecond: 0.5, closeSuccesses: 2)
            }
            pool.taskKinds = ["a b", "research", "\u{3C0}"].filter { _ in Bool.random(using: &generator) }.map {
                PoolAllocation.TaskKind(kind: $0, requestsPerMinute: .random(in: 0...100, using: &generator))
            }
            if Bool.random(using: &generator) { pool.meanOutputTokens = .random(in: 0...1000, using: &generator) }
            if Bool.random(using: &generator) { pool.closedAfterSeconds = .random(in: 0...1000, using: &generator) }
            if Bool.random(using: &generator) {
                pool.tasks = TaskTerms(
                    requiresTask: Bool.random(using: &generator),
                    budgets: [
                        TaskBudget(
                            taskKind: "k \u{3C0}", tenant: "t", tier: "free", limits: TaskLimits(calls: 3, fanOut: 0)),
                        TaskBudget(limits: TaskLimits(iterations: 4, tokens: 1_000_000, seconds: 60)),
                    ],
                    held: TaskHold.allCases.map { hold in
                        TaskTerms.Held(
                            TaskName("task \(hold)", of: "t"), hold, ownHold: .steps,
                            isCost: Bool.random(using: &generator),
                            isFull: Bool.random(using: &generator), isLifted: Bool.random(using: &generator))
                    })
            }
            return pool
        }
        return Snapshot(
            version: SnapshotVersion(epoch: 1_793_000_000, generation: generation),
            issuedAt: Timestamp(milliseconds: now + generation), leaseSeconds: 15, policy: "default@9f31", pools: pools)
    }

    /// `snapshot` with some tenants, pools and numbers changed.
    static func changed(_ snapshot: Snapshot, _ generator: inout SplitMix64) -> Snapshot {
        var result = snapshot
        result.version.generation += 1
        result.issuedAt = result.issuedAt.adding(seconds: 2)
        result.pools.removeAll { _ in Int.random(in: 0..<6, using: &generator) == 0 }
        for index in result.pools.indices {
            if Int.random(in: 0..<4, using: &generator) == 0 { result.pools[index].level += 1 }
            result.pools[index].tenants.removeAll { _ in Int.random(in: 0..<5, using: &generator) == 0 }
            for place in result.pools[index].tenants.indices where Int.random(in: 0..<4, using: &generator) == 0 {
                result.pools[index].tenants[place].assured = rates(&generator)
            }
            for place in result.pools[index].tenants.indices where Bool.random(using: &generator) {
                result.pools[index].tenants[place].serviceClock += 0.25
            }
        }
        for pool in self.snapshot(generation: 0, &generator).pools where Bool.random(using: &generator) {
            guard !result.pools.contains(where: { $0.pool == pool.pool }) else { continue }
            result.pools.append(pool)
        }
        result.pools.sort { $0.pool < $1.pool }
        return result
    }

    private static func tenants(_ generator: inout SplitMix64) -> [TenantAllocation] {
        let names = ["acme", "b", "c.1", "c.2", "gone", "zeta"]
        return names.filter { _ in Bool.random(using: &generator) }.map { name in
            var tenant = TenantAllocation(
                tenant: TenantID(unchecked: name), assured: rates(&generator), ceiling: rates(&generator),
                plain: rates(&generator), safe: rates(&generator),
                weight: Double.random(in: 0.1...10, using: &generator),
                serviceClock: Double.random(in: 0...1e6, using: &generator), tier: "premium",
                constraint: Constraint.allCases.randomElement(using: &generator)!,
                flags: Bool.random(using: &generator) ? ["cold_start", "x"] : [],
                retryOffsetMilliseconds: Int64.random(in: 0...1000, using: &generator),
                criticality: PerCriticality(
                    interactive: rates(&generator), nearRealTime: rates(&generator), batch: .none))
            tenant.hasSoftCeiling = Bool.random(using: &generator)
            tenant.isQuiet = Bool.random(using: &generator)
            return tenant
        }
    }

    private static func rates(_ generator: inout SplitMix64) -> Rates {
        var rates = Rates()
        for resource in Resource.allCases where Bool.random(using: &generator) {
            rates[resource] = Double(Int.random(in: 0...2_000_000, using: &generator))
        }
        return rates
    }
}
