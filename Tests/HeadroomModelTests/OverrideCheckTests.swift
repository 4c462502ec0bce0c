import HeadroomModel
import Testing

@Suite struct OverrideCheckTests {
    private static let now = Timestamp(milliseconds: 1_793_000_000_000)

    @Test(
        arguments: [
            (tier: nil, weight: nil, hours: 24.0, words: []),
            ("premium", nil, 1, []), ("free", nil, 1, []), ("standard", nil, 1, []),
            ("critical", nil, 1, ["from standard to critical are 2 tiers; one person may move a tenant by 1"]),
            (nil, 4, 1, []), (nil, 1, 1, []),
            (nil, 4.1, 1, ["a weight of 4.1 is more than a factor of 2.0 from the contract's 2.0"]),
            (nil, 0.9, 1, ["a weight of 0.9 is more than a factor of 2.0 from the contract's 2.0"]),
            (nil, 2, 24.5, ["it holds for 24.5 hours; one person may set 24.0"]),
            (
                "critical", 100, 48,
                [
                    "from standard to critical are 2 tiers; one person may move a tenant by 1",
                    "a weight of 100.0 is more than a factor of 2.0 from the contract's 2.0",
                    "it holds for 48.0 hours; one person may set 24.0",
                ]
            ),
        ] as [(tier: String?, weight: Double?, hours: Double, words: [String])])
    func `what goes beyond the limits needs a second person`(
        tier: String?, weight: Double?, hours: Double, words: [String]
    ) {
        let override = Self.override(tier: tier, weight: weight, hours: hours)
        #expect(OverrideCheck.reasonsForApproval(of: override, under: Rules(policy: Policy())) == words)
    }

    @Test func `steps count from the contract, whatever other overrides hold`() {
        var rules = Rules(
            policy: Policy(), contracts: ["acme": Contract(tenant: "acme", tier: "free", isStrategic: true)])
        rules.steering = Steering(overrides: [Self.override(tier: "standard", weight: nil, hours: 1)])
        #expect(rules.tier(of: "acme", in: "p").name == "standard")
        let further = Self.override(tier: "premium", weight: nil, hours: 1)
        #expect(OverrideCheck.reasonsForApproval(of: further, under: rules).count == 1)
        // A strategic account's factor is no part of the contract's weight that an override replaces.
        let doubled = Self.override(tier: nil, weight: 2, hours: 1)
        #expect(OverrideCheck.reasonsForApproval(of: doubled, under: rules).isEmpty)
    }

    private static func override(tier: String?, weight: Double?, hours: Double) -> Override {
        Override(
            tenant: "acme", tier: tier, weight: weight,
            authorship: Authorship(
                author: "anna", reason: "renewal", at: now, until: now.adding(seconds: hours * 3600)))
    }
}
