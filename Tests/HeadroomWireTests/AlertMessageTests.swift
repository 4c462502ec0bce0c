import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct AlertMessageTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private func alert(closed: Bool = false) -> Alert {
        Alert(
            id: 12, key: AlertKey(.starvation, pool: "openai:gpt-4o", reason: "delivery"), openedAt: Self.start,
            updatedAt: Self.start, closedAt: closed ? Self.start.adding(seconds: 600) : nil,
            members: [
                Alert.Member(
                    name: "acme", tenant: "acme", since: Self.start.adding(seconds: -300), severity: .critical,
                    sentence: "acme has <little> & waits.",
                    recommendation: AlertRecommendation(
                        "Raise acme.",
                        .override("acme", pool: "openai:gpt-4o", tier: "premium", weight: nil, seconds: 3600)))
            ], memberCount: 1)
    }

    private func body(_ format: AlertSinkPolicy.Format, closed: Bool = false, secret: String? = nil) throws -> JSONNode
    {
        try JSONNode.parse(
            AlertMessage.body(
                format, alert(closed: closed), event: closed ? "closed" : "opened", secret: secret,
                at: Self.start.adding(seconds: 60)))
    }

    @Test func `a program gets the alert with the call that helps`() throws {
        let message = try body(.json)
        #expect(message["event"]?.string == "opened" && message["alert"]?["id"]?.number == 12)
        let call = message["alert"]?["members"]?[0]?["recommendation"]?["call"]
        #expect(call?["path"]?.string == "/v1/overrides" && call?["body"]?["tier"]?.string == "premium")
        #expect(try body(.json, closed: true)["alert"]?["closed_at"]?.string == "2026-10-26T07:43:20.000Z")
    }

    @Test func `Slack gets a text without markup of its own`() throws {
        let text = try #require(try body(.slack)["text"]?.string)
        #expect(
            text == ":red_circle: *critical* starvation, alert 12\nacme has &lt;little&gt; &amp; waits.\n"
                + "_Raise acme. (headroom alerts apply 12)_")
        let over = try #require(try body(.slack, closed: true)["text"]?.string)
        #expect(
            over == ":white_check_mark: *over* starvation, alert 12, after 15 min\n"
                + "It was: acme has &lt;little&gt; &amp; waits.")
    }

    @Test func `the end says how it stands, where that is known`() throws {
        var over = alert(closed: true)
        over.outcome = "acme is served 42,000 tokens a minute."
        func body(_ format: AlertSinkPolicy.Format) throws -> JSONNode {
            try JSONNode.parse(AlertMessage.body(format, over, event: "closed", secret: "key", at: Self.start))
        }
        let slack = try #require(try body(.slack)["text"]?.string)
        #expect(slack.hasSuffix("after 15 min\nacme is served 42,000 tokens a minute."))
        #expect(try body(.json)["alert"]?["outcome"]?.string == over.outcome)
        #expect(try body(.alertmanager).array?.first?["annotations"]?["outcome"]?.string == over.outcome)
        #expect(try body(.pagerduty)["payload"]?["summary"]?.string == over.outcome)
    }

    @Test func `Alertmanager gets labels that stay and an end that moves`() throws {
        let open = try #require(try body(.alertmanager).array?.first)
        let closed = try #require(try body(.alertmanager, closed: true).array?.first)
        let labels = (open["labels"]?.members ?? []).compactMap { member in
            member.value.string.map { "\(member.key)=\($0)" }
        }
        #expect(
            labels == ["alertname=Headroom_starvation", "kind=starvation", "pool=openai:gpt-4o", "reason=delivery"])
        #expect(open["labels"]?.encoded() == closed["labels"]?.encoded())
        #expect(open["startsAt"]?.string == closed["startsAt"]?.string)
        #expect(open["endsAt"]?.string == "2026-10-26T07:39:20.000Z")
        #expect(closed["endsAt"]?.string == "2026-10-26T07:43:20.000Z")
        // The API takes strings as annotations, and nothing else.
        #expect(open["annotations"]?.members?.allSatisfy { $0.value.string != nil } == true)
    }

    @Test func `PagerDuty gets an event that is resolved by the same key`() throws {
        let open = try body(.pagerduty, secret: "R123")
        let closed = try body(.pagerduty, closed: true, secret: "R123")
        #expect(open["routing_key"]?.string == "R123")
        #expect(open["event_action"]?.string == "trigger" && closed["event_action"]?.string == "resolve")
        #expect(open["dedup_key"]?.string == "headroom/starvation/openai:gpt-4o/delivery")
        #expect(open["dedup_key"]?.string == closed["dedup_key"]?.string)
        #expect(open["payload"]?["severity"]?.string == "critical" && open["payload"]?["source"]?.string == "headroom")
    }

    @Test func `the audit log's head is told in a form that verify takes`() throws {
        let at = Timestamp(milliseconds: 1_793_000_000_000)
        let json = try JSONNode.parse(AlertMessage.auditHead(.json, "17 9f31", at: at))
        #expect(json["event"]?.string == "audit_head" && json["head"]?.string == "17 9f31")
        #expect(json["at"]?.string == "2026-10-26T07:33:20.000Z" && json["version"]?.number == 1)
        let slack = try JSONNode.parse(AlertMessage.auditHead(.slack, "17 9f31", at: at))
        #expect(slack["text"]?.string == "Head of Headroom's audit log: `17 9f31`")
    }
}
