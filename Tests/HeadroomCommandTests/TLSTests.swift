import Glibc
import HeadroomJSON
import Testing

/// A service that speaks TLS itself.
@Suite struct TLSTests {
    /// The certificate that a new connection is shown.
    private static func shown(_ client: ServiceClient) async throws -> [UInt8] {
        try await blocking {
            Result {
                let descriptor = try client.connected()
                defer { close(descriptor) }
                return try TLSStream(descriptor).serverCertificate
            }
        }.get()
    }

    private static func wait(for certificate: TestCertificate, _ client: ServiceClient) async throws -> Bool {
        for _ in 0..<2000 {
            if try await shown(client) == certificate.encoded { return true }
        }
        return false
    }

    @Test func `a new certificate is for new connections, and a poll that waits goes on`() async throws {
        let house = try House()
        let first = TestCertificate()
        let second = TestCertificate()
        try first.write(to: house)
        try await RunningService.run(house, TestCertificate.arguments(house)) { service in
            let client = service.client
            #expect(try await Self.shown(client) == first.encoded)
            let newest = try await client.poll("/v1/allocations") { $0.status == 200 }
            let version = "\(newest.headers["headroom-epoch"] ?? "").\(newest.headers["headroom-generation"] ?? "")"

            let descriptor = try client.connected()
            defer { close(descriptor) }
            let stream = try TLSStream(descriptor)
            stream.send(Array("GET /v1/allocations?wait=7&since=\(version) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            _ = try await client.poll("/metrics") { $0.text.contains("headroom_long_polls 1\n") }
            try second.write(to: house)
            service.send(SIGHUP)
            #expect(try await Self.wait(for: second, client), "\(service.errors)")
            #expect(try await client.metric("headroom_long_polls") == 1)
            // What changes the allocations comes by a connection of the new certificate, the answer by one of the old.
            _ = try await client.post([ServingTests.call("a")])
            let answer = stream.receiveAnswer()
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"), "\(answer)")
            #expect(!answer.contains("Headroom-Generation: \(newest.headers["headroom-generation"] ?? "")\r\n"))
            stream.send(Array("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
            #expect(stream.receiveAnswer().hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(await service.stop(by: SIGTERM) == 0, "\(service.errors)")
        }
    }

    @Test func `what cannot be read has one answer by TLS as well, and the stream ends`() async throws {
        let house = try House()
        try TestCertificate().write(to: house)
        try await RunningService.run(house, TestCertificate.arguments(house)) { service in
            let (answer, rest) = try await blocking {
                Result {
                    let descriptor = try service.client.connected()
                    defer { close(descriptor) }
                    let stream = try TLSStream(descriptor)
                    stream.send(Array("POST /v1/draw HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n".utf8))
                    return (stream.receiveAnswer(), stream.receive())
                }
            }.get()
            #expect(
                answer.hasPrefix("HTTP/1.1 400 Bad request\r\nContent-Type: application/problem+json\r\n"), "\(answer)")
            #expect(rest.isEmpty)
        }
    }

    @Test func `a certificate that ends is an alert until its files hold another`() async throws {
        let house = try House()
        try house.writeRules("alerts: { close_seconds: 0.2 }")
        let good = TestCertificate()
        try TestCertificate(ends: 1_609_459_200).write(to: house)
        try await RunningService.run(house, TestCertificate.arguments(house)) { service in
            let client = service.client
            #expect(service.errors.contains("the certificate has ended at 2021-01-01T00:00:00.000Z"))
            let open = try await client.poll("/v1/alerts") { $0.text.contains("certificate_ending") }
            #expect(open.text.contains("certificate has ended: gateways refuse to connect"), "\(open.text)")
            // Nobody says so: the files are looked at.
            try good.write(to: house)
            #expect(try await Self.wait(for: good, client), "\(service.errors)")
            let closed = try await client.poll("/v1/alerts?state=closed") { $0.text.contains("certificate_ending") }
            #expect(closed.text.contains("certificate_ending"), "\(closed.text)")

            // Another key alone is no pair.
            try house.directory.write(TestCertificate().key, to: "key.pem")
            let warned = try await client.poll("/readyz") { $0.text.contains("is not the key of the certificate") }
            #expect(warned.status == 200 && warned.text.contains("the one before goes on"), "\(warned.text)")
            #expect(try await Self.shown(client) == good.encoded)
            try good.write(to: house)
            let calm = try await client.poll("/readyz") { !$0.text.contains("is not the key") }
            #expect(!calm.text.contains("is not the key"))
            // One that has ended does not take the place of one that holds.
            try TestCertificate(ends: 1_609_459_200).write(to: house)
            service.send(SIGHUP)
            let kept = try await client.poll("/readyz") { $0.text.contains("has ended at 2021") }
            #expect(kept.text.contains("has ended at 2021"))
            #expect(try await Self.shown(client) == good.encoded)
        }
    }

    @Test func `files that are no pair keep the service from starting, and are named`() async throws {
        let pair = TestCertificate()
        let other = TestCertificate()
        let cases: [(certificate: String?, key: String?, words: String)] = [
            (pair.certificate, nil, "key.pem: cannot be read: No such file or directory"),
            (nil, pair.key, "certificate.pem: cannot be read: No such file or directory"),
            (pair.key, pair.certificate, "are --tls-certificate and --tls-key exchanged?"),
            (pair.certificate, pair.certificate, "key.pem: holds a certificate and no private key"),
            (pair.certificate, other.key, "is not the key of the certificate in"),
            (pair.certificate, pair.encryptedKey, "key.pem: the key is encrypted; \"openssl pkey -in FILE"),
            ("not PEM", pair.key, "certificate.pem: no certificate can be read from it"),
            (pair.certificate, "", "key.pem: no private key can be read from it"),
            (String(repeating: "x", count: 2_000_000), pair.key, "is larger than any certificate or key"),
        ]
        for (certificate, key, words) in cases {
            let house = try House()
            if let certificate { try house.directory.write(certificate, to: "certificate.pem") }
            if let key { try house.directory.write(key, to: "key.pem") }
            let outcome = try await HeadroomProgram.run(
                ["serve", "--listen", "127.0.0.1:0"] + house.options + TestCertificate.arguments(house))
            #expect(outcome.code == 1 && outcome.errors.contains(words), "\(words): \(outcome.errors)")
        }
        let options: [(given: [String], words: String)] = [
            (["--tls-certificate", "c"], "--tls-certificate needs --tls-key FILE beside it"),
            (["--tls-key", "k"], "--tls-key needs --tls-certificate FILE beside it"),
            (["--tls-key", "k", "--tls-certificate", "c", "--tls-ends-at-proxy"], "speaks clear text; leave it out"),
        ]
        for (given, words) in options {
            let house = try House()
            let outcome = try await HeadroomProgram.run(["serve"] + house.options + given)
            #expect(outcome.code == 2 && outcome.errors.contains(words), "\(outcome.errors)")
        }
    }

    @Test func `browsers keep the session for TLS, and old versions of it are not spoken`() async throws {
        let house = try House()
        let pair = TestCertificate()
        try pair.write(to: house)
        try await RunningService.run(house, TestCertificate.arguments(house)) { service in
            let client = service.client
            let own = ["Origin: https://127.0.0.1", "Sec-Fetch-Site: same-origin", "Headroom-Request: dashboard"]
            #expect(try await client.get("/v1/pools", headers: own).status == 200)
            #expect(try await client.get("/v1/pools", headers: ["Origin: http://127.0.0.1"]).status == 403)
            let entry = try await client.call(
                "POST", "/v1/session", headers: own + ["Content-Type: application/json"],
                body: Array(#"{"token":"x"}"#.utf8))
            #expect(entry.headers["set-cookie"]?.hasSuffix("; HttpOnly; SameSite=Strict; Secure") == true, "\(entry)")

            let descriptor = try client.connected()
            defer { close(descriptor) }
            #expect(throws: TLSStream.Failure.self) {
                try TLSStream(descriptor, priorities: "NORMAL:-VERS-ALL:+VERS-TLS1.1")
            }
            await #expect(throws: (any Error).self, "clear text is not answered") {
                try await ServiceClient(port: client.port).get("/healthz")
            }

            let url = ["--url", "https://127.0.0.1:\(client.port)"]
            let strange = try await HeadroomProgram.run(["status"] + url)
            #expect(strange.code == 1 && strange.errors.contains("certificate"), "\(strange.errors)")
        }
    }
}
