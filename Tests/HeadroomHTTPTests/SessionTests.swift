import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct SessionTests {
    private static let tokens = [
        AccessToken.sample("viewer", .viewer), .sample("sre", .sre), .sample("gw", .gateway, gateways: ["gw-1"]),
        .sample("narrow", .viewer, tenants: ["acme"]),
        .sample("short", .viewer, expires: Timestamp(milliseconds: 1_793_000_010_000)),
    ]
    private static let freeze = #"{"reason":"incident","expires_in_seconds":600}"#

    /// A browser with one connection.
    private struct Browser {
        let client: RawClient
        var cookie: String?

        init(_ fixture: ServiceFixture) throws { client = try fixture.client() }

        func call(
            _ method: String, _ target: String, _ body: String = "",
            headers: [String] = ["Headroom-Request: dashboard", "Sec-Fetch-Site: same-origin"]
        ) async throws -> RawClient.Reply {
            var headers = headers + (cookie.map { ["Cookie: theme=dark; headroom_session=\($0)"] } ?? [])
            if !body.isEmpty { headers.append("Content-Type: application/json") }
            return try await client.call(method, target, headers: headers, body: Array(body.utf8))
        }

        mutating func signIn(_ token: String) async throws -> RawClient.Reply {
            let reply = try await call("POST", "/v1/session", #"{"token":"\#(token)"}"#)
            let value = reply.headers["set-cookie"]?.split(separator: ";").first?.split(separator: "=").last
            cookie = value.map(String.init)
            return reply
        }
    }

    @Test func `a cookie of the same name that another host has set locks nobody out`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            var browser = try Browser(fixture)
            _ = try await browser.signIn("viewer")
            let good = try #require(browser.cookie)
            let foreign = String(repeating: "a", count: good.count)
            for cookies in [
                ["x", good], [good, "x"], [foreign, good], ["", foreign, foreign, good],
                Array(repeating: foreign, count: 20) + [good],
            ] {
                let header = cookies.map { "headroom_session=\($0)" }.joined(separator: "; ")
                let reply = try await browser.client.get("/v1/pools", headers: ["Cookie: \(header)"])
                #expect(reply.status == 200, "\(cookies.count): \(reply.text)")
            }
            let both = "headroom_session=\(foreign); headroom_session=\(good)"
            let out = try await browser.client.call(
                "DELETE", "/v1/session", headers: ["Cookie: \(both)", "Headroom-Request: dashboard"])
            #expect(out.status == 200)
            #expect(
                try await browser.client.get("/v1/pools", headers: ["Cookie: headroom_session=\(good)"]).status == 401)
        }
    }

    @Test func `under TLS the cookie has a name that no other host can set`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens, hasSecureCookies: true) { fixture in
            var browser = try Browser(fixture)
            let reply = try await browser.signIn("viewer")
            let cookie = try #require(reply.headers["set-cookie"])
            #expect(
                cookie.hasPrefix("__Host-headroom_session=")
                    && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
            let secret = try #require(browser.cookie)
            for (name, status) in [("__Host-headroom_session", 200), ("headroom_session", 401)] {
                let reply = try await browser.client.get("/v1/pools", headers: ["Cookie: \(name)=\(secret)"])
                #expect(reply.status == status, "\(name)")
            }
        }
    }

    @Test func `a browser signs in with a token of any role but gateway, and acts as the token`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            var browser = try Browser(fixture)
            #expect(try await browser.call("GET", "/v1/session").json["signed_in"]?.bool == false)
            #expect(try await browser.call("GET", "/v1/pools").status == 401)
            #expect(try await browser.signIn("gw").status == 403)
            #expect(try await browser.signIn("nobody").status == 401)

            let reply = try await browser.signIn("viewer")
            #expect(reply.status == 201 && reply.json["role"]?.string == "viewer", "\(reply.text)")
            let cookie = try #require(reply.headers["set-cookie"])
            #expect(cookie.contains("; HttpOnly") && cookie.contains("; SameSite=Strict") && !cookie.contains("viewer"))
            #expect(try await browser.call("GET", "/v1/pools").status == 200)
            #expect(try await browser.call("POST", "/v1/freeze", Self.freeze).status == 403, "a viewer steers nothing")

            #expect(try await browser.signIn("sre").status == 201)
            #expect(try await browser.call("POST", "/v1/freeze", Self.freeze).status == 201)
            #expect(fixture.desk.now.steering.freezes.map(\.authorship.author) == ["sre"])

            #expect(try await browser.signIn("narrow").json["tenants"]?.array?.map(\.string) == ["acme"])
            #expect(try await browser.call("GET", "/v1/explain?tenant=globex&pool=openai:gpt-4o").status == 403)
        }
    }

    @Test func `what a cookie gives access to is changed by the dashboard's own requests only`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            var browser = try Browser(fixture)
            _ = try await browser.signIn("sre")
            let others: [[String]] = [
                [], ["Sec-Fetch-Site: cross-site"], ["Headroom-Request: other"],
                ["Headroom-Request: dashboard", "Sec-Fetch-Site: same-site"],
            ]
            for headers in others {
                // On one connection, before and after a request that may.
                #expect(try await browser.call("POST", "/v1/freeze", Self.freeze, headers: headers).status == 403)
                #expect(try await browser.call("DELETE", "/v1/session", headers: headers).status == 403)
                #expect(try await browser.call("GET", "/v1/pools", headers: headers).status == 200)
                #expect(try await browser.call("POST", "/v1/freeze", Self.freeze).status == 201)
            }
            let other = try Browser(fixture)
            #expect(try await other.call("POST", "/v1/session", #"{"token":"sre"}"#, headers: []).status == 403)
            // A program that keeps cookies means its token.
            let reply = try await browser.call(
                "POST", "/v1/freeze", Self.freeze, headers: ["Authorization: Bearer viewer"])
            #expect(reply.status == 403 && reply.text.contains("viewer"))
        }
    }

    @Test func `a session ends with its sign-out, its token, or its twelve hours`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            var first = try Browser(fixture)
            _ = try await first.signIn("sre")
            var second = try Browser(fixture)
            second.cookie = first.cookie
            #expect(try await second.call("GET", "/v1/pools").status == 200)
            let out = try await first.call("DELETE", "/v1/session")
            #expect(out.status == 200 && out.headers["set-cookie"]?.contains("Max-Age=0") == true)
            #expect(try await second.call("GET", "/v1/pools").status == 401, "also where it was used before")

            _ = try await second.signIn("short")
            #expect(try await second.call("GET", "/v1/pools").status == 200)
            fixture.clock.advance(seconds: 10)
            #expect(try await second.call("GET", "/v1/pools").status == 401)

            _ = try await second.signIn("viewer")
            fixture.clock.advance(seconds: 12 * 3600 - 1)
            #expect(try await second.call("GET", "/v1/pools").status == 200)
            fixture.clock.advance(seconds: 1)
            #expect(try await second.call("GET", "/v1/pools").status == 401)

            _ = try await second.signIn("viewer")
            fixture.access.replace([.sample("sre", .sre)])
            #expect(try await second.call("GET", "/v1/pools").status == 401)
        }
    }

    @Test func `of one token the oldest session goes, and nobody else's`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            var other = try Browser(fixture)
            _ = try await other.signIn("viewer")
            var oldest = try Browser(fixture)
            _ = try await oldest.signIn("sre")
            var browser = try Browser(fixture)
            for _ in 0..<64 { #expect(try await browser.signIn("sre").status == 201) }
            #expect(try await oldest.call("GET", "/v1/pools").status == 401)
            #expect(try await browser.call("GET", "/v1/pools").status == 200)
            #expect(try await other.call("GET", "/v1/pools").status == 200)
        }
    }

    @Test func `without tokens everybody on this machine is signed in`() async throws {
        try await ServiceFixture.run { fixture in
            let browser = try Browser(fixture)
            let session = try await browser.call("GET", "/v1/session").json
            #expect(session["signed_in"]?.bool == true && session["open"]?.bool == true)
            #expect(session["name"]?.string == "local" && session["demo"]?.bool == false)
        }
    }

    @Test func `a trusted proxy's user acts as the token of that name, and only from its addresses`() async throws {
        let header = "X-Forwarded-User"
        let dashboard = ["Headroom-Request: dashboard", "Sec-Fetch-Site: same-origin"]
        let freeze = Array(Self.freeze.utf8)
        let trusting = ServerSettings.test {
            $0.trustedProxy = TrustedProxy(
                header: header, addresses: ["10.0.0.0/8", "127.0.0.1"].compactMap { AddressRange($0) })
        }
        try await ServiceFixture.run(tokens: Self.tokens, settings: trusting) { fixture in
            let client = try fixture.client()
            let cases: [(headers: [String], status: Int)] = [
                ([], 401), (["\(header): viewer"], 200), (["x-forwarded-user: sre"], 200), ([], 401),
                (["\(header): nobody"], 403), (["\(header): gw"], 403), (["\(header): "], 403),
                (["\(header): viewer", "\(header): sre"], 403),
                // Programs mean their token.
                (["\(header): nobody", "Authorization: Bearer viewer"], 200),
                (["\(header): sre", "Authorization: Bearer nobody"], 401),
            ]
            for (headers, status) in cases {
                let reply = try await client.get("/v1/pools", headers: headers)
                #expect(reply.status == status, "\(headers): \(reply.text)")
            }
            let seen = try await client.get("/v1/session", headers: ["\(header): sre"])
            #expect(seen.json["name"]?.string == "sre" && seen.json["signed_in"]?.bool == true, "\(seen.text)")
            // The browser sends the proxy's cookie whoever asks, so a change needs more.
            for (name, more, status) in [
                ("sre", [], 403), ("viewer", dashboard, 403), ("sre", dashboard, 201),
                ("sre", ["Headroom-Request: dashboard", "Sec-Fetch-Site: cross-site"], 403),
            ] as [(String, [String], Int)] {
                let reply = try await client.call(
                    "POST", "/v1/freeze", headers: ["\(header): \(name)", "Content-Type: application/json"] + more,
                    body: freeze)
                #expect(reply.status == status, "\(name) \(more): \(reply.text)")
            }
            #expect(fixture.desk.now.steering.freezes.map(\.authorship.author) == ["sre"])
            // On one connection, after the token has ended.
            #expect(try await client.get("/v1/pools", headers: ["\(header): short"]).status == 200)
            fixture.clock.advance(seconds: 10)
            #expect(try await client.get("/v1/pools", headers: ["\(header): short"]).status == 403)
        }
        let elsewhere = ServerSettings.test {
            $0.trustedProxy = TrustedProxy(header: header, addresses: ["10.0.0.0/8"].compactMap { AddressRange($0) })
        }
        for settings in [elsewhere, .test()] {
            try await ServiceFixture.run(tokens: Self.tokens, settings: settings) { fixture in
                let reply = try await fixture.client().get("/v1/pools", headers: ["\(header): sre"])
                #expect(reply.status == 401, "\(reply.text)")
            }
        }
    }
}
