import Dispatch
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct ServerTests {
    @Test func `unknown paths and methods are told what there is`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let cases: [(method: String, target: String, status: Int, words: String, allow: String?)] = [
                ("GET", "/v1/nothing", 404, "/v1/nothing is no path of this service", nil),
                ("GET", "/v1/allocations/", 404, "is no path", nil), ("GET", "//", 404, "is no path", nil),
                ("DELETE", "/v1/allocations", 405, "/v1/allocations takes GET, HEAD", "GET, HEAD"),
                ("GET", "/v1/telemetry", 405, "/v1/telemetry takes POST", "POST"),
                ("PATCH", "/healthz", 405, "takes GET, HEAD", "GET, HEAD"),
                ("GET", "*", 400, "the target is not a path", nil),
            ]
            for (method, target, status, words, allow) in cases {
                let reply = try await client.call(method, target)
                #expect(reply.status == status, "\(method) \(target)")
                #expect(reply.headers["allow"] == allow)
                let problem = try JSONNode.parse(reply.body)
                #expect(problem["detail"]?.string?.contains(words) == true, "\(reply.text)")
                #expect(problem["type"]?.string == "about:blank")
            }
        }
    }

    @Test func `a path decoded is the path`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/health%7A").status == 200)
        }
    }

    @Test func `headers that are too long are refused`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let long = String(repeating: "x", count: 20000)
            #expect(try await client.get("/healthz", headers: ["X-Long: \(long)"]).status == 431)
        }
    }

    @Test func `a client that dribbles its headers is cut off`() async throws {
        try await ServiceFixture.run(settings: .test { $0.headerSeconds = 0.2 }) { fixture in
            // One byte in 20 ms is no idleness to the library.
            let beforeFirst = await (try fixture.client()).drip(UInt8(ascii: "G"), everyMilliseconds: 20, atMost: 500)
            #expect(beforeFirst < 500)
            let client = try fixture.client()
            await client.send(Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ".utf8))
            #expect(await client.drip(UInt8(ascii: "x"), everyMilliseconds: 20, atMost: 500) < 500)
        }
    }

    @Test func `a client that dribbles its body is cut off`() async throws {
        try await ServiceFixture.run(settings: .test { $0.bodySeconds = 0.2 }) { fixture in
            let client = try fixture.client()
            await client.send(
                Array(
                    ("POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
                        + "Content-Length: 999\r\n\r\n").utf8))
            #expect(await client.drip(UInt8(ascii: "x"), everyMilliseconds: 20, atMost: 500) < 500)
            #expect(fixture.sink.entered == 0)
        }
    }

    @Test func `a connection between requests is kept for a while and then closed`() async throws {
        try await ServiceFixture.run(settings: .test { $0.idleSeconds = 0.2 }) { fixture in
            let client = try fixture.client()
            #expect(try await client.get("/healthz").status == 200)
            #expect(await client.isClosedByServer())
        }
    }

    @Test func `as many calls as the library reads at once are all answered`() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let isReleased = DispatchSemaphore(value: 0)
        let empty = LocalServer.Reply(HTTPResponse(type: "text/plain", body: []))
        let server = LocalServer(
            settings: .test { $0.threads = 1 },
            calls: [
                LocalServer.Call(.get, "/hold") { _ in
                    begin.yield()
                    isReleased.wait()
                    return .now(empty)
                },
                LocalServer.Call(.get, "/call") { _ in .now(empty) },
            ], time: .anchored(atMillisecondsSince1970: 1_793_000_000_000))
        let address = try server.start()
        let holder = try RawClient(address)
        let clients = try (0..<128).map { _ in try RawClient(address) }
        for client in clients { #expect(try await client.get("/call").status == 200) }
        // While the server's thread is held, the others' calls gather: it finds exactly 128 events.
        await holder.send("GET", "/hold")
        for await _ in begun { break }
        for client in clients { await client.send("GET", "/call") }
        isReleased.signal()
        for client in clients { #expect(try await client.receive().status == 200) }
        await server.stop()
    }

    @Test func `a port in use is told apart from other faults`() async throws {
        try await ServiceFixture.run { fixture in
            #expect(fixture.address.port != 0)
            let cases: [(ListenAddress, HTTPError.Code, String)] = [
                (fixture.address, .addressInUse, "\(fixture.address) is in use"),
                (ListenAddress(host: "192.0.2.1", port: 0), .addressUnavailable, "not an address of this machine"),
                (ListenAddress(host: "example", port: 0), .badAddress, "give an IP address"),
            ]
            for (address, code, words) in cases {
                let access = AccessControl(tokens: [], time: fixture.clock.source) { $0 }
                let other = HTTPService(
                    settings: ServerSettings(listen: address), board: fixture.board, access: access,
                    telemetry: TelemetryIntake(
                        decoder: .init { _ in ProviderSignal(kind: .ok) }, sink: fixture.sink, digest: { $0 }))
                let error = #expect(throws: HTTPError.self) { try other.start() }
                #expect(error?.code == code)
                #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test func `a stop answers long polls at once and closes`() async throws {
        try await ServiceFixture.run(joinSeconds: 60) { fixture in
            fixture.publish(7, gateways: ["gw-1"], lease: 120)
            let poller = try fixture.client()
            let joiner = try fixture.client()
            let idle = try fixture.client()
            #expect(try await idle.get("/healthz").status == 200)
            await poller.send("GET", "/v1/allocations?gateway=gw-1&wait=60&since=\(Publication.epoch).7")
            await joiner.send("GET", "/v1/allocations?gateway=gw-2&applied=\(Publication.epoch).7")
            #expect(await eventually { fixture.board.waitingCount == 2 })
            await fixture.service.stop()
            let reply = try await poller.receive()
            #expect(reply.status == 200)
            #expect(reply.headers["connection"]?.lowercased() == "close")
            #expect(try await joiner.receive().status == 503)
            for client in [poller, joiner, idle] { #expect(await client.isClosedByServer()) }
            #expect(throws: RawClient.Failure.self) { try fixture.client() }
        }
    }

    @Test func `a stop waits for telemetry in flight`() async throws {
        try await ServiceFixture.run(settings: .test { $0.stopSeconds = 20 }) { fixture in
            fixture.sink.close()
            let client = try fixture.client()
            await client.send(
                "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"],
                body: Array(#"{"type":"model","at":1793000000000,"pool":"p","model":"m","version":"m-2"}"#.utf8))
            #expect(await eventually { fixture.sink.entered == 1 })
            async let stopped: Void = fixture.service.stop()
            // Idle connections are closed first, and new ones turned away; the answer is still owed.
            #expect(try await fixture.client().isClosedByServer())
            let late = try fixture.client()
            await late.send("GET", "/healthz")
            #expect(await late.isClosedByServer())
            #expect(client.isSilent)
            fixture.sink.open()
            #expect(try await client.receive().status == 200)
            await stopped
            #expect(fixture.sink.batches.count == 1)
        }
    }

    @Test func `a stop does not wait for ever`() async throws {
        try await ServiceFixture.run(settings: .test { $0.stopSeconds = 0.1 }) { fixture in
            fixture.sink.close()
            let client = try fixture.client()
            await client.send(
                "POST", "/v1/telemetry", headers: ["Content-Type: application/x-ndjson"],
                body: Array(#"{"type":"model","at":1793000000000,"pool":"p","model":"m","version":"m-2"}"#.utf8))
            #expect(await eventually { fixture.sink.entered == 1 })
            await fixture.service.stop()
            let reply = try await client.receive()
            #expect(reply.status == 503)
            #expect(reply.text.contains("the service stopped before the call was done"))
        }
    }

    @Test func `two hundred connections poll at once`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let clients = try (0..<200).map { _ in try fixture.client() }
            for _ in 0..<3 {
                for client in clients { await client.send("GET", "/v1/allocations") }
                for client in clients { #expect(try await client.receive().status == 200) }
            }
        }
    }

    @Test func `requests may be sent one behind the other`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let one = "GET /v1/allocations HTTP/1.1\r\nHost: localhost\r\n\r\n"
            await client.send(Array((one + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + one).utf8))
            #expect(try await client.receive().headers["headroom-generation"] == "7")
            #expect(try await client.receive().text == "ok\n")
            #expect(try await client.receive().headers["headroom-generation"] == "7")
        }
    }
}
