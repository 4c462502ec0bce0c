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

    @Test func `a gateway that is cut off withholds its fallback, and nothing for longer than is kept`() async {
        rules.change { $0.policy.loop.safeSeconds = 60 }
        let loop = loop()
        await run(loop, ["gw-1", "gw-2"], from: 0, through: 4)
        #expect(budgets("gw-1", "gw-2") == [300, 300])
        let last = newest
        await run(loop, ["gw-1"], from: 6, through: 30)
        #expect(budgets("gw-1", "gw-2") == [600 - 285, nil])
        board.poll("gw-2", applied: last, sent: last, at: at(30.5))
        await loop.admitGateways(at: at(30.5))
        #expect(budgets("gw-1", "gw-2") == [300, 285])
        await run(loop, ["gw-1"], from: 32, through: 96)
        #expect(budgets("gw-1", "gw-2") == [600, nil])
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
