import HeadroomModel
import HeadroomStorage
import Testing

/// The start of an hour.
let hourStart = Timestamp(milliseconds: 1_792_998_000_000)

func rollup(
    minute: Int = 0, _ tenant: TenantID = "acme", pool: PoolID = "openai:gpt-4o",
    _ criticality: Criticality = .interactive, ok: Int64 = 1, delivery: Double = 0, shortage: Double = 0,
    wait: Double = 0, asked: Int64 = 0
) -> Rollup {
    Rollup(
        start: hourStart.adding(seconds: Double(minute) * 60), tenant: tenant, pool: pool, criticality: criticality,
        sums: RollupSums {
            $0.ok = ok
            $0.asked.tokens = asked
            $0.starvedForDeliverySeconds = delivery
            $0.starvedForShortageSeconds = shortage
            $0.oldestQueuedSeconds = wait
        })
}

@Suite struct RollupStoreTests {
    private let database: TemporaryDatabase
    private let store: RollupStore
    private let records: RecordReader
    private let pool: PoolID = "openai:gpt-4o"

    init() throws {
        database = try TemporaryDatabase()
        store = try RollupStore(connection: database.writer)
        records = try database.records()
    }

    private func checkpoint(_ call: Int64 = 1) -> Checkpoint {
        Checkpoint(
            at: start.adding(seconds: Double(call)),
            cursor: TelemetryCursor(call: call, window: 2, queue: 3, response: 4, task: 5, model: 6),
            observer: [1, 2, 3], classifier: [])
    }

    private func stored(
        _ tenant: TenantID? = nil, from: Double = 0, to: Double = 1e6, limit: Int = 1_000
    ) async throws -> [Rollup] {
        try await records.rollups(
            pool: pool, tenant: tenant, from: hourStart.adding(seconds: from), to: hourStart.adding(seconds: to),
            limit: limit)
    }

    @Test func `the latest checkpoint comes back as it was saved`() async throws {
        #expect(try await store.latest() == nil)
        try await store.save(checkpoint(7), rollups: [])
        try await store.save(checkpoint(9), rollups: [])
        let latest = try #require(try await RollupStore(connection: database.writer).latest())
        #expect(latest.at == checkpoint(9).at && latest.cursor == checkpoint(9).cursor)
        #expect(latest.observer == [1, 2, 3] && latest.classifier == [])
        #expect(try database.number("SELECT count(*) FROM checkpoint") == 1)
    }

    @Test func `use of priced tenants adds up by day, with the roll-ups or not at all`() async throws {
        let day = hourStart.day
        try await store.save(
            checkpoint(1), rollups: [rollup(ok: 3), rollup(minute: 1, "acme", .batch), rollup("free", ok: 9)],
            priced: ["acme"])
        try await store.save(
            checkpoint(2), rollups: [rollup(minute: 1440), rollup(minute: 2, pool: "b"), rollup(ok: 5)],
            priced: ["acme"])
        func found(since day: Int64) async throws -> [String] {
            try await RollupStore(connection: database.writer).uses(since: day).map {
                "\($0.tenant) \($0.pool) \($0.day - hourStart.day) \($0.requests)"
            }
        }
        let first = ["acme b 0 1", "acme openai:gpt-4o 0 9"]
        #expect(try await found(since: day) == first + ["acme openai:gpt-4o 1 1"])
        #expect(try await found(since: day + 1) == ["acme openai:gpt-4o 1 1"])
        try database.execute("DROP TABLE rollup")
        await #expect(throws: StorageError.self) {
            try await store.save(checkpoint(3), rollups: [rollup(pool: "b")], priced: ["acme"])
        }
        #expect(try await found(since: day).first == "acme b 0 1")
    }

    @Test func `two of the same minute add up, and the longest wait stays`() async throws {
        let first = Rollup(
            start: hourStart, tenant: "acme", pool: pool, criticality: .batch,
            sums: RollupSums {
                $0.ok = 1
                $0.quota = 2
                $0.overload = 3
                $0.error = 4
                $0.retries = 5
                $0.denied = 6
                $0.deniedTokens = 7
                $0.inputTokens = 8
                $0.outputTokens = 9
                $0.countedTokens = 10
                $0.asked = AskedWork(requests: 3, tokens: 11, inputTokens: 8, outputTokens: -2)
                $0.assuredTokens = 12.5
                $0.starvedForDeliverySeconds = 13
                $0.starvedForShortageSeconds = 14
                $0.oldestQueuedSeconds = 15
            })
        var second = first
        second.start = hourStart.adding(seconds: 59.9)
        second.oldestQueuedSeconds = 3
        try await store.save(checkpoint(1), rollups: [first])
        try await store.save(checkpoint(2), rollups: [second])
        let both = Rollup(
            start: hourStart, tenant: "acme", pool: pool, criticality: .batch,
            sums: RollupSums {
                $0.ok = 2
                $0.quota = 4
                $0.overload = 6
                $0.error = 8
                $0.retries = 10
                $0.denied = 12
                $0.deniedTokens = 14
                $0.inputTokens = 16
                $0.outputTokens = 18
                $0.countedTokens = 20
                $0.asked = AskedWork(requests: 6, tokens: 22, inputTokens: 16, outputTokens: -4)
                $0.assuredTokens = 25
                $0.starvedForDeliverySeconds = 26
                $0.starvedForShortageSeconds = 28
                $0.oldestQueuedSeconds = 15
            })
        #expect(try await stored() == [both])
        try database.execute("DELETE FROM rollup WHERE span_s = 60")
        #expect(try await stored() == [both])
    }

    @Test func `an hour is the sum of its minutes, whichever of them are still kept`() async throws {
        var all: [Rollup] = []
        for minute in 0..<180 {
            for tenant in ["acme", "beta"] as [TenantID] { all.append(rollup(minute: minute, tenant)) }
        }
        try await store.save(checkpoint(), rollups: all)
        #expect(try await stored().count == 360)
        #expect(try await stored("acme").map(\.start) == all.filter { $0.tenant == "acme" }.map(\.start))
        #expect(try await stored("nobody") == [])

        // Into the second hour: the first one goes, whole.
        let horizon = hourStart.adding(seconds: 5_000)
        var steps = 0
        while try await store.prune(.minute, before: horizon, limit: 50) > 0 { steps += 1 }
        #expect(steps == 3)
        let mixed = try await stored("acme")
        #expect(mixed.count == 121)
        #expect(mixed[0].start == hourStart && mixed[0].ok == 60)
        #expect(mixed[1].start == hourStart.adding(seconds: 3_600) && mixed[1].ok == 1)
        #expect(mixed.reduce(0) { $0 + $1.ok } == 180)
        #expect(try await stored().count == 242)

        while try await store.prune(.hour, before: horizon) > 0 {}
        #expect(try await stored("acme").first?.start == hourStart.adding(seconds: 3_600))
        #expect(try await store.prune(.minute, before: horizon) == 0)
    }

    @Test func `an answer holds what was asked for and no more`() async throws {
        try await store.save(checkpoint(), rollups: (0..<10).map { rollup(minute: $0) } + [rollup(pool: "other:pool")])
        #expect(
            try await stored(from: 120, to: 300).map(\.start) == [2, 3, 4].map { hourStart.adding(seconds: $0 * 60) })
        // The minute that the time asked for begins in is part of the answer.
        #expect(
            try await stored("acme", from: 130, to: 200).map(\.start)
                == [2, 3].map { hourStart.adding(seconds: $0 * 60) })
        #expect(try await stored(limit: 3).count == 3)
        #expect(try await stored("acme", limit: 0) == [])
        #expect(try await stored("acme", from: 300, to: 300) == [])
        #expect(try await stored("acme", from: -1e9, to: 1e9).count == 10)
        let none = try await records.rollups(
            pool: "no:pool", tenant: nil, from: hourStart, to: hourStart.adding(seconds: 60), limit: 5)
        #expect(none == [])
    }

    @Test(.enabled(if: TestEngine.isSQLite)) func `a save that fails leaves neither sums nor checkpoint`() async throws
    {
        try await store.save(checkpoint(1), rollups: [rollup()])
        try database.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON checkpoint BEGIN SELECT raise(ABORT, 'no'); END")
        await #expect(throws: StorageError.self) {
            try await store.save(checkpoint(2), rollups: [rollup(), rollup("new")])
        }
        try database.execute("DROP TRIGGER refuse")
        #expect(try await stored() == [rollup()])
        #expect(try await store.latest()?.cursor.call == 1)
        try await store.save(checkpoint(2), rollups: [rollup(), rollup("new")])
        #expect(try await stored("new") == [rollup("new")])
    }

    @Test func `starved tenants are listed with their spells, the longest starved first`() async throws {
        var rollups: [Rollup] = []
        // Ten minutes, a break of half an hour, ten more: one spell. Three hours later five more.
        for minute in Array(0..<10) + Array(40..<50) + Array(240..<245) {
            rollups.append(rollup(minute: minute, "acme", delivery: 60, wait: Double(minute), asked: 100))
            rollups.append(
                rollup(minute: minute, "acme", pool: pool, .batch, ok: 1, delivery: 60, wait: 300, asked: 10))
        }
        for minute in 0..<30 { rollups.append(rollup(minute: minute, "beta", shortage: 60)) }
        for minute in 0..<300 { rollups.append(rollup(minute: minute, "fine", wait: 9)) }
        try await store.save(checkpoint(), rollups: rollups)
        let to = hourStart.adding(seconds: 86_400)
        let starved = try await records.starvation(from: hourStart, to: to, ongoing: [])
        #expect(starved.map(\.tenant) == ["beta", "acme"])
        #expect(starved.map(\.reason) == [.shortage, .delivery])
        #expect(starved.map(\.starvedSeconds) == [1_800, 1_500])
        let acme = starved[1]
        #expect(acme.spells.map(\.starvedSeconds) == [1_200, 300])
        #expect(acme.first == hourStart && acme.spells[0].last == hourStart.adding(seconds: 3_000))
        #expect(acme.last == hourStart.adding(seconds: 245 * 60))
        #expect(acme.longestWaitSeconds == 300 && acme.longestSpellSeconds == 1_200)
        #expect(acme.askedTokens == 25 * 110)

        // The same from hours where minutes are gone: times are those of hours.
        while try await store.prune(.minute, before: hourStart.adding(seconds: 7_200)) > 0 {}
        let coarse = try await records.starvation(from: hourStart, to: to, ongoing: [])
        #expect(coarse.map(\.starvedSeconds) == [1_800, 1_500])
        #expect(
            coarse[1].spells.map(\.last) == [hourStart.adding(seconds: 3_600), hourStart.adding(seconds: 245 * 60)])

        #expect(
            try await records.starvation(from: hourStart.adding(seconds: 4 * 3_600), to: to, ongoing: [])
                .map(\.tenant) == ["acme"])
        #expect(try await records.starvation(from: to, to: to, ongoing: []) == [])
    }

    @Test func `a spell that goes on counts up to the last tick, and what is stored of it counts once`() async throws {
        func ongoing(
            _ tenant: TenantID, from since: Double, to until: Double, _ reason: Starvation
        ) -> OngoingStarvation {
            OngoingStarvation(
                tenant: tenant, pool: pool, since: hourStart.adding(seconds: since),
                until: hourStart.adding(seconds: until), reason: reason, waitSeconds: 70)
        }
        // Minutes 0 and 1 are over. From second 630 on acme is starved again; seconds 630 to 720 are stored.
        try await store.save(
            checkpoint(),
            rollups: [
                rollup(minute: 0, "acme", delivery: 60), rollup(minute: 1, "acme", delivery: 60),
                rollup(minute: 10, "acme", delivery: 30, wait: 9), rollup(minute: 11, "acme", delivery: 60),
                rollup(minute: 0, "beta", shortage: 60),
            ])
        let going = [
            ongoing("acme", from: 630, to: 750, .shortage), ongoing("new", from: 740, to: 750, .delivery),
        ]
        func starved(from: Double, to: Double) async throws -> [StarvedTenant] {
            try await records.starvation(
                from: hourStart.adding(seconds: from), to: hourStart.adding(seconds: to), ongoing: going)
        }
        let all = try await starved(from: 0, to: 750)
        #expect(all.map(\.tenant) == ["acme", "beta", "new"])
        #expect(all.map(\.starvedSeconds) == [240, 60, 10])
        // What is not stored yet has the tick's reason.
        #expect(all[0].spells.map(\.deliverySeconds) == [210] && all[0].spells.map(\.shortageSeconds) == [30])
        #expect(all[0].longestWaitSeconds == 70 && all[0].last == hourStart.adding(seconds: 750))
        #expect(all.map(\.starvedSince) == [hourStart.adding(seconds: 630), nil, hourStart.adding(seconds: 740)])
        #expect(all[2].first == hourStart.adding(seconds: 740))

        let late = try await starved(from: 600, to: 750)
        #expect(late[0].first == hourStart.adding(seconds: 630) && late[0].starvedSeconds == 120)
        // A period that ended before it does not know of it.
        #expect(try await starved(from: 0, to: 600).map(\.starvedSince) == [nil, nil])
    }
}
