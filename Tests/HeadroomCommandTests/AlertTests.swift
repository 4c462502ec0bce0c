import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

/// Alerts of a running service: what causes them comes over HTTP, and so do they.
@Suite struct AlertTests {
    private static func open(_ kind: String, _ reply: ServiceClient.Reply) -> JSONNode? {
        reply.json["alerts"]?.array?.first { $0["kind"]?.string == kind }
    }

    @Test func `starvation opens an alert whose recommendation ends it, and it survives a restart`() async throws {
        let house = try House()
        // Known from its first call on, so that all of its demand counts.
        try house.writeRules(
            "starvation: { seconds: 1 }, alerts: { close_seconds: 1 }, trust: { half_confidence_calls: 0 }")
        let id = try await RunningService.run(house) { service in
            let client = service.client
            // The provider grants half of the contract, a rival's work is served, and much of acme's waits: for longer than the
            // second that the policy allows.
            try await client.pin(House.pool, #"{"rpm":300,"tpm":300000}"#)
            let rival = #""gateway":"gw-1","tenant":"rival","pool":"\#(House.pool)","criticality":"batch""#
            let tokens = #""gateway":"gw-1","tenant":"acme","pool":"\#(House.pool)""#
            let reply = try await client.poll("/v1/alerts?kind=starvation") { number in
                let call = #"{"type":"call","id":"n-\#(number)",\#(tokens),"outcome":"ok","input_tokens":10}"#
                let queue =
                    #"{"type":"queue",\#(tokens),"criticality":"batch","depth":500,"tokens":500000,"oldest_age_ms":30000}"#
                let served = #"{"type":"call","id":"r-\#(number)",\#(rival),"outcome":"ok","input_tokens":20000}"#
                // One call, so that the tenant is known; from then on it only waits.
                _ = try await client.post(number == 1 ? [call, queue, served] : [queue, served])
            } until: {
                Self.open("starvation", $0) != nil
            }
            let alert = try #require(Self.open("starvation", reply), "\(reply.text)")
            #expect(alert["members"]?[0]?["tenant"]?.string == "acme", "\(reply.text)")
            #expect(try await client.metric(#"headroom_alerts_open{kind="starvation"}"#) == 1)
            // No roll-up of it is stored yet, and the report names it, from the alert's first second on.
            let report = try await client.get("/v1/starvation").json["tenants"]?.array
            #expect(report?.map { $0["tenant"]?.string } == ["acme"])
            #expect(report?.first?["first"]?.string == alert["members"]?[0]?["since"]?.string, "\(reply.text)")
            #expect((report?.first?["starved_seconds"]?.number ?? 0) > 1)
            #expect(
                service.errors.contains("starvation: acme has been starved in test:model since 20"), "\(service.errors)"
            )

            let url = ["--url", "http://127.0.0.1:\(client.port)"]
            let id = AlertTests.text(alert["id"])
            let listed = try await HeadroomProgram.run(["alerts"] + url)
            #expect(listed.output.contains("headroom alerts apply \(id)"), "\(listed.output)\(listed.errors)")
            let seen = try await HeadroomProgram.run(["alerts", "acknowledge", id, "--reason", "on it"] + url)
            #expect(seen.output.contains("acknowledged by local"), "\(seen.output)\(seen.errors)")
            // Only what was read is applied: without its revision, or with that of another text, nothing is done.
            let command = try #require(
                listed.output.split(separator: "\n").first { $0.contains("alerts apply \(id) --revision") })
            let revision = try #require(command.split(separator: " ").last.map(String.init))
            for words in [[], ["--revision", "00000000"]] {
                let shown = try await HeadroomProgram.run(["alerts", "apply", id] + words + url)
                #expect(shown.code == 1 && shown.errors.contains("nothing was done"), "\(shown.errors)")
                #expect(shown.errors.contains("--revision \(revision)"), "\(shown.errors)")
            }
            #expect(try await client.get("/v1/overrides").text.contains("premium") == false)
            let applied = try await HeadroomProgram.run(["alerts", "apply", id, "--revision", revision] + url)
            #expect(
                applied.output.hasPrefix("done: Raise acme to the tier premium"), "\(applied.output)\(applied.errors)")
            let raised = try await client.poll("/v1/overrides") { $0.text.contains("premium") }
            #expect(raised.text.contains("alert \(id): starvation"), "\(raised.text)")
            return id
        }
        try await RunningService.run(house) { service in
            // It is still there, acknowledged; nothing waits any more, so that it closes by itself.
            let client = service.client
            let empty =
                #"{"type":"queue","gateway":"gw-1","tenant":"acme","pool":"\#(House.pool)","criticality":"batch","depth":0}"#
            let reply = try await client.poll("/v1/alerts?state=closed") { _ in
                _ = try await client.post([empty])
            } until: {
                Self.open("starvation", $0) != nil
            }
            let alert = try #require(Self.open("starvation", reply), "\(reply.text)")
            #expect(AlertTests.text(alert["id"]) == id && alert["acknowledged"]?["author"]?.string == "local")
            #expect(try await service.client.metric(#"headroom_alerts_open{kind="starvation"}"#) == 0)
        }
    }

    @Test func `a bad policy, a misspelled pool and a gateway that is gone each open an alert and close it`()
        async throws
    {
        let house = try House()
        let quick = "alerts: { close_seconds: 0.2 }"
        func rules(_ more: String) throws {
            try house.directory.write(
                #"{ name: "test", \#(quick), loop: { period_seconds: 0.1, learning_seconds: 0, lease_seconds: 1, "#
                    + "grace_seconds: 0, safe_seconds: 2 }, \(more) }", to: "policies/rules.json5")
        }
        try rules("")
        try await RunningService.run(house) { service in
            let client = service.client
            func waitFor(_ kind: String, open: Bool) async throws -> JSONNode? {
                let state = open ? "open" : "closed"
                let reply = try await client.poll("/v1/alerts?state=\(state)") { Self.open(kind, $0) != nil }
                return Self.open(kind, reply)
            }
            try rules("tiers: 7")
            let refused = try await waitFor("policy_rejected", open: true)
            #expect(refused?["sentence"]?.string?.contains("rules.json5:1:") == true, "\(service.errors)")
            try rules("")
            #expect(try await waitFor("policy_rejected", open: false) != nil)

            _ = try await client.post([
                ServingTests.call("a"), ServingTests.call("b").replacing("test:model", with: "test:modle"),
            ])
            let unknown = try await waitFor("unknown_name", open: true)
            #expect(unknown?["sentence"]?.string?.contains(#"did you mean "test:model"?"#) == true, "\(service.errors)")

            #expect(try await client.get("/v1/allocations?gateway=gw-1").status == 200)
            // The gateway that polled is not heard of again; what was kept for it goes, and the alert with it.
            let lost = try await waitFor("gateway_lost", open: true)
            #expect(lost?["sentence"]?.string?.contains("gw-1 has not been heard of since 20") == true)
            #expect(try await waitFor("gateway_lost", open: false) != nil)
        }
    }

    @Test func `webhooks are told, signed, tried again, and never at an address that the policy forbids`() async throws
    {
        let house = try House()
        let receiver = try WebhookReceiver(answering: ["503 Busy", "302 Found\r\nLocation: http://127.0.0.1:1/"])
        defer { receiver.stop() }
        try house.directory.write("a secret\n", to: "policies/ops.secret")
        func rules(_ sinks: String, _ more: String = "") throws {
            try house.writeRules("alerts: { close_seconds: 0.2, sinks: [\(sinks)] }, \(more)")
        }
        let ops = #"{ name: "ops", url: "http://localhost:\#(receiver.port)/hook", secret_file: "ops.secret" }"#
        let cloud = #"{ name: "cloud", url: "http://169.254.169.254/latest/meta-data" }"#
        try rules("\(ops), \(cloud)")
        try await RunningService.run(house) { service in
            let client = service.client
            try rules("\(ops), \(cloud)", "tiers: 7")
            // The first answer says later, the second one leads elsewhere and is not followed.
            let delivered = #"headroom_alert_notifications_total{sink="ops",result="delivered"}"#
            func open(_ kind: String) async throws -> JSONNode? {
                Self.open(kind, try await client.poll("/v1/alerts") { Self.open(kind, $0) != nil })
            }
            #expect(try await open("policy_rejected") != nil, "\(service.errors)")
            // Whoever forbids says so.
            let failing = try await client.poll("/v1/alerts?kind=sink_failing") { $0.text.contains("169.254.169.254") }
            #expect(
                failing.text.contains("169.254.169.254 is 169.254.169.254, where the policy does not allow webhooks"),
                "\(failing.text)")
            try rules(ops)
            let told = try await client.poll("/metrics") { reply in
                !reply.text.contains(delivered + " 0\n") && reply.text.contains(delivered)
            }
            #expect(told.text.contains(delivered), "\(service.errors)")
            let messages = receiver.received
            #expect(messages.count >= 3 && messages.allSatisfy { $0.path == "/hook" })
            #expect(messages[0].headers["host"] == "localhost:\(receiver.port)")
            for message in messages {
                let signature = message.headers["headroom-signature"] ?? ""
                let seconds = signature.dropFirst(2).prefix { $0 != "," }
                let code = SHA256.authenticationCode(
                    of: Array("\(seconds).".utf8) + message.body, key: Array("a secret".utf8))
                #expect(signature == "t=\(seconds),v1=\(SHA256.hexadecimal(code))")
            }
            let bodies = messages.compactMap { try? JSONNode.parse($0.body) }
            #expect(bodies.first?["alert"]?["kind"]?.string == "policy_rejected", "\(bodies.map { $0.encoded() })")
        }
    }

    @Test func `a tenant that waits burns its tier's service level, and the command shows it beside Headroom's own`()
        async throws
    {
        let house = try House()
        try house.writeRules(
            "telemetry: { checkpoint_seconds: 1 }, alerts: { fast_burn: 10, least_missed_seconds: 0.1 }")
        try await RunningService.run(house) { service in
            let client = service.client
            let names = #""gateway":"gw-1","tenant":"acme","pool":"\#(House.pool)""#
            let queue =
                #"{"type":"queue",\#(names),"criticality":"batch","depth":500,"tokens":500000,"oldest_age_ms":90000}"#
            let reply = try await client.poll("/v1/alerts?kind=slo_burn") { _ in
                _ = try await client.post([queue])
            } until: {
                Self.open("slo_burn", $0)?["pool"]?.string == House.pool
            }
            let sentence = try #require(Self.open("slo_burn", reply)?["sentence"]?.string, "\(reply.text)")
            #expect(sentence.hasPrefix("acme (standard) was satisfied in test:model for "), "\(sentence)")
            #expect(sentence.hasSuffix("times as fast as it may."), "\(sentence)")
            let slo = try await HeadroomProgram.run(["slo", "--url", "http://127.0.0.1:\(client.port)"])
            let lines = slo.output.split(separator: "\n")
            let acme = try #require(lines.first { $0.hasPrefix("acme ") }, "\(slo.output)\(slo.errors)")
            #expect(acme.contains(" % (1") && acme.contains("90 s of 60 s"), "\(acme)")
            #expect(lines.contains { $0.hasPrefix("ingest ") && $0.contains("99.9 %") }, "\(slo.output)")
            // The first tick found it satisfied; from then on it only waited.
            let kept = try await client.metric(#"headroom_slo_attainment{tier="standard",window="1h"}"#)
            #expect(try #require(kept) < 0.5)
        }
    }

    private static func text(_ node: JSONNode?) -> String { node?.number.map { String(Int($0)) } ?? "" }
}
