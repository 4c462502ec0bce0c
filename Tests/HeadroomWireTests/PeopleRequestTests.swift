import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct PeopleRequestTests {
    private static let policy = Policy(pools: [PoolPolicy(pool: "p", nominal: Rates(rpm: 100, tpm: 100_000))])

    @Test func `what a command encodes the service decodes`() throws {
        let overrides = [
            OverrideRequest(
                tenant: "acme", pool: "p", tier: "premium", weight: 2.5, reason: "é \"x\"", expiresInSeconds: 1),
            OverrideRequest(tenant: "a:b@c", weight: 0.001, reason: "r", expiresInSeconds: SteeringLimits.maxSeconds),
        ]
        for request in overrides {
            #expect(try OverrideRequest.decode(request.encoded(), policy: Self.policy) == request)
        }
        for request in [
            DecisionRequest(reason: "no"), DecisionRequest(reason: "yes", revision: 4, expiresInSeconds: 60),
        ] {
            #expect(try DecisionRequest.decode(request.encoded()) == request)
        }
        let pin = PinRequest(capacity: Rates(tpm: 12.5), reason: "r", expiresInSeconds: 60)
        #expect(try PinRequest.decode(pin.encoded(), pool: Self.policy.pools[0]) == pin)
        let freeze = FreezeRequest(pool: "p", reason: "r", expiresInSeconds: 60)
        #expect(try FreezeRequest.decode(freeze.encoded(), policy: Self.policy, isRollback: false) == freeze)
        let rollback = FreezeRequest(generation: 7, reason: "r", expiresInSeconds: 60)
        #expect(try FreezeRequest.decode(rollback.encoded(), policy: Self.policy, isRollback: true) == rollback)
        let contract = Contract(
            tenant: "acme", tier: "free", isStrategic: true,
            terms: [.init(pool: "p", floor: Rates(rpm: 1), ceiling: Rates(rpm: 2, otpm: 3))])
        #expect(try ContractBody.decode(ContractBody.encode(contract), tenant: "acme") == contract)
    }

    @Test func `null is as good as absent, and a reason has its bounds`() throws {
        func decode(_ more: String) throws -> DecisionRequest {
            try DecisionRequest.decode(Array("{\(more)}".utf8))
        }
        #expect(try decode(#""reason":"r","expires_in_seconds":null"#).expiresInSeconds == nil)
        let longest = String(repeating: "é", count: SteeringLimits.maxReasonCharacters)
        #expect(try decode(#""reason":"\#(longest)""#).reason == longest)
        for reason in [#""\#(longest)x""#, #""""#, #"" \t ""#, #""a\nb""#, "7", "null"] {
            #expect(throws: BodyError.self, "\(reason)") { try decode(#""reason":\#(reason)"#) }
        }
    }

    /// A valid body with some bytes changed is taken, or refused with at least one fault; nothing traps.
    @Test func `no body does harm`() {
        let bodies = [
            #"{"tenant":"acme","pool":"p","tier":"premium","weight":2,"reason":"r","expires_in_seconds":60}"#,
            #"{"capacity":{"rpm":1,"tpm":2},"reason":"r","expires_in_seconds":60}"#,
            #"{"generation":12,"pool":null,"reason":"r","expires_in_seconds":60}"#,
            #"{"tier":"free","strategic":true,"pools":[{"pool":"p","floor":{"rpm":1},"ceiling":{"rpm":2}}]}"#,
        ]
        let bytes = Array(#"{}[]":,0123456789.eE-+ntruefalse "#.utf8)
        for seed in UInt64(0)..<400 {
            var generator = SplitMix64(seed: seed)
            var body = Array(bodies[Int(seed) % bodies.count].utf8)
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                body[Int.random(in: 0..<body.count, using: &generator)] = bytes.randomElement(using: &generator) ?? 0
            }
            let text = String(decoding: body, as: UTF8.self)
            func check(_ decode: () throws(BodyError) -> Void) {
                do throws(BodyError) { try decode() } catch {
                    #expect(!error.faults.isEmpty, "seed \(seed): \(text)")
                    #expect(error.faults.allSatisfy { !$0.detail.isEmpty }, "seed \(seed): \(text)")
                }
            }
            check { () throws(BodyError) in _ = try OverrideRequest.decode(body, policy: Self.policy) }
            check { () throws(BodyError) in _ = try PinRequest.decode(body, pool: Self.policy.pools[0]) }
            check { () throws(BodyError) in _ = try FreezeRequest.decode(body, policy: Self.policy, isRollback: true) }
            check { () throws(BodyError) in _ = try DecisionRequest.decode(body) }
            check { () throws(BodyError) in _ = try ContractBody.decode(body, tenant: "acme") }
        }
    }

    @Test func `a number that is not finite is left out of an answer`() throws {
        let broken = Rates(rpm: .infinity, tpm: .nan)
        var report = PoolReport(
            pool: "p", state: .healthy, nominal: broken, estimated: broken, capacityReason: .contract,
            confidence: .nan, budget: broken, assured: broken, consumed: broken, calls: [:], overcommittedTokens: .nan,
            tenants: [])
        report.tenants = [TenantReport(tenant: "a", tier: "free", demand: broken, assured: broken, consumed: broken)]
        var writer = JSONWriter()
        writer.pool(PoolAnswer(report: report))
        let pool = try JSONNode.parse(writer.bytes)
        #expect(pool["capacity"]?.members?.isEmpty == true && pool["confidence"]?.isNull == true)
        writer = JSONWriter()
        writer.tenant(TenantAnswer(tenant: "a", pools: [.init(pool: "p", report: report.tenants[0])]))
        #expect(try JSONNode.parse(writer.bytes)["pools"]?[0]?["demand"]?.members?.isEmpty == true)
    }
}
