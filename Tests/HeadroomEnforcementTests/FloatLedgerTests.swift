import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct FloatLedgerTests {
    private static let rates = Rates(rpm: 600, tpm: 600_000)

    /// Half of the pool in the float; gateway "g" has the other half.
    private func ledger(_ tenants: [TenantAllocation], burstSeconds: Double = 5) -> FloatLedger {
        var ledger = FloatLedger(pool: "pool", epoch: 3, at: start)
        publish(tenants, burstSeconds: burstSeconds, to: &ledger, at: start)
        return ledger
    }

    private func publish(
        _ tenants: [TenantAllocation], burstSeconds: Double = 5, to ledger: inout FloatLedger, at now: Timestamp
    ) {
        var whole = allocation(burstSeconds: burstSeconds, tenants: tenants)
        whole.float = Self.rates * 0.5
        whole.budget = Self.rates * 0.5
        ledger.follow(whole, budgets: [("g", Self.rates * 0.5)], at: now)
    }

    private func request(
        _ sequence: Int64, boot: String = "1", epoch: Int64 = 3, returned: Double = 0, used: Double = 0,
        _ waiting: [(TenantID, [DrawRequest.Head])] = []
    ) -> DrawRequest {
        DrawRequest(
            gateway: "g", boot: boot, sequence: sequence, pool: "pool", epoch: epoch,
            totals: DrawRequest.Totals(
                returned: Work(requests: returned, tokens: returned * 1000),
                grantedUsed: Work(requests: used, tokens: used * 1000)),
            waiting: waiting.map { DrawRequest.Queue(tenant: $0, heads: $1) })
    }

    private func heads(
        _ count: Int, _ criticality: Criticality = .interactive, waited: Double = 0
    ) -> [DrawRequest.Head] {
        Array(
            repeating: DrawRequest.Head(
                estimate: Work(requests: 1, tokens: 1000), criticality: criticality, waitedSeconds: waited),
            count: count)
    }

    @Test func `a repeated request gets the first answer again and takes nothing`() throws {
        var ledger = ledger([tenant("a")])
        let first = try ledger.draw(request(1, [("a", heads(2))]), at: after(1))
        let level = ledger.level
        #expect(first.granted == [DrawAnswer.Granted(tenant: "a", calls: 2)])
        let again = try ledger.draw(request(1, [("a", heads(2))]), at: after(1))
        #expect(again == first)
        #expect(ledger.level == level)
        _ = try ledger.draw(request(2, used: 2), at: after(1))
        #expect(throws: DrawRefusal.overtaken) { try ledger.draw(request(1, [("a", heads(2))]), at: after(1)) }
    }

    @Test func `what was granted and not used flows back with the next totals`() throws {
        var ledger = ledger([tenant("a")])
        _ = try ledger.draw(request(1), at: after(0.7))
        let before = ledger.level
        _ = try ledger.draw(request(2, [("a", heads(3))]), at: after(0.7))
        #expect(ledger.level == before - Work(requests: 3, tokens: 3000))
        let answer = try ledger.draw(request(3, used: 1), at: after(0.7))
        #expect(ledger.level == before - Work(requests: 1, tokens: 1000))
        #expect(answer.grantedTotal == Work(requests: 3, tokens: 3000))
    }

    @Test func `a call that claims to cost more than a minute of the pool is granted a minute, and owed no longer`()
        throws
    {
        var ledger = ledger([tenant("a"), tenant("b")])
        _ = try ledger.draw(request(1), at: start)
        for second in 1...20 { _ = try ledger.draw(request(Int64(second + 1)), at: after(Double(second))) }
        let head = DrawRequest.Head(estimate: Work(requests: 1, tokens: 1e9), waitedSeconds: 0)
        let answer = try ledger.draw(request(30, [("a", [head])]), at: after(20))
        #expect(answer.grantedTotal == Work(requests: 1, tokens: 600_000))
        #expect(ledger.level[.tokens] >= -600_000)
    }

    @Test func `the first totals of a boot count nothing, what is returned after them does`() throws {
        var ledger = ledger([tenant("a")])
        _ = try ledger.draw(request(40, returned: 100), at: start)
        #expect(ledger.level == .zero)
        _ = try ledger.draw(request(41, returned: 103), at: start)
        #expect(ledger.level == Work(requests: 3, tokens: 3000))
        _ = try ledger.draw(request(1, boot: "2", returned: 50), at: start)
        #expect(ledger.level == Work(requests: 3, tokens: 3000))
    }

    @Test func `the float and what gateways may hold are the pool's burst together`() throws {
        var ledger = ledger([tenant("a")])
        // Five seconds of ten requests each; who draws holds half a second of half of them, who does not five.
        _ = try ledger.draw(request(1), at: start)
        for second in 1...20 { _ = try ledger.draw(request(Int64(second + 1)), at: after(Double(second))) }
        #expect(abs(ledger.level[.requests] - 47.5) < 1e-9)
        _ = try ledger.draw(request(1, boot: "2"), at: after(60))
        #expect(ledger.level[.requests] <= 47.5)
    }

    @Test
    func `a pool is ample until a call was left waiting, and five seconds after; who holds has its part of the burst`()
        throws
    {
        var ledger = ledger([tenant("a")])
        var sequence: Int64 = 0
        func draw(_ waiting: [DrawRequest.Head] = [], holds: Bool?, at seconds: Double) throws -> DrawAnswer {
            sequence += 1
            var asked = request(sequence)
            if !waiting.isEmpty { asked.waiting = [DrawRequest.Queue(tenant: "a", heads: waiting)] }
            asked.holds = holds
            return try ledger.draw(asked, at: after(seconds))
        }
        #expect(try !draw(holds: nil, at: 0).isAmple, "it does not ask for it")
        let ample = try draw(holds: true, at: 0)
        #expect(ample.isAmple && ample.waitMilliseconds == 20)
        for second in 1...20 { _ = try draw(holds: true, at: Double(second)) }
        // 50 calls of burst, of which half of the gateway's half.
        #expect(abs(ledger.level[.requests] - 37.5) < 1e-9)
        #expect(try !draw(heads(64), holds: true, at: 20).isAmple)
        for seconds in [21, 22, 23, 24, 24.9] { #expect(try !draw(holds: false, at: seconds).isAmple) }
        #expect(ledger.level[.requests] > 37.5, "that request says that it has let go")
        #expect(try draw(holds: false, at: 25).isAmple)
        #expect(ledger.level[.requests] <= 37.5)
    }

    @Test func `heads without waited_ms keep the moment at which their boot first told of them`() throws {
        var ledger = ledger([tenant("a")])
        func waiting(_ sequence: Int64, at gateway: GatewayID, _ count: Int, used: Double = 0) -> DrawRequest {
            var asked = request(sequence, used: used)
            asked.gateway = gateway
            let head = DrawRequest.Head(estimate: Work(requests: 1, tokens: 1000))
            asked.waiting = [DrawRequest.Queue(tenant: "a", heads: Array(repeating: head, count: count))]
            return asked
        }
        // What flows in in 0.3 s covers one call. The first to tell gets it, though the other told later than its last time.
        #expect(try ledger.draw(waiting(1, at: "g", 2), at: start).granted.isEmpty)
        #expect(try ledger.draw(waiting(1, at: "h", 2), at: after(0.05)).granted.isEmpty)
        #expect(try ledger.draw(waiting(2, at: "g", 2), at: after(0.25)).granted.map(\.calls) == [1])
        // Another came behind the one that is left.
        #expect(try ledger.draw(waiting(2, at: "h", 2), at: after(0.3)).granted.isEmpty)
        #expect(try ledger.draw(waiting(3, at: "g", 2, used: 1), at: after(0.5)).granted.map(\.calls) == [1])
        // What came behind at "g" is younger than both at "h".
        #expect(try ledger.draw(waiting(4, at: "g", 1, used: 2), at: after(0.7)).granted.isEmpty)
        #expect(try ledger.draw(waiting(3, at: "h", 2), at: after(0.75)).granted.map(\.calls) == [1])
    }

    @Test(arguments: [3, 8, 16])
    func `without any optional field at least 0.95 of the pool is delivered`(gateways: Int) {
        for seed in 1...2 {
            var world = FloatWorld(
                rates: Self.rates, shares: Array(repeating: 1, count: gateways),
                tenants: ["a", "b", "c"].map { tenant($0) }, seed: seed)
            world.isBare = true
            var random = SplitMix64(seed: seed)
            for _ in 0..<3000 {
                // Half as much again as there is.
                if Double.random(in: 0..<1, using: &random) < 0.3 {
                    let tenant: TenantID = ["a", "b", "c"][Int.random(in: 0..<3, using: &random)]
                    world.enqueue(tenant, at: Int.random(in: 0..<gateways, using: &random), tokens: 900)
                }
                _ = world.step(seconds: 0.02)
            }
            let delivered = world.admitted[.requests] / world.granted[.requests]
            #expect(delivered >= 0.95, "\(gateways) gateways, seed \(seed): \(delivered)")
        }
    }

    @Test func `who is granted calls and does not send them is named with how many`() throws {
        var ledger = ledger([tenant("a")])
        _ = try ledger.draw(request(1, [("a", heads(3))]), at: after(1))
        var other = request(1, [("a", heads(2))])
        other.gateway = "h"
        _ = try ledger.draw(other, at: after(1))
        _ = try ledger.draw(request(2, used: 1), at: after(1.2))
        other = request(2, used: 2)
        other.gateway = "h"
        _ = try ledger.draw(other, at: after(1.2))
        let uses = ledger.grantUses(at: after(2))
        #expect(uses.map(\.gateway) == ["g", "h"] && uses.map(\.granted) == [3, 2] && uses.map(\.unused) == [2, 0])
        #expect(ledger.grantUses(at: after(700)).isEmpty, "ten minutes later it is forgotten")
        #expect(GrantUse(pool: "p", gateway: "g", granted: 20, unused: 3).isWasteful)
        #expect(!GrantUse(pool: "p", gateway: "g", granted: 20, unused: 2).isWasteful)
    }

    @Test func `another epoch, another pool and numbers that are none are refused`() {
        var ledger = ledger([tenant("a")])
        #expect(throws: DrawRefusal.otherEpoch(3)) { try ledger.draw(request(1, epoch: 2), at: start) }
        var other = request(1)
        other.pool = "other"
        #expect(throws: DrawRefusal.unknownPool) { try ledger.draw(other, at: start) }
        #expect(throws: DrawRefusal.self) { try ledger.draw(request(1, returned: -1), at: start) }
        #expect(throws: DrawRefusal.self) { try ledger.draw(request(1, used: .nan), at: start) }
    }

    @Test func `floor first, then criticality, then the least clock, then arrival`() throws {
        let cases:
            [(name: String, first: TenantAllocation, second: TenantAllocation, [DrawRequest.Head], [DrawRequest.Head])] =
                [
                    (
                        "floor", tenant("b", floor: Rates(rpm: 60, tpm: 60_000), clock: 9), tenant("a"),
                        heads(1, .batch),
                        heads(1)
                    ),
                    ("criticality", tenant("b", clock: 9), tenant("a"), heads(1), heads(1, .batch)),
                    ("clock", tenant("b", clock: 1), tenant("a", clock: 2), heads(1), heads(1)),
                    ("arrival", tenant("b"), tenant("a"), heads(1, waited: 2), heads(1, waited: 1)),
                ]
        for (name, first, second, firstHeads, secondHeads) in cases {
            var ledger = ledger([first, second])
            // What there is by then covers one call.
            let waiting = [(second.tenant, secondHeads), (first.tenant, firstHeads)]
            let answer = try ledger.draw(request(1, waiting), at: after(0.3))
            #expect(answer.granted == [DrawAnswer.Granted(tenant: first.tenant, calls: 1)], "\(name)")
        }
    }

    @Test func `what comes first and waits elsewhere is left for its own gateway for half a second`() throws {
        var ledger = ledger([tenant("a", clock: 1), tenant("b", clock: 2)])
        var elsewhere = request(1, [("a", heads(1))])
        elsewhere.gateway = "h"
        _ = try ledger.draw(elsewhere, at: start)
        let soon = try ledger.draw(request(1, [("b", heads(1))]), at: after(0.3))
        #expect(soon.granted.isEmpty)
        let later = try ledger.draw(request(2, [("b", heads(1))]), at: after(0.6))
        #expect(later.granted.count == 1)
    }

    @Test func `what a gateway told of is forgotten with its next request, also of a tenant that it named twice`()
        throws
    {
        var ledger = ledger([tenant("a", clock: 1), tenant("b", clock: 2)])
        var elsewhere = request(1, [("a", heads(1)), ("a", heads(1))])
        elsewhere.gateway = "h"
        _ = try ledger.draw(elsewhere, at: start)
        var silent = request(2)
        silent.gateway = "h"
        _ = try ledger.draw(silent, at: after(0.2))
        let answer = try ledger.draw(request(1, [("b", heads(1))]), at: after(0.3))
        #expect(answer.granted.count == 1)
    }

    @Test func `a floor that a large call used up comes back when the call is paid for`() throws {
        // One request and 1,000 tokens a second; ten seconds of it at first.
        var ledger = ledger([tenant("a", floor: Rates(rpm: 60, tpm: 60_000), clock: 9), tenant("b", clock: 1)])
        var spent = request(1)
        _ = try ledger.draw(spent, at: start)
        spent.sequence = 2
        spent.totals.spent = [DrawRequest.TenantWork(tenant: "a", work: Work(requests: 1, tokens: 15_000))]
        _ = try ledger.draw(spent, at: start)
        for (sequence, seconds, first) in [(3, 4.0, "b"), (4, 7.0, "a")] as [(Int64, Double, TenantID)] {
            spent.sequence = sequence
            spent.waiting = ["a", "b"].map { DrawRequest.Queue(tenant: $0, heads: heads(40)) }
            let answer = try ledger.draw(spent, at: after(seconds))
            let calls = answer.granted.first { $0.tenant == first }?.calls ?? 0
            let others = answer.granted.first { $0.tenant != first }?.calls ?? 0
            #expect(calls > 0 && (first == "a" || others == 0), "\(seconds) s: \(answer.granted)")
        }
    }

    @Test func `a call goes when the float covers it, one that is larger than the float when that is full`() throws {
        for (tokens, seconds) in [(20_000.0, 4.0), (90_000, 9.5)] {
            var ledger = ledger([tenant("a")])
            var asked = request(1)
            _ = try ledger.draw(asked, at: start)
            let head = DrawRequest.Head(estimate: Work(requests: 1, tokens: tokens))
            asked.waiting = [DrawRequest.Queue(tenant: "a", heads: [head])]
            var grantedAt: Double?
            for step in 1...120 where grantedAt == nil {
                asked.sequence += 1
                let now = Double(step) / 10
                if try !ledger.draw(asked, at: after(now)).granted.isEmpty { grantedAt = now }
            }
            #expect(grantedAt.map { abs($0 - seconds) <= 0.15 } == true, "\(tokens): \(grantedAt ?? -1)")
        }
    }

    @Test func `batch work beyond floors leaves a third of the burst, interactive work and floors do not`() throws {
        let floor = Rates(rpm: 600, tpm: 600_000)
        // Three seconds of the pool, less 0.3 s of its half at the gateway: 28.5 calls; a reserve of 10.
        for (entry, criticality, calls) in [
            (tenant("a"), .batch, 18), (tenant("a"), .interactive, 28), (tenant("a", floor: floor), .batch, 28),
        ] as [(TenantAllocation, Criticality, Int)] {
            var ledger = ledger([entry], burstSeconds: 3)
            _ = try ledger.draw(request(1), at: start)
            // Each second tells of the gateway.
            for second in 1...9 { _ = try ledger.draw(request(Int64(second + 1)), at: after(Double(second))) }
            let answer = try ledger.draw(request(20, [("a", heads(40, criticality))]), at: after(9))
            #expect(answer.granted.map(\.calls) == [calls], "\(criticality) \(answer.granted)")
        }
    }

    @Test func `a call whose caller is about to give up goes before one that is a little less behind`() throws {
        for (patience, first) in [(5.0, "a"), (0.4, "b")] as [(Double, TenantID)] {
            var ledger = ledger([tenant("a", clock: 1), tenant("b", clock: 1.2)])
            var hurried = heads(1)
            hurried[0].patienceSeconds = patience
            let answer = try ledger.draw(request(1, [("a", heads(1)), ("b", hurried)]), at: after(0.3))
            #expect(answer.granted.map(\.tenant) == [first], "\(patience)")
        }
    }

    @Test func `who comes back with interactive work is lifted to interactive time, and not to that of batch work`()
        throws
    {
        // The first to wait for batch is far behind; the interactive worker is at 100 and the idler at 0.
        var ledger = ledger([tenant("batch"), tenant("idler"), tenant("worker", clock: 100)])
        for step in 0...1 {
            let waiting = [("batch", heads(1, .batch)), ("worker", heads(9))] as [(TenantID, [DrawRequest.Head])]
            _ = try ledger.draw(request(Int64(step + 1), waiting), at: after(Double(step) / 10))
        }
        let waiting: [(TenantID, [DrawRequest.Head])] = [
            ("batch", heads(1, .batch)), ("idler", heads(1)), ("worker", heads(9)),
        ]
        let answer = try ledger.draw(request(3, waiting), at: after(0.2))
        let clock = answer.serviceClocks.first { $0.tenant == "idler" }?.serviceClock ?? 0
        // Five seconds of the pool, over the weights of both.
        #expect(clock > 97 && clock < 100.5, "\(clock)")
    }

    @Test func `the clocks of those who wait come half as close every twenty seconds`() throws {
        var ledger = ledger([tenant("a", ceiling: Rates(rpm: 0), clock: 10), tenant("b", ceiling: Rates(rpm: 0))])
        var clocks: [DrawAnswer.Clock] = []
        for step in 0...200 {
            let asked = request(Int64(step + 1), [("a", heads(1)), ("b", heads(1))])
            clocks = try ledger.draw(asked, at: after(Double(step) / 10)).serviceClocks
        }
        let distance = clocks[0].serviceClock - clocks[1].serviceClock
        // 10 at first, or what the credit leaves of it.
        #expect(distance > 1 && distance < 5.1, "\(clocks)")
    }

    @Test func `no total takes a clock further than the pool can have served`() throws {
        var ledger = ledger([tenant("a"), tenant("b")])
        _ = try ledger.draw(request(1), at: start)
        var spent = request(2)
        spent.totals.spent = [DrawRequest.TenantWork(tenant: "a", work: Work(requests: 1, tokens: 1e12))]
        let answer = try ledger.draw(spent, at: after(1))
        // A second, and a burst of five.
        #expect(answer.serviceClocks.map(\.serviceClock) == [6])
    }

    @Test func `nor does a total that falls give more back`() throws {
        var ledger = ledger([tenant("a", clock: 20), tenant("b", clock: 20)])
        _ = try ledger.draw(request(1), at: start)
        var spent = request(2)
        spent.totals.spent = [DrawRequest.TenantWork(tenant: "a", work: Work(requests: -1e6, tokens: -1e15))]
        let answer = try ledger.draw(spent, at: after(1))
        #expect(answer.serviceClocks.map(\.serviceClock) == [14])
    }

    @Test func `no total keeps the float from others for much longer than a minute`() throws {
        var ledger = ledger([tenant("a")])
        _ = try ledger.draw(request(1), at: start)
        _ = try ledger.draw(request(2, used: 1e12), at: after(1))
        // A minute, a second and the burst of five; half of the pool's rate flows in.
        #expect(ledger.level[.requests] >= -(60 + 1 + 5) * 10)
        _ = try ledger.draw(request(1, boot: "2"), at: after(140))
        let answer = try ledger.draw(request(2, boot: "2", [("a", heads(1))]), at: after(141))
        #expect(answer.granted == [DrawAnswer.Granted(tenant: "a", calls: 1)])
    }

    @Test func `who waits for the float to fill asks later than who has some of it at once`() throws {
        var ledger = ledger([tenant("a")])
        let large = DrawRequest.Head(estimate: Work(requests: 1, tokens: 20_000))
        for (sequence, seconds, heads, milliseconds) in [
            // Empty, and nothing waits; then 5,000 tokens flow in each second.
            (1, 0, [], 200), (2, 1, [], 100), (3, 1, heads(3), 100), (4, 1, heads(9), 200), (5, 2, [large], 200),
            (6, 6, [large], 100),
        ] as [(Int64, Double, [DrawRequest.Head], Int64)] {
            var asked = request(sequence)
            if !heads.isEmpty { asked.waiting = [DrawRequest.Queue(tenant: "a", heads: heads)] }
            let answer = try ledger.draw(asked, at: after(seconds))
            #expect(answer.waitMilliseconds == milliseconds, "draw \(sequence)")
        }
    }

    @Test func `nobody is granted more than the ceiling, wherever it was spent`() throws {
        var ledger = ledger([tenant("a", ceiling: Rates(rpm: 60))])
        var calls = 0
        for step in 1...600 {
            let now = after(Double(step) * 0.1)
            var asked = request(Int64(step), used: Double(calls), [("a", heads(8))])
            let spent = Work(requests: Double(calls), tokens: Double(calls) * 1000)
            asked.totals.spent = [DrawRequest.TenantWork(tenant: "a", work: spent)]
            let answer = try ledger.draw(asked, at: now)
            calls += answer.granted.reduce(0) { $0 + $1.calls }
        }
        // One a second, ten seconds' worth at once.
        #expect((60...72).contains(calls), "\(calls)")
    }

    @Test func `one gateway with work gets what the others leave`() {
        var world = FloatWorld(rates: Self.rates, shares: [1, 1, 1, 1], tenants: [tenant("a")], seed: 1)
        var went = 0
        for step in 0..<6000 {
            if step % 8 == 0 { world.enqueue("a", at: 0, tokens: 700) }
            went += world.step(seconds: 0.01).count
        }
        // Ten a second of them could be served, a quarter of that by the gateway's own part.
        #expect(went > 540, "\(went)")
    }

    /// Over any span of time: what went is at most what the pool gave, its burst, and a call of debt of each bucket.
    @Test func `clocks and floor accounts outlive a start`() throws {
        let tenants = [tenant("a"), tenant("b", floor: Rates(rpm: 60, tpm: 60_000))]
        var old = ledger(tenants)
        old.charge(Work(requests: 20, tokens: 20_000), of: "a", at: after(1))
        // More than the floor of ten seconds.
        old.charge(Work(requests: 30, tokens: 30_000), of: "b", at: after(1))
        var writer = ByteWriter()
        old.write(to: &writer)

        var forgetful = FloatLedger(pool: "pool", epoch: 4, at: after(2))
        publish(tenants, to: &forgetful, at: after(2))
        var next = FloatLedger(pool: "pool", epoch: 4, at: after(2))
        var reader = ByteReader(writer.bytes)
        try next.restore(from: &reader)
        #expect(reader.isAtEnd)
        publish(tenants, to: &next, at: after(2))
        #expect(next.level == .zero)
        // There is room for one call. Of two without a right of their own the one that was served less goes.
        let draw = request(1, epoch: 4, [("a", heads(1)), ("b", heads(1))])
        #expect(try forgetful.draw(draw, at: after(2.25)).granted.map(\.tenant) == ["b"])
        let answer = try next.draw(draw, at: after(2.25))
        #expect(answer.granted.map(\.tenant) == ["a"])
        #expect(answer.serviceClocks.map(\.serviceClock) == [2, 3])

        for count in 0..<writer.bytes.count {
            var damaged = ByteReader(Array(writer.bytes.prefix(count)))
            #expect(throws: ByteCodingError.self) { try next.restore(from: &damaged) }
        }
    }

    @Test func `a gateway that only lends keeps its whole burst, whatever others return`() throws {
        var ledger = FloatLedger(pool: "pool", epoch: 3, at: start)
        let whole = allocation(tenants: [tenant("a")])
        let halves: [(gateway: GatewayID, budget: Rates)] = [("g", Self.rates * 0.5), ("lends", Self.rates * 0.5)]
        ledger.follow(whole, budgets: halves, at: start)
        // Nobody has drawn: there is no float.
        #expect(ledger.level == .zero)
        for second in 1...60 {
            let returned = Double(second) * 5
            let answer = try ledger.draw(
                request(Int64(second), returned: returned, [("a", heads(1))]), at: after(Double(second)))
            if second == 1 { #expect(answer.granted.isEmpty) }
            // Five seconds of the pool less five of the lender's half and half a second of the other.
            #expect(ledger.level[.requests] <= 50 - 25 - 2.5)
        }
        #expect(ledger.counts.granted > 0)
        // What it may spend is its part of the publication, which no draw changes: 5 s of half of the pool, and the rate.
        var gate = gate(allocation(rpm: 300, tpm: 300_000, tenants: [tenant("a")]))
        var ids = 0
        #expect(gate.run(seconds: 60, busy: ["a"], ids: &ids).count >= 320)
    }

    @Test func `whatever is lost, late, repeated or starts again, no more goes than there is`() {
        for seed in 1...8 {
            var random = SplitMix64(seed: seed)
            let shares = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                Double.random(in: 0.1...1, using: &random)
            }
            let network = FloatWorld.Network(
                lost: Double.random(in: 0...0.4, using: &random), repeated: Double.random(in: 0...0.4, using: &random),
                lag: Double.random(in: 0.01...1.5, using: &random))
            let tenants = (0..<4).map { tenant(TenantID(unchecked: "t\($0)"), weight: Double($0 + 1)) }
            let floatShare = 0.25 * Double(seed % 3)
            var world = FloatWorld(
                rates: Self.rates, shares: shares, tenants: tenants, floatShare: floatShare, network: network,
                seed: seed)
            var least = SIMD4<Double>.zero
            for step in 0..<1000 {
                switch Int.random(in: 0..<500, using: &random) {
                case 0: world.restartGate(Int.random(in: 0..<shares.count, using: &random))
                case 1: world.restartControlPlane()
                case 2: world.publish(Self.rates * Double.random(in: 0.3...1, using: &random), floatShare: floatShare)
                default: break
                }
                let busy = Int.random(in: 0..<3, using: &random) > 0 ? step / 500 % shares.count : 0
                for _ in 0..<Int.random(in: 0...1, using: &random) {
                    let tenant = TenantID(unchecked: "t\(Int.random(in: 0..<4, using: &random))")
                    world.enqueue(tenant, at: busy, tokens: Double.random(in: 100...3000, using: &random))
                }
                _ = world.step(seconds: 0.02)
                let excess = world.admitted - world.granted - world.begun
                least = pointwiseMin(least, excess.amounts)
                for resource in [Resource.requests, .tokens] {
                    let most =
                        Self.rates.work(overSeconds: 5)[resource]
                        + world.largest[resource] * Double(shares.count + 1)
                    let grown = excess[resource] - least[resource.rawValue]
                    #expect(grown <= most, "seed \(seed) step \(step) \(resource): \(grown) of \(most)")
                }
            }
        }
    }
}
