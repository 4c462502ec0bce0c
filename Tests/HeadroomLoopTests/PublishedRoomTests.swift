import HeadroomLoop
import HeadroomMemoryStores
import HeadroomModel
import Testing

/// Room (Model §5.3) through the whole loop: gateways that join, are cut off and come back, a capacity that drops, and
/// a control plane that starts again.
@Suite struct PublishedRoomTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private let ledger = MemoryLedger()
    private let board = MemoryBoard()
    private let telemetry = MemoryTelemetry()
    private let rules = MemoryRules(
        Rules(policy: Policy(pools: [PoolPolicy(pool: pool, nominal: Rates(rpm: 600, tpm: 600_000))]), contracts: [:]))

    private func loop(at second: Double = 0) -> ControlLoop {
        ControlLoop(
            telemetry: telemetry, rules: rules, ledger: ledger, board: board, records: MemoryRecords(),
            checkpoints: MemoryCheckpoints(), at: at(second))
    }

    private func at(_ second: Double) -> Timestamp { Self.start.adding(seconds: second) }

    private var newest: SnapshotVersion? { board.publications.last?.whole.version }

    /// These have the newest generation, and say so.
    private func acknowledge(_ gateways: [GatewayID], at second: Double) {
        for gateway in gateways { board.poll(gateway, applied: newest, sent: newest, at: at(second)) }
    }

    /// Requests a minute of the newest generation.
    private func budget(of gateway: GatewayID) -> Double? {
        let part = board.publications.last?.parts.first { $0.gateway == gateway }
        return part?.snapshot.pools.first?.budget[.requests]
    }

    private func budgets(_ gateways: GatewayID...) -> [Double?] { gateways.map(budget) }

    /// From one second to another every two, with these gateways there.
    private func run(_ loop: ControlLoop, _ gateways: [GatewayID], from first: Double, through last: Double) async {
        for second in stride(from: first, through: last, by: 2) {
            acknowledge(gateways, at: second - 1)
            await loop.tick(at: at(second))
        }
    }

    @Test func `a gateway that joins gets what is free, and its part when the others have come down`() async {
        let loop = loop()
        await run(loop, ["gw-1"], from: 0, through: 4)
        #expect(budgets("gw-1") == [600])
        board.poll("gw-2", applied: nil, sent: nil, at: at(4.5))
        await loop.admitGateways(at: at(4.5))
        #expect(budgets("gw-1", "gw-2") == [300, 0])
        await run(loop, ["gw-1", "gw-2"], from: 6, through: 8)
        #expect(budgets("gw-1", "gw-2") == [300, 300])
    }

    @Test func `a gateway that is cut off withholds its fallback for a minute after lease and grace`() async {
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        #expect(budgets("gw-1", "gw-2") == [300, 300])
        let last = newest
        await run(loop, ["gw-1"], from: 6, through: 30)
        #expect(budgets("gw-1", "gw-2") == [600 - 285, nil])
        board.poll("gw-2", applied: last, sent: last, at: at(30.5))
        await loop.admitGateways(at: at(30.5))
        #expect(budgets("gw-1", "gw-2") == [300, 285])
        await run(loop, ["gw-1"], from: 32, through: 110)
        #expect(budgets("gw-1", "gw-2") == [600 - 285, nil])
        await run(loop, ["gw-1"], from: 112, through: 112)
        #expect(budgets("gw-1", "gw-2") == [600, nil])
    }

    @Test func `what is withheld for a gateway that vanished is reported with its end`() async {
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        await run(loop, ["gw-1"], from: 6, through: 22)
        #expect(board.contents.report?.withheld.isEmpty == true, "within lease and grace nobody has vanished")
        await run(loop, ["gw-1"], from: 24, through: 30)
        // Heard of last at 3: lease, grace and a minute later nothing is withheld any more.
        #expect(
            board.contents.report?.withheld == [
                WithheldBudget(pool: Self.pool, gateway: "gw-2", rates: Rates(rpm: 285, tpm: 285_000), until: at(83))
            ])
        telemetry.isLocked = true
        await run(loop, ["gw-1"], from: 32, through: 82)
        #expect(board.contents.report?.withheld.map(\.gateway) == ["gw-2"], "also while nothing can be read")
        await run(loop, ["gw-1"], from: 84, through: 84)
        #expect(board.contents.report?.withheld.isEmpty == true)
    }

    @Test func `a gateway that says goodbye withholds nothing, and the others have its part at once`() async {
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        #expect(budgets("gw-1", "gw-2") == [300, 300])
        board.leave("gw-2", at: at(4.5))
        await loop.admitGateways(at: at(4.5))
        #expect(budgets("gw-1", "gw-2") == [600, nil])
        #expect(board.contents.report?.withheld.isEmpty == true)
        // It may come back, as one that was never there.
        board.poll("gw-2", applied: nil, sent: nil, at: at(5))
        await loop.admitGateways(at: at(5))
        #expect(budgets("gw-1", "gw-2") == [300, 0])
    }

    @Test func `a goodbye ends what a new term withholds by its ledger`() async {
        await run(loop(), ["gw-1", "gw-2"], from: 0, through: 4)
        board.forgetGateways()
        let again = loop(at: 5)
        await run(again, ["gw-1"], from: 6, through: 30)
        #expect(budgets("gw-1") == [600 - 285])
        board.leave("gw-2", at: at(31))
        await again.admitGateways(at: at(31))
        #expect(budgets("gw-1") == [600])
    }

    /// The whole pool at so many requests a minute.
    private func decision(_ rpm: Double) async -> PriorityPolicyEngine.Decision {
        let rules = Rules(policy: Policy(), contracts: [:])
        var decision = await PriorityPolicyEngine().decide(capacities: [], classified: [], under: rules, at: at(0))
        decision.pools = [
            PoolAllocation(
                pool: Self.pool, capacity: Rates(rpm: 600), nominal: Rates(rpm: 600), budget: Rates(rpm: rpm))
        ]
        return decision
    }

    @Test func `publications that are asked for at once follow each other`() async throws {
        let slow = SlowLedger(ledger)
        let publisher = AllocationPublisher(ledger: slow, board: board)
        _ = try await publisher.begin(under: LoopPolicy(), at: at(0))
        _ = try await publisher.publish(await decision(600), classified: [], under: Policy(), at: at(0))
        let (lower, lowest) = (await decision(500), await decision(400))
        slow.pause()
        async let first = publisher.publish(lower, classified: [], under: Policy(), at: at(2))
        await slow.waitForAppends(1)
        // While the ledger writes that one, a gateway joins, and another decision is made.
        board.poll("gw-1", applied: nil, sent: nil, at: at(2))
        async let second = publisher.divideAnew(at: at(2))
        async let third = publisher.publish(lowest, classified: [], under: Policy(), at: at(4))
        for _ in 0..<100 { await Task.yield() }
        #expect(slow.appendsInProgress == 1)
        slow.resume()
        _ = try await (first, second, third)
        let versions = board.publications.map(\.whole.version)
        #expect(versions == versions.sorted() && Set(versions).count == versions.count)
        #expect(ledger.snapshots.map(\.version) == versions)
        #expect(board.publications.last?.parts.map(\.gateway) == ["gw-1"])
    }

    @Test func `parts go on following room while telemetry cannot be read, and what was decided stays`() async {
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        let decided = board.publications.last?.whole.pools
        telemetry.isLocked = true
        await run(loop, ["gw-1"], from: 6, through: 30)
        #expect(budgets("gw-1", "gw-2") == [600 - 285, nil])
        #expect(board.publications.last?.whole.pools == decided)
    }

    @Test func `when capacity drops nothing rises before all have come down`() async {
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        rules.change { $0.policy.pools[0].nominal = Rates(rpm: 300, tpm: 300_000) }
        await run(loop, ["gw-1"], from: 6, through: 8)
        #expect(budgets("gw-1", "gw-2") == [150, 150])
        board.poll("gw-3", applied: nil, sent: nil, at: at(8.5))
        await loop.admitGateways(at: at(8.5))
        // The second may still use 300: there is nothing for a third.
        #expect(budget(of: "gw-3") == 0)
        #expect(budgets("gw-1", "gw-2") == [100, 100])
        await run(loop, ["gw-1", "gw-2", "gw-3"], from: 10, through: 14)
        #expect(budgets("gw-1", "gw-2", "gw-3") == [100, 100, 100])
    }

    @Test func `after a start what the ledger shows counts as in effect`() async {
        await run(loop(), ["gw-1", "gw-2"], from: 0, through: 4)
        board.forgetGateways()
        let again = loop(at: 5)
        board.poll("gw-1", applied: newest, sent: nil, at: at(5))
        await again.tick(at: at(6))
        // The second has not been heard of in this term, and the first may have no more than it leaves.
        #expect(budgets("gw-1", "gw-2") == [300, nil])
        await run(again, ["gw-1", "gw-2"], from: 8, through: 12)
        #expect(budgets("gw-1", "gw-2") == [300, 300])
    }
}
