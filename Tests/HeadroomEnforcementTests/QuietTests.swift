import HeadroomEnforcement
import HeadroomModel
import Testing

/// Quiet tenants first, and ceilings that are soft (Model §5.8).
@Suite struct QuietTests {
    private func soft(_ id: TenantID, ceiling: Rates, clock: Double = 0) -> TenantAllocation {
        var tenant = tenant(id, ceiling: ceiling, clock: clock)
        tenant.hasSoftCeiling = true
        return tenant
    }

    private func quiet(_ id: TenantID, rpm: Double = 0, tpm: Double = 0, clock: Double = 0) -> TenantAllocation {
        var tenant = tenant(id, rpm: rpm, tpm: tpm, clock: clock)
        tenant.isQuiet = true
        return tenant
    }

    /// Its gateway is the only one.
    private func aloneGate(_ allocation: PoolAllocation) -> PoolGate {
        var allocation = allocation
        allocation.gateways = 1
        return gate(allocation)
    }

    @Test func `a quiet tenant's batch call is lent to before a loud one's interactive call, whatever the clocks`() {
        var gate = aloneGate(allocation(rpm: 12, tenants: [tenant("loud"), quiet("quiet", clock: 9)]))
        gate.enqueue([call(1, of: "loud"), call(2, of: "quiet", .batch)])
        #expect(gate.dispatch(at: start).ids == [2])
    }

    @Test func `of two assured calls the quiet tenant's goes first where the gate is alone`() {
        let tenants = [tenant("loud", rpm: 300, tpm: 300_000), quiet("quiet", rpm: 300, tpm: 300_000)]
        for (isAlone, order) in [(true, [2, 1]), (false, [1, 2])] {
            var gate = isAlone ? aloneGate(allocation(tenants: tenants)) : gate(allocation(tenants: tenants))
            gate.enqueue([call(1, of: "loud"), call(2, of: "quiet", .batch)])
            #expect(gate.dispatch(at: start).ids == order, "alone: \(isAlone)")
        }
    }

    @Test func `among quiet tenants the more urgent call goes first`() {
        var gate = aloneGate(allocation(rpm: 12, tenants: [quiet("a"), quiet("b", clock: 9)]))
        gate.enqueue([call(1, of: "a", .batch), call(2, of: "b")])
        #expect(gate.dispatch(at: start).ids == [2])
    }

    @Test func `beyond a soft ceiling a tenant gets all that nobody else waits for, but for the reserve`() {
        let ceiling = Rates(rpm: 60, tpm: 60_000)
        var ids = 0
        var hard = gate(allocation(tenants: [tenant("a", ceiling: ceiling), tenant("b")]))
        let held = hard.run(seconds: 60, busy: ["a"], ids: &ids).count
        #expect((60...70).contains(held), "\(held)")
        var gate = gate(allocation(tenants: [soft("a", ceiling: ceiling), tenant("b")]))
        let lent = gate.run(seconds: 60, busy: ["a"], ids: &ids).count
        #expect((590...640).contains(lent), "\(lent) of 600")
        // Two seconds of the pool are left for whoever comes.
        gate.enqueue((0..<30).map { call(90_000 + $0, of: "b") }, at: after(60))
        let next = gate.dispatch(at: after(60))
        #expect((15...20).contains(next.count(of: "b")), "\(next.count(of: "b"))")
    }

    @Test func `a soft ceiling holds while another tenant waits`() {
        var gate = gate(
            allocation(tenants: [soft("a", ceiling: Rates(rpm: 60, tpm: 60_000)), tenant("b", clock: 1e6)]))
        var ids = 0
        let served = gate.run(seconds: 60, busy: ["a", "b"], ids: &ids)
        // A minute of the ceiling, its burst, and what flows over while the other's queue is filled.
        #expect((60...80).contains(served.count(of: "a")), "\(served.count(of: "a")) of \(served.count)")
    }

    @Test func `what was lent beyond a soft ceiling is not owed when others come back`() {
        var gate = gate(
            allocation(tenants: [soft("a", ceiling: Rates(rpm: 60, tpm: 60_000)), tenant("b", clock: 1e6)]))
        var ids = 0
        _ = gate.run(seconds: 60, busy: ["a"], ids: &ids)
        let served = gate.run(from: 60, seconds: 30, busy: ["a", "b"], ids: &ids)
        #expect((28...40).contains(served.count(of: "a")), "\(served.count(of: "a"))")
    }

    @Test func `a gate says when a call beyond a soft ceiling goes`() {
        var gate = gate(allocation(tenants: [soft("a", ceiling: Rates(rpm: 1, tpm: 1_000))]))
        gate.enqueue((1...99).map { call($0, of: "a") })
        let first = gate.dispatch(at: start).count
        // Five seconds of ten calls, of which a third is kept.
        #expect((33...35).contains(first), "\(first)")
        let wake = gate.nextWake(after: start)?.seconds(since: start)
        #expect(wake.map { $0 > 0 && $0 < 0.2 } == true, "\(wake ?? -1)")
    }

    @Test func `the float grants by the present least share, and beyond soft ceilings last`() throws {
        var ledger = FloatLedger(pool: "pool", epoch: 3, at: start)
        var tenants = [tenant("loud"), tenant("own"), soft("over", ceiling: Rates(rpm: 0, tpm: 0))]
        tenants.sort { $0.tenant < $1.tenant }
        var whole = allocation(rpm: 60, tpm: 60_000, tenants: tenants)
        whole.float = Rates(rpm: 60, tpm: 60_000)
        whole.budget = Rates(rpm: 0, tpm: 0)
        ledger.follow(whole, budgets: [("g", Rates(rpm: 0, tpm: 0))], at: start)
        let place = try #require(tenants.firstIndex { $0.tenant == "own" })
        whole.tenants[place].leastShare = Rates(rpm: 30, tpm: 30_000)
        ledger.follow(leastShares: whole, at: start)
        func head(_ criticality: Criticality) -> [DrawRequest.Head] {
            [DrawRequest.Head(estimate: Work(requests: 1, tokens: 1_000), criticality: criticality, waitedSeconds: 1)]
        }
        func draw(_ sequence: Int64, _ seconds: Double, _ waiting: [TenantID]) throws -> [TenantID] {
            try ledger.draw(
                DrawRequest(
                    gateway: "g", boot: "1", sequence: sequence, pool: "pool", epoch: 3,
                    totals: DrawRequest.Totals(returned: .zero, grantedUsed: Work(requests: 1, tokens: 1_000)),
                    waiting: waiting.map {
                        DrawRequest.Queue(tenant: $0, heads: head($0 == "own" ? .batch : .interactive))
                    }),
                at: after(seconds)
            ).granted.map(\.tenant)
        }
        _ = try draw(1, 0, [])
        // Enough for one call.
        let first = try draw(2, 1.1, ["loud", "over", "own"])
        #expect(first == ["own"])
        let second = try draw(3, 2.2, ["loud", "over"])
        #expect(second == ["loud"])
        // Alone, it may have what is beyond the reserve.
        let last = try draw(4, 9, ["over"])
        #expect(last == ["over"])
    }
}
