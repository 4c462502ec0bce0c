import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct AccessTests {
    private static let tokens = [
        AccessToken.sample("gw", .gateway, gateways: ["gw-1"]), .sample("viewer", .viewer),
        .sample("success", .success),
        .sample("sre", .sre), .sample("admin", .admin),
        .sample("old", .viewer, expiresAt: Timestamp(milliseconds: 1_792_999_999_999)),
        .sample("short", .viewer, expiresAt: Timestamp(milliseconds: 1_793_000_010_000)),
    ]

    @Test func `each role gets what is its own`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, gateways: ["gw-1", "gw-2"])
            let client = try fixture.client()
            let cases: [(authorization: String?, target: String, status: Int, words: String)] = [
                (nil, "", 401, "this call takes a token"), ("Basic eDp5", "", 401, "holds no bearer token"),
                ("Bearer nobody", "", 401, "the token is not known"), ("Bearer old", "", 401, "has ended"),
                ("Bearer viewer", "", 200, ""), ("bearer success", "", 200, ""), ("Bearer sre", "", 200, ""),
                ("Bearer admin", "", 200, ""), ("Bearer gw", "", 403, "add gateway=NAME"),
                ("Bearer gw", "?gateway=gw-1", 200, ""),
                ("Bearer gw", "?gateway=gw-2", 403, "speaks for gw-1, not for gw-2"),
                ("Bearer admin", "?gateway=gw-1", 403, "only one of role gateway may poll as gw-1"),
            ]
            for (authorization, target, status, words) in cases {
                let reply = try await client.get(
                    "/v1/allocations\(target)", headers: authorization.map { ["Authorization: \($0)"] } ?? [])
                #expect(reply.status == status, "\(authorization ?? "none") \(target): \(reply.text)")
                #expect(words.isEmpty || reply.text.contains(words), "\(reply.text)")
                #expect((reply.headers["www-authenticate"] != nil) == (status == 401))
            }
            #expect(fixture.board.gateways(since: fixture.clock.now).map(\.gateway) == ["gw-1"])
        }
    }

    @Test func `a token that ends or is revoked stops an open connection's next request`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            func status(_ token: String) async throws -> Int {
                try await client.get("/v1/allocations", headers: ["Authorization: Bearer \(token)"]).status
            }
            #expect(try await status("short") == 200)
            #expect(try await status("short") == 200)
            fixture.clock.advance(seconds: 10)
            #expect(try await status("short") == 401)
            #expect(try await status("viewer") == 200)
            fixture.access.replace([])
            #expect(try await status("viewer") == 401, "without the last token the house stays shut")
            #expect(!fixture.access.isOpen)
            fixture.access.replace(Self.tokens)
            #expect(try await status("viewer") == 200)
        }
    }

    @Test func `without any token everybody may do everything`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            #expect(fixture.access.isOpen)
            #expect(try await client.get("/v1/allocations").status == 200)
            #expect(try await client.get("/v1/allocations?gateway=gw-1").status == 200)
        }
    }

    @Test func `a setting asks for a viewer where a machine looks`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens, viewersOnly: true) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/metrics").status == 401)
            #expect(try await client.get("/metrics", headers: ["Authorization: Bearer viewer"]).status == 200)
        }
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/metrics").status == 200)
        }
    }
}
