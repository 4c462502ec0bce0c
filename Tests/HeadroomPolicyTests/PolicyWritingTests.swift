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
            }
            """
        let pools = [
            """
            {
              pool: "x:1", provider: "openai", nominal: {rpm: 3, otpm: 70}, mode: "guarded", burst_seconds: 2,
              provider_burst_seconds: 3, failover: ["y"], counts_refused: true, accept_above_contract: true,
            }
            """,
            #"{pool: "y", nominal: {tpm: 1000000}}"#,
        ]
        let files = [("p/rules.json5", rules)] + pools.enumerated().map { ("p/pools/\($0).json5", $1) }
        let policy = try PolicyLoader.load(files: files.map { ($0.0, Array($0.1.utf8)) })
        #expect(policy.name == "odd" && policy.tiers.count == 2 && policy.pools.count == 2)

        let written =
            [("p/rules.json5", policy.encodedRules())]
            + policy.pools.enumerated().map { ("p/pools/\($0).json5", $1.encoded()) }
        var again = try PolicyLoader.load(files: written)
        // Of the files' bytes, which differ.
        again.digest = policy.digest
        #expect(again == policy)
    }
}
