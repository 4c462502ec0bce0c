import Foundation
import HeadroomJSON
import Testing

/// People at the command line of a running service, each with a token of their own.
@Suite struct PeopleCommandTests {
    /// A service with tokens for `people`, named as their roles, and telemetry of the tenant acme.
    private func withService(
        _ people: [String], _ body: (RunningService, People) async throws -> Void
    ) async throws {
        let house = try House()
        var tokens: [String: String] = [:]
        for role in people + ["gateway"] {
            let more = role == "gateway" ? ["--gateways", "gw-1"] : []
            let made = try await HeadroomProgram.run(
                ["token", "create", "--name", role, "--role", role, "--database", house.database] + more)
            #expect(made.code == 0, "\(made.errors)")
            tokens[role] = made.output.filter { !$0.isNewline }
        }
        try await RunningService.run(house) { service in
            let reply = try await service.client.post(
                [ServingTests.call("a")], headers: ["Authorization: Bearer \(tokens["gateway"] ?? "")"])
            #expect(reply.status == 200)
            try await body(service, People(port: service.client.port, tokens: tokens))
        }
    }

    private struct People {
        let port: UInt16
        let tokens: [String: String]

        func run(_ role: String, _ words: String..., input: String = "") async throws -> HeadroomProgram.Outcome {
            try await HeadroomProgram.run(
                words + ["--url", "http://127.0.0.1:\(port)"], input: input,
                environment: ["HEADROOM_TOKEN": tokens[role] ?? ""])
        }
    }

    @Test func `an override is set, listed, in force, and ended`() async throws {
        try await withService(["success", "viewer"]) { service, people in
            let set = try await people.run(
                "success", "override", "set", "--tenant", "acme", "--tier", "premium", "--reason", "renewal call",
                "--expires-in", "2h")
            #expect(set.code == 0, "\(set.errors)")
            #expect(
                set.output.hasPrefix("override 1: acme is in the tier premium in all pools until 20"), "\(set.output)")
            let viewer = ["Authorization: Bearer \(people.tokens["viewer"] ?? "")"]
            let raised = try await service.client.poll("/v1/tenants?tenant=acme", headers: viewer) {
                $0.json["tenants"]?[0]?["pools"]?[0]?["tier"]?.string == "premium"
            }
            #expect(raised.text.contains(#""tier":"premium""#), "\(raised.text)")
            let list = try await people.run("viewer", "override", "list", "--tenant", "acme")
            #expect(list.code == 0 && list.output.contains("renewal call"), "\(list.output)")
            let refused = try await people.run("viewer", "override", "end", "1")
            #expect(refused.code == 1 && refused.errors.contains("this call takes success, sre, admin"))
            let ended = try await people.run("success", "override", "end", "1")
            #expect(ended.code == 0 && ended.output == "" && ended.errors == "override 1 is ended\n")
            let again = try await people.run("success", "override", "end", "1")
            #expect(again.code == 1 && again.errors.contains("no override 1 is in force"))
        }
    }

    @Test func `an override beyond the limits takes a second person`() async throws {
        try await withService(["sre", "admin"]) { _, people in
            let asked = try await people.run(
                "sre", "override", "set", "--tenant", "acme", "--pool", House.pool, "--tier", "critical", "--reason",
                "incident", "--expires-in", "30m")
            #expect(asked.code == 0 && asked.output.hasPrefix("approval "), "\(asked.output)\(asked.errors)")
            #expect(asked.output.contains("from standard to critical are 2 tiers"))
            let list = try await people.run("admin", "approvals")
            #expect(list.output.contains("acme in test:model: pending, override, asked by sre"), "\(list.output)")
            #expect(list.output.contains("to tier critical for 30 min"))
            let id = String(asked.output.split(separator: " ")[1])
            let own = try await people.run("sre", "approvals", "approve", id, "--revision", "1", "--reason", "me")
            #expect(own.code == 1, "\(own.output)")
            let approved = try await people.run(
                "admin", "approvals", "approve", id, "--revision", "1", "--reason", "agreed")
            #expect(approved.code == 0 && approved.output.contains("approved by admin: agreed"), "\(approved.errors)")
            let late = try await people.run("admin", "approvals", "deny", id, "--revision", "1", "--reason", "no")
            #expect(late.code == 1)
            #expect(try await people.run("admin", "approvals").output == "none is pending\n")
            #expect(try await people.run("sre", "override", "list").output.contains("critical"))
            #expect(try await people.run("sre", "recommendations", "--state", "all").output == "none\n")
        }
    }

    @Test func `a pool is pinned, frozen, rolled back, and all of it is in the log`() async throws {
        try await withService(["sre", "viewer"]) { _, people in
            let why = ["--reason", "incident 7", "--expires-in", "15m"]
            func sre(_ words: String...) async throws -> HeadroomProgram.Outcome {
                try await HeadroomProgram.run(
                    words + ["--url", "http://127.0.0.1:\(people.port)"],
                    environment: ["HEADROOM_TOKEN": people.tokens["sre"] ?? ""])
            }
            let pinned = try await sre("capacity", "pin", House.pool, "--tpm", "500000", why[0], why[1], why[2], why[3])
            #expect(pinned.output.hasPrefix("test:model: capacity pinned at tpm 500,000 until"), "\(pinned.errors)")
            let frozen = try await sre("freeze", House.pool, why[0], why[1], why[2], why[3])
            #expect(frozen.code == 0 && frozen.output.contains(": test:model until "), "\(frozen.errors)")
            let status = try await people.run("viewer", "status")
            #expect(status.code == 0, "\(status.errors)")
            #expect(status.output.contains("test:model: pinned at tpm 500,000 by sre"), "\(status.output)")
            #expect(status.output.contains("test:model: frozen by sre"), "\(status.output)")
            let back = try await sre("rollback", "999999", why[0], why[1], why[2], why[3])
            #expect(back.code == 1 && back.output == "", "\(back.output)")
            let id = String(frozen.output.split(separator: " ")[1].dropLast())
            #expect(try await sre("freeze", "list").output.contains("incident 7"))
            #expect(try await sre("freeze", "end", id).code == 0)
            #expect(try await sre("capacity", "unpin", House.pool).code == 0)
            #expect(try await sre("capacity", "unpin", House.pool).code == 1)
            let log = try await sre("audit")
            #expect(log.code == 0 && log.output.contains("incident 7"), "\(log.output)\(log.errors)")
            #expect(try await people.run("viewer", "audit").code == 1)
        }
    }

    @Test func `a contract is put, listed and erased over the service`() async throws {
        try await withService(["admin"]) { _, people in
            let contract = #"{"tenant":"zeta","tier":"premium","pools":[{"pool":"test:model","floor":{"tpm":1000}}]}"#
            let put = try await people.run("admin", "tenants", "put", "-", input: contract)
            #expect(put.code == 0 && put.output == "zeta: tier premium, terms in 1 pool\n", "\(put.errors)")
            let heavy = contract.replacing("1000", with: "900000")
            let refused = try await people.run("admin", "tenants", "put", "-", input: heavy)
            #expect(refused.code == 1 && refused.errors.contains("the floors of 1 tenants sum to 900000 tpm"))
            let list = try await people.run("admin", "tenants", "list")
            #expect(list.code == 0 && list.output.contains("zeta"), "\(list.errors)")
            let imported = try await people.run(
                "admin", "tenants", "import", "-", "--format", "csv", input: "tenant,tier\nzeta,free\nomega,premium\n")
            #expect(imported.code == 0 && imported.errors.contains("all contracts replaced by 2"), "\(imported.errors)")
            let kept = try await people.run(
                "admin", "tenants", "import", "-", "--format", "csv", input: "tenant,tier\n")
            #expect(kept.code == 1 && kept.errors.contains("2 removed: omega, zeta\n"), "\(kept.errors)")
            let shown = try await people.run(
                "admin", "tenants", "import", "-", "--format", "csv", "--dry-run", input: "tenant,tier\nzeta,premium\n")
            #expect(shown.code == 0 && shown.output == "0 added\n1 changed: zeta\n1 removed: omega\n0 unchanged\n")
            let removed = try await people.run("admin", "tenants", "remove", "zeta", "--yes")
            #expect(removed.code == 0 && removed.errors == "zeta is erased\n", "\(removed.errors)")
            let left = try await people.run("admin", "tenants", "list", "--json")
            // Until the next tick the loop's report still names whoever was there at the last one, without a contract.
            let bought = (try JSONNode.parse(Array(left.output.utf8)).array ?? [])
                .filter { $0["contract"].map { !$0.isNull } ?? false }.map { $0["tenant"]?.string }
            #expect(bought == ["omega"], "\(left.output)")
        }
    }

    @Test func `a number is explained in sentences`() async throws {
        try await withService(["viewer"]) { service, people in
            let viewer = ["Authorization: Bearer \(people.tokens["viewer"] ?? "")"]
            let known = try await service.client.poll(
                "/v1/explain?tenant=acme&pool=\(House.pool)", headers: viewer
            ) { $0.status == 200 }
            #expect(known.status == 200, "\(known.text)")
            let told = try await people.run("viewer", "explain", "--tenant", "acme", "--pool", House.pool)
            #expect(told.code == 0 && told.output.hasPrefix("acme asked for "), "\(told.errors)")
            #expect(told.output.contains("The pool test:model has"), "\(told.output)")
            let unknown = try await people.run("viewer", "explain", "--tenant", "nobody", "--pool", House.pool)
            #expect(unknown.code == 1 && unknown.errors.contains("there is no number of nobody in test:model"))
        }
    }
}
