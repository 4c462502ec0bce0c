import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct HistoryTests {
    private let database: TemporaryDatabase
    private let store: RollupStore
    private let records: RecordReader
    private let pool: PoolID = "openai:gpt-4o"

    init() throws {
        database = try TemporaryDatabase()
        store = try RollupStore(connection: database.writer)
        records = try database.records()
    }

    private func save(_ rollups: [Rollup], _ capacities: [PoolRollup] = []) async throws {
        try await store.save(
            Checkpoint(at: start, cursor: .start, observer: [], classifier: []), rollups: rollups,
            capacities: capacities)
    }

    private func history(
        step: Int64, hours: Double = 48, tenant: TenantID? = nil, leaders: Int = 0
    ) async throws -> HistoryRecords {
        try await records.history(
            HistoryQuery(
                pool: pool, tenant: tenant, from: hourStart.adding(seconds: -86_400),
                to: hourStart.adding(seconds: hours * 3_600), stepSeconds: step, leaders: leaders))
    }

    private func served(_ tenant: TenantID, minute: Int, _ tokens: Int64) -> Rollup {
        var served = rollup(minute: minute, tenant)
        served.countedTokens = tokens
        return served
    }

    @Test func `a pool's sums are those of its tenants, by minute, hour and day, also where minutes are gone`()
        async throws
    {
        var all: [Rollup] = []
        for minute in 0..<180 {
            for tenant in ["acme", "beta"] as [TenantID] {
                all.append(served(tenant, minute: minute, 5))
                all.append(rollup(minute: minute, tenant, pool: "other:pool"))
            }
        }
        // In two parts, as two checkpoints within a minute are.
        try await save(Array(all.prefix(300)))
        try await save(Array(all.dropFirst(300)))
        for (step, rows) in [(60, 180), (3_600, 3), (86_400, 1)] as [(Int64, Int)] {
            let found = try await history(step: step).pools
            #expect(found.count == rows && found.reduce(0) { $0 + $1.sums.countedTokens } == 1_800, "\(step)")
            let acme = try await history(step: step, tenant: "acme")
            #expect(acme.tenant.reduce(0) { $0 + $1.countedTokens } == 900 && acme.pools.isEmpty, "\(step)")
        }
        while try await store.prune(.minute, before: hourStart.adding(seconds: 7_200)) > 0 {}
        let mixed = try await history(step: 60).pools
        #expect(mixed.count == 62 && mixed.reduce(0) { $0 + $1.sums.countedTokens } == 1_800)
        #expect(mixed[1].start == hourStart.adding(seconds: 3_600) && mixed[1].sums.ok == 120)
    }

    @Test func `what there was to divide adds up by resource, and what is not limited stays absent`() async throws {
        func minute(_ minute: Double, tpm: Double, depth: Int64) -> PoolRollup {
            var capacity = CapacitySums()
            capacity.observedSeconds = 60
            capacity.nominal = Rates(tpm: 1_000)
            capacity.estimated = Rates(tpm: tpm)
            capacity.budget = Rates(rpm: 7, tpm: tpm)
            capacity.queueDepth = depth
            return PoolRollup(start: hourStart.adding(seconds: minute * 60), pool: pool, capacity: capacity)
        }
        try await save([], [minute(0, tpm: 500, depth: 3)])
        try await save([rollup()], [minute(0.5, tpm: 700, depth: 9), minute(1, tpm: 900, depth: 1)])
        let found = try await history(step: 3_600).pools
        let capacity = try #require(found.first?.capacity)
        #expect(capacity.observedSeconds == 180 && capacity.queueDepth == 9)
        #expect(capacity.mean(\.nominal) == Rates(tpm: 1_000) && capacity.mean(\.estimated) == Rates(tpm: 700))
        #expect(capacity.budget == Rates(rpm: 21, tpm: 2_100))
        #expect(try await history(step: 60).pools.map(\.sums.ok) == [1, 0])
    }

    @Test func `leaders are those who were served most, over an hour and over a month`() async throws {
        try await save(
            (0..<40).flatMap { tenant in
                [0, 600].map { served(TenantID("t-\(tenant)")!, minute: $0, Int64(tenant)) }
            })
        for hours in [1.0, 47] {
            let found = try await records.history(
                HistoryQuery(
                    pool: pool, from: hourStart, to: hourStart.adding(seconds: hours * 3_600), stepSeconds: 3_600,
                    leaders: 2))
            #expect(found.leaders.map(\.tenant) == ["t-39", "t-38"], "\(hours)")
            #expect(found.leaders[0].rollups.map(\.countedTokens) == (hours > 10 ? [39, 39] : [39]), "\(hours)")
            #expect(found.tenantCount == 40, "\(hours)")
        }
    }

    @Test func `use is summed over whole hours, also across days, and nothing counts twice`() async throws {
        func use(hour: Int, _ tenant: TenantID, pool: PoolID, tokens: Int64) -> Rollup {
            var use = rollup(minute: hour * 60 + 59, tenant, pool: pool)
            use.inputTokens = tokens
            use.cachedInputTokens = tokens / 2
            return use
        }
        var all: [Rollup] = []
        for hour in 0..<80 {
            all.append(use(hour: hour, "acme", pool: pool, tokens: 10))
            all.append(use(hour: hour, "beta", pool: "other:pool", tokens: 4))
        }
        try await save(all)
        for (from, to) in [(0, 80), (0, 1), (3, 5), (3, 31), (20, 70), (50, 50), (79, 200)] {
            let uses = try await records.usage(
                from: hourStart.adding(seconds: Double(from) * 3_600), to: hourStart.adding(seconds: Double(to) * 3_600)
            )
            let hours = Int64(max(0, min(to, 80) - from))
            let acme = uses.filter { $0.tenant == "acme" }
            #expect(acme.reduce(0) { $0 + $1.sums.requests } == hours, "\(from) \(to)")
            #expect(acme.reduce(0) { $0 + $1.sums.inputTokens } == 10 * hours, "\(from) \(to)")
            #expect(acme.reduce(0) { $0 + $1.sums.cachedInputTokens } == 5 * hours, "\(from) \(to)")
            #expect(uses.filter { $0.pool == "other:pool" }.reduce(0) { $0 + $1.sums.inputTokens } == 4 * hours)
        }
    }

    @Test func `use by model and kind of task adds up to all use, and the rest was reported without either`()
        async throws
    {
        func sums(_ requests: Int64) -> UseSums {
            UseSums(requests: requests, inputTokens: 10 * requests, outputTokens: requests)
        }
        func use(_ hour: Int, _ model: String?, _ kind: String?, _ requests: Int64) -> ModelUse {
            ModelUse(
                start: hourStart.adding(seconds: Double(hour) * 3_600), tenant: "acme", pool: pool,
                criticality: .interactive, model: model, taskKind: kind, sums: sums(requests))
        }
        var all = (0..<30).map { rollup(minute: $0 * 60, ok: 10) }
        for place in all.indices {
            all[place].inputTokens = 100
            all[place].outputTokens = 10
        }
        let uses = (0..<30).flatMap { hour in
            var saved = use(hour, nil, nil, 0)
            saved.saved = sums(7)
            return [use(hour, "a", nil, 3), use(hour, "a", "review", 2), use(hour, nil, "review", 1), saved]
        }
        // In two parts of the same hours, as two checkpoints are.
        for part in [uses.prefix(50), uses.dropFirst(50)] {
            try await store.save(
                Checkpoint(at: start, cursor: .start, observer: [], classifier: []),
                rollups: part.count == 50 ? all : [],
                uses: Array(part))
        }
        for (from, to) in [(0, 30), (2, 3), (1, 28)] {
            let found = try await records.usage(
                from: hourStart.adding(seconds: Double(from) * 3_600), to: hourStart.adding(seconds: Double(to) * 3_600)
            )
            var byLabel: [String: UseSums] = [:]
            for use in found { byLabel["\(use.model ?? "-") \(use.taskKind ?? "-")", default: UseSums()].add(use.sums) }
            let hours = Int64(to - from)
            #expect(
                byLabel == [
                    "a -": sums(3 * hours), "a review": sums(2 * hours), "- review": sums(hours),
                    "- -": sums(4 * hours),
                ], "\(from) \(to)")
            #expect(found.reduce(into: UseSums()) { $0.add($1.saved) } == sums(7 * hours))
        }
        while try await store.prune(.hour, before: hourStart.adding(seconds: 5 * 3_600), limit: 3) > 0 {}
        #expect(try database.number("SELECT count(DISTINCT start_ms) FROM use_sum WHERE span_s = 3600") == 25)
    }

    @Test func `events are those of the pool and of all, acts those that change something, and both go in time`()
        async throws
    {
        let decisions = try DecisionStore(connection: database.writer)
        let events = [
            PoolEvent(at: hourStart, kind: .start, after: "1793"),
            PoolEvent(
                at: hourStart.adding(seconds: 1), pool: pool, kind: .capacity, subject: "tpm", before: "2000",
                after: "1000"),
            PoolEvent(at: hourStart.adding(seconds: 2), pool: "other:pool", kind: .state, after: "open"),
        ]
        try await decisions.record(
            {
                var outcome = DecisionOutcome()
                outcome.events = events
                return outcome
            }(), at: hourStart)
        try await save([rollup()])
        let desk = SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
        _ = try await desk.set(Override(tenant: "acme", weight: 2, authorship: authorship()), askingUntil: nil)
        let found = try await history(step: 3_600, hours: 1e4)
        #expect(found.events == Array(events.prefix(2)))
        #expect(found.acts.map(\.action) == ["override.set"] && found.acts[0].detail.contains("acme"))

        #expect(try await decisions.pruneEvents(before: hourStart.adding(seconds: 1.5), limit: 1) == 1)
        #expect(try await decisions.pruneEvents(before: hourStart.adding(seconds: 1.5), limit: 9) == 1)
        #expect(try await history(step: 3_600, hours: 1e4).events == [])
    }
}
