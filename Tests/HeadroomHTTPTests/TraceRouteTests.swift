import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomWire
import Testing

@Suite struct TraceRouteTests {
    private static let json = ["Content-Type: application/json", "Headroom-Tenant-Attribute: app.tenant"]

    @Test func `spans are stored as calls of the tenant that the named attribute names`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let body = Self.body(tenants: ["acme", "globex"])
            let packed = GzipFixture.compressed(body)
            for (headers, body) in [([], body), (["Content-Encoding: gzip"], packed)] {
                let reply = try await client.call("POST", "/v1/traces", headers: Self.json + headers, body: body)
                #expect(reply.status == 200 && reply.text == "{}", "\(reply.text)")
            }
            #expect(fixture.sink.batches.flatMap(\.lines).map(\.record.tenant) == ["acme", "globex", "acme", "globex"])
            #expect(fixture.sink.batches.flatMap(\.lines).allSatisfy { $0.record.gateway == "shop" })
        }
    }

    @Test func `spans that cannot be taken are counted, and the others stored`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let body = Self.body(tenants: ["acme", "no name"])
            let reply = try await client.call("POST", "/v1/traces", headers: Self.json, body: body)
            #expect(reply.status == 200)
            let partial = try JSONNode.parse(reply.body)["partialSuccess"]
            #expect(partial?["rejectedSpans"]?.string == "1")
            #expect(partial?["errorMessage"]?.string?.contains("span 2 (chat): tenant: ") == true, "\(reply.text)")
            #expect(fixture.sink.batches.map(\.lines.count) == [1])
            // None can be taken: that is no failure of the request, which would be repeated.
            let none = try await client.call(
                "POST", "/v1/traces", headers: ["Content-Type: application/json"], body: body)
            #expect(none.status == 200 && none.text.contains("\"rejectedSpans\":\"2\""), "\(none.text)")
        }
    }

    @Test func `a token's tenants and pools hold for spans`() async throws {
        let token = AccessToken.sample("shop", .gateway, gateways: ["shop"], tenants: ["acme"])
        try await ServiceFixture.run(tokens: [token]) { fixture in
            let headers = Self.json + ["Authorization: Bearer shop"]
            let reply = try await fixture.client().call(
                "POST", "/v1/traces", headers: headers, body: Self.body(tenants: ["acme", "globex"]))
            #expect(reply.text.contains("lies outside its limits"), "\(reply.text)")
            #expect(fixture.sink.batches.flatMap(\.lines).map(\.record.tenant) == ["acme"])
            let other = try await fixture.client().call(
                "POST", "/v1/traces", headers: headers + ["Headroom-Gateway: other"],
                body: Self.body(tenants: ["acme"]))
            #expect(other.text.contains("the token does not speak for"), "\(other.text)")
        }
    }

    @Test func `failures are in the request's encoding`() async throws {
        try await ServiceFixture.run { fixture in
            let client = try fixture.client()
            let bad = try await client.call("POST", "/v1/traces", headers: Self.json, body: Array("[]".utf8))
            #expect(bad.status == 400)
            #expect(try JSONNode.parse(bad.body)["code"]?.number == 3)
            let protobuf = try await client.call(
                "POST", "/v1/traces", headers: ["Content-Type: application/x-protobuf"], body: [0x0B])
            #expect(protobuf.status == 400 && protobuf.headers["content-type"] == "application/x-protobuf")
            #expect(protobuf.body.starts(with: [0x08, 3, 0x12]))
            fixture.sink.fill()
            let full = try await client.call(
                "POST", "/v1/traces", headers: Self.json, body: Self.body(tenants: ["acme"]))
            #expect(full.status == 503 && full.headers["retry-after"] == "5")
            #expect(try JSONNode.parse(full.body)["code"]?.number == 14)
            let name = try await client.call(
                "POST", "/v1/traces", headers: Self.json + ["Headroom-Pool: no pool"], body: Array("{}".utf8))
            #expect(name.status == 400 && name.text.contains("Headroom-Pool"), "\(name.text)")
        }
    }

    private static func body(tenants: [String]) -> [UInt8] {
        let spans = tenants.enumerated().map { index, tenant in
            #"{"traceId":"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a","spanId":"000000000000000\#(index + 1)","name":"chat","endTimeUnixNano":"1793000000000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.provider.name","value":{"stringValue":"openai"}},{"key":"gen_ai.request.model","value":{"stringValue":"gpt-4o"}},{"key":"app.tenant","value":{"stringValue":"\#(tenant)"}}]}"#
        }
        return Array(
            #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[\#(spans.joined(separator: ","))]}]}]}"#
                .utf8)
    }
}
