import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

/// What a running service sends to webhooks, and where it does not.
@Suite struct WebhookTests {
    private static let redirects = [
        "301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect",
    ]

    private func sink(_ name: String, _ url: String, _ more: String = "") -> String {
        #"{ name: "\#(name)", url: "\#(url)", audit_head: false, kinds: ["unknown_name", "provider_key"] \#(more) }"#
    }

    private func write(_ house: House, _ sinks: [String], closing: Double = 3_600) throws {
        try house.writeRules("alerts: { close_seconds: \(closing), sinks: [\(sinks.joined(separator: ", "))] }")
    }

    @Test func `a redirect is not followed, is shown, and its alert is sent once the url is right`() async throws {
        let house = try House()
        let elsewhere = try WebhookReceiver()
        let right = try WebhookReceiver()
        let location = "\r\nLocation: http://127.0.0.1:\(elsewhere.port)/latest/meta-data"
        let receivers = try Self.redirects.map { status in
            try WebhookReceiver(answering: Array(repeating: status + location, count: 50))
        }
        defer { for receiver in receivers + [elsewhere, right] { receiver.stop() } }
        try house.directory.write("a secret\n", to: "policies/hook.secret")
        func sinks(_ ports: [UInt16]) -> [String] {
            zip(Self.redirects, ports).map { status, port in
                sink("to-\(status.prefix(3))", "http://127.0.0.1:\(port)/hook", #", secret_file: "hook.secret""#)
            }
        }
        try write(house, sinks(receivers.map(\.port)))
        try await RunningService.run(house) { service in
            let client = service.client
            _ = try await client.post([
                ServingTests.call("a"), ServingTests.call("b").replacing("test:model", with: "test:modle"),
            ])
            let failing = try await client.poll("/v1/alerts?kind=sink_failing") { reply in
                Self.redirects.allSatisfy {
                    reply.text.contains("it answers \($0.prefix(3)); redirects are not followed")
                }
            }
            for status in Self.redirects {
                #expect(
                    failing.text.contains("it answers \(status.prefix(3)); redirects are not followed"),
                    "\(failing.text)")
            }
            #expect(elsewhere.received.isEmpty)
            #expect(receivers.allSatisfy { $0.received.allSatisfy { $0.path == "/hook" } })
            let metrics = try await client.get("/metrics").text
            #expect(!metrics.contains(/result="delivered"\} [1-9]/), "\(metrics)")

            try write(house, sinks(Self.redirects.map { _ in right.port }))
            let all = try await client.poll("/metrics") { $0.text.matches(of: /result="delivered"\} 1/).count == 5 }
            #expect(all.text.matches(of: /result="delivered"\} 1/).count == 5, "\(service.errors)")
        }
        let bodies = right.received.compactMap { try? JSONNode.parse($0.body) }
        #expect(bodies.map { $0["event"]?.string } == Array(repeating: "opened", count: 5))
        #expect(elsewhere.received.isEmpty)
    }

    @Test func `what was open at the end and never sent is sent after the start, and nothing is sent twice`()
        async throws
    {
        let house = try House()
        let receiver = try WebhookReceiver()
        defer { receiver.stop() }
        func events() -> [String] {
            receiver.received.compactMap { try? JSONNode.parse($0.body) }.map { body in
                "\(body["event"]?.string ?? "") \(body["alert"]?["kind"]?.string ?? "")"
            }
        }
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        do {
            let database = try Database(
                path: house.database, use: .command,
                coding: SnapshotStore.Coding(
                    encode: { _ in [] }, decode: { _ in throw StorageError(code: .corrupt, message: "none is stored") }),
                time: TimeSource { now })
            let members = [Alert.Member(since: now, severity: .critical, sentence: "The key is refused.")]
            _ = try await database.alerts.save([
                Alert(
                    key: AlertKey(.providerKey, pool: PoolID(unchecked: House.pool)), openedAt: now, updatedAt: now,
                    members: members, memberCount: 1)
            ])
        }
        let url = "http://127.0.0.1:\(receiver.port)/hook"
        func delivered(_ service: RunningService, _ count: Int) async throws {
            let name = #"headroom_alert_notifications_total{sink="ops",result="delivered"} \#(count)"#
            let reply = try await service.client.poll("/metrics") { $0.text.contains(name + "\n") }
            #expect(reply.text.contains(name + "\n"), "\(service.errors)")
        }
        try write(house, [sink("ops", "http://127.0.0.1:1/hook")])
        try await RunningService.run(house) { service in
            _ = try await service.client.poll("/metrics") {
                $0.text.contains(/sink="ops",result="failed"\} [1-9]/)
            }
            #expect(await service.stop(by: SIGTERM) == 0)
        }
        try write(house, [sink("ops", url)])
        try await RunningService.run(house) { try await delivered($0, 1) }
        #expect(events() == ["opened provider_key"])
        try await RunningService.run(house) { service in
            // The older one would be sent first.
            _ = try await service.client.post([
                ServingTests.call("a"), ServingTests.call("b").replacing("test:model", with: "test:modle"),
            ])
            try await delivered(service, 1)
        }
        #expect(events() == ["opened provider_key", "opened unknown_name"])
        try write(house, [sink("ops", url)], closing: 0.2)
        try await RunningService.run(house) { try await delivered($0, 2) }
        #expect(
            events() == ["opened provider_key", "opened unknown_name", "closed provider_key", "closed unknown_name"])
    }

    @Test func `over TLS the receiver has to prove its name`() async throws {
        let (proven, unproven) = (try House(), try House())
        let certificate = TestCertificate()
        try certificate.write(to: proven)
        try TestCertificate().write(to: unproven)
        try await RunningService.run(proven, TestCertificate.arguments(proven)) { first in
            try await RunningService.run(unproven, TestCertificate.arguments(unproven)) { second in
                // A Headroom knows no such call: its answer shows that the request has come through.
                let environment = ["SSL_CERT_FILE": proven.directory.file("certificate.pem")]
                for (receiver, words) in [
                    (first, "it answers 404; 0 wait"), (second, "The certificate is NOT trusted"),
                ] {
                    let house = try House()
                    try write(house, [sink("ops", "https://127.0.0.1:\(receiver.client.port)/hook")])
                    try await RunningService.run(house, [], environment: environment) { service in
                        _ = try await service.client.post([
                            ServingTests.call("a"), ServingTests.call("b").replacing("test:model", with: "test:modle"),
                        ])
                        let failing = try await service.client.poll("/v1/alerts?kind=sink_failing") {
                            $0.text.contains(words)
                        }
                        #expect(failing.text.contains(words), "\(failing.text)")
                    }
                }
            }
        }
    }
}
