import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct AccessTests {
    private static let tokens = [
        AccessToken.sample("gw", .gateway, gateways: ["gw-1"]), .sample("viewer", .viewer),
        .sample("success", .success),
        .sample("sre", .sre), .sample("admin", .admin),
        .sample("old", .viewer, expires: Timestamp(milliseconds: 1_792_999_999_999)),
        .sample("short", .viewer, expires: Timestamp(milliseconds: 1_793_000_010_000)),
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
                ("Bearer gw", "?gateway=gw-1&applied=1.1", 200, ""),
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

    @Test func `metrics name tenants, so they ask for a viewer once there are tokens`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/metrics").status == 200, "there are no tokens")
        }
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/metrics").status == 401)
            #expect(try await client.get("/metrics", headers: ["Authorization: Bearer gw"]).status == 403)
            #expect(try await client.get("/metrics", headers: ["Authorization: Bearer viewer"]).status == 200)
            for target in ["/healthz", "/openapi.json"] { #expect(try await client.get(target).status == 200) }
            #expect(try await client.get("/readyz").status == 503)
        }
        try await ServiceFixture.run(tokens: Self.tokens, openMetrics: true) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/metrics").status == 200)
        }
    }

    @Test func `a setting asks for a viewer where a machine looks`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens, viewersOnly: true) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/healthz").status == 401)
            #expect(try await client.get("/healthz", headers: ["Authorization: Bearer viewer"]).status == 200)
        }
    }

    @Test func `the parked poll of a revoked token ends, and the others wait on`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, gateways: ["gw-1"], lease: 120)
            let revoked = try fixture.client()
            let kept = try fixture.client()
            let poll = "?wait=60&since=\(Publication.epoch).7"
            await revoked.send("GET", "/v1/allocations\(poll)", headers: ["Authorization: Bearer viewer"])
            await kept.send("GET", "/v1/allocations\(poll)&gateway=gw-1", headers: ["Authorization: Bearer gw"])
            #expect(await eventually { fixture.board.waitingCount == 2 })
            fixture.access.replace(Self.tokens.filter { $0.name != "viewer" })
            #expect(try await revoked.receive().status == 401)
            #expect(await eventually { fixture.board.waitingCount == 1 })
            #expect(kept.isSilent)
            fixture.publish(8, gateways: ["gw-1"], lease: 120)
            #expect(try await kept.receive().headers["headroom-generation"] == "8")
        }
    }

    @Test func `the parked poll of a token that ends is over when the token is`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, lease: 120)
            let client = try fixture.client()
            // Half a second before the end: so long the poll may wait, of the sixty seconds that it asks for.
            fixture.clock.advance(seconds: 9.5)
            await client.send(
                "GET", "/v1/allocations?wait=60&since=\(Publication.epoch).7", headers: ["Authorization: Bearer short"])
            #expect(await eventually { fixture.board.waitingCount == 1 })
            fixture.clock.advance(seconds: 1)
            #expect(try await client.receive().status == 401)
        }
    }

    @Test func `the same tokens again wake nobody`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7, lease: 120)
            let client = try fixture.client()
            let viewer = ["Authorization: Bearer viewer"]
            await client.send("GET", "/v1/allocations?wait=60&since=\(Publication.epoch).7", headers: viewer)
            #expect(await eventually { fixture.board.waitingCount == 1 })
            var used = Self.tokens
            for index in used.indices { used[index].used = fixture.clock.now }
            fixture.access.replace(used)
            let other = try fixture.client()
            #expect(try await other.get("/healthz").status == 200)
            #expect(client.isSilent && fixture.board.waitingCount == 1)
        }
    }

    @Test func `a token's star speaks for worker processes`() async throws {
        let token = AccessToken.sample("workers", .gateway, gateways: try GatewayNames(parsing: ["litellm.*"]))
        try await ServiceFixture.run(tokens: [token]) { fixture in
            fixture.publish(7, gateways: ["litellm.1"])
            let client = try fixture.client()
            let bearer = ["Authorization: Bearer workers"]
            #expect(try await client.get("/v1/allocations?gateway=litellm.1", headers: bearer).status == 200)
            let refused = try await client.get("/v1/allocations?gateway=litellm", headers: bearer)
            #expect(refused.status == 403)
            #expect(refused.text.contains("speaks for litellm.*, not for litellm"), "\(refused.text)")
        }
    }

    @Test func `unknown tokens are counted, and a known one is served beside them`() async throws {
        try await ServiceFixture.run(tokens: Self.tokens) { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            for _ in 0..<Int(FailedSignIns.freeFailures) {
                #expect(try await client.get("/v1/allocations", headers: ["Authorization: Bearer x"]).status == 401)
            }
            let slowed = try fixture.client()
            await slowed.send("GET", "/v1/allocations", headers: ["Authorization: Bearer x"])
            let viewer = ["Authorization: Bearer viewer"]
            #expect(try await client.get("/v1/allocations", headers: viewer).status == 200)
            #expect(try await slowed.receive().status == 401)
            let text = try await client.get("/metrics", headers: viewer).text
            #expect(text.contains("headroom_failed_sign_ins_total 11\n"), "\(text)")
            #expect(text.contains("headroom_slowed_addresses 1\n"))
        }
    }
}

@Suite struct FailedSignInsTests {
    private let address = ClientAddress(ipv4: 1)

    @Test func `the first failures cost nothing, each later one takes longer, up to a bound`() {
        let table = FailedSignIns()
        for _ in 0..<10 { #expect(table.note(address, at: 0) == .now) }
        var delays: [Int64] = []
        for _ in 0..<100 {
            if case .after(let milliseconds) = table.note(address, at: 0) { delays.append(milliseconds) }
            table.finish(address)
        }
        #expect(delays.count == 100)
        #expect(delays.prefix(3) == [100, 200, 300])
        #expect(delays.last == 5000)
        #expect(table.note(ClientAddress(ipv4: 2), at: 0) == .now, "another address")
    }

    @Test func `what waits at once is bounded`() {
        let table = FailedSignIns()
        let answers = (0..<40).map { _ in table.note(address, at: 0) }
        #expect(answers.count { $0 == .refused } == 40 - 10 - FailedSignIns.maxWaiting)
        table.finish(address)
        #expect(table.note(address, at: 0) != .refused)
    }

    @Test func `an address that keeps quiet is forgiven`() {
        let table = FailedSignIns()
        for _ in 0..<20 { _ = table.note(address, at: 0) }
        #expect(table.slowedCount(at: 0) == 1)
        #expect(table.slowedCount(at: 120_000) == 0)
        #expect(table.note(address, at: 120_000) == .now)
    }

    @Test func `the table is bounded, and addresses beyond it share an entry`() {
        let table = FailedSignIns()
        for number in 0..<UInt32(FailedSignIns.maxAddresses + 10) {
            #expect(table.note(ClientAddress(ipv4: number), at: 0) == .now)
        }
        #expect(table.note(ClientAddress(ipv4: 99_999), at: 0) != .now, "ten others were beyond the table")
        #expect(table.note(ClientAddress(ipv4: 99_999), at: 600_000) == .now, "the quiet ones have gone")
    }
}
