import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct DrawRouteTests {
    private static let json = ["Content-Type: application/json"]
    private static let applied = "applied=\(Publication.epoch).7"

    /// With two calls of one second's worth that wait.
    private static func draw(
        _ sequence: Int64, gateway: GatewayID = "gw-1", member: String? = nil, boot: String = "one",
        pool: PoolID = "openai:gpt-4o", epoch: Int64 = Publication.epoch, used: Double = 0, tenant: TenantID = "acme",
        calls: Int = 2
    ) -> DrawRequest {
        let head = DrawRequest.Head(estimate: Work(requests: 1, tokens: 1000))
        return DrawRequest(
            gateway: gateway, member: member, boot: boot, sequence: sequence, pool: pool, epoch: epoch,
            totals: DrawRequest.Totals(grantedUsed: Work(requests: used, tokens: used * 1000)),
            waiting: [DrawRequest.Queue(tenant: tenant, heads: Array(repeating: head, count: calls))])
    }

    /// A gateway that has polled and acknowledged.
    private static func join(
        _ fixture: ServiceFixture, _ client: RawClient, boot: String = "one", headers: [String] = []
    ) async throws {
        fixture.publish(7, gateways: ["gw-1"])
        let reply = try await client.get("/v1/allocations?gateway=gw-1&\(applied)&boot=\(boot)", headers: headers)
        #expect(reply.status == 200, "\(reply.text)")
    }

    private static func send(
        _ draw: DrawRequest, _ client: RawClient, headers: [String] = []
    ) async throws -> RawClient.Reply {
        try await client.call("POST", "/v1/draw", headers: json + headers, body: draw.encoded())
    }

    @Test func `a draw is granted what the float covers, and a repeat gets the first answer`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            try await Self.join(fixture, client)
            fixture.clock.advance(seconds: 1)
            let first = try await Self.send(Self.draw(1), client)
            let answer = try DrawAnswer.decode(first.body)
            #expect(answer.sequence == 1)
            #expect(answer.granted == [DrawAnswer.Granted(tenant: "acme", calls: 2)])
            #expect(answer.grantedTotal == Work(requests: 2, tokens: 2000))
            #expect(answer.serviceClocks.map(\.tenant) == ["acme"])
            let again = try await Self.send(Self.draw(1), client)
            #expect(again.body == first.body)
            #expect(fixture.float.counts.granted == 2 && fixture.float.counts.repeated == 1)
            let text = try await client.get("/metrics").text
            #expect(text.contains(#"headroom_draws_total{pool="openai:gpt-4o",result="granted"} 2"#))
        }
    }

    /// The clock stands, so that nothing flows in: there is the float's second, and one call more.
    @Test func `draws of many connections at once, half of them repeated, are granted no more than there is`()
        async throws
    {
        let gateways = (0..<8).map { GatewayID(unchecked: "gw-\($0)") }
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: gateways)
            fixture.clock.advance(seconds: 1)
            let granted = try await withThrowingTaskGroup(of: Double.self) { group in
                for (index, gateway) in gateways.enumerated() {
                    group.addTask {
                        let client = try fixture.client()
                        let poll = "/v1/allocations?gateway=\(gateway)&\(Self.applied)&boot=one"
                        #expect(try await client.get(poll).status == 200)
                        var used = 0.0
                        for sequence in 1...20 as ClosedRange<Int64> {
                            // All that was granted was used: nothing flows back.
                            let draw = Self.draw(sequence, gateway: gateway, used: used, calls: 1 + index % 3)
                            let first = try DrawAnswer.decode(try await Self.send(draw, client).body)
                            if sequence.isMultiple(of: 2) {
                                let again = try DrawAnswer.decode(try await Self.send(draw, client).body)
                                #expect(again == first)
                            }
                            used += first.granted.reduce(0) { $0 + Double($1.calls) }
                        }
                        return used
                    }
                }
                return try await group.reduce(0, +)
            }
            // Half of ten calls a second.
            #expect(granted >= 5 && granted <= 6, "\(granted)")
            #expect(fixture.float.counts.grantedWork == Work(requests: granted, tokens: granted * 1000))
            #expect(fixture.float.counts.repeated == 80)
        }
    }

    @Test func `a draw that cannot be answered says what would be right`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let unknown = try await Self.send(Self.draw(1), client)
            #expect(unknown.status == 409 && unknown.text.contains("gw-1 has no part of any pool"))
            try await Self.join(fixture, client)
            let cases: [(DrawRequest, Int, String)] = [
                (Self.draw(1, epoch: 5), 409, "it is \(Publication.epoch) now"),
                (Self.draw(1, pool: "nowhere"), 404, "no pool nowhere is published"),
                (Self.draw(1, boot: "two"), 409, "another process calls as gw-1"),
                (Self.draw(1, member: "m"), 409, "gw-1 has no part of any pool"),
                (Self.draw(4), 200, "wait_ms"),
                (Self.draw(3), 409, "draw 3 comes behind a later one"),
            ]
            for (draw, status, words) in cases {
                let reply = try await Self.send(draw, client)
                #expect(reply.status == status && reply.text.contains(words), "\(reply.text)")
            }
            let bodies: [(String, String)] = [
                ("{", "expected"), ("[]", "expected an object"),
                (#"{"gateway":"gw-1","boot":"one","sequence":9,"pool":"p"}"#, "epoch is missing"),
                (#"{"gateway":"gw 1"}"#, #"gateway: \"gw 1\" is no name"#),
                (#"{"waiting":{"acme":[{"tokens":-1}]}}"#, "waiting.acme: a number from 0"),
                (#"{"waiting":{"acme":[{"criticality":"urgent"}]}}"#, "one of interactive, near_real_time, batch"),
                (#"{"totals":{"spent":{"acme":{"tokens":"x"}}}}"#, "totals.spent.acme: expected a number"),
            ]
            for (body, words) in bodies {
                let reply = try await client.call("POST", "/v1/draw", headers: Self.json, body: Array(body.utf8))
                #expect(reply.status == 400 && reply.text.contains(words), "\(body): \(reply.text)")
            }
            let large = Array(repeating: UInt8(ascii: " "), count: 1 << 20 + 1)
            #expect(try await client.call("POST", "/v1/draw", headers: Self.json, body: large).status == 413)
        }
    }

    @Test func `a token draws for its own gateways, pools and tenants only`() async throws {
        let tokens = [
            AccessToken.sample(
                "own", .gateway, gateways: ["gw-1"], pools: ["openai:gpt-4o", "p"], tenants: ["acme"]),
            AccessToken.sample("other", .gateway, gateways: ["gw-2"]), AccessToken.sample("eye", .viewer),
        ]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            let client = try fixture.client()
            let own = ["Authorization: Bearer own"]
            try await Self.join(fixture, client, headers: own)
            let cases: [(DrawRequest, String, Int, String)] = [
                (Self.draw(1), "own", 200, "wait_ms"),
                (Self.draw(2), "other", 403, "does not speak for gw-1"),
                (Self.draw(2), "eye", 403, "this call takes gateway"),
                (Self.draw(2, pool: "azure:gpt-4o"), "own", 403, "not for the pool azure:gpt-4o"),
                (Self.draw(2, tenant: "globex"), "own", 403, "not for the tenant globex"),
            ]
            for (draw, token, status, words) in cases {
                let reply = try await Self.send(draw, client, headers: ["Authorization: Bearer \(token)"])
                #expect(reply.status == status && reply.text.contains(words), "\(reply.text)")
            }
        }
    }

    @Test func `a process that starts anew draws once the old one's lease is over or it has said goodbye`() async throws
    {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            try await Self.join(fixture, client)
            #expect(try await Self.send(Self.draw(1), client).status == 200)
            // A draw shows that the old one lives, as a poll would.
            fixture.clock.advance(seconds: 10)
            #expect(try await Self.send(Self.draw(2), client).status == 200)
            fixture.clock.advance(seconds: 10)
            let poll = "/v1/allocations?gateway=gw-1&\(Self.applied)&boot=two"
            let refused = try await client.get(poll)
            #expect(refused.status == 409 && refused.headers["retry-after"] == "5")
            fixture.clock.advance(seconds: 6)
            #expect(try await client.get(poll).status == 200)
            #expect(try await Self.send(Self.draw(1, boot: "two"), client).status == 200)
            #expect(try await Self.send(Self.draw(3), client).status == 409)

            #expect(try await client.call("DELETE", "/v1/gateways/gw-1").status == 204)
            #expect(try await Self.send(Self.draw(2, boot: "two"), client).text.contains("has no part of any pool"))
            fixture.publish(8, gateways: ["gw-1"])
            #expect(
                try await client.get("/v1/allocations?gateway=gw-1&\(Self.applied)&boot=three").status == 200)
            #expect(try await Self.send(Self.draw(1, boot: "three"), client).status == 200)
        }
    }

    @Test func `telemetry of a second process under one name is refused, and nothing of it stored`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            try await Self.join(fixture, client)
            let line = #"{"type":"model","gateway":"gw-1","pool":"openai:gpt-4o","model":"m","version":"v"}"#
            func report(_ headers: [String]) async throws -> RawClient.Reply {
                try await client.call(
                    "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"] + headers,
                    body: Array(line.utf8))
            }
            #expect(try await report(["Headroom-Boot: one"]).status == 200)
            let refused = try await report(["Headroom-Boot: two"])
            #expect(refused.status == 409 && refused.text.contains("another process calls as gw-1"))
            // Members share counters, and each has a boot of its own.
            #expect(try await report(["Headroom-Boot: two", "Headroom-Member: m"]).status == 200)
            #expect(try await report([]).status == 200)
            #expect(try await report(["Headroom-Boot: no word"]).status == 400)
            #expect(fixture.sink.batches.count == 3)
        }
    }
}
