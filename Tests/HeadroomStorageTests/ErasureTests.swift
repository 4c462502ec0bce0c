import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct ErasureTests {
    private let database: TemporaryDatabase
    private let contracts: ContractStore
    private let pool: PoolID = "openai:gpt-4o"
    private let gone: TenantID = "acme-corp-17"

    /// Everything that can be stored of a tenant, of two tenants.
    init() async throws {
        database = try TemporaryDatabase()
        contracts = ContractStore(connection: database.writer)
        let desk = SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
        let decisions = try DecisionStore(connection: database.writer)
        let checkpoints = try RollupStore(connection: database.writer)
        let telemetry = try database.telemetry()
        for tenant in [gone, "stays"] {
            try await contracts.put(Contract(tenant: tenant, terms: [Contract.Terms(pool: pool)]))
            _ = try await desk.set(Override(tenant: tenant, weight: 2, authorship: authorship()), askingUntil: nil)
            _ = try await desk.set(
                Override(tenant: tenant, weight: 9, authorship: authorship()),
                askingUntil: start.adding(seconds: 14_400))
            _ = try await desk.lift(CostLift(subject: .tenant(tenant), authorship: authorship()))
            let queue = QueueRecord(
                at: start, gateway: "gw-1", tenant: tenant, pool: pool, criticality: .batch, depth: 1, tokens: 1,
                oldestAgeMilliseconds: 1)
            let task = TaskRecord(
                at: start, gateway: "gw-1", tenant: tenant, pool: pool, criticality: .batch, task: "t", state: .started)
            _ = try await telemetry.append(
                batch([
                    call(tenant: tenant), call(tenant: tenant), window(tenant: tenant, gateway: "gw-2"),
                    TelemetryBatch.Line(number: 1, record: .queue(queue)),
                    TelemetryBatch.Line(number: 1, record: .task(task)),
                ]))
        }
        let question = Proposal(
            kind: .guardrail, pool: pool,
            changes: [gone, "stays"].map { Proposal.Change(tenant: $0, from: Rates(tpm: 1), to: Rates(tpm: 2)) },
            movers: 2,
            evidence: ["acme-corp-17 asks for more", "so does stays"],
            effects: [Proposal.Change(tenant: gone, from: .none, to: .none)], authorship: authorship(by: "headroom"))
        for generation in 1...3 as ClosedRange<Int64> {
            let tenants = [gone, "stays"].map { tenant in
                Explanation.TenantFacts(
                    tenant: tenant, tier: "free", weight: 1, demand: .none,
                    credibleDemand: PerCriticality(repeating: .none), direction: .none,
                    target: 0, mean: 0, before: 0, least: 0, leastConstraint: .level, most: 0, mostConstraint: .level,
                    fill: 0, assured: Rates(tpm: Double(generation)), constraint: .level)
            }
            let chain = PoolExplanation(
                version: SnapshotVersion(epoch: 1, generation: generation), at: start,
                pool: Explanation.PoolFacts(pool: pool, nominal: .none, capacity: .none, shared: .none),
                tenants: tenants)
            try await decisions.record(
                DecisionOutcome(
                    questions: generation == 1 ? [question] : [],
                    credits: [gone, "stays"].map { CreditBalance(tenant: $0, pool: pool, accrued: 5) },
                    explanations: [chain]), at: start)
        }
        let cursor = TelemetryCursor.start
        try await checkpoints.save(
            Checkpoint(at: start, cursor: cursor, observer: [], classifier: []),
            rollups: (0..<200).flatMap { minute in [gone, "stays"].map { rollup(minute: minute * 60, $0) } },
            uses: [gone, "stays"].map {
                ModelUse(
                    start: hourStart, tenant: $0, pool: pool, criticality: .batch, model: "m",
                    sums: UseSums(requests: 1))
            },
            taskTimes: [gone, "stays"].map { tenant in
                var times = TaskTimes()
                times.add(
                    task: TaskTimes.Sums {
                        $0.tasks = 1
                        $0.seconds = 40
                    })
                return TaskTimeRollup(start: hourStart, tenant: tenant, kind: "review", times: times)
            },
            priced: [gone, "stays"])
        _ = try await TokenStore(connection: database.writer)
            .create(name: "theirs", role: .viewer, secret: "s", tenants: [gone], at: start)
    }

    @Test func `nothing is left of an erased tenant, and all of everybody else`() async throws {
        try await contracts.erase(gone, by: "dpo", at: start)
        #expect(try await contracts.all().map(\.tenant) == ["stays"])
        let records = try await database.telemetryRecords()
        #expect(records.count == 5 && records.allSatisfy { $0.tenant == "stays" })
        let past = try database.records()
        let to = hourStart.adding(seconds: 1e9)
        #expect(try await past.rollups(pool: pool, tenant: nil, from: hourStart, to: to, limit: 999).count == 200)
        #expect(try database.number("SELECT count(*) FROM rollup WHERE span_s < 86400") == 400)
        #expect(try database.number("SELECT CAST(sum(ok) AS BIGINT) FROM rollup WHERE span_s = 86400") == 200)
        #expect(try database.number("SELECT count(*) FROM use_sum") == 2)
        #expect(try database.number("SELECT count(*) FROM task_time") == 3)
        // The sums of the pool stay.
        #expect(try database.number("SELECT CAST(sum(ok) AS BIGINT) FROM pool_rollup WHERE span_s = 86400") == 400)
        #expect(Set(try await RollupStore(connection: database.writer).uses(since: 0).map(\.tenant)) == ["stays"])
        #expect(try await DecisionStore(connection: database.writer).credits().map(\.tenant) == ["stays"])
        #expect(try await past.explanation(of: gone, in: pool, generation: nil) == nil)
        #expect(try await past.explanation(of: "stays", in: pool, generation: 2)?.tenant.assured == Rates(tpm: 2))
        let desk = SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
        let steering = try await desk.steering()
        #expect(steering.overrides.map(\.tenant) == ["stays"])
        #expect(steering.proposals.map(\.subjects) == [["stays"], ["stays"]])
        #expect(steering.proposals[1].movers == 1)
        #expect(steering.proposals[1].effects == [] && steering.proposals[1].evidence == ["so does stays"])
        // Not one that may see everybody.
        #expect(try await TokenStore(connection: database.writer).all()[0].tenants?.count == 1)
        #expect(try await database.auditReader().verify(at: start).fault == nil)
        #expect(try database.number("SELECT count(*) FROM erasure") == 0)

        if TestEngine.isSQLite {
            try database.execute("VACUUM")
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            let bytes = try Data(contentsOf: URL(filePath: database.path))
            #expect(bytes.range(of: Data(gone.text.utf8)) == nil)
        }

        let error = await #expect(throws: SteeringError.self) { try await contracts.erase(gone, by: "dpo", at: start) }
        #expect(error?.code == .notFound)
    }

    @Test func `the loop learns whom to forget by a hash of the name, until a checkpoint was made without the tenant`()
        async throws
    {
        let store = try RollupStore(connection: database.writer)
        #expect(try await store.erasures(after: 0).isEmpty)
        try await contracts.erase(gone, by: "dpo", at: start)
        let erased = try await store.erasures(after: 0)
        #expect(erased.map(\.fingerprint) == [gone.text.fingerprint])
        #expect(try await store.erasures(after: erased[0].id).isEmpty)
        let checkpoint = Checkpoint(at: start, cursor: .start, observer: [], classifier: [])
        try await store.save(checkpoint, rollups: [])
        #expect(try await store.erasures(after: 0) == erased)
        try await store.save(checkpoint, rollups: [], erasedThrough: erased[0].id)
        #expect(try await store.erasures(after: 0).isEmpty)
    }

    @Test func `a tenant that comes back is a new one, for stores that knew its old number too`() async throws {
        let telemetry = try database.telemetry()
        _ = try await telemetry.append(batch([call(tenant: gone)]))
        try await contracts.erase(gone, by: "dpo", at: start)
        _ = try await telemetry.append(batch([call(tenant: gone)]))
        #expect(try await database.telemetryRecords().filter { $0.tenant == gone }.count == 1)
        #expect(try database.number("SELECT count(*) FROM name WHERE text = 'acme-corp-17'") == 1)
        try await contracts.erase(gone, by: "dpo", at: start.adding(seconds: 1))
        #expect(try await database.telemetryRecords().allSatisfy { $0.tenant == "stays" })
    }

    @Test func `an erasure that a kill interrupted goes on, in steps, with the housekeeping`() async throws {
        try database.execute(
            "INSERT INTO erasure SELECT id, 1000, 1000, 1000, 1000, 1000, 1793999999999 FROM name WHERE text = 'acme-corp-17'"
        )
        var steps = 1
        while try await contracts.continueErasures() { steps += 1 }
        // 278 hours back to the first sum, two days at a time.
        #expect(steps == 6)
        #expect(try await database.telemetryRecords().allSatisfy { $0.tenant == "stays" })
        #expect(try database.number("SELECT count(*) FROM rollup WHERE span_s < 86400") == 400)
        #expect(try await !contracts.continueErasures())
    }
}

extension TelemetryRecord {
    fileprivate var tenant: TenantID? {
        switch self {
        case .call(let call): call.tenant
        case .window(let window): window.tenant
        case .queue(let queue): queue.tenant
        case .task(let task): task.tenant
        case .response, .model: nil
        }
    }
}
