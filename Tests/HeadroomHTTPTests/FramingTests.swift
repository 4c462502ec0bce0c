import HeadroomHTTP
import HeadroomModel
import HeadroomWire
import Testing

/// What arrives on the socket, byte by byte.
@Suite struct FramingTests {
    private static let line =
        #"{"type":"call","at":1793000000000,"gateway":"gw-1","tenant":"acme","pool":"p","outcome":"ok"}"#

    @Test func `a request of HTTP 1.1 names its host, one of HTTP 1.0 need not`() async throws {
        try await ServiceFixture.run { fixture in
            for (version, status) in [("1.1", 400), ("1.0", 200)] {
                let client = try fixture.client()
                await client.send(Array("GET /healthz HTTP/\(version)\r\n\r\n".utf8))
                let reply = try await client.receive()
                #expect(reply.status == status)
                #expect(status == 200 || reply.text.contains("no Host header"), "\(reply.text)")
            }
        }
    }

    @Test func `a length that can be read in two ways is refused, and the connection ends`() async throws {
        try await ServiceFixture.run { fixture in
            let head = "POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
            let cases: [(fields: String, words: String)] = [
                ("Content-Length: 4\r\nContent-Length: 5\r\n\r\n12345", "Content-Length is given twice"),
                ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "one would do"),
                ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", "one would do"),
                ("Transfer-Encoding: gzip\r\n\r\n", "only chunked"),
                ("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "given twice"),
            ]
            for (fields, words) in cases {
                let client = try fixture.client()
                await client.send(Array((head + fields).utf8))
                let reply = try await client.receive()
                #expect(reply.status == 400, "\(fields)")
                #expect(reply.headers["content-type"] == "application/problem+json")
                #expect(reply.headers["connection"]?.lowercased() == "close")
                #expect(reply.text.contains(words), "\(reply.text)")
                #expect(await client.isClosedByServer())
            }
            #expect(fixture.sink.batches.isEmpty)
        }
    }

    @Test func `a head that two servers can read in two ways is refused once, and the connection ends`() async throws {
        try await ServiceFixture.run { fixture in
            let host = "Host: localhost\r\n"
            let line = "a line of the head has a zero byte"
            let cases: [(head: String, words: String)] = [
                ("POST /healthz HTTP/1.1\r\n\(host)Content-Length: 4\r\nContent-Length: 4\r\n\r\n1234", "given twice"),
                ("POST /healthz HTTP/1.1\r\n\(host)Content-Length : 4\r\n\r\n1234", "no spaces, also before its colon"),
                (
                    "POST /healthz HTTP/1.1\r\n\(host)Content-Length\t: 4\r\n\r\n1234",
                    "no spaces, also before its colon"
                ),
                ("GET /healthz HTTP/1.1\r\n\(host)\(host)\r\n", "Host is given 2 times"),
                ("GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "Host is given 2 times"),
                (
                    "GET /healthz HTTP/1.1\r\n\(host)Authorization: Bearer a\r\nauthorization: Bearer a\r\n\r\n",
                    "Authorization is given 2 times"
                ),
                ("GET /healthz HTTP/1.1\r\nX: a\0b\r\n\(host)\r\n", line),
                ("GET /healthz HTTP/1.1\r\n\(host)X: a\0b\r\n\r\n", line),
                ("GET /healthz HTTP/1.1\r\n\(host)X: a\0\r\n\r\n", line),
                ("GET /healthz HTTP/1.1\r\n\(host)X:\0a\r\n\r\n", line),
                (
                    "POST /healthz HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n", line
                ),
                ("GET /healthz HTTP/1.1\r\n\(host)X: a\r\n b\r\n\r\n", line),
                ("GET /healthz HTTP/1.1\r\n\(host)X: a\r\n\tb\r\nY: c\r\n\r\n", line),
                ("GET /healthz HTTP/1.1\n\(host)\r\n", line),
                ("GET /healthz HTTP/1.1\r\nHost: localhost\n\r\n", line),
                ("GET /healthz HTTP/1.1\r\n\(host)X: a\rb\r\n\r\n", "line break"),
                ("GET /health\0z HTTP/1.1\r\n\(host)\r\n", "the target has a zero byte"),
                ("POST /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0 knows no"),
            ]
            for (head, words) in cases {
                // Whole, and in two parts: a proxy may cut it anywhere.
                for cut in [head.utf8.count, head.utf8.count / 2] {
                    let client = try fixture.client()
                    await client.send(Array(head.utf8.prefix(cut)))
                    await client.send(Array(head.utf8.dropFirst(cut)))
                    let reply = try await client.receive()
                    #expect(reply.status == 400, "\(head)")
                    #expect(reply.headers["content-type"] == "application/problem+json", "\(head)")
                    #expect(reply.headers["connection"]?.lowercased() == "close")
                    #expect(reply.text.contains(words), "\(head): \(reply.text)")
                    #expect(await client.isClosedByServer(), "\(head)")
                }
            }
        }
    }

    @Test(arguments: ["service", "gate"])
    func `what cannot be read has one answer, a problem document, and the connection ends`(door: String) async throws {
        let post = "POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
        let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"
        let long = String(repeating: "y", count: 20 << 10)
        var cases: [(request: String, status: Int, words: String)] = [
            (post + "Content-Length: 99999999999999999999\r\n\r\n1234", 413, "larger than any call takes"),
            (chunked + "fffffffffffffffff\r\n1234", 413, "larger than any call takes"),
            (chunked + "x\r\n", 400, "the length of a chunk is not as HTTP/1.1 writes it"),
            (chunked + "-4\r\n1234\r\n0\r\n\r\n", 400, "the length of a chunk is not as HTTP/1.1 writes it"),
            (chunked + "4\r\n12345\r\n0\r\n\r\n", 400, "the length of a chunk is not as HTTP/1.1 writes it"),
            (chunked + "4;x=\(long)\r\n1234\r\n0\r\n\r\n", 400, "a line of a chunk, with its extensions"),
            (post + "no colon\r\n\r\n", 400, "a line of the head"),
            (post + "X: \(long)\r\n\r\n", 431, "does not fit into 8 KB"),
            ("POST /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "the target does not fit into the 8 KB"),
            ("POST /v1/telemetry HTTP/2.0\r\nHost: localhost\r\n\r\n", 505, "speaks HTTP/1.1"),
            (post + "Content-Length : 4\r\n\r\n1234", 400, "no spaces, also before its colon"),
            (post + "Content-Length: 4\r\nContent-Length: 4\r\n\r\n1234", 400, "given twice"),
            (post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n1234", 400, "given twice"),
            (post + "X: a\0b\r\nContent-Length: 4\r\n\r\n1234", 400, "zero byte"),
        ]
        for length in ["abc", "-1", "+4", "4 4", "0x4", "4,4", "4, 4", ""] {
            cases.append((post + "Content-Length: \(length)\r\n\r\n1234", 400, "Content-Length"))
        }
        try await withAddress(of: door) { [cases] address in
            for (request, status, words) in cases {
                let shown = String(request.prefix(200))
                // What follows would be a request of its own to who reads the one before it otherwise.
                for follower in ["", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
                    let client = try RawClient(address)
                    await client.send(Array((request + follower).utf8))
                    let reply = try await client.receive()
                    #expect(reply.status == status, "\(shown): \(reply.text)")
                    #expect(reply.headers["content-type"] == "application/problem+json", "\(shown)")
                    #expect(reply.headers["connection"]?.lowercased() == "close", "\(shown)")
                    #expect(reply.text.contains(#""status":\#(status)"#), "\(shown): \(reply.text)")
                    #expect(reply.text.contains(words), "\(shown): \(reply.text)")
                    #expect(await client.isClosedByServer(), "\(shown): another answer")
                }
            }
        }
    }

    /// Both are one server, one behind the service's routes and the other behind the gate's.
    private func withAddress(of door: String, _ body: @Sendable (ListenAddress) async throws -> Void) async throws {
        if door == "service" { return try await ServiceFixture.run { try await body($0.address) } }
        let server = LocalServer(
            settings: .test(),
            calls: [
                LocalServer.Call(.post, "/v1/telemetry", bodyLimit: 1 << 20, callers: .clientsOfProxies) { _ in
                    .now(LocalServer.Reply(HTTPResponse(type: "text/plain", body: [])))
                }
            ], time: .anchored(atMillisecondsSince1970: 1_793_000_000_000))
        let address = try server.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body(address)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }

    @Test func `ordinary heads are taken, also of HTTP 1.0, without headers, and many on one connection`() async throws
    {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let body =
                "Content-Length: \(Self.line.utf8.count)\r\nContent-Type: application/x-ndjson\r\n\r\n" + Self.line
            let heads = [
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /healthz?x=\(String(repeating: "y", count: 900)) HTTP/1.1\r\nHost:localhost\r\nX:\r\nY:  a b \r\n\r\n",
                "\r\nGET /healthz HTTP/1.1\r\nhost:\tlocalhost\r\n\r\n",
                "POST /v1/telemetry HTTP/1.1\r\nHost: localhost\r\n" + body,
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nX: é\r\n\r\n",
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            ]
            for head in heads {
                await client.send(Array(head.utf8))
                let reply = try await client.receive()
                #expect(reply.status == 200, "\(head): \(reply.text)")
            }
            // All at once as well.
            await client.send(Array(heads.joined().utf8))
            for head in heads { #expect(try await client.receive().status == 200, "\(head)") }
            let old = try fixture.client()
            await old.send(Array("GET /healthz HTTP/1.0\r\n\r\n".utf8))
            #expect(try await old.receive().status == 200)
        }
    }

    @Test func `a wait is a decimal number`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            for text in ["0x1p3", "nan", "inf", "-0", "1e1", "+1", "", "61", "1.2.3"] {
                let reply = try await client.get("/v1/allocations?wait=\(text)")
                #expect(reply.status == 400 && reply.text.contains("is no wait"), "\(text): \(reply.text)")
            }
            for text in ["0", "0.5", "60"] {
                #expect(try await client.get("/v1/allocations?wait=\(text)").status == 200, "\(text)")
            }
        }
    }

    @Test func `a request of many parameters gets an answer`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let many = (0..<300).map { "pool=p\($0)" }.joined(separator: "&")
            #expect(try await client.get("/v1/allocations?" + many).status == 200)
            let unknown = (0..<200).map { "x\($0)=1" }.joined(separator: "&")
            #expect(try await client.get("/v1/overrides?" + unknown).status == 400)
            #expect(try await client.get("/v1/allocations?since=\(Publication.epoch).7").status == 200)
        }
    }

    @Test func `a 304 announces no body, and the next answer follows at once`() async throws {
        try await ServiceFixture.run { fixture in
            fixture.publish(7)
            let client = try fixture.client()
            let etag = try await client.get("/v1/allocations").headers["etag"] ?? ""
            let poll = "GET /v1/allocations HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(etag)\r\n\r\n"
            await client.send(Array((poll + poll + "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").utf8))
            for _ in 0..<2 {
                let reply = try await client.receive()
                #expect(reply.status == 304)
                // Version 0.9.75 of the HTTP library cannot leave the field out; newer ones do.
                #expect(reply.headers["content-length", default: "0"] == "0")
                #expect(reply.headers["transfer-encoding"] == nil)
                #expect(reply.headers["etag"] == etag)
                #expect(reply.headers["headroom-generation"] == "7")
            }
            #expect(try await client.receive().text == "ok\n")
        }
    }

    @Test func `a body in gzip is taken, and its expansion is bounded`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let type = "Content-Type: application/x-ndjson"
            func post(_ body: [UInt8], coding: String = "gzip") async throws -> RawClient.Reply {
                try await client.call(
                    "POST", "/v1/telemetry", headers: [type, "Content-Encoding: \(coding)"], body: body)
            }
            let lines = Array(Array(repeating: Self.line, count: 500).joined(separator: "\n").utf8)
            let taken = try await post(GzipFixture.compressed(lines))
            #expect(taken.status == 200, "\(taken.text)")
            #expect(fixture.sink.batches.map(\.lines.count) == [500])

            // Twenty times as much as the first guess: the room grows, and the stream goes on in it.
            let wide = Self.line + String(repeating: " ", count: 1000 - Self.line.utf8.count - 1)
            let large = Array(Array(repeating: wide, count: 5000).joined(separator: "\n").utf8)
            let grown = try await post(GzipFixture.compressed(large))
            #expect(grown.status == 200, "\(grown.text)")
            #expect(fixture.sink.batches.last?.lines.count == 5000)

            let bomb = try await post(GzipFixture.compressed([UInt8](repeating: 0x20, count: 9 << 20)))
            #expect(bomb.status == 413)
            let whole = GzipFixture.compressed(lines)
            for body in [lines, Array(whole.dropLast(9)), whole + [1]] {
                let reply = try await post(body)
                #expect(reply.status == 400)
                #expect(reply.text.contains("not the gzip"), "\(reply.text)")
            }
            let other = try await post(lines, coding: "br")
            #expect(other.status == 415)
            #expect(other.headers["accept-encoding"] == "gzip, identity")
            #expect(try await post(lines, coding: "identity").status == 200)
        }
    }
}
