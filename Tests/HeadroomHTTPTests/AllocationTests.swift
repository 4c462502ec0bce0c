import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct AllocationTests {
    private static let version = "\(Publication.epoch)"

    @Test func `before the first generation everybody is asked to come again`() async throws {
        try await ServiceFixture.run { fixture in
            let reply = try await fixture.client().get("/v1/allocations")
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "1")
            #expect(reply.text.contains("nothing has been published yet"))
        }
    }

    @Test func `a reader gets the whole snapshot with its headers`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let reply = try await fixture.client().get("/v1/allocations")
            #expect(reply.status == 200)
            #expect(reply.headers["content-type"] == "application/json")
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(reply.headers["headroom-epoch"] == Self.version)
            #expect(reply.headers["headroom-generation"] == "7")
            #expect(reply.headers["headroom-lease-seconds"] == "15")
            #expect(reply.headers["etag"]?.hasPrefix("\"\(Self.version).7.") == true)
            #expect(try Self.snapshot(reply) == Publication.sample(7).whole)
            #expect(fixture.board.gateways(since: fixture.clock.now.adding(seconds: -60)).isEmpty)
        }
    }

    @Test func `a gateway gets its own part under a tag of its own`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1", "gw-2"])
            let client = try fixture.client()
            let whole = try await client.get("/v1/allocations")
            let first = try await client.get("/v1/allocations?gateway=gw-1&applied=\(Self.version).6")
            let second = try await client.get("/v1/allocations?gateway=gw-2&applied=\(Self.version).6")
            #expect(try Self.snapshot(first).pools.map(\.budget) == [Rates(rpm: 3.5), Rates(rpm: 50)])
            #expect(Set([whole, first, second].map { $0.headers["etag"] }).count == 3)
        }
    }

    @Test func `the current tag is answered with 304`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let full = try await client.get("/v1/allocations")
            let etag = full.headers["etag"] ?? ""
            for header in [etag, "W/\(etag)", "\"other\", \(etag)", "*"] {
                let reply = try await client.get("/v1/allocations", headers: ["If-None-Match: \(header)"])
                #expect(reply.status == 304, "\(header)")
                #expect(reply.headers["etag"] == etag)
            }
            let reply = try await client.get("/v1/allocations", headers: ["If-None-Match: \"1.2.3\""])
            #expect(reply.status == 200)
        }
    }

    @Test func `since gives what changed, nothing, or all when it is not known`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            fixture.publish(8)
            let client = try fixture.client()
            let delta = try await client.get("/v1/allocations?since=\(Self.version).7")
            let old = Publication.sample(7).whole
            let new = Publication.sample(8).whole
            #expect(try SnapshotDecoder.decode(delta.body) == .delta(SnapshotDelta(from: old, to: new)))
            let empty = try await client.get("/v1/allocations?since=\(Self.version).8")
            #expect(empty.status == 200)
            #expect(try SnapshotDecoder.decode(empty.body) == .delta(SnapshotDelta(from: new, to: new)))
            for unknown in ["\(Self.version).6", "1.7", "\(Self.version).99"] {
                let reply = try await client.get("/v1/allocations?since=\(unknown)")
                #expect(try Self.snapshot(reply) == new, "\(unknown)")
            }
            let tag = try await client.get("/v1/allocations").headers["etag"] ?? ""
            let both = try await client.get(
                "/v1/allocations?since=\(Self.version).7", headers: ["If-None-Match: \(tag)"])
            #expect(both.status == 304, "If-None-Match wins over since")
        }
    }

    @Test func `only so many past generations are kept for deltas`() async throws {
        try await ServiceFixture.run { fixture in
            for generation in 1...40 as ClosedRange<Int64> { fixture.publish(generation) }
            let client = try fixture.client()
            let forgotten = try await client.get("/v1/allocations?since=\(Self.version).1")
            #expect(try Self.snapshot(forgotten).version.generation == 40)
            let kept = try await client.get("/v1/allocations?since=\(Self.version).39")
            #expect(kept.text.contains("\"since\""))
        }
    }

    @Test func `pools are filtered by query and token, tenants by token`() async throws {
        let tokens = [
            AccessToken.sample("all", .viewer), .sample("azure", .viewer, pools: ["azure:gpt-4o"]),
            .sample("globex", .viewer, tenants: ["globex"]),
        ]
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let cases: [(token: String, query: String, pools: [PoolID], tenants: Set<TenantID>)] = [
                ("all", "", ["azure:gpt-4o", "openai:gpt-4o"], ["acme", "globex"]),
                ("all", "?pool=openai:gpt-4o", ["openai:gpt-4o"], ["acme", "globex"]),
                (
                    "all", "?pool=openai%3Agpt-4o&pool=azure:gpt-4o", ["azure:gpt-4o", "openai:gpt-4o"],
                    ["acme", "globex"]
                ),
                ("all", "?pool=none", [], []),
                ("azure", "", ["azure:gpt-4o"], ["acme", "globex"]),
                ("azure", "?pool=openai:gpt-4o", [], []),
                ("globex", "?colour=red", ["azure:gpt-4o", "openai:gpt-4o"], ["globex"]),
            ]
            for (token, query, pools, tenants) in cases {
                let reply = try await client.get(
                    "/v1/allocations\(query)", headers: ["Authorization: Bearer \(token)"])
                let snapshot = try Self.snapshot(reply)
                #expect(snapshot.pools.map(\.pool) == pools, "\(token) \(query)")
                #expect(Set(snapshot.pools.flatMap { $0.tenants.map(\.tenant) }) == tenants, "\(token) \(query)")
            }
        }
    }

    @Test func `a bad parameter is named with what would be right`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            let cases = [
                ("gateway=a/b", "gateway=a/b is no name; one is 1 to 128 characters"),
                ("gateway=gw-1&gateway=gw-2", "gateway is given 2 times"),
                ("pool=-x", "pool=-x is no name"), ("member=m", "add gateway=NAME"),
                ("gateway=gw-1&member=%20", "member=  is no name"),
                ("since=7", "since=7 is no version; one is EPOCH.GENERATION"),
                ("gateway=gw-1&applied=1.-2", "applied=1.-2 is no version"), ("applied=1.2", "applied is for gateways"),
                ("wait=61", "wait=61 is no wait; one is 0 to 60 seconds"), ("wait=nan", "wait=nan is no wait"),
                ("pool=%zz", "percent-encoded UTF-8"), ("pool=%00", "without zero bytes"),
            ]
            for (query, words) in cases {
                let reply = try await client.get("/v1/allocations?\(query)")
                #expect(reply.status == 400, "\(query)")
                #expect(reply.headers["content-type"] == "application/problem+json")
                let problem = try JSONNode.parse(reply.body)
                #expect(problem["status"]?.number == 400)
                #expect(problem["detail"]?.string?.contains(words) == true, "\(query): \(reply.text)")
            }
        }
    }

    @Test func `a long poll is woken by a publication`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            let polls = "/v1/allocations?gateway=gw-1&applied=\(Self.version).7"
            let full = try await client.get(polls)
            let tag = full.headers["etag"] ?? ""
            for (target, headers) in [
                (polls + "&wait=60", ["If-None-Match: \(tag)"]), (polls + "&wait=60&since=\(Self.version).8", []),
            ] {
                await client.send("GET", target, headers: headers)
                #expect(await eventually { fixture.board.waitingCount == 1 })
                #expect(client.isSilent)
                let generation = (fixture.board.gateways(since: fixture.clock.now).first?.sent?.generation ?? 0) + 1
                fixture.publish(generation, gateways: ["gw-1"])
                let reply = try await client.receive()
                #expect(reply.status == 200)
                #expect(reply.headers["headroom-generation"] == "\(generation)")
            }
        }
    }

    @Test func `a long poll without news ends by half the lease`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, lease: 0.2)
            let client = try fixture.client()
            let start = ContinuousClock().now
            let empty = try await client.get("/v1/allocations?since=\(Self.version).7&wait=60")
            #expect(empty.status == 200)
            #expect(empty.text.contains("\"since\""))
            let tag = empty.headers["etag"] ?? ""
            let same = try await client.get("/v1/allocations?wait=60", headers: ["If-None-Match: \(tag)"])
            #expect(same.status == 304)
            let elapsed = ContinuousClock().now - start
            #expect(elapsed >= .milliseconds(150) && elapsed < .seconds(20), "\(elapsed)")
        }
    }

    @Test func `two hundred long polls are all answered by one publication`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let clients = try (0..<200).map { _ in try fixture.client() }
            for client in clients { await client.send("GET", "/v1/allocations?wait=60&since=\(Self.version).7") }
            #expect(await eventually { fixture.board.waitingCount == 200 })
            fixture.publish(8)
            for client in clients {
                let reply = try await client.receive()
                #expect(reply.headers["headroom-generation"] == "8")
            }
            #expect(fixture.board.waitingCount == 0)
        }
    }

    @Test func `pollers follow a fast publisher to its last generation`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(1, gateways: ["gw-1"])
            let last: Int64 = 200
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    let client = try fixture.client()
                    group.addTask {
                        var seen: Int64 = 1
                        while seen < last {
                            let reply = try await client.get(
                                "/v1/allocations?gateway=gw-1&wait=60&since=\(Self.version).\(seen)")
                            let generation = reply.headers["headroom-generation"].flatMap { Int64($0) } ?? 0
                            #expect(generation > seen)
                            seen = generation
                        }
                    }
                }
                for generation in 2...last {
                    fixture.publish(generation, gateways: ["gw-1"])
                    await Task.yield()
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func `a client that leaves during its long poll harms nobody`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            var client: RawClient? = try fixture.client()
            await client?.send("GET", "/v1/allocations?wait=60&since=\(Self.version).7")
            #expect(await eventually { fixture.board.waitingCount == 1 })
            client = nil
            fixture.publish(8)
            let other = try fixture.client()
            #expect(try await other.get("/v1/allocations").headers["headroom-generation"] == "8")
        }
    }

    @Test func `a new gateway waits until room has been made for it`() async throws {
        try await ServiceFixture.run(joinSeconds: 60) { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            await client.send("GET", "/v1/allocations?gateway=gw-2&applied=\(Self.version).7")
            var joined = fixture.board.joined.makeAsyncIterator()
            await joined.next()
            #expect(await eventually { fixture.board.waitingCount == 1 })
            let seen = fixture.board.gateways(since: fixture.clock.now)
            #expect(seen.map(\.gateway) == ["gw-2"])
            #expect(seen.first?.sent == nil)
            fixture.publish(8, gateways: ["gw-1"])
            #expect(await eventually { fixture.board.waitingCount == 1 }, "a part for others is none for it")
            fixture.publish(9, gateways: ["gw-1", "gw-2"])
            let reply = try await client.receive()
            #expect(reply.status == 200)
            #expect(reply.headers["headroom-generation"] == "9")
        }
    }

    @Test func `a new gateway for which no room is made is asked to come again`() async throws {
        try await ServiceFixture.run(joinSeconds: 0.1) { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let reply = try await fixture.client().get("/v1/allocations?gateway=gw-2&applied=\(Self.version).7")
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "1")
            #expect(reply.text.contains("no room has been made for this gateway yet"))
        }
    }

    @Test func `a first poll alone reads the whole, enforces nothing, and takes no part`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            let first = try await client.get("/v1/allocations?gateway=debug")
            let whole = Publication.sample(7).whole
            let seen = try Self.snapshot(first)
            #expect(seen.pools.map(\.budget) == whole.pools.map(\.budget))
            #expect(seen.pools.allSatisfy { !$0.enforce })
            #expect(fixture.board.gateways(since: fixture.clock.now.adding(seconds: -60)).isEmpty)
            // Its wait for news is a reader's too.
            let tag = first.headers["etag"] ?? ""
            await client.send("GET", "/v1/allocations?gateway=debug&wait=60", headers: ["If-None-Match: \(tag)"])
            #expect(await eventually { fixture.board.waitingCount == 1 })
            fixture.publish(8, gateways: ["gw-1"])
            #expect(try Self.snapshot(try await client.receive()).version.generation == 8)
            #expect(fixture.board.gateways(since: fixture.clock.now.adding(seconds: -60)).isEmpty)
        }
    }

    @Test func `a gateway that has acknowledged or reported is given its part, in full`() async throws {
        let line = #"{"type":"queue","gateway":"gw-2","tenant":"acme","pool":"openai:gpt-4o","depth":1}"#
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1", "gw-2"])
            fixture.publish(8, gateways: ["gw-1", "gw-2"])
            let client = try fixture.client()
            // What it has of generation 7 is the whole: nothing is told as a difference from that.
            let since = "&since=\(Self.version).7"
            let first = try await client.get("/v1/allocations?gateway=gw-1&applied=\(Self.version).7" + since)
            #expect(try Self.snapshot(first).pools.map(\.budget) == [Rates(rpm: 4), Rates(rpm: 50)])
            // Nor when that answer was lost on its way, and the gateway asks again.
            let again = try await client.get("/v1/allocations?gateway=gw-1&applied=\(Self.version).7" + since)
            #expect(again.body == first.body)
            fixture.publish(9, gateways: ["gw-1", "gw-2"])
            let delta = try await client.get(
                "/v1/allocations?gateway=gw-1&applied=\(Self.version).8&since=\(Self.version).8")
            #expect(delta.text.contains("\"since\""))
            let reports = try await client.call(
                "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"], body: Array(line.utf8))
            #expect(reports.status == 200)
            let second = try await client.get("/v1/allocations?gateway=gw-2")
            #expect(try Self.snapshot(second).pools.map(\.budget) == [Rates(rpm: 4.5), Rates(rpm: 50)])
        }
    }

    @Test func `a second process under one name is refused while the lease of the first one runs`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            let target = "/v1/allocations?gateway=gw-1&applied=\(Self.version).7&boot="
            #expect(try await client.get(target + "one").status == 200)
            let refused = try await client.get(target + "two")
            #expect(refused.status == 409)
            #expect(refused.text.contains("another process calls as gw-1"))
            #expect(refused.headers["retry-after"] == "15")
            #expect(try await client.get(target + "one").status == 200)
            // The lease counts from the delivery, which is noted before this connection's next request is read.
            #expect(try await client.get("/healthz").status == 200)
            fixture.clock.advance(seconds: 16)
            #expect(try await client.get(target + "two").status == 200)
        }
    }

    @Test func `where there is no pool there is nothing to divide`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, pools: [])
            let client = try fixture.client()
            #expect(try await client.get("/v1/allocations?gateway=gw-2").status == 200)
        }
    }

    @Test func `every answer renews the lease and says what is in force`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7, gateways: ["gw-1"])
            let client = try fixture.client()
            let first = SnapshotVersion(epoch: Publication.epoch, generation: 7)
            let tag = try await client.get("/v1/allocations?gateway=gw-1&applied=\(first)").headers["etag"] ?? ""
            #expect(
                fixture.board.gateways(since: fixture.clock.now) == [
                    GatewayPresence(gateway: "gw-1", lastSeen: fixture.clock.now, applied: first, sent: first)
                ])
            fixture.clock.advance(seconds: 5)
            let reply = try await client.get(
                "/v1/allocations?gateway=gw-1&applied=\(first)", headers: ["If-None-Match: \(tag)"])
            #expect(reply.status == 304)
            #expect(
                fixture.board.gateways(since: fixture.clock.now) == [
                    GatewayPresence(gateway: "gw-1", lastSeen: fixture.clock.now, applied: first, sent: first)
                ])
        }
    }

    @Test func `HEAD says what GET would, without the body`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let head = try await client.call("HEAD", "/v1/allocations")
            let get = try await client.get("/v1/allocations")
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == get.headers["content-length"])
        }
    }

    @Test func `a large body comes in gzip to those who take it, once compressed and under a tag of its own`()
        async throws
    {
        try await ServiceFixture.run { fixture in
            // Some 4 KB and 400 KB: compressed on the spot, and on a task.
            for (generation, count) in [(Int64(7), 20), (8, 2000)] {
                let tenants = (0..<count).map {
                    TenantAllocation(tenant: TenantID(unchecked: "t-\(10_000 + $0)"), assured: Rates(rpm: 1))
                }
                fixture.publish(
                    generation,
                    pools: [
                        PoolAllocation(
                            pool: "p", capacity: Rates(rpm: 1e6), nominal: Rates(rpm: 1e6), budget: Rates(rpm: 1e6),
                            tenants: tenants)
                    ])
                let client = try fixture.client()
                let plain = try await client.get("/v1/allocations")
                #expect(plain.headers["content-encoding"] == nil)
                #expect(plain.headers["vary"] == "Accept-Encoding")
                for accepts in ["gzip", "deflate, gzip;q=0.5", "br, *"] {
                    let packed = try await client.get("/v1/allocations", headers: ["Accept-Encoding: \(accepts)"])
                    #expect(packed.headers["content-encoding"] == "gzip", "\(accepts)")
                    #expect(packed.body.count * 4 < plain.body.count)
                    #expect(GzipFixture.expanded(packed.body) == plain.body)
                    let tag = packed.headers["etag"] ?? ""
                    #expect(tag != plain.headers["etag"])
                    for known in [tag, plain.headers["etag"] ?? ""] {
                        let same = try await client.get(
                            "/v1/allocations", headers: ["Accept-Encoding: \(accepts)", "If-None-Match: \(known)"])
                        #expect(same.status == 304)
                        #expect(same.headers["etag"] == tag)
                    }
                }
                for refuses in ["gzip;q=0", "identity", "deflate"] {
                    let reply = try await client.get("/v1/allocations", headers: ["Accept-Encoding: \(refuses)"])
                    #expect(reply.headers["content-encoding"] == nil, "\(refuses)")
                }
            }
        }
    }

    private static func snapshot(_ reply: RawClient.Reply) throws -> Snapshot {
        guard case .whole(let snapshot) = try SnapshotDecoder.decode(reply.body) else {
            throw RawClient.Failure.garbled(reply.text)
        }
        return snapshot
    }
}
