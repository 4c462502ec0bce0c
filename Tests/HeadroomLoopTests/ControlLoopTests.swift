import HeadroomLoop
import HeadroomMemoryStores
import HeadroomModel
import Testing

@Suite struct ControlLoopTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let nominal = Rates(rpm: 600, tpm: 600_000)

    private let telemetry = MemoryTelemetry()
    private let ledger = MemoryLedger()
    private let board = MemoryBoard()
    private let checkpoints = MemoryCheckpoints()
    private let records = MemoryRecords()
    private let rules = MemoryRules(
        Rules(
            policy: Policy(
                tiers: [TierPolicy(name: "premium", weight: 4), TierPolicy(name: "free", weight: 1)],
                defaultTier: "free", guardrails: GuardrailPolicy(mostOfNominal: 1),
                pools: [PoolPolicy(pool: pool, nominal: nominal)]),
            contracts: [
                "acme": Contract(tenant: "acme", tier: "premium"), "beta": Contract(tenant: "beta", tier: "free"),
            ]))

    private func loop(at second: Double = 0) -> ControlLoop {
        ControlLoop(
            telemetry: telemetry, rules: rules, ledger: ledger, board: board, records: records,
            checkpoints: checkpoints, at: at(second))
    }

    private func at(_ second: Double) -> Timestamp { Self.start.adding(seconds: second) }

    /// `rate` calls a second of 1,000 tokens each, over the seconds of `range`.
    private func calls(
        _ tenant: TenantID, rate: Int, over range: Range<Int>, gateway: GatewayID = "gw-1", outcome: Outcome = .ok
    ) -> [TelemetryRecord] {
        range.flatMap { second in
            (0..<rate).map { n in
                .call(
                    CallRecord(
                        request: "\(tenant)-\(second)-\(n)",
                        at: at(Double(second) + Double(n) / Double(rate)), gateway: gateway, tenant: tenant,
                        pool: Self.pool, outcome: outcome, inputTokens: 900, outputTokens: 100))
            }
        }
    }

    private func assured(_ tenant: TenantID, in publication: Publication?) -> Double? {
        publication?.whole.pools.first?.tenants.first { $0.tenant == tenant }?.assured[.tokens]
    }

    @Test func `budgets go where the work is, fallbacks where it has been`() async throws {
        let loop = loop()
        let gateways: [GatewayID] = ["gw-1", "gw-2"]
        func run(_ seconds: Range<Int>, calling busy: [GatewayID]) async {
            for second in stride(from: seconds.lowerBound, to: seconds.upperBound, by: 2) {
                for gateway in busy {
                    let tenant: TenantID = gateway == "gw-1" ? "acme" : "beta"
                    telemetry.append(calls(tenant, rate: 2, over: second..<second + 2, gateway: gateway))
                }
                let newest = board.publications.last?.whole.version
                for gateway in gateways {
                    board.poll(gateway, applied: newest, sent: newest, at: at(Double(second) + 2))
                }
                await loop.tick(at: at(Double(second) + 2))
            }
        }
        func part(_ rates: (PoolAllocation) -> Rates) -> Double {
            let pools = board.publications.last?.parts.compactMap(\.snapshot.pools.first) ?? []
            let amounts = pools.map { rates($0)[.tokens] ?? 0 }
            return amounts[1] / (amounts[0] + amounts[1])
        }
        await run(0..<600, calling: gateways)
        #expect(abs(part(\.budget) - 0.5) < 0.05)
        #expect(abs(part(\.fallback) - 0.5) < 0.01)
        await run(600..<660, calling: ["gw-1"])
        #expect(part(\.budget) < 0.1)
        #expect(part(\.fallback) > 0.45)
    }

    @Test func `gateways with work count as drawing while they draw, else as lending`() async throws {
        let loop = loop()
        func tick(_ second: Double) async -> GatewayCounts? {
            for gateway in ["gw-1", "gw-2", "idle"] as [GatewayID] {
                board.poll(gateway, applied: board.publications.last?.whole.version, sent: nil, at: at(second))
            }
            return await loop.tick(at: at(second)).pools.first?.gateways
        }
        telemetry.append(calls("acme", rate: 2, over: 0..<2, gateway: "gw-1"))
        telemetry.append(calls("beta", rate: 2, over: 0..<2, gateway: "gw-2"))
        #expect(await tick(2) == GatewayCounts(drawing: 0, lending: 2))
        let epoch = try #require(board.publications.last?.whole.version.epoch)
        _ = try loop.draw(
            DrawRequest(gateway: "gw-1", boot: "one", sequence: 1, pool: Self.pool, epoch: epoch), at: at(3))
        #expect(await tick(4) == GatewayCounts(drawing: 1, lending: 1))
        #expect(await tick(8) == GatewayCounts(drawing: 0, lending: 2), "no draw for more than three seconds")
    }

    @Test func `the first tick publishes the contract, numbered and in the ledger`() async throws {
        let report = await loop().tick(at: at(0))
        let published = try #require(board.publications.first)
        #expect(published.whole.version == SnapshotVersion(epoch: Self.start.milliseconds / 1000, generation: 1))
        #expect(published.whole.pools.map(\.budget) == [Self.nominal])
        #expect(ledger.snapshots == [published.whole])
        #expect(report.failures.isEmpty)
        #expect(report.version == published.whole.version)
        #expect(report.ticksSucceeded == 1)
    }

    @Test func `what happened to a pool is recorded once, and what there was to divide by minute`() async throws {
        let loop = loop()
        for second in stride(from: 0.0, to: 10, by: 2) { await loop.tick(at: at(second)) }
        let pin = CapacityPin(
            pool: Self.pool, capacity: Rates(rpm: 600, tpm: 300_000),
            authorship: Authorship(author: "sre", reason: "test", at: at(10), until: at(40)))
        rules.change { $0.steering.pins = [pin] }
        for second in stride(from: 10.0, through: 30, by: 2) { await loop.tick(at: at(second)) }
        records.isFull = true
        rules.change { $0.policy.digest = "other" }
        await loop.tick(at: at(32))
        // Events that could not be stored are stored later.
        records.isFull = false
        await loop.tick(at: at(34))
        let events = records.outcomes.flatMap(\.events)
        #expect(events.map(\.kind) == [.start, .capacity, .policy], "\(events)")
        #expect(events[1].at == at(10) && events[1].subject == "tpm")
        #expect(events[1].before == "600000" && events[1].after == "300000")
        #expect(events[2].at == at(32) && events[2].after == "default@other")

        for second in stride(from: 36.0, through: 70, by: 2) { await loop.tick(at: at(second)) }
        let minutes = checkpoints.capacities
        #expect(minutes.allSatisfy { $0.start.milliseconds % 60_000 == 0 })
        let seconds = minutes.reduce(0) { $0 + $1.capacity.observedSeconds }
        #expect(seconds >= 60 && seconds <= 70)
        var sums = CapacitySums()
        for minute in minutes { sums.add(minute.capacity) }
        #expect(sums.mean(\.nominal) == Self.nominal)
        #expect((sums.mean(\.estimated)[.tokens] ?? 0) < 500_000)
    }

    @Test func `nothing new is nothing published`() async {
        let loop = loop()
        for second in stride(from: 0.0, to: 20, by: 2) { await loop.tick(at: at(second)) }
        #expect(board.publications.count == 1)
    }

    @Test func `demand moves what is assured, by weight where it does not fit`() async throws {
        let loop = loop()
        // In its first seconds nobody is known to be loud; a rate that rose for that waits before it falls.
        for second in stride(from: 2, through: 420, by: 2) {
            let seconds = (second - 2)..<second
            telemetry.append(calls("acme", rate: 20, over: seconds) + calls("beta", rate: 20, over: seconds))
            await loop.tick(at: at(Double(second)))
        }
        let last = board.publications.last
        let acme = try #require(assured("acme", in: last))
        let beta = try #require(assured("beta", in: last))
        // Premium weighs 4, free 1, and both want twice what there is.
        #expect(abs(acme / beta - 4) < 0.05, "\(acme) \(beta)")
        #expect(try #require(board.clocks[Self.pool]?["beta"]) > 0)
    }

    @Test func `each gateway gets a part, and the parts are the whole`() async throws {
        let loop = loop()
        board.join(["gw-1", "gw-2"])
        telemetry.append(
            calls("acme", rate: 9, over: 0..<10) + calls("beta", rate: 3, over: 0..<10, gateway: "gw-2"))
        await loop.tick(at: at(10))
        let last = try #require(board.publications.last)
        #expect(last.parts.map(\.gateway) == ["gw-1", "gw-2"])
        for resource in [Resource.requests, .tokens] {
            let budgets = last.parts.map { $0.snapshot.pools[0].budget[resource] ?? 0 }
            #expect(budgets.reduce(0, +) == last.whole.pools[0].budget[resource])
            #expect(budgets[0] > budgets[1])
        }
    }

    @Test func `a gateway that joins between ticks gets its part at once`() async throws {
        let loop = loop()
        await loop.tick(at: at(0))
        board.join(["gw-1"])
        await loop.admitGateways(at: at(0.5))
        let last = try #require(board.publications.last)
        #expect(last.parts.map(\.gateway) == ["gw-1"])
        #expect(last.whole.version.generation == 2)
    }

    @Test func `telemetry that cannot be read leaves the snapshot in force and is counted`() async throws {
        let loop = loop()
        await loop.tick(at: at(0))
        telemetry.isLocked = true
        let failed = await loop.tick(at: at(2))
        #expect(failed.failures.map(\.stage) == [.read])
        #expect(failed.ticksFailed == 1)
        #expect(board.publications.count == 1)
        telemetry.isLocked = false
        let mended = await loop.tick(at: at(4))
        #expect(mended.failures.isEmpty)
        #expect(mended.ticksSucceeded == 2)
    }

    @Test func `with the ledger full decreases are published from memory and written later`() async throws {
        let loop = loop()
        await loop.tick(at: at(0))
        telemetry.append(calls("acme", rate: 4, over: 0..<20))
        await loop.tick(at: at(20))
        let before = try #require(board.publications.last)

        ledger.isFull = true
        telemetry.append(calls("beta", rate: 30, over: 20..<140))
        var report = await loop.tick(at: at(22))
        // What acme was assured follows the mean of a minute down.
        for second in stride(from: 24.0, through: 140, by: 2) { report = await loop.tick(at: at(second)) }
        let during = try #require(board.publications.last)
        #expect(!report.isLedgerWritable)
        #expect(during.whole.version.generation > before.whole.version.generation)
        for tenant in ["acme", "beta"] as [TenantID] {
            // Who was not there before is not there now.
            let then = assured(tenant, in: before) ?? 0
            let now = assured(tenant, in: during) ?? 0
            #expect(now <= then, "\(tenant)")
        }

        ledger.isFull = false
        let mended = await loop.tick(at: at(142))
        #expect(mended.isLedgerWritable)
        let generations = ledger.snapshots.map(\.version.generation)
        #expect(generations == generations.sorted())
        #expect(generations.contains(during.whole.version.generation))
    }

    @Test func `with the ledger full a turn that lowers nothing publishes nothing`() async throws {
        let loop = loop()
        await loop.tick(at: at(0))
        telemetry.append(calls("acme", rate: 4, over: 0..<20))
        await loop.tick(at: at(20))
        ledger.isFull = true
        telemetry.append(calls("beta", rate: 30, over: 20..<40))
        await loop.tick(at: at(40))
        let lowered = board.publications.count
        // Beta's demand waits for the ledger; nothing else has changed.
        await loop.tick(at: at(40))
        #expect(board.publications.count == lowered)
    }

    @Test func `after a start the last allocations hold until the loop has learned`() async throws {
        var first: ControlLoop? = loop()
        telemetry.append(calls("acme", rate: 8, over: 0..<20) + calls("beta", rate: 1, over: 0..<20))
        await first?.tick(at: at(20))
        let before = try #require(board.publications.last)
        first = nil

        // The second term has seen nothing but its first rows.
        let second = ControlLoop(
            telemetry: MemoryTelemetry(), rules: rules, ledger: ledger, board: board, records: records,
            checkpoints: MemoryCheckpoints(), at: at(25))
        await second.tick(at: at(25))
        let held = try #require(board.publications.last)
        #expect(held.whole.version > before.whole.version)
        #expect(held.whole.version.epoch > before.whole.version.epoch)
        #expect(assured("acme", in: held) == assured("acme", in: before))

        await second.tick(at: at(36))
        #expect(assured("acme", in: board.publications.last) != assured("acme", in: before))
    }

    @Test func `a policy that changes is live at the next tick`() async throws {
        let loop = loop()
        telemetry.append(calls("acme", rate: 20, over: 0..<20) + calls("beta", rate: 20, over: 0..<20))
        await loop.tick(at: at(20))
        let before = try #require(assured("beta", in: board.publications.last))
        rules.change { $0.contracts["beta"]?.tier = "premium" }
        await loop.tick(at: at(22))
        #expect(try #require(assured("beta", in: board.publications.last)) > 1.5 * before)
    }

    @Test func `what changed is explained under the generation that changed it`() async throws {
        let loop = loop()
        telemetry.append(calls("acme", rate: 8, over: 0..<20))
        await loop.tick(at: at(20))
        let published = try #require(board.publications.last)
        let chains = try #require(records.outcomes.last?.explanations.first)
        #expect(chains.version == published.whole.version)
        #expect(chains.tenants.map(\.tenant) == published.whole.pools[0].tenants.map(\.tenant))
        #expect(chains.tenants.map(\.assured) == published.whole.pools[0].tenants.map(\.assured))
    }

    @Test func `records that cannot be written are counted and hold up nothing`() async throws {
        let loop = loop()
        records.isFull = true
        telemetry.append(calls("acme", rate: 8, over: 0..<20))
        let report = await loop.tick(at: at(20))
        #expect(report.failures.map(\.stage) == [.record])
        #expect(report.ticksSucceeded == 1)
        #expect(assured("acme", in: board.publications.last) != nil)
        records.isFull = false
        #expect(await loop.tick(at: at(22)).failures.isEmpty)
    }

    @Test func `the same input gives the same publications`() async {
        var runs: [[Publication]] = []
        for _ in 0..<3 {
            let telemetry = MemoryTelemetry()
            let board = MemoryBoard()
            board.join(["gw-1", "gw-2", "gw-3"])
            let loop = ControlLoop(
                telemetry: telemetry, rules: rules, ledger: MemoryLedger(), board: board, records: MemoryRecords(),
                checkpoints: MemoryCheckpoints(), at: at(0))
            for tick in 0..<10 {
                let seconds = (2 * tick)..<(2 * tick + 2)
                for n in 0..<12 {
                    telemetry.append(
                        calls(
                            TenantID(unchecked: "t\(n)"), rate: 1 + (n * tick) % 5, over: seconds,
                            gateway: GatewayID(unchecked: "gw-\(1 + n % 3)"),
                            outcome: (n + tick) % 7 == 0 ? .quota : .ok))
                }
                await loop.tick(at: at(Double(2 * tick + 2)))
            }
            runs.append(board.publications)
        }
        for run in runs.dropFirst() {
            #expect(run.map(\.whole) == runs[0].map(\.whole))
            #expect(run.flatMap { $0.parts.map(\.snapshot) } == runs[0].flatMap { $0.parts.map(\.snapshot) })
        }
    }

    @Test func `a tenant that gets less than its due for long is reported as starved`() async throws {
        rules.change { $0.policy.starvation = StarvationPolicy(seconds: 10, share: 0.7) }
        let loop = loop()
        var starved: Starvation?
        for second in stride(from: 2, to: 40, by: 2) {
            telemetry.append(
                calls("acme", rate: 1, over: (second - 2)..<second)
                    + calls("acme", rate: 3, over: (second - 2)..<second, gateway: "gw-2", outcome: .denied))
            let report = await loop.tick(at: at(Double(second)))
            starved = report.pools[0].tenants.first { $0.tenant == "acme" }?.starvation
        }
        #expect(starved == .delivery)
    }

    @Test func `tokens served are counted by tenant, waits of what went through by tier`() async throws {
        let loop = loop()
        telemetry.append(calls("acme", rate: 2, over: 0..<2) + calls("acme", rate: 1, over: 0..<2, outcome: .denied))
        for (tenant, outcome) in [("acme", Outcome.ok), ("beta", .ok), ("beta", .quota)] as [(TenantID, Outcome)] {
            telemetry.append([
                .call(
                    CallRecord(
                        at: at(1), gateway: "gw-1", tenant: tenant, pool: Self.pool, criticality: .batch,
                        outcome: outcome, queuedMilliseconds: 4000, inputTokens: 90, outputTokens: 10))
            ])
        }
        await loop.tick(at: at(2))
        let pool = try #require(await loop.tick(at: at(4)).pools.first)
        let acme = try #require(pool.tenants.first { $0.tenant == "acme" })
        #expect(acme.tokens == PerCriticality(interactive: 4000, nearRealTime: 0, batch: 100))
        #expect(pool.waits.map(\.tier) == ["free", "premium"])
        #expect(pool.waits.map(\.seconds.batch.sum) == [4, 4])
        #expect(pool.waits.map(\.seconds.interactive.count) == [0, 0])
    }
}
