import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct PolicyWritingTests {
    @Test func `a policy that is written out and read again is the same`() throws {
        let rules = """
            {
              name: "odd", default_tier: "b", strategic_factor: 2.5,
              tiers: [
                {name: "a", weight: 7.25, ceiling_share: 0.3, longest_wait_seconds: 3}, {name: "b", weight: 0.5},
              ],
              bands: [{fill: "floor", tiers: ["a"]}, {fill: "demand", criticality: "batch"}, {fill: "ceiling"}],
              loop: {period_seconds: 0.25, max_parts: 7}, dampening: {deadband: 0.125},
              override_limits: {tier_steps: 3, weight_factor: 9, hours: 1.5}, telemetry: {ledger_bytes: 5000000},
              contracts: {
                columns: {tenant: "Account ID", floor_tpm: "Guaranteed"}, ignore_other_columns: true,
                tiers: {"Gold Plus": "a", "Base": "b"},
                approval_share: 0.2, pending_hours: 8,
              },
            }
            """
        let pools = [
            """
            {
              pool: "x:1", provider: "openai", nominal: {rpm: 3, otpm: 70}, mode: "guarded", burst_seconds: 2,
              provider_burst_seconds: 3, failover: ["y"], counts_refused: true, accept_above_contract: true,
              closed_after_seconds: 90, prices: [
                {currency: "USD", input_micros_per_million: 5, until: "2026-11-01T00:00:00Z"},
                {
                  currency: "EUR", input_micros_per_million: 5, cached_input_micros_per_million: 2,
                  output_micros_per_million: 9, request_micros: 1, from: "2026-11-01T00:00:00Z",
                },
              ],
            }
            """,
            #"{pool: "y", nominal: {tpm: 1000000}}"#,
        ]
        let files = [("p/rules.json5", rules)] + pools.enumerated().map { ("p/pools/\($0).json5", $1) }
        let policy = try PolicyLoader.load(files: files.map { ($0.0, Array($0.1.utf8)) })
        #expect(policy.contracts.approvalShare == 0.2 && policy.contracts.pendingHours == 8)
        #expect(policy.contracts.columns.map(\.header) == ["Account ID", "Guaranteed"])
        #expect(policy.name == "odd" && policy.tiers.count == 2 && policy.pools.count == 2)
        // Cached input costs what input costs where nothing else is said.
        #expect(policy.pools[0].prices.map(\.perMillionCachedInputTokens) == [5, 2])

        let written =
            [("p/rules.json5", policy.encodedRules())]
            + policy.pools.enumerated().map { ("p/pools/\($0).json5", $1.encoded()) }
        var again = try PolicyLoader.load(files: written)
        // Of the files' bytes, which differ.
        again.digest = policy.digest
        #expect(again == policy)
    }

    @Test func `prices that hold at one time, begin within an hour or have no currency are faults`() throws {
        let faults: [(String, String)] = [
            (#"{currency: "USD"}, {currency: "USD", from: "2026-11-01T00:00:00Z"}"#, "holds at the same time"),
            (#"{currency: "usd"}"#, "ISO 4217"), ("{}", "what the money is in"),
            (#"{currency: "USD", from: "2026-11-01T00:30:00Z"}"#, "a full hour"),
            (#"{currency: "USD", from: "2026-11-01"}"#, "a full hour"),
            (#"{currency: "USD", from: "2026-11-02T00:00:00Z", until: "2026-11-01T00:00:00Z"}"#, "before until"),
            (#"{currency: "USD", input: 5}"#, "unknown key"),
            (#"{currency: "USD", request_micros: -1}"#, "must be a whole number"),
        ]
        for (prices, wanted) in faults {
            let pool = #"{pool: "y", nominal: {tpm: 1000}, prices: [\#(prices)]}"#
            let error = #expect(throws: PolicyError.self) {
                try PolicyLoader.load(files: [
                    ("p/rules.json5", Array("{}".utf8)), ("p/pools/y.json5", Array(pool.utf8)),
                ])
            }
            #expect(error.map { "\($0)" }?.contains(wanted) == true, "\(prices): \(error as Any)")
        }
    }
}
