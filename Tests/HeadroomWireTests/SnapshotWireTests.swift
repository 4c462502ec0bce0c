import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct SnapshotWireTests {
    @Test func `a snapshot is written in the format that gateways know`() {
        let snapshot = Snapshot(
            version: SnapshotVersion(epoch: 1_793_000_000, generation: 1842),
            issuedAt: Timestamp(milliseconds: 1_793_000_000_000), leaseSeconds: 15, policy: "default@9f31",
            pools: [
                PoolAllocation(
                    pool: "openai:gpt-4o", state: .halfOpen, level: 0.0123, capacity: Rates(rpm: 9500, tpm: 1_800_000),
                    nominal: Rates(rpm: 10000, tpm: 2_000_000), capacityReason: .headers,
                    budget: Rates(rpm: 9500, tpm: 1_800_000), float: Rates(rpm: 0, tpm: 0),
                    fallback: Rates(rpm: 9025, tpm: 1_710_000), failover: ["azure:gpt-4o"],
                    retry: .init(afterMilliseconds: 1500, jitterMilliseconds: 700),
                    tenants: [
                        TenantAllocation(
                            tenant: "acme", assured: Rates(rpm: 1200, tpm: 240_000), ceiling: Rates(rpm: 3000),
                            plain: Rates(rpm: 2400, tpm: 480_000), safe: Rates(rpm: 960, tpm: 192_000), weight: 4,
                            serviceClock: 1831.25, tier: "premium", flags: ["cold_start"], retryOffsetMilliseconds: 300,
                            criticality: PerCriticality(
                                interactive: Rates(rpm: 800, tpm: 160_000), nearRealTime: Rates(rpm: 0, tpm: 0),
                                batch: Rates(rpm: 400, tpm: 80000)))
                    ], unlisted: Rates(rpm: 60, tpm: 6000))
            ])
        let expected = """
            {"epoch":1793000000,"generation":1842,"issued_at":"2026-10-26T07:33:20.000Z","lease_seconds":15,\
            "policy":"default@9f31","pools":{"openai:gpt-4o":{"state":"half_open","mode":"full","enforce":true,\
            "level":0.0123,"models":{},"capacity":{"rpm":9500,"tpm":1800000},"nominal":{"rpm":10000,"tpm":2000000},\
            "capacity_reason":"headers","budget":{"rpm":9500,"tpm":1800000},"float":{"rpm":0,"tpm":0},\
            "fallback":{"rpm":9025,"tpm":1710000},"burst_seconds":5,"failover":["azure:gpt-4o"],"probes_per_second":1,\
            "retry":{"after_ms":1500,"jitter_ms":700},"tenants":{"acme":{"rpm":1200,"tpm":240000,\
            "ceiling":{"rpm":3000},"plain":{"rpm":2400,"tpm":480000},"safe":{"rpm":960,"tpm":192000},\
            "burst":{"rpm":0,"tpm":0,"seconds_left":0},"weight":4,"service_clock":1831.25,"tier":"premium",\
            "constraint":"level","flags":["cold_start"],"retry_offset_ms":300,"criticality":{\
            "interactive":{"rpm":800,"tpm":160000},"near_real_time":{"rpm":0,"tpm":0},\
            "batch":{"rpm":400,"tpm":80000}}}},"unlisted":{"rpm":60,"tpm":6000}}}}
            """
        #expect(String(decoding: SnapshotEncoder.encode(snapshot), as: UTF8.self) == expected)
    }

    @Test func `what was encoded decodes to the same snapshot, and a delta leads from one to the next`() throws {
        for seed in UInt64(0)..<200 {
            var generator = SplitMix64(seed: seed)
            let old = RandomWire.snapshot(generation: 1842, &generator)
            let new = RandomWire.changed(old, &generator)
            #expect(try SnapshotDecoder.decode(SnapshotEncoder.encode(old)) == .whole(old), "seed \(seed)")

            let delta = SnapshotDelta(from: old, to: new)
            #expect(old.applying(delta) == new, "seed \(seed)")
            #expect(try SnapshotDecoder.decode(SnapshotEncoder.encode(delta)) == .delta(delta), "seed \(seed)")
            for pool in delta.changed.pools {
                let before = old.pools.first { $0.pool == pool.pool }
                for tenant in pool.tenants {
                    #expect(before?.tenants.contains(tenant) != true, "seed \(seed): \(tenant.tenant) is unchanged")
                }
            }
            #expect(new.applying(delta) == nil, "a delta must not be applied to another snapshot than its own")
        }
    }

    @Test func `a breaker is written where its numbers are not the defaults, and read within their bounds`() throws {
        var generator = SplitMix64(seed: 7)
        var snapshot = RandomWire.snapshot(generation: 1, &generator)
        snapshot.pools = [PoolAllocation(pool: "p", capacity: .none, nominal: .none, budget: Rates(rpm: 1))]
        func text() -> String { String(decoding: SnapshotEncoder.encode(snapshot), as: UTF8.self) }
        #expect(!text().contains("breaker"))
        snapshot.pools[0].breaker.openSeconds = 30
        let written =
            #""breaker":{"open_share":0.5,"window_seconds":10,"least_attempts":20,"open_seconds":30,"#
            + #""probes_per_second":1,"close_successes":5}"#
        #expect(text().contains(written))
        let wild = text().replacing(
            written,
            with: #""breaker":{"open_share":-1,"window_seconds":1e300,"least_attempts":9223372036854775807,"#
                + #""open_seconds":1e300,"probes_per_second":0,"close_successes":0},"probes_per_second":1e300"#)
        guard case .whole(let read) = try SnapshotDecoder.decode(Array(wild.utf8)) else { return #expect(Bool(false)) }
        #expect(
            read.pools[0].breaker
                == BreakerPolicy(
                    openShare: 0.01, windowSeconds: 60, leastAttempts: 10_000, openSeconds: 3600,
                    probesPerSecond: 100, closeSuccesses: 1))
    }

    @Test func `a delta between equal snapshots is empty`() throws {
        var generator = SplitMix64(seed: 7)
        let old = RandomWire.snapshot(generation: 1, &generator)
        var new = old
        new.version.generation = 2
        let text = String(decoding: SnapshotEncoder.encode(SnapshotDelta(from: old, to: new)), as: UTF8.self)
        #expect(text.hasSuffix(#""since":"1793000000.1","pools":{},"removed":{},"removed_pools":[]}"#))
    }

    @Test func `a tenant of whom only the clock has moved has no entry in a delta`() throws {
        var generator = SplitMix64(seed: 7)
        let old = RandomWire.snapshot(generation: 1, &generator)
        var new = old
        new.version.generation = 2
        for pool in new.pools.indices {
            for tenant in new.pools[pool].tenants.indices { new.pools[pool].tenants[tenant].serviceClock += 0.1 }
        }
        let delta = SnapshotDelta(from: old, to: new)
        #expect(delta.changed.pools.isEmpty && !delta.serviceClocks.isEmpty)
        #expect(old.applying(delta) == new)
    }

    @Test func `fields and explanations that are not known are ignored, order does not matter`() throws {
        let text = #"""
            {"new":[1,{"x":null}],"pools":{"b":{"budget":{"rpm":1,"rpw":7},"capacity_reason":"oracle","tenants":{}},
             "a":{"budget":{},"level":null,"tenants":{"z":{"constraint":"luck","hat":true},"y":{"rpm":3}}}},
             "lease_seconds":15,"issued_at":"2026-10-26T07:33:20Z","generation":2,"epoch":1}
            """#
        guard case .whole(let snapshot) = try SnapshotDecoder.decode(Array(text.utf8)) else {
            Issue.record("not whole")
            return
        }
        #expect(snapshot.pools.map(\.pool) == ["a", "b"])
        #expect(snapshot.pools[0].tenants.map(\.tenant) == ["y", "z"])
        #expect(snapshot.pools[0].tenants[0].assured == Rates(rpm: 3))
        #expect(snapshot.pools[0].tenants[1].constraint == .level && snapshot.pools[1].budget == Rates(rpm: 1))
    }

    @Test func `a snapshot that could mislead a gateway is refused`() {
        let head = #""epoch":1,"generation":2,"issued_at":"2026-10-26T07:33:20Z","lease_seconds":15"#
        let cases: [(String, String)] = [
            ("{", "the text ends"), ("{\(head)}", "has epoch, generation, issued_at, lease_seconds and pools"),
            ("{\(head),\"pools\":{\"a\":{}}}", "pool a has no budget"),
            ("{\(head),\"pools\":{\"-a\":{\"budget\":{}}}}", "\"-a\" is no identifier"),
            (
                "{\(head),\"pools\":{\"a\":{\"budget\":{},\"state\":\"sleepy\"}}}",
                "expected one of healthy, pressured, throttled, open, half_open, found \"sleepy\""
            ),
            ("{\(head),\"pools\":{\"a\":{\"budget\":{}},\"a\":{\"budget\":{}}}}", "a stands twice"),
            (
                "{\(head),\"pools\":{\"a\":{\"budget\":{\"rpm\":\"9\"}}}}",
                "expected a number, found a string (line 1, column"
            ),
            ("{\(head),\"pools\":{\"a\":{\"budget\":{\"rpm\":-1}}}}", "a rate is 0 to 1e13, found -1"),
            ("{\(head),\"pools\":{\"a\":{\"budget\":{\"rpm\":1e14}}}}", "a rate is 0 to 1e13, found 100000000000000"),
            (
                #"{"epoch":1,"generation":2,"issued_at":"2026-10-26T07:33:20Z","lease_seconds":0,"pools":{}}"#,
                "lease_seconds: expected more than 0"
            ),
            ("{\(head),\"pools\":{},\"since\":\"12\"}", "\"12\" is no EPOCH.GENERATION"),
            ("{\(head),\"epoch\":3,\"pools\":{}}", "the key \"epoch\" stands twice"),
        ]
        for (text, message) in cases {
            let error = #expect(throws: WireError.self, "\(text)") { try SnapshotDecoder.decode(Array(text.utf8)) }
            #expect(error?.message.contains(message) == true, "\(text)\n\(String(describing: error))")
        }
    }
}
