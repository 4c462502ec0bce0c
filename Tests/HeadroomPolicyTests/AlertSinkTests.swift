import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct AlertSinkTests {
    private func load(_ alerts: String) throws(PolicyError) -> AlertPolicy {
        try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: Array("{\nalerts: \(alerts) }".utf8)),
            (path: "policies/pools/p.json5", bytes: Array(#"{ pool: "p", nominal: { tpm: 1000 } }"#.utf8)),
        ]).alerts
    }

    @Test func `webhooks and the addresses that they may have are read`() throws {
        let policy = try load(
            #"""
            { close_seconds: 60, forbidden_addresses: [], allowed_addresses: ["10.0.0.0/8", "::1"], sinks: [
              { name: "ops", url: "http://127.0.0.1:9/x" },
              { name: "slack", format: "slack", url: "https://hooks.slack.com/services/{secret}", secret_file: "s",
                kinds: ["starvation", "drift"], least_severity: "warning", audit_head: true } ] }
            """#)
        #expect(
            policy.sinks == [
                AlertSinkPolicy(name: "ops", format: .json, url: "http://127.0.0.1:9/x"),
                AlertSinkPolicy(
                    name: "slack", format: .slack, url: "https://hooks.slack.com/services/{secret}", secretFile: "s",
                    kinds: [.starvation, .drift], leastSeverity: .warning, takesAuditHead: true),
            ])
        #expect(policy.closeSeconds == 60 && policy.addresses.forbidden.isEmpty)
        #expect(policy.addresses.allowed.map(\.text) == ["10.0.0.0/8", "::1"])
        // Written and read again, it is the same.
        let written = Policy(alerts: policy, pools: [PoolPolicy(pool: "p", nominal: Rates(tpm: 1000))])
        let again = try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: written.encodedRules()),
            (path: "policies/pools/p.json5", bytes: written.pools[0].encoded()),
        ])
        #expect(again.alerts == policy)
    }

    @Test func `every fault of a webhook is told, with what would be right`() {
        let error = #expect(throws: PolicyError.self) {
            try load(
                #"""
                { forbidden_addresses: ["10.0.0.0/64"], sinks: [
                  { name: "a", format: "teams", url: "ftp://x", kinds: ["starving"], colour: 1 },
                  { name: "a", format: "pagerduty", url: "https://me:pw@example.com/", audit_head: true },
                  { url: "https://{secret}/x" } ] }
                """#)
        }
        let text = error.map { "\($0)" } ?? ""
        for words in [
            "alerts.sinks[0].format: must be one of json, slack, alertmanager, pagerduty, found \"teams\"",
            "alerts.sinks[0].url: must be an http or https URL", "alerts.sinks[0].kinds[0]: must be one of starvation,",
            "alerts.sinks[0].colour: unknown key", "alerts.sinks[1].url: must be an http or https URL",
            "alerts.sinks[1].secret_file: missing",
            "alerts.sinks[1].audit_head: must be false for the format pagerduty", "alerts.sinks[2].name: missing",
            "alerts.forbidden_addresses[0]: must be an address or a range",
        ] {
            #expect(text.contains(words), "\(words) in \(text)")
        }
        let twice = #expect(throws: PolicyError.self) {
            try load(#"{ sinks: [{ name: "a", url: "http://x/" }, { name: "a", url: "http://y/" }] }"#)
        }
        #expect(twice.map { "\($0)".contains("the webhook a stands at alerts.sinks[0] already") } == true)
    }
}
