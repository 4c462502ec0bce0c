import HeadroomModel
import HeadroomStorage
import Synchronization
import Testing

/// A time that a test sets.
final class SettableTime: Sendable {
    private let now = Mutex(start)

    var source: TimeSource { TimeSource { self.now.withLock { $0 } } }

    func set(_ instant: Timestamp) { now.withLock { $0 = instant } }
}

func authorship(
    by author: String = "ann", reason: String = "renewal call", at: Timestamp = start, seconds: Double = 3_600
) -> Authorship {
    Authorship(author: author, reason: reason, at: at, until: at.adding(seconds: seconds))
}

@Suite struct SteeringStoreTests {
    private let database: TemporaryDatabase
    private let time = SettableTime()
    private let desk: SteeringStore

    init() throws {
        database = try TemporaryDatabase()
        desk = SteeringStore(connection: database.writer, coding: .unused, time: time.source)
    }

    private func override(
        _ tenant: TenantID = "acme", pool: PoolID? = nil, tier: String? = "critical", weight: Double? = nil,
        as authorship: Authorship = authorship()
    ) -> Override {
        Override(tenant: tenant, pool: pool, tier: tier, weight: weight, authorship: authorship)
    }

    private func question(
        _ tenants: [TenantID] = ["acme"], kind: Proposal.Kind = .guardrail, pool: PoolID = "openai:gpt-4o",
        tpm: Double = 100, at: Timestamp = start
    ) -> Proposal {
        Proposal(
            kind: kind, pool: pool,
            changes: tenants.map { Proposal.Change(tenant: $0, from: Rates(tpm: 50), to: Rates(tpm: tpm)) },
            movers: tenants.count, evidence: ["it asks for \(tpm) TPM"],
            effects: [Proposal.Change(tenant: "beta", from: Rates(tpm: 9), to: Rates(rpm: 1, tpm: 8))],
            authorship: authorship(by: Authorship.automation, reason: "demand", at: at))
    }

    private func ask(_ questions: [Proposal], withdrawn: [Int64] = [], at now: Timestamp = start) async throws {
        try await DecisionStore(connection: database.writer)
            .record(DecisionOutcome(questions: questions, withdrawn: withdrawn), at: now)
    }

    private func code(_ work: () async throws -> Void) async -> SteeringError.Code? {
        await (#expect(throws: SteeringError.self) { try await work() })?.code
    }

    private func actions() async throws -> [String] {
        try await desk.audit(after: 0, limit: 100).map(\.action)
    }

    @Test func `an override is in force until it ends by itself or somebody ends it`() async throws {
        guard case .set(let first) = try await desk.set(override(), askingUntil: nil),
            case .set(let second) = try await desk.set(
                override("beta", pool: "openai:gpt-4o", tier: nil, weight: 2.5, as: authorship(by: "bob", seconds: 60)),
                askingUntil: nil)
        else {
            Issue.record("both are set at once")
            return
        }
        #expect(try await desk.steering().overrides == [first, second])
        time.set(start.adding(seconds: 60))
        #expect(try await desk.steering().overrides == [first])
        #expect(
            await code { try await desk.endOverride(first.id, by: "bob", mayEndOthers: false, at: start) } == .forbidden
        )
        try await desk.endOverride(first.id, by: "bob", mayEndOthers: true, at: start.adding(seconds: 60))
        #expect(try await desk.steering().overrides == [])
        let later = start.adding(seconds: 61)
        #expect(
            await code { try await desk.endOverride(first.id, by: "ann", mayEndOthers: true, at: later) } == .notFound)
        #expect(await code { try await desk.endOverride(77, by: "ann", mayEndOthers: true, at: start) } == .notFound)
        #expect(try await actions() == ["override.set", "override.set", "override.end"])
        let entry = try await desk.audit(after: 1, limit: 1)[0]
        #expect(entry.author == "bob")
        #expect(
            entry.detail == #"{"tenant":"beta","id":2,"pool":"openai:gpt-4o","tier":null,"weight":2.5,"#
                + #""reason":"renewal call","until_ms":1793000060000}"#)
    }

    @Test func `what breaks a rule is refused with what would be right, and leaves nothing`() async throws {
        let faulty: [(Override, String)] = [
            (override(tier: nil), "a tier or a weight"),
            (override(tier: ""), "1 to 128"),
            (override(weight: 0), "from 0.001 to 1000"),
            (override(weight: .infinity), "from 0.001"),
            (override(weight: .nan), "from 0.001"),
            (override(as: authorship(by: "")), "author"),
            (override(as: authorship(reason: " \n")), "reason"),
            (override(as: authorship(reason: String(repeating: "x", count: 501))), "500"),
            (override(as: authorship(seconds: 0)), "future"),
            (override(as: authorship(seconds: -1)), "future"),
            (override(as: authorship(seconds: SteeringLimits.maxSeconds + 1)), "90 days"),
        ]
        for (override, words) in faulty {
            let error = await #expect(throws: SteeringError.self) {
                try await desk.set(override, askingUntil: nil)
            }
            #expect(
                error?.code == .invalid && error?.message.contains(words) == true, "\(words): \(error?.message ?? "")")
        }
        for capacity in [Rates(), Rates(tpm: 0), Rates(rpm: 5, tpm: .nan)] {
            let pin = CapacityPin(pool: "openai:gpt-4o", capacity: capacity, authorship: authorship())
            #expect(await code { try await desk.pin(pin) } == .invalid)
        }
        #expect(await code { _ = try await desk.freeze(Freeze(authorship: authorship(reason: ""))) } == .invalid)
        #expect(try await desk.steering() == .none)
        #expect(try await actions() == [])
        _ = try await desk.set(
            override(
                weight: SteeringLimits.weights.lowerBound,
                as: authorship(
                    reason: String(repeating: "x", count: SteeringLimits.maxReasonCharacters),
                    seconds: SteeringLimits.maxSeconds)),
            askingUntil: nil)
    }

    @Test func `an override that needs a second person runs from the approval on, for the time asked for`()
        async throws
    {
        let asked = override(tier: "critical", as: authorship(by: "ann", seconds: 7_200))
        let deadline = start.adding(seconds: 14_400)
        guard case .awaitsApproval(let question) = try await desk.set(asked, askingUntil: deadline) else {
            Issue.record("it must wait")
            return
        }
        #expect(question.kind == .override && question.state == .pending)
        #expect(question.authorship.until == start.adding(seconds: 4 * 3_600))
        #expect(try await desk.steering() == Steering(proposals: [question]))
        #expect(try await desk.proposals([.override], in: .pending) == [question])
        #expect(try await desk.proposals([.guardrail, .recommendation], in: nil) == [])

        let now = start.adding(seconds: 1_000)
        time.set(now)
        let decision = authorship(by: "sam", reason: "agreed", at: now)
        let own = authorship(by: "ann", at: now)
        #expect(
            await code { _ = try await desk.decide(question.id, .approved, for: nil, readAt: nil, as: own) }
                == .forbidden)
        #expect(
            await code { _ = try await desk.decide(question.id, .expired, for: nil, readAt: nil, as: decision) }
                == .invalid)
        #expect(
            await code { _ = try await desk.decide(99, .approved, for: nil, readAt: nil, as: decision) } == .notFound)

        let approved = try await desk.decide(question.id, .approved, for: nil, readAt: nil, as: decision)
        let set = try await desk.steering().overrides
        #expect(set.map(\.authorship) == [authorship(by: "ann", at: now, seconds: 7_200)])
        #expect(approved.override == set[0] && approved.state == .approved)
        #expect(approved.decision?.author == "sam" && approved.decision?.until == now.adding(seconds: 7_200))
        #expect(try await desk.proposals([.override], in: nil) == [approved])
        #expect(
            await code { _ = try await desk.decide(question.id, .denied, for: nil, readAt: nil, as: decision) }
                == .conflict)
        #expect(try await actions() == ["override.ask", "override.set", "approval.approve"])
    }

    @Test func `a question of automation is updated and not repeated, and decided once`() async throws {
        try await ask([question(), question(pool: "azure:gpt-4o"), question(kind: .recommendation)])
        let first = try await desk.steering().proposals
        #expect(first.map(\.pool) == ["openai:gpt-4o", "azure:gpt-4o", "openai:gpt-4o"])
        var expected = question()
        expected.id = first[0].id
        #expect(first[0] == expected)

        let later = start.adding(seconds: 600)
        time.set(later)
        try await ask([question(tpm: 200, at: later)], withdrawn: [first[1].id], at: later)
        let second = try await desk.steering().proposals
        #expect(second.map(\.id) == [first[0].id, first[2].id])
        #expect(second[0].changes[0].to == Rates(tpm: 200))
        #expect(second[0].authorship.at == start && second[0].authorship.until == later.adding(seconds: 3_600))
        #expect(try await desk.proposals([.guardrail], in: .expired).map(\.id) == [first[1].id])

        let denial = authorship(by: "sam", reason: "no", at: later, seconds: 900)
        let denied = try await desk.decide(second[0].id, .denied, for: nil, readAt: nil, as: denial)
        #expect(denied.decision == denial)
        _ = try await desk.decide(
            first[2].id, .approved, for: nil, readAt: nil, as: authorship(by: "sam", at: later, seconds: 100))
        #expect(try await desk.steering().proposals.map(\.state) == [.denied, .approved])
        // A withdrawal that comes after the decision changes nothing.
        try await ask([], withdrawn: [second[0].id], at: later)
        #expect(try await desk.proposals([.guardrail], in: .denied).map(\.id) == [second[0].id])
        time.set(later.adding(seconds: 900))
        #expect(try await desk.steering().proposals == [])
        #expect(try await actions() == ["approval.deny", "recommendation.apply"])
        // The next one is a new question.
        try await ask([question(at: later)], at: later.adding(seconds: 900))
        #expect(try await desk.proposals([.guardrail], in: .pending).map(\.id) == [4])
    }

    @Test func `a decision for some tenants is a proposal of its own, and the others keep waiting`() async throws {
        try await ask([question(["acme", "beta", "gamma"])])
        let asked = try #require(try await desk.steering().proposals.first)
        let decision = authorship(by: "sam", reason: "two of them", at: start, seconds: 900)
        let part = try await desk.decide(asked.id, .approved, for: ["acme", "gamma"], readAt: nil, as: decision)
        #expect(part.id != asked.id && part.state == .approved && part.decision == decision)
        #expect(part.changes == [asked.changes[0], asked.changes[2]] && part.movers == 2)
        let rest = try #require(try await desk.proposal(asked.id))
        #expect(rest.state == .pending && rest.changes == [asked.changes[1]] && rest.movers == 1)
        #expect(try await desk.proposal(part.id) == part)
        #expect(Set(try await desk.steering().proposals.map(\.id)) == [asked.id, part.id])
        #expect(
            try await actions() == ["approval.approve", "approval.approve_tenant", "approval.approve_tenant"])
        // Whoever names one that it does not change has read something older.
        let other = await #expect(throws: SteeringError.self) {
            try await desk.decide(asked.id, .denied, for: ["beta", "acme"], readAt: nil, as: decision)
        }
        #expect(other?.code == .invalid && other?.message.contains("does not change acme") == true)
        // All that is left is the question itself.
        let last = try await desk.decide(asked.id, .denied, for: ["beta"], readAt: nil, as: decision)
        #expect(last.id == asked.id && last.state == .denied)
        #expect(try await database.auditReader().verify(at: start).fault == nil)
    }

    @Test func `questions of one tenant each, as older versions asked them, can still be read`() async throws {
        try await ask([question()])
        var old = ByteWriter()
        old.write(UInt8(1))
        old.write(Rates(tpm: 50))
        old.write(Rates(tpm: 70))
        old.write(["it asks for more"]) { $0.write($1) }
        old.write([Int]()) { _, _ in }
        old.write(Override?.none) { _, _ in }
        let body = old.bytes
        try database.writer.executor.performAndWait {
            try database.writer.statement("UPDATE proposal SET tenant = 'acme', body = :body").bind(":body", body).run()
        }
        let found = try await SteeringStore(connection: database.writer, coding: .unused, time: TimeSource { start })
            .proposals([.guardrail], in: nil)
        #expect(
            found.first?.changes == [Proposal.Change(tenant: "acme", from: Rates(tpm: 50), to: Rates(tpm: 70))])
        #expect(found.first?.movers == 1 && found.first?.evidence == ["it asks for more"])
    }

    @Test func `a question that nobody decides expires, and cannot be decided then`() async throws {
        try await ask([question()])
        let late = start.adding(seconds: 3_600)
        time.set(late)
        #expect(try await desk.steering().proposals == [])
        #expect(try await desk.proposals([.guardrail], in: .pending) == [])
        #expect(try await desk.proposals([.guardrail], in: .expired).count == 1)
        let decision = authorship(by: "sam", at: late)
        #expect(
            await code { _ = try await desk.decide(1, .approved, for: nil, readAt: nil, as: decision) } == .conflict)
        try await ask([question(at: late)], at: late)
        #expect(try await desk.proposals([.guardrail], in: .pending).map(\.id) == [2])
    }

    @Test func `a pool has one pin, the newest, until it ends or is taken out`() async throws {
        let pool: PoolID = "openai:gpt-4o"
        try await desk.pin(CapacityPin(pool: pool, capacity: Rates(tpm: 5), authorship: authorship()))
        let newer = CapacityPin(pool: pool, capacity: Rates(rpm: 1, tpm: 7, otpm: 3), authorship: authorship(by: "bob"))
        try await desk.pin(newer)
        #expect(try await desk.steering().pins == [newer])
        #expect(await code { try await desk.unpin("azure:gpt-4o", by: "ann", at: start) } == .notFound)
        try await desk.unpin(pool, by: "ann", at: start)
        #expect(try await desk.steering().pins == [])
        try await desk.pin(newer)
        time.set(start.adding(seconds: 3_600))
        #expect(try await desk.steering().pins == [])
        #expect(try await actions() == ["capacity.pin", "capacity.pin", "capacity.unpin", "capacity.pin"])
    }

    @Test func `another process's act is seen at the next look, and without one nothing is read again`() async throws {
        #expect(try await desk.steering() == .none)
        let other = SteeringStore(
            connection: try TemporaryDatabase(in: database.directory).writer, coding: .unused, time: time.source)
        _ = try await other.set(override(), askingUntil: nil)
        #expect(try await desk.steering().overrides.count == 1)
        // Not through the desk, so that it does not know: what it has read is still there.
        try database.execute("DELETE FROM override")
        #expect(try await desk.steering().overrides.count == 1)
    }

    @Test func `one too many is refused, and what has ended goes with time`() async throws {
        try database.execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO override (tenant, tier, author, reason, at_ms, until_ms)
            SELECT 't' || i, 'free', 'a', 'r', 1793000000000, 1793000100000 FROM n
            """)
        #expect(await code { _ = try await desk.set(override(), askingUntil: nil) } == .conflict)
        #expect(try await actions() == [])
        let late = start.adding(seconds: 100)
        _ = try await desk.set(override(as: authorship(at: late)), askingUntil: nil)
        var deleted = 0
        while true {
            let rows = try await desk.prune(before: start.adding(seconds: 101), limit: 4_000)
            #expect(rows <= 4_000)
            if rows == 0 { break }
            deleted += rows
        }
        #expect(deleted == 10_000)
        time.set(late)
        #expect(try await desk.steering().overrides.map(\.tenant) == ["acme"])
    }
}
