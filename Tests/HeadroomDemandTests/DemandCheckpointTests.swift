import HeadroomModel
import Testing

@Suite struct DemandCheckpointTests {
    /// Some minutes of everything there is, drawn from `seed`.
    private func busyPool(seed: UInt64, seconds: Int) -> ClassifiedPool {
        let pool = ClassifiedPool()
        fold(into: pool, seed: seed, seconds: 0..<seconds)
        return pool
    }

    private func fold(into pool: ClassifiedPool, seed: UInt64, seconds: Range<Int>) {
        for second in seconds {
            var random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(second))
            for tenant in ["acme", "beta", "corp"] as [TenantID] where Int.random(in: 0..<3, using: &random) > 0 {
                let at = Double(second) + .random(in: 0..<1, using: &random)
                let outcome: Outcome = [.ok, .ok, .ok, .denied, .quota].randomElement(using: &random)!
                pool.call(
                    at, outcome, by: tenant, request: "\(tenant)-\(second / 3)",
                    criticality: Criticality.allCases.randomElement(using: &random)!,
                    input: .random(in: 1...5000, using: &random), maxTokens: 1000, task: "t\(second / 20)")
                if Bool.random(using: &random) {
                    pool.queue(at, tenant, depth: .random(in: 0...9, using: &random), tokens: 9_000)
                    pool.task(at, "t\(second / 20)", .progress, tenant: tenant, requests: 20)
                }
            }
        }
    }

    private func restored(_ pool: ClassifiedPool) throws -> ClassifiedPool {
        var writer = ByteWriter()
        pool.estimator.write(to: &writer)
        let other = ClassifiedPool()
        var reader = ByteReader(writer.bytes)
        try other.estimator.restore(from: &reader)
        #expect(reader.isAtEnd)
        other.turn = pool.turn
        return other
    }

    @Test func `what is restored estimates the same to the last bit`() throws {
        for seed in 1...8 as ClosedRange<UInt64> {
            let pool = busyPool(seed: seed, seconds: 400)
            let other = try restored(pool)
            let isSame =
                pool.estimator.estimate(at: ClassifiedPool.at(401))
                == other.estimator.estimate(at: ClassifiedPool.at(401))
            #expect(isSame, "seed \(seed)")
        }
    }

    @Test func `it goes on from the rows since as if it had never ended`() throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            let pool = busyPool(seed: seed, seconds: 300)
            let other = try restored(pool)
            fold(into: pool, seed: seed, seconds: 300..<360)
            fold(into: other, seed: seed, seconds: 300..<360)
            let isSame = pool.demand(at: 362) == other.demand(at: 362)
            #expect(isSame, "seed \(seed)")
        }
    }

    @Test func `a gateway's rhythm is known after a start, and makes none of its tenants look in step`() throws {
        var pool = ClassifiedPool()
        for second in 0..<600 {
            if second.isMultiple(of: 2) {
                for tenant in ["acme", "beta"] as [TenantID] {
                    for _ in 0..<6 { pool.call(Double(second) + 1.6, by: tenant) }
                }
            }
            // Before so much was seen that a rhythm could be told.
            if second % 16 == 15, second > 100 { pool = try restored(pool) }
        }
        for tenant in pool.demand(at: 602).tenants {
            #expect(tenant.profile?.flags.isEmpty == true, "\(tenant.tenant): \(tenant.profile?.flags ?? [])")
        }
    }

    @Test func `damaged bytes are refused and never trap`() {
        var writer = ByteWriter()
        busyPool(seed: 1, seconds: 60).estimator.write(to: &writer)
        let bytes = writer.bytes
        for seed in 1...300 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            var damaged = bytes
            if Bool.random(using: &random) { damaged.removeLast(.random(in: 1...bytes.count, using: &random)) }
            for _ in 0..<Int.random(in: 0...3, using: &random) where !damaged.isEmpty {
                damaged[.random(in: 0..<damaged.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            let other = ClassifiedPool()
            var reader = ByteReader(damaged)
            do {
                try other.estimator.restore(from: &reader)
                // What got through is at least of a size that can be worked with.
                _ = other.estimator.estimate(at: ClassifiedPool.at(100))
            } catch {
                #expect(error != .otherVersion || damaged.count > 1)
            }
        }
    }
}
