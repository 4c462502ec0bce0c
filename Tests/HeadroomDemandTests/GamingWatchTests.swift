import HeadroomModel
import Testing

@Suite struct GamingWatchTests {
    private static let minutes = 10.0

    /// Flags of `acme` after ten minutes of `play`, which is called for each second.
    private func flags(
        seed: UInt64 = 1, minutes: Double = minutes, entitlement: Rates? = ClassifiedPool.nominal,
        _ play: (ClassifiedPool, Double, inout SplitMix64) -> Void
    ) -> [GamingFlag] {
        let pool = ClassifiedPool()
        var random = SplitMix64(seed: seed)
        pool.entitlements = entitlement.map { [Entitlement(tenant: "acme", rates: $0)] } ?? []
        for second in 0..<Int(60 * minutes) { play(pool, Double(second), &random) }
        return pool.tenant(at: 60 * minutes)?.profile?.flags ?? []
    }

    @Test func `what is denied and comes again as new is flagged within ten minutes`() throws {
        // Sizes of prompts as they come; each fourth call is denied after ten seconds in the queue, and sent again.
        var again: [(at: Double, size: Int64)] = []
        let flags = flags { pool, second, random in
            for (_, size) in again.filter({ $0.at == second }) { pool.call(second + 0.5, input: size, queued: 0.5) }
            again.removeAll { $0.at == second }
            let size = Int64.random(in: 100...4000, using: &random)
            guard second.truncatingRemainder(dividingBy: 4) == 0 else { return pool.call(second, input: size) }
            pool.call(second, .denied, input: size, queued: 10)
            again.append((second + 1, size))
        }
        let flag = try #require(flags.first)
        #expect(flags.map(\.kind) == [.resentDenials])
        #expect(flag.evidence.contains("denied calls came again at once as new work"), "\(flag.evidence)")
        #expect(flag.since <= ClassifiedPool.at(60 * Self.minutes))
    }

    @Test func `what is sent again after a denial is no new demand`() throws {
        let pool = ClassifiedPool()
        var random = SplitMix64(seed: 4)
        // Ten pieces of work a second-and-a-half; each is denied five times, at once, before it is served.
        for n in 0..<600 {
            let second = Double(n)
            let size = Int64.random(in: 100...100_000, using: &random)
            for attempt in 0..<5 { pool.call(second + 0.1 * Double(attempt), .denied, input: size, output: 100) }
            pool.call(second + 0.6, input: size)
        }
        let rpm = try #require(pool.tenant(at: 600)?.wanted[.requests])
        #expect(rpm < 66, "\(rpm)")
    }

    @Test func `an honest tenant whose calls are all alike is not flagged for it`() {
        let flags = flags { pool, second, _ in
            pool.call(second, second.truncatingRemainder(dividingBy: 2) == 0 ? .denied : .ok, input: 512)
        }
        #expect(flags.isEmpty, "\(flags)")
    }

    @Test func `a queue that vanishes when there is room for it is flagged within ten minutes`() throws {
        let flags = flags { pool, second, _ in
            pool.call(second)
            // Every ten seconds a hundred calls are claimed, and gone when they could be made.
            let step = second.truncatingRemainder(dividingBy: 10)
            if step == 0 { pool.queue(second, depth: 100, tokens: 100_000) }
            if step == 4 { pool.queue(second, depth: 0, tokens: 0) }
        }
        #expect(flags.map(\.kind) == [.vanishingDemand])
        #expect(try #require(flags.first).evidence.contains("calls left its queues"))
    }

    @Test func `a queue that is worked off, or given up where there is no room, is not flagged`() {
        let served = flags { pool, second, _ in
            let step = second.truncatingRemainder(dividingBy: 10)
            if step == 0 { pool.queue(second, depth: 50, tokens: 50_000) }
            if step >= 4 { for n in 0..<10 { pool.call(second + Double(n) / 10) } }
            if step == 9 { pool.queue(second, depth: 0, tokens: 0) }
        }
        #expect(served.isEmpty, "\(served)")
        let starved = flags(entitlement: Rates(rpm: 10, tpm: 10_000)) { pool, second, _ in
            let step = second.truncatingRemainder(dividingBy: 10)
            if step == 0 { pool.queue(second, depth: 100, tokens: 100_000) }
            if step == 4 { pool.queue(second, depth: 0, tokens: 0) }
        }
        #expect(starved.isEmpty, "\(starved)")
    }

    @Test func `who tells windows in place of calls is not flagged for a queue that is worked off`() {
        let flags = flags { pool, second, _ in
            let step = second.truncatingRemainder(dividingBy: 10)
            if step == 0 { pool.queue(second, depth: 50, tokens: 50_000) }
            guard step == 9 else { return }
            pool.fold(
                .window(
                    WindowRecord(
                        start: ClassifiedPool.at(second - 10), seconds: 10, gateway: "gw-1", tenant: "acme",
                        pool: ClassifiedPool.pool, requests: 60, ok: 60, inputTokens: 54_000, outputTokens: 6_000)),
                at: second)
            pool.queue(second, depth: 0, tokens: 0)
        }
        #expect(flags.isEmpty, "\(flags)")
    }

    @Test func `resends are told from sizes that repeat themselves`() throws {
        for resends in [true, false] {
            // Half of all prompts are one of five templates; each fourth call is denied.
            var again: [(at: Double, size: Int64)] = []
            let flags = flags { pool, second, random in
                for (_, size) in again.filter({ $0.at == second }) { pool.call(second + 0.5, input: size) }
                again.removeAll { $0.at == second }
                let size =
                    Bool.random(using: &random)
                    ? Int64.random(in: 1...5, using: &random) : Int64.random(in: 100...100_000, using: &random)
                guard second.truncatingRemainder(dividingBy: 4) == 0 else { return pool.call(second, input: size) }
                pool.call(second, .denied, input: size)
                if resends { again.append((second + 1, size)) }
            }
            #expect(flags.map(\.kind) == (resends ? [.resentDenials] : []), "\(flags)")
        }
    }

    @Test func `what waits for five minutes before it is denied again is found as well`() throws {
        let flags = flags(minutes: 15) { pool, second, random in
            let size = Int64.random(in: 100...100_000, using: &random)
            pool.call(second, input: size)
            guard second.truncatingRemainder(dividingBy: 10) == 0 else { return }
            // The same piece of work, denied now and five minutes after it came again.
            let stubborn = 200_000 + Int64(second) / 10 % 30
            pool.call(second, .denied, input: stubborn, queued: 299)
        }
        #expect(flags.map(\.kind) == [.resentDenials])
    }

    @Test func `a busy tenant's resends are told though the same is denied again before they end`() throws {
        // Five calls a second of five hundred sizes; all wait for a minute and are denied, and half of them come again.
        var lines: [(at: Double, size: Int64)] = []
        let flags = flags { pool, second, random in
            let mine = lines.filter { $0.at == second }
            lines.removeAll { $0.at == second }
            for (_, size) in mine {
                pool.call(second, .denied, input: size, queued: 60)
                if Bool.random(using: &random) { lines.append((second + 61, size)) }
            }
            for _ in 0..<5 { lines.append((second + 60, Int64.random(in: 1...500, using: &random))) }
            pool.call(second + 0.5, input: Int64.random(in: 1...500, using: &random))
        }
        #expect(flags.map(\.kind) == [.resentDenials])
    }

    @Test func `what a timer sends is not flagged, however its period and its patience lie`() {
        for period in [7, 12, 15, 30] {
            for patience in [5.0, 10, 25] {
                // A report each `period`, beside work of all sizes; a third of all is denied.
                let flags = flags { pool, second, random in
                    let at = Int(second)
                    let isDenied = Int.random(in: 0..<3, using: &random) == 0
                    let wait = isDenied ? patience : 0.5
                    if at % period == 0 {
                        pool.call(second + wait, isDenied ? .denied : .ok, input: 500, queued: wait)
                    }
                    guard at % 3 == 0 else { return }
                    let size = Int64.random(in: 1000...100_000, using: &random)
                    pool.call(second + wait + 0.1, isDenied ? .denied : .ok, input: size, queued: wait)
                }
                #expect(flags.isEmpty, "every \(period) s, \(patience) s of patience: \(flags)")
            }
        }
    }

    @Test func `tasks that are mid-way for ever are flagged within ten minutes`() throws {
        let flags = flags { pool, second, _ in
            // Four agents that always need twenty calls more, and never any fewer.
            for agent in 0..<4 {
                pool.task(second, "t\(agent)", .progress, requests: 20, tokens: 30_000)
                if second.truncatingRemainder(dividingBy: 5) == 0 { pool.call(second, task: "t\(agent)") }
            }
        }
        #expect(flags.map(\.kind) == [.unfinishedTasks])
        #expect(try #require(flags.first).evidence.contains("mid-way"))
    }

    @Test func `tasks that claim nothing, or have no call, hide no broken claims by completing`() {
        let flags = flags { pool, second, _ in
            for agent in 0..<4 {
                pool.task(second, "t\(agent)", .progress, requests: 20, tokens: 30_000)
                if second.truncatingRemainder(dividingBy: 5) == 0 { pool.call(second, task: "t\(agent)") }
            }
            pool.task(second, "empty-\(second)", .completed)
            pool.task(second, "idle-\(second)", .progress, requests: 1)
            pool.task(second, "idle-\(second)", .completed)
        }
        #expect(flags.map(\.kind) == [.unfinishedTasks])
    }

    @Test func `tasks that claim nothing break nothing by falling silent, and one that needs no more keeps its claim`()
    {
        let flags = flags { pool, second, _ in
            let step = Int(second) % 10
            let task = "t\(Int(second) / 10)"
            pool.call(second, task: task)
            // Every second one is heard of no more; each third one of the others counts down to nothing first.
            if step == 0 { pool.task(second, task, .progress) }
            if step == 9, Int(second) / 10 % 2 == 0 { pool.task(second, task, .completed) }
            pool.task(second, "c\(Int(second) / 10)", .progress, requests: Int64(9 - step))
            pool.call(second, task: "c\(Int(second) / 10)")
            if step == 9 { pool.task(second, "c\(Int(second) / 10)", .completed) }
        }
        #expect(flags.isEmpty, "\(flags)")
    }

    @Test func `tasks that get on and complete are not flagged`() {
        let flags = flags { pool, second, _ in
            let step = Int64(second) % 40
            let task = "t\(Int(second) / 40)"
            pool.call(second, task: task)
            if step == 39 {
                pool.task(second, task, .completed)
            } else {
                pool.task(second, task, .progress, requests: 40 - step)
            }
        }
        #expect(flags.isEmpty, "\(flags)")
    }

    @Test func `work in step with the loop's period is flagged within ten minutes, a nightly timer is not`() throws {
        let spiky = flags { pool, second, _ in
            guard second.truncatingRemainder(dividingBy: 2) == 0 else { return }
            for n in 0..<6 { pool.call(second + 1.6 + Double(n) / 100) }
        }
        #expect(spiky.map(\.kind) == [.loopSynchronised])
        for period in [1.0, 3, 10, 60] {
            let timer = flags { pool, second, _ in
                guard second.truncatingRemainder(dividingBy: period) == 0 else { return }
                for n in 0..<20 { pool.call(second + Double(n) / 100) }
            }
            #expect(timer.isEmpty, "every \(period) s: \(timer)")
        }
    }

    @Test func `a gateway's report every two seconds makes none of its tenants look in step`() {
        var random = SplitMix64(seed: 5)
        // Calls at any moment; their lines have the time at which they were reported.
        let flags = flags { pool, second, _ in
            guard second.truncatingRemainder(dividingBy: 2) == 0 else { return }
            for _ in 0..<Int.random(in: 3...9, using: &random) {
                pool.call(second + 1.6)
                pool.call(second + 1.6, by: "other")
            }
        }
        #expect(flags.isEmpty, "\(flags)")
    }

    @Test(arguments: [1, 2, 5]) func `one in step among honest ones at the same gateway is flagged`(others: Int) {
        var random = SplitMix64(seed: 6)
        let flags = flags { pool, second, _ in
            for other in 0..<others {
                for _ in 0..<2 {
                    pool.call(
                        second + .random(in: 0..<1, using: &random), by: TenantID(unchecked: "other-\(other)"))
                }
            }
            guard second.truncatingRemainder(dividingBy: 2) == 0 else { return }
            for _ in 0..<12 { pool.call(second + 1.6) }
        }
        #expect(flags.map(\.kind) == [.loopSynchronised])
    }

    @Test func `batch work that is called interactive is flagged within ten minutes`() throws {
        let minutes = 100.0
        let flags = flags(minutes: minutes) { pool, second, _ in
            // From the ninetieth minute on nearly all is called interactive.
            let isInteractive = Int(second) % 10 < (second < 90 * 60 ? 2 : 9)
            pool.call(second, criticality: isInteractive ? .interactive : .batch)
        }
        #expect(flags.map(\.kind) == [.interactiveJump])
        #expect(try #require(flags.first).evidence.contains("% to 90 % of its work"))
    }

    @Test func `a batch that ends and users who wake up are no jump`() {
        let ends = flags(minutes: 100) { pool, second, _ in
            if Int(second) % 5 == 0 { pool.call(second) }
            if second < 90 * 60 { pool.call(second + 0.5, criticality: .batch) }
        }
        #expect(ends.isEmpty, "\(ends)")
        let wakes = flags(minutes: 100) { pool, second, _ in
            for _ in 0..<(second < 90 * 60 ? 1 : 5) { pool.call(second) }
            pool.call(second + 0.5, criticality: .batch)
        }
        #expect(wakes.isEmpty, "\(wakes)")
    }

    @Test func `a flag names itself in the demand, discounts it, and ends when its evidence does`() throws {
        let pool = ClassifiedPool()
        pool.entitlements = [Entitlement(tenant: "acme", rates: ClassifiedPool.nominal)]
        for second in 0..<600 {
            guard second % 2 == 0 else { continue }
            for n in 0..<6 { pool.call(Double(second) + 1.6 + Double(n) / 100) }
        }
        let flagged = try #require(pool.tenant(at: 600))
        #expect(flagged.flags == ["loop_synchronised"])
        #expect(flagged.isDiscounted)
        var random = SplitMix64(seed: 3)
        for second in 601..<1800 { pool.call(Double(second) + .random(in: 0..<1, using: &random)) }
        let honest = try #require(pool.tenant(at: 1800))
        #expect(honest.flags == [])
        #expect(!honest.isDiscounted)
    }
}
