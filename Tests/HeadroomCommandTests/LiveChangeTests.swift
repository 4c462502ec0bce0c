import Foundation
import HeadroomJSON
import Testing

/// What people change while the service runs.
@Suite struct LiveChangeTests {
    @Test func `tokens made and revoked beside the service count within seconds`() async throws {
        let house = try House()
        func token(_ arguments: String...) async throws -> String {
            let outcome = try await HeadroomProgram.run(["token"] + arguments + ["--database", house.database])
            #expect(outcome.code == 0, "\(outcome.errors)")
            return "Authorization: Bearer " + outcome.output.filter { !$0.isNewline }
        }
        try await RunningService.run(house) { service in
            let client = service.client
            #expect(service.errors.contains("There are no tokens: everybody on this machine may do everything."))
            #expect(try await client.get("/v1/allocations").status == 200)

            let gateway = try await token("create", "--name", "gw", "--role", "gateway", "--gateways", "gw-1")
            let refused = try await client.poll("/v1/allocations") { $0.status != 200 }
            #expect(refused.status == 401)
            #expect(refused.headers["www-authenticate"] == #"Bearer realm="headroom""#)
            let viewer = try await token("create", "--name", "v", "--role", "viewer")
            #expect(try await client.poll("/v1/allocations", headers: [viewer]) { $0.status == 200 }.status == 200)

            let lines = [ServingTests.call("a")]
            for (target, credential, status, words) in [
                ("/v1/allocations", "Authorization: Bearer wrong", 401, "the token is not known"),
                ("/v1/allocations", "Authorization: Basic dTpw", 401, "holds no bearer token"),
                ("/v1/allocations", gateway, 403, "add gateway=NAME"),
                ("/v1/allocations?gateway=gw-2", gateway, 403, "speaks for gw-1, not for gw-2"),
                ("/v1/allocations?gateway=gw-1", viewer, 403, "has the role viewer; only one of role gateway may poll"),
                ("/v1/allocations?gateway=gw-1", gateway, 200, "pools"),
            ] {
                let reply = try await client.get(target, headers: [credential])
                #expect(reply.status == status && reply.text.contains(words), "\(reply.text)")
            }
            #expect(try await client.post(lines, headers: [viewer]).status == 403)
            #expect(try await client.post(lines).status == 401)
            #expect(try await client.post(lines, headers: [gateway]).status == 200)
            #expect(try await house.storedRecords().count == 1)

            _ = try await token("revoke", "v")
            let ended = try await client.poll("/v1/allocations", headers: [viewer]) { $0.status != 200 }
            #expect(ended.status == 401)
            _ = try await token("revoke", "gw")
            let both = try await client.poll("/v1/allocations?gateway=gw-1", headers: [gateway]) { $0.status != 200 }
            #expect(both.status == 401)
            #expect(try await client.get("/v1/allocations").status == 401)
        }
        // Revoking the last token must not open the house, not even at the next start.
        try await RunningService.run(house) { service in
            let reply = try await service.client.get("/v1/allocations")
            #expect(reply.status == 401)
            #expect(!service.errors.contains("There are no tokens"))
        }
    }

    @Test func `what is set is there at once: an override can be ended right after it was made`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let body = #"{"tenant":"acme","weight":2,"reason":"renewal","expires_in_seconds":600}"#
            let made = try await service.client.call(
                "POST", "/v1/overrides", headers: ["Content-Type: application/json"], body: Array(body.utf8))
            #expect(made.status == 201, "\(made.text)")
            let id = try #require(made.json["id"]?.number)
            let ended = try await service.client.call("DELETE", "/v1/overrides/\(Int(id))")
            #expect(ended.status / 100 == 2, "\(ended.text)")
        }
    }

    @Test func `a removed pool file is a warning, and SIGHUP takes the removal`() async throws {
        let house = try House()
        try house.directory.write(
            #"{ pool: "test:other", nominal: { rpm: 60 } }"#, to: "policies/pools/other.json5")
        try await RunningService.run(house) { service in
            let client = service.client
            try FileManager.default.removeItem(atPath: house.policies + "/pools/other.json5")
            let warned = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == false }
            #expect(warned.status == 200)
            #expect(warned.text.contains("other.json5: was in force and is gone"), "\(warned.text)")
            #expect(try await client.metric("headroom_policy_refused") == 1)
            #expect(try await client.get("/v1/allocations").json["pools"]?["test:other"] != nil)
            service.send(SIGHUP)
            let accepted = try await client.poll("/v1/allocations") { $0.json["pools"]?["test:other"] == nil }
            #expect(accepted.status == 200 && accepted.json["pools"]?["test:other"] == nil)
            let ready = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == true }
            #expect(ready.status == 200 && ready.json["warnings"]?.array?.isEmpty == true)
        }
    }

    @Test func `a clock far ahead of what is stored deletes nothing until a person accepts it`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let posted = try await service.client.post([ServingTests.call("a")])
            #expect(posted.status == 200)
            _ = await service.stop(by: SIGTERM)
        }
        // As if all had been stored 400 days ago.
        try house.tamper("UPDATE clock_mark SET trusted_ms = trusted_ms - 400 * 86400000")
        try house.tamper("UPDATE arrival SET received_ms = received_ms - 400 * 86400000")
        for _ in 0..<2 {
            try await RunningService.run(house) { service in
                let reply = try await service.client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == false }
                #expect(reply.status == 200 && reply.text.contains("start with --accept-clock"), "\(reply.text)")
                #expect(service.errors.contains("the clock is 9600 hours ahead of what is stored"))
                // Housekeeping comes once a second.
                let ticks = #"headroom_loop_ticks_total{result="succeeded"}"#
                while try await service.client.metric(ticks) ?? 0 < 15 {}
                #expect(try await house.storedRecords().count == 1)
            }
        }
        try await RunningService.run(house, "--accept-clock") { service in
            let reply = try await service.client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == true }
            #expect(reply.json["warnings"]?.array?.isEmpty == true, "\(reply.text)")
            let ticks = #"headroom_loop_ticks_total{result="succeeded"}"#
            while try await service.client.metric(ticks) ?? 0 < 15 {}
            #expect(try await house.storedRecords().isEmpty)
        }
    }

    @Test func `contracts imported beside the service are in force at the next tick`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            _ = try await service.client.post([ServingTests.call("a")])
            let contracts = "tenant,tier,pool,floor_tpm\nacme,critical,\(House.pool),123000\n"
            let imported = try await HeadroomProgram.run(
                ["tenants", "import", "-", "--format", "csv"] + house.options, input: contracts)
            #expect(imported.code == 0, "\(imported.errors)")
            let reply = try await service.client.poll("/v1/allocations") { $0.acme?["tier"]?.string == "critical" }
            #expect((reply.acme?["tpm"]?.number ?? 0) >= 123_000, "\(reply.text)")
        }
    }

    @Test func `a good policy is live at once, and a bad one changes nothing and is told`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let client = service.client
            func policy() async throws -> String? { try await client.get("/v1/allocations").json["policy"]?.string }
            #expect(try await policy()?.hasPrefix("test@") == true)

            try house.writeRules(name: "bad", "tiers: 7")
            let warned = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == false }
            #expect(warned.status == 200 && warned.json["ready"]?.bool == true)
            let warning = warned.json["warnings"]?.array?.first?.string ?? ""
            #expect(warning.contains("rules.json5:1:") && warning.contains("tiers: must be"), "\(warning)")
            #expect(try await policy()?.hasPrefix("test@") == true)
            let status = try await HeadroomProgram.run("status", "--url", "http://127.0.0.1:\(client.port)")
            #expect(status.code == 0 && status.output.contains("warning: the changed policy was refused"))

            try house.directory.write(
                #"{ pool: "\#(House.pool)", nominal: { rpm: 60, tpm: 60000 } }"#, to: "policies/pools/test.json5")
            try house.writeRules(name: "good")
            let changed = try await client.poll("/v1/allocations") {
                $0.json["policy"]?.string?.hasPrefix("good@") == true
            }
            #expect(changed.json["pools"]?[House.pool]?["nominal"]?["rpm"]?.number == 60, "\(changed.text)")
            // The loop reports behind what it publishes.
            let calm = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == true }
            #expect(calm.json["warnings"]?.array?.isEmpty == true, "\(calm.text)")

            // A directory that goes away is a bad change too, until it is back.
            let files = FileManager.default
            try files.moveItem(atPath: house.policies, toPath: house.directory.file("elsewhere"))
            let gone = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == false }
            #expect(gone.status == 200 && gone.text.contains("No such file or directory"), "\(gone.text)")
            #expect(try await policy()?.hasPrefix("good@") == true)
            try files.moveItem(atPath: house.directory.file("elsewhere"), toPath: house.policies)
            let back = try await client.poll("/readyz") { $0.json["warnings"]?.array?.isEmpty == true }
            #expect(back.json["warnings"]?.array?.isEmpty == true)

            #expect(service.errors.contains("the changed policy was refused, the old one stays"))
            #expect(service.errors.contains("policy good@"))
        }
    }
}

extension ServiceClient.Reply {
    /// The tenant's entry in a snapshot.
    fileprivate var acme: JSONNode? { json["pools"]?[House.pool]?["tenants"]?["acme"] }
}
