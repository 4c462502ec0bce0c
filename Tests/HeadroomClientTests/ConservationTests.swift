import HeadroomClient
import HeadroomModel
import Testing

/// What is admitted, counted to the call against a bucket written from its definition.
@Suite struct ConservationTests {
    /// A level in requests that grows with time up to the burst, changes in proportion with the limit, and goes into debt
    /// by one call.
    private struct Definition {
        var level: Double
        var rpm: Double
        let burstSeconds: Double

        mutating func pass(seconds: Double) { level = min(rpm * burstSeconds / 60, level + rpm * seconds / 60) }

        mutating func change(to rpm: Double) {
            if level > 0 { level *= rpm / self.rpm }
            self.rpm = rpm
        }

        mutating func admits() -> Bool {
            guard level > 0 else { return false }
            level -= 1
            return true
        }
    }

    @Test(arguments: 0..<8) func `a limit that flaps gives nobody a call more or less than its definition`(seed: Int)
        throws
    {
        var generator = SplitMix64(seed: UInt64(seed))
        let fixture = try Fixture()
        let limits = [600.0, 1200, 300]
        func load(_ rpm: Double, _ generation: Int64) {
            fixture.load(
                pool(rpm: rpm, tpm: 1e9, tenants: [tenant("a", rpm: rpm, tpm: 1e9)]), generation: generation)
        }
        load(600, 1)
        var model = Definition(level: 50, rpm: 600, burstSeconds: 5)
        var admitted = 0
        for step in 0..<2000 {
            let milliseconds = Int.random(in: 1...40, using: &generator)
            fixture.advance(seconds: Double(milliseconds) / 1000)
            model.pass(seconds: Double(milliseconds) / 1000)
            if Int.random(in: 0..<5, using: &generator) == 0 {
                let rpm = limits[Int.random(in: 0..<3, using: &generator)]
                load(rpm, Int64(step + 2))
                model.change(to: rpm)
            }
            // At a level that is 0 but for rounding, either answer is right.
            guard abs(model.level) > 1e-6 else { continue }
            let slot = try? fixture.manager.tryAdmit(call())
            slot?.finish(.outcome(.ok, inputTokens: 100, outputTokens: 0))
            let isAdmitted = slot != nil
            try #require(isAdmitted == model.admits(), "seed \(seed), step \(step)")
            if isAdmitted { admitted += 1 }
        }
        #expect(admitted > 250)
    }

    @Test func `ten thousand concurrent callers get exactly what there is, the more urgent first`() async throws {
        let fixture = try Fixture()
        let entries = (0..<10).map { tenant(TenantID("t\($0)")!, clock: Double($0)) }
        fixture.load(pool(rpm: 60_000, tpm: 1e9, burstSeconds: 1, tenants: entries))
        let served = Recorder<Criticality>()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<10_000 {
                let criticality = Criticality.allCases[index % 3]
                group.addTask {
                    let call = call(TenantID("t\(index % 10)")!, criticality, tokens: 1)
                    guard let slot = try? await fixture.manager.slot(for: call) else { return }
                    served.append(criticality)
                    slot.finish(.outcome(.ok, inputTokens: 1, outputTokens: 0))
                }
            }
            // The burst of 1,000, less the third of it that is kept for interactive work.
            while fixture.waiting + served.count < 10_000 { await Task.yield() }
            var expected = served.count
            #expect(expected <= 1000)
            for _ in 0..<200 where fixture.waiting > 0 {
                let before = fixture.waiting
                fixture.advance(seconds: 0.1)
                let gone = before - fixture.waiting
                // 100 a tenth of a second, and one that goes into debt.
                #expect(gone <= 101 || expected < 1000)
                expected += gone
                while served.count < expected { await Task.yield() }
            }
        }
        let order = served.elements
        #expect(order.count == 10_000)
        // Once all were there, no batch work went while interactive work waited.
        let firstBatch = order.dropFirst(1000).firstIndex(of: .batch) ?? 0
        #expect(!order[firstBatch...].contains(.interactive))
        #expect(fixture.inFlight == 0)
    }
}
