import HeadroomDemand
import HeadroomModel
import Testing

@Suite struct DemandEstimatorTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private var estimator = DemandEstimator(
        pool: PoolPolicy(pool: pool, nominal: Rates(rpm: 6_000, tpm: 6_000_000)),
        settings: DemandEstimator.Settings(
            Policy(loop: LoopPolicy(maxTenants: 100), demand: DemandPolicy(margin: 1))), at: start)

    private func call(
        _ second: Double, tenant: TenantID = "acme", request: String? = nil, attempt: Int = 1,
        outcome: Outcome = .ok, tokens: Int64 = 1_000, criticality: Criticality = .interactive,
        gateway: GatewayID = "gw-1"
    ) -> TelemetryRecord {
        .call(
            CallRecord(
                request: request, at: Self.start.adding(seconds: second), gateway: gateway, tenant: tenant,
                pool: Self.pool, criticality: criticality, attempt: attempt, outcome: outcome,
                inputTokens: outcome == .ok ? tokens - 100 : 0, outputTokens: outcome == .ok ? 100 : 0))
    }

    private mutating func fold(_ record: TelemetryRecord) { estimator.fold(record, at: record.at) }

    private mutating func demand(_ tenant: TenantID = "acme", at second: Double) -> TenantDemand? {
        estimator.estimate(at: Self.start.adding(seconds: second)).tenants.first { $0.tenant == tenant }
    }

    @Test mutating func `demand is known within 10 % while half of it is denied`() throws {
        // 4 a second, every other one denied by the gateway, which cannot know the output.
        for n in 0..<160 {
            fold(call(Double(n) / 4, request: "r\(n)", outcome: n % 2 == 0 ? .ok : .denied))
        }
        let found = try #require(demand(at: 39.9))
        let rpm = try #require(found.total[.requests])
        let tpm = try #require(found.total[.tokens])
        #expect(abs(rpm / 240 - 1) < 0.1, "\(rpm)")
        #expect(abs(tpm / 240_000 - 1) < 0.1, "\(tpm)")
        let consumed = try #require(found.consumed[.requests])
        #expect(abs(consumed / 120 - 1) < 0.1)
    }

    @Test mutating func `what is asked for stands beside what is served, from the first seconds on, and is gone soon`()
        throws
    {
        var second = 0.0
        for moment in [5.0, 12, 20, 33, 47, 60] {
            while second < moment {
                fold(call(second, request: "a\(second)"))
                fold(call(second, tenant: "beta", request: "b\(second)", outcome: .denied))
                second += 0.25
            }
            let acme = try #require(demand(at: moment - 0.01))
            let (asked, served) = (acme.asked[.requests] ?? 0, acme.consumed[.requests] ?? 0)
            #expect(abs(asked / 240 - 1) < 0.06 && abs(served / 240 - 1) < 0.06, "\(moment): \(asked), \(served)")
            #expect(abs((demand("beta", at: moment - 0.01)?.asked[.requests] ?? 0) / 240 - 1) < 0.06)
        }
        #expect((demand(at: 75)?.asked[.requests] ?? 0) < 120)
        #expect(demand(at: 101)?.asked[.requests] == 0)
        #expect(demand(at: 101).map { ($0.total[.requests] ?? 0) > 0 } == true, "planned demand falls by half-life")
    }

    @Test mutating func `what a window's line tells was asked for in its seconds`() throws {
        for end in stride(from: 10.0, through: 60, by: 10) {
            fold(
                .window(
                    WindowRecord(
                        start: Self.start.adding(seconds: end - 10), seconds: 10, gateway: "gw-1", tenant: "acme",
                        pool: Self.pool, requests: 50, ok: 30, quota: 20, retries: 10, inputTokens: 27_000,
                        outputTokens: 3_000)))
            let asked = try #require(demand(at: end)?.asked[.requests])
            #expect(abs(asked / 240 - 1) < 0.06, "\(end): \(asked)")
        }
    }

    @Test mutating func `a retry storm of five attempts a request raises nobody's demand`() throws {
        for n in 0..<80 {
            for attempt in 1...5 {
                fold(
                    call(
                        Double(n) / 2, request: "r\(n)", attempt: attempt, outcome: attempt == 5 ? .ok : .quota))
            }
        }
        let found = try #require(demand(at: 39.9))
        #expect(abs(try #require(found.total[.requests]) / 120 - 1) < 0.1)
        #expect(found.retries.interactive == 320)
    }

    @Test(arguments: 1...5)
    mutating func `demand is known within 10 % while a random half of work of all sizes is denied`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        // 20 a second for a minute, of 100 to 1900 tokens; what is denied tells no size.
        for n in 0..<1200 {
            let outcome: Outcome = Bool.random(using: &random) ? .ok : .denied
            fold(
                call(
                    Double(n) / 20, request: "r\(n)", outcome: outcome, tokens: .random(in: 100...1900, using: &random))
            )
        }
        let found = try #require(demand(at: 59.9)?.total)
        #expect(abs(try #require(found[.requests]) / 1_200 - 1) < 0.1, "\(found)")
        #expect(abs(try #require(found[.tokens]) / 1_200_000 - 1) < 0.1, "\(found)")
    }

    @Test(arguments: 1...5) mutating func `a retry storm of 5x, with waits by lot, raises nobody's demand`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let tenants: [(TenantID, perSecond: Int)] = [("acme", 1), ("beta", 2), ("gamma", 4)]
        // All begin calm. From the second minute on each request needs five attempts, up to three seconds apart.
        var lines: [TelemetryRecord] = []
        for (tenant, perSecond) in tenants {
            for n in 0..<(180 * perSecond) {
                var second = Double(n) / Double(perSecond)
                let attempts = second < 60 ? 1 : 5
                for attempt in 1...attempts {
                    lines.append(
                        call(
                            second, tenant: tenant, request: "\(tenant)-\(n)", attempt: attempt,
                            outcome: attempt == attempts ? .ok : .quota))
                    second += .random(in: 0.1...3, using: &random)
                }
            }
        }
        lines.sort { $0.at < $1.at }
        var next = 0
        for turn in stride(from: 2.0, through: 178, by: 2) {
            while next < lines.count, lines[next].at <= Self.start.adding(seconds: turn) {
                fold(lines[next])
                next += 1
            }
            guard turn > 30 else { continue }
            let found = estimator.estimate(at: Self.start.adding(seconds: turn)).tenants
            for (tenant, perSecond) in tenants {
                let rpm = try #require(found.first { $0.tenant == tenant }?.total[.requests])
                #expect(abs(rpm / Double(60 * perSecond) - 1) < 0.1, "seed \(seed), second \(turn), \(tenant): \(rpm)")
            }
        }
    }

    @Test mutating func `retries sent as first attempts of the same request count once`() throws {
        for n in 0..<80 {
            for _ in 1...5 { fold(call(Double(n) / 2, request: "r\(n)", outcome: .denied)) }
        }
        #expect(abs(try #require(demand(at: 39.9)?.total[.requests]) / 120 - 1) < 0.1)
    }

    @Test mutating func `work that waits counts as if it had to be served within the backlog time`() throws {
        fold(
            .queue(
                QueueRecord(
                    at: Self.start.adding(seconds: 20), gateway: "gw-1", tenant: "acme", pool: Self.pool,
                    criticality: .batch, depth: 40, tokens: 80_000, oldestAgeMilliseconds: 3_000)))
        let found = try #require(demand(at: 21))
        #expect(found.demand.batch[.requests] == 120)
        #expect(found.demand.batch[.tokens] == 240_000)
        #expect(found.queue.batch == TenantReport.Queue(depth: 40, oldestSeconds: 3))
    }

    @Test mutating func `a queue that nobody reports any more is forgotten`() throws {
        fold(
            .queue(
                QueueRecord(
                    at: Self.start, gateway: "gw-1", tenant: "acme", pool: Self.pool, depth: 40, tokens: 80_000)))
        _ = demand(at: 1)
        #expect(try #require(demand(at: 40)).queue.interactive.depth == 0)
    }

    @Test mutating func `demand rises at once and halves in a half-life`() throws {
        for n in 0..<200 { fold(call(Double(n) / 10, request: "r\(n)")) }
        let peak = try #require(demand(at: 20)?.total[.requests])
        #expect(abs(peak / 600 - 1) < 0.1)
        let later = try #require(demand(at: 80)?.total[.requests])
        #expect(abs(later / peak - 0.5) < 0.01, "\(later) of \(peak)")
    }

    @Test mutating func `half-life counts real time and not ticks`() throws {
        var often = estimator
        for n in 0..<200 { fold(call(Double(n) / 10, request: "r\(n)")) }
        for n in 0..<200 { often.fold(call(Double(n) / 10, request: "r\(n)"), at: Self.start.adding(seconds: 20)) }
        _ = demand(at: 20)
        for second in 20...79 { _ = often.estimate(at: Self.start.adding(seconds: Double(second))) }
        let seldom = try #require(demand(at: 80)?.total[.requests])
        let frequent = try #require(
            often.estimate(at: Self.start.adding(seconds: 80)).tenants.first?.total[.requests])
        #expect(abs(frequent / seldom - 1) < 0.01, "\(frequent) \(seldom)")
    }

    @Test mutating func `a window line counts its unique work and no retry`() throws {
        fold(
            .window(
                WindowRecord(
                    start: Self.start.adding(seconds: 10), seconds: 10, gateway: "gw-1", tenant: "acme",
                    pool: Self.pool, requests: 50, ok: 40, quota: 10, retries: 10, denied: 20, deniedTokens: 20_000,
                    inputTokens: 30_000, outputTokens: 10_000)))
        let found = try #require(demand(at: 20))
        #expect(abs(try #require(found.total[.requests]) - 180) < 1)
        #expect(abs(try #require(found.total[.tokens]) - 180_000) < 10)
        #expect(abs(try #require(found.consumed[.tokens]) - 120_000) < 10)
    }

    @Test mutating func `an idle tenant keeps its shape`() throws {
        for n in 0..<50 { fold(call(Double(n) / 10, request: "r\(n)", tokens: 7_000)) }
        let shape = try #require(demand(at: 3_000)?.shape)
        #expect(shape[.requests] == 1)
        #expect(abs(shape[.tokens] - 7_000) < 1)
    }

    @Test mutating func `the table is bounded and what found no place is counted`() {
        for n in 0..<150 { fold(call(1, tenant: TenantID(unchecked: "t\(n)"), request: "r\(n)")) }
        let found = estimator.estimate(at: Self.start.adding(seconds: 2))
        #expect(found.tenants.count == 100)
        #expect(found.untracked.lines == 50)
        #expect(found.untracked.last?.bound == .pool)
    }

    @Test mutating func `one gateway's invented names leave room for the tenants of another and for contracts`() {
        var policy = Policy(loop: LoopPolicy(maxTenants: 100, maxNewTenantsPerGateway: 20))
        policy.demand.idleSeconds = 600
        let pool = PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 6_000, tpm: 6_000_000))
        estimator.follow(
            pool, .init(policy),
            contracts: ["acme": Contract(tenant: "acme", tier: nil)])
        for n in 0..<1_000 { fold(call(1, tenant: TenantID(unchecked: "invented-\(n)"))) }
        fold(call(1, tenant: "acme"))
        fold(call(1, tenant: "honest", gateway: "gw-2"))
        var found = estimator.estimate(at: Self.start.adding(seconds: 2))
        #expect(found.tenants.count == 22)
        #expect(found.tenants.contains { $0.tenant == "acme" } && found.tenants.contains { $0.tenant == "honest" })
        #expect(found.untracked.lines == 980)
        #expect(found.untracked.last?.bound == .gateway && found.untracked.last?.gateway == "gw-1")
        // Names that have long been idle make room for others of the same gateway, also after a restart.
        var writer = ByteWriter()
        estimator.write(to: &writer)
        var reader = ByteReader(writer.bytes)
        let settings = DemandEstimator.Settings(policy)
        estimator = DemandEstimator(pool: pool, settings: settings, at: Self.start)
        #expect(throws: Never.self) { try estimator.restore(from: &reader) }
        for n in 0..<30 { fold(call(700, tenant: TenantID(unchecked: "later-\(n)"))) }
        found = estimator.estimate(at: Self.start.adding(seconds: 701))
        // A tenth of the table at a time.
        #expect(found.tenants.map(\.tenant.text).filter { $0.hasPrefix("later") }.count == 10)
        #expect(found.untracked.lines == 1_000)
    }

    @Test mutating func `traffic tells where a tenant's work arrives`() throws {
        for n in 0..<100 {
            fold(call(Double(n) / 10, request: "r\(n)", gateway: n % 4 == 0 ? "gw-2" : "gw-1"))
        }
        let gateways = try #require(demand(at: 10)).gateways
        #expect(gateways.map(\.gateway) == ["gw-1", "gw-2"])
        #expect(abs(gateways[0].weight / gateways[1].weight - 3) < 0.2)
        // A queue at one of them draws the assured rate there.
        let at = Self.start.adding(seconds: 10)
        estimator.fold(
            .queue(
                QueueRecord(
                    at: at, gateway: "gw-2", tenant: "acme", pool: Self.pool, criticality: .interactive, depth: 1000,
                    tokens: 1_000_000)), at: at)
        let queued = try #require(demand(at: 10)).gateways
        #expect(queued[0].weight == gateways[0].weight && queued[1].weight > 10 * gateways[1].weight)
    }

    @Test mutating func `a gateway's load is counted in each resource apart`() throws {
        for n in 0..<100 {
            let isLong = n % 4 == 0
            fold(
                call(
                    Double(n) / 10, request: "r\(n)", tokens: isLong ? 10_000 : 1_000,
                    gateway: isLong ? "gw-2" : "gw-1"))
        }
        let loads = estimator.estimate(at: Self.start.adding(seconds: 10)).gateways
        #expect(loads.map(\.gateway) == ["gw-1", "gw-2"])
        let ratio = loads[0].seconds / loads[1].seconds
        #expect(abs(ratio[Resource.requests.rawValue] - 3) < 0.2)
        #expect(ratio[Resource.tokens.rawValue] < 0.5)
    }
}
