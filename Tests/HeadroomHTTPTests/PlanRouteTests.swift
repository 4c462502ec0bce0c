import HeadroomHTTP
import HeadroomModel
import HeadroomPolicy
import Testing

/// What if, and links that show one tenant.
@Suite struct PlanRouteTests {
    @Test func `another policy and other contracts are replayed, and the present ones stay as they are`() async throws {
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(1)
            let sre = try Person("sre", fixture)
            let present = try await sre.post("/v1/plan", #"{"hours":2}"#)
            #expect(present.status == 200, "\(present.text)")
            #expect(present.json["step_seconds"]?.number == 2)
            let files = try await sre.get("/v1/policy/files")
            #expect(files.json["files"]?["rules.json5"]?.string == "{}")

            var policy = Policy(name: "candidate")
            policy.pools = [PoolPolicy(pool: "sim:large", nominal: Rates(rpm: 60, tpm: 60_000))]
            let body = """
                {"hours":1,"files":{"rules.json5":\(quoted(policy.encodedRules())),
                "pools/sim.json5":\(quoted(policy.pools[0].encoded()))},
                "contracts":\(quoted(Array(#"[{"tenant":"acme","tier":"critical","pools":[]}]"#.utf8)))}
                """
            let other = try await sre.post("/v1/plan", body)
            #expect(other.json["tiers"]?[0]?["pool"]?.string == "candidate", "\(other.text)")
            #expect(other.json["tiers"]?[1]?["pool"]?.string == present.json["tiers"]?[1]?["pool"]?.string)
            #expect(other.json["tenant_count"]?.number == 1)
        }
    }

    @Test func `a replay that cannot be meant is refused with what would be right`() async throws {
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(1)
            let sre = try Person("sre", fixture)
            for (body, word) in [
                ("{}", "hours"), (#"{"hours":25}"#, "24"), (#"{"hours":1,"policy":{}}"#, "files"), ("nonsense", "JSON"),
                (#"{"hours":1,"files":{"rules.json5":7}}"#, "texts"),
                (#"{"hours":1,"files":{"rules.json5":"{"}}"#, "refused"),
                (#"{"hours":1,"contracts":"[{}]"}"#, "refused"),
            ] {
                let reply = try await sre.post("/v1/plan", body)
                #expect(reply.status == 400 && reply.text.contains(word), "\(body): \(reply.text)")
            }
            for (name, target) in [("viewer", "/v1/plan"), ("limited", "/v1/plan")] {
                #expect(try await Person(name, fixture).post(target, #"{"hours":1}"#).status == 403, "\(name)")
            }
            #expect(try await Person("success", fixture).get("/v1/policy/files").status == 403)
        }
    }

    @Test func `a link shows one tenant, for a while, and only to whom the author could show it`() async throws {
        try await ServiceFixture.run(tokens: tokens) { fixture in
            fixture.publish(1)
            let made = try await Person("success", fixture).post(
                "/v1/tenants/acme/share", #"{"expires_in_seconds":86400}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["path"]?.string == "/#/share/acme/secret")
            #expect(made.json["name"]?.string == "share-acme-success")
            for (name, body, status) in [
                ("success", #"{"expires_in_seconds":60}"#, 400), ("success", "{}", 400),
                ("success", #"{"expires_in_seconds":86400,"role":"admin"}"#, 400),
                ("viewer", #"{"expires_in_seconds":86400}"#, 403), ("limited", #"{"expires_in_seconds":86400}"#, 403),
            ] {
                let reply = try await Person(name, fixture).post("/v1/tenants/acme/share", body)
                #expect(reply.status == status, "\(name) \(body): \(reply.text)")
            }
        }
        try await ServiceFixture.run { fixture in
            // The first token would end the time without tokens.
            let reply = try await Person(nil, fixture).post(
                "/v1/tenants/acme/share", #"{"expires_in_seconds":86400}"#)
            #expect(reply.status == 409, "\(reply.text)")
        }
    }

    private let tokens: [AccessToken] = [
        .sample("viewer", .viewer), .sample("success", .success), .sample("sre", .sre),
        .sample("limited", .sre, tenants: ["globex"]),
    ]

    private func quoted(_ text: [UInt8]) -> String {
        "\""
            + String(decoding: text, as: UTF8.self).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            .replacing("\n", with: "\\n") + "\""
    }
}
