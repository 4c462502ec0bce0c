import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

/// One tenant's bad hour, from the first starved second to the text that it is sent, over real HTTP: by gateways, people
/// with their tokens, and a webhook.
@Suite struct StoryTests {
    private static let standing = "standard"

    @Test func `a starved tenant is seen, raised by two people for a while, and told about it without other names`()
        async throws
    {
        let house = try House()
        let receiver = try WebhookReceiver()
        defer { receiver.stop() }
        try house.writeRules(
            """
            starvation: { seconds: 1 }, telemetry: { checkpoint_seconds: 1 }, trust: { half_confidence_calls: 0 },
            alerts: { close_seconds: 1, sinks: [{ name: "ops", url: "http://127.0.0.1:\(receiver.port)/hook" }] }
            """)
        let began = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let cast = try await Cast(house)
        try await RunningService.run(house) { service in
            let play = Play(service: service, cast: cast)

            // The provider grants half of the contract.
            try await service.client.pin(House.pool, #"{"rpm":300,"tpm":300000}"#, headers: [cast.credential("sre")])

            // Telemetry shows it: much of acme waits, and next to nothing of it is served.
            let message = try #require(await play.firstMessage(to: receiver, of: "starvation"), "\(service.errors)")
            let starved = try #require(message["alert"]?["members"]?.array?.first, "\(message.encoded())")
            #expect(message["event"]?.string == "opened" && starved["tenant"]?.string == "acme")
            #expect(
                starved["recommendation"]?["sentence"]?.string?.hasPrefix("Raise acme to the tier premium") == true,
                "\(message.encoded())")
            #expect(starved["recommendation"]?["call"]?.isNull == false, "\(message.encoded())")
            let report = try await play.run("sre", "report", "starvation")
            #expect(report.output.contains("acme    test:model"), "\(report.output)\(report.errors)")

            // Customer success gives more than one person may give alone.
            let asked = try await play.run(
                "success", "override", "set", "--tenant", "acme", "--pool", House.pool, "--tier", "critical",
                "--reason", "renewal call", "--expires-in", "5s")
            #expect(asked.output.contains("from standard to critical are 2 tiers"), "\(asked.output)\(asked.errors)")
            let id = try #require(asked.output.split(separator: " ").dropFirst().first.map(String.init))
            let own = try await play.run("success", "approvals", "approve", id, "--revision", "1", "--reason", "please")
            #expect(own.code == 1 && own.errors.contains("sre"), "\(own.output)\(own.errors)")
            let before = try await play.allocations()
            #expect(before["pools"]?[House.pool]?["tenants"]?["acme"]?["tier"]?.string == Self.standing)

            // An SRE agrees; a snapshot later acme has it, and then it ends by itself.
            let approved = try await play.run(
                "sre", "approvals", "approve", id, "--revision", "1", "--reason", "agreed")
            #expect(approved.code == 0, "\(approved.errors)")
            let raised = try await play.allocations { $0 == "critical" }
            #expect(raised["pools"]?[House.pool]?["tenants"]?["acme"]?["tier"]?.string == "critical")
            #expect(try #require(raised["generation"]?.number) > (try #require(before["generation"]?.number)))
            let ended = try await play.allocations { $0 == Self.standing }
            #expect(ended["pools"]?[House.pool]?["tenants"]?["acme"]?["tier"]?.string == Self.standing)
            #expect(try await play.run("sre", "override", "list").output.contains("critical") == false)

            // The log tells who did what, in order, and was not written anew.
            let log = try await play.run("sre", "audit", "--json")
            let acts = try JSONNode.parse(Array(log.output.utf8))["entries"]?.array ?? []
            let told = acts.map { "\($0["author"]?.string ?? "") \($0["action"]?.string ?? "")" }
            #expect(
                told.filter { $0.contains("override") || $0.contains("approval") } == [
                    "success override.ask", "success override.set", "sre approval.approve",
                ], "\(told)")
            let head = try #require(acts.last)
            let noted = "\(Int(head["sequence"]?.number ?? 0)) \(head["hash"]?.string ?? "")"
            let verified = try await HeadroomProgram.run(
                "audit", "verify", "--head", noted, "--database", house.database)
            #expect(verified.code == 0, "\(verified.output)\(verified.errors)")

            // Nor was it before: the webhook was told how it ended when the service started.
            let outside = try #require(play.auditHead(at: receiver))
            #expect(outside != noted)
            let earlier = try await HeadroomProgram.run(
                "audit", "verify", "--head", outside, "--database", house.database)
            #expect(earlier.code == 0, "\(earlier.output)\(earlier.errors)")

            // Acme reads its own hour, with its own token: nobody else is in it.
            let reply = try await play.poll(
                "/v1/explain?tenant=acme&pool=\(House.pool)&from=\(began.milliseconds - 60_000)", as: "acme"
            ) { $0.json["for_tenant"]?.array?.contains { $0.string?.contains("was approved") == true } == true }
            let text = (reply.json["for_tenant"]?.array ?? []).compactMap(\.string).joined(separator: "\n")
            #expect(text.contains("a change of your share was approved"), "\(reply.text)")
            #expect(
                text.contains("you asked test:model for ") && text.contains("The longest wait was 30 s."),
                "\(text)")
            for name in ["beta", "success", "sre", "renewal"] { #expect(!text.contains(name), "\(text)") }
            #expect(!reply.text.contains("beta"), "\(reply.text)")
            let others = try await play.client.get(
                "/v1/explain?tenant=beta&pool=\(House.pool)&from=\(began.milliseconds)",
                headers: [cast.credential("acme")])
            #expect(others.status == 403)
        }
    }
}

/// Everybody's token.
private struct Cast {
    private var secrets: [String: String] = [:]

    init(_ house: House) async throws {
        for (name, role, scope) in [
            ("gateway", "gateway", ["--gateways", "gw-1"]), ("success", "success", []), ("sre", "sre", []),
            ("acme", "viewer", ["--tenants", "acme"]),
        ] {
            let made = try await HeadroomProgram.run(
                ["token", "create", "--name", name, "--role", role, "--database", house.database] + scope)
            #expect(made.code == 0, "\(made.errors)")
            secrets[name] = made.output.filter { !$0.isNewline }
        }
    }

    func secret(_ name: String) -> String { secrets[name] ?? "" }
    func credential(_ name: String) -> String { "Authorization: Bearer \(secret(name))" }
}

/// A service under way, with telemetry that goes on while somebody waits for something.
private struct Play {
    let service: RunningService
    let cast: Cast
    var client: ServiceClient { service.client }

    func run(_ name: String, _ words: String...) async throws -> HeadroomProgram.Outcome {
        try await HeadroomProgram.run(
            words + ["--url", "http://127.0.0.1:\(client.port)"], environment: ["HEADROOM_TOKEN": cast.secret(name)])
    }

    /// Asks until `isTrue`, and reports telemetry before each time.
    func poll(
        _ target: String, as name: String, until isTrue: @Sendable (ServiceClient.Reply) -> Bool
    ) async throws -> ServiceClient.Reply {
        try await client.poll(target, headers: [cast.credential(name)]) { _ in
            let names = #""gateway":"gw-1","pool":"\#(House.pool)""#
            let lines = [
                #"{"type":"call",\#(names),"tenant":"beta","criticality":"batch","outcome":"ok","input_tokens":20000,"latency_ms":800}"#,
                #"{"type":"queue",\#(names),"tenant":"acme","criticality":"batch","depth":500,"tokens":500000,"oldest_age_ms":30000}"#,
            ]
            let reply = try await client.post(lines, headers: [cast.credential("gateway")])
            #expect(reply.status == 200, "\(reply.text)")
        } until: {
            isTrue($0)
        }
    }

    /// What the gateway is given, once acme's tier is as asked.
    func allocations(_ isRight: @Sendable (String) -> Bool = { _ in true }) async throws -> JSONNode {
        try await poll("/v1/allocations?gateway=gw-1", as: "gateway") { reply in
            reply.json["pools"]?[House.pool]?["tenants"]?["acme"]?["tier"]?.string.map(isRight) ?? false
        }.json
    }

    func auditHead(at receiver: WebhookReceiver) -> String? {
        receiver.received.compactMap { try? JSONNode.parse($0.body) }
            .first { $0["event"]?.string == "audit_head" }?["head"]?.string
    }

    func firstMessage(to receiver: WebhookReceiver, of kind: String) async throws -> JSONNode? {
        @Sendable func first() -> JSONNode? {
            receiver.received.compactMap { try? JSONNode.parse($0.body) }.first { $0["alert"]?["kind"]?.string == kind }
        }
        _ = try await poll("/healthz", as: "sre") { _ in first() != nil }
        return first()
    }
}
