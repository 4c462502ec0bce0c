import HeadroomHTTP
import Testing

/// Without tokens everybody on this machine may do everything; web pages and other machines may not.
@Suite struct OpenModeTests {
    private static let override =
        #"{"tenant":"acme","pool":null,"tier":"premium","reason":"renewal","expires_in_seconds":60}"#

    @Test func `only a loopback name is served, whatever the call`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let cases: [(host: String, isServed: Bool)] = [
                ("127.0.0.1", true), ("127.0.0.1:8420", true), ("127.8.9.10", true), ("localhost:8420", true),
                ("LocalHost.", true), ("headroom.localhost", true), ("[::1]:8420", true), ("evil.example", false),
                ("127.0.0.1.evil.example", false), ("127.evil.example.x", false), ("localhost.evil.example", false),
                ("notlocalhost", false), ("192.168.0.1", false), ("[::2]", false), ("127.0.0.999", false),
                ("127.0.0.1:evil", false), ("", false),
            ]
            for (host, isServed) in cases {
                for target in ["/v1/allocations", "/metrics", "/healthz"] {
                    let reply = try await client.get(target, headers: ["Host: \(host)"])
                    #expect(reply.status == (isServed ? 200 : 403), "\(host) \(target): \(reply.text)")
                    if !isServed {
                        let detail = reply.json["detail"]?.string ?? ""
                        #expect(detail.contains("no loopback name") && detail.contains("headroom token create"))
                    }
                }
            }
        }
    }

    @Test func `another origin's page cannot act, on a new connection or an old one`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let json = ["Content-Type: application/json", "Host: localhost:8420"]
            let cases: [(header: String, isServed: Bool, words: String)] = [
                ("Origin: http://localhost:8420", true, ""), ("Sec-Fetch-Site: same-origin", true, ""),
                ("Sec-Fetch-Site: none", true, ""), ("Origin: https://evil.example", false, "another origin"),
                ("Origin: http://localhost:3000", false, "another origin"), ("Origin: null", false, "another origin"),
                ("Sec-Fetch-Site: cross-site", false, "another site"),
                ("Sec-Fetch-Site: same-site", false, "another site"),
                ("X-Forwarded-For: 203.0.113.9", false, "a proxy"), ("X-Forwarded-Host: example", false, "a proxy"),
                ("X-Forwarded-Proto: https", false, "a proxy"), ("Forwarded: for=203.0.113.9", false, "a proxy"),
                ("X-Real-IP: 203.0.113.9", false, "a proxy"), ("Via: 1.1 proxy", false, "a proxy"),
            ]
            for (header, isServed, words) in cases {
                let reply = try await client.call(
                    "POST", "/v1/overrides", headers: json + [header], body: Array(Self.override.utf8))
                #expect(reply.status == (isServed ? 201 : 403), "\(header): \(reply.text)")
                #expect(words.isEmpty || reply.text.contains(words), "\(header): \(reply.text)")
            }
        }
    }

    @Test func `with tokens the token alone decides`() async throws {
        try await ServiceFixture.run(tokens: [.sample("viewer", .viewer)]) { fixture in
            fixture.publish(7)
            let reply = try await fixture.client().get(
                "/v1/allocations",
                headers: [
                    "Authorization: Bearer viewer", "Host: headroom.example", "X-Forwarded-For: 203.0.113.9",
                    "Origin: https://dashboard.example",
                ])
            #expect(reply.status == 200)
        }
    }
}
