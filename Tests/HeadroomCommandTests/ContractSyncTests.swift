import Foundation
import HeadroomJSON
import Testing

/// `serve --sync-contracts`: contracts as files say, while the service runs.
@Suite struct ContractSyncTests {
    private static func tenants(_ reply: ServiceClient.Reply) -> [String] {
        (reply.json["tenants"]?.array ?? []).compactMap { tenant in
            tenant["contract"]?["tier"]?.string.map { "\(tenant["tenant"]?.string ?? "") \($0)" }
        }
    }

    @Test func `files are followed, a fault changes nothing and is an alert, and much is asked for`() async throws {
        let house = try House()
        try house.writeRules(
            """
            alerts: { close_seconds: 0.2 },
            contracts: { columns: { tenant: "Account" }, tiers: { "Gold": "premium" }, approval_share: 0.4 }
            """)
        let folder = house.directory.file("crm")
        func write(_ text: String, to name: String) throws { try house.directory.write(text, to: "crm/\(name)") }
        try write("Account;Tier\na;gold\nb;free\nc;free\n", to: "east.csv")
        try write(#"[{"tenant":"z","tier":"free"}]"#, to: "west.json")
        try await RunningService.run(house, ["--sync-contracts", folder, "--every", "1s"]) { service in
            let client = service.client
            func poll(_ wanted: [String]) async throws -> [String] {
                Self.tenants(try await client.poll("/v1/tenants") { Self.tenants($0) == wanted })
            }
            let first = ["a premium", "b free", "c free", "z free"]
            #expect(try await poll(first) == first, "\(service.errors)")

            // A fault in one file, and one tenant in two.
            try write("Account;Tier\na;gold\nb;fre\nc;free\nz;free\n", to: "east.csv")
            let refused = try await client.poll("/v1/alerts?kind=service") { $0.text.contains("contract_sync") }
            #expect(refused.text.contains("tenant z stands in"), "\(refused.text)\(service.errors)")
            let ready = try await client.get("/readyz")
            #expect(ready.status == 200 && ready.text.contains("are not taken, and those before stay"), "\(ready.text)")
            #expect(Self.tenants(try await client.get("/v1/tenants")) == first)

            // Good again, and one contract of four may change unasked.
            try write("Account;Tier\na;gold\nb;standard\nc;free\n", to: "east.csv")
            let second = ["a premium", "b standard", "c free", "z free"]
            #expect(try await poll(second) == second, "\(service.errors)")
            let closed = try await client.poll("/v1/alerts?state=closed") { $0.text.contains("contract_sync") }
            #expect(closed.text.contains("contract_sync"), "\(closed.text)")

            // Two are too many for one person, and a program is one.
            try write("Account;Tier\na;free\nb;free\nc;free\n", to: "east.csv")
            let asked = try await client.poll("/v1/approvals") { $0.json["approvals"]?.array?.isEmpty == false }
            let question = try #require(asked.json["approvals"]?.array?.first, "\(asked.text)\(service.errors)")
            #expect(question["kind"]?.string == "contracts" && question["author"]?.string == "contract sync")
            #expect(Self.tenants(try await client.get("/v1/tenants")) == second)
            let url = ["--url", "http://127.0.0.1:\(client.port)"]
            let listed = try await HeadroomProgram.run(["approvals"] + url)
            #expect(
                listed.output.contains("all tenants: pending, contracts, asked by contract sync"), "\(listed.output)")
            #expect(listed.output.contains("2 changed: a, b"), "\(listed.output)")
            let id = String(Int(question["id"]?.number ?? 0))
            let approved = try await HeadroomProgram.run(
                ["approvals", "approve", id, "--revision", "1", "--reason", "they moved"] + url)
            #expect(approved.code == 0, "\(approved.errors)")
            let third = ["a free", "b free", "c free", "z free"]
            #expect(try await poll(third) == third, "\(service.errors)")
            let log = try await HeadroomProgram.run(["audit"] + url)
            for words in ["contracts.ask", "approval.approve", "contracts.import", "contract.changed"] {
                #expect(log.output.contains(words), "\(words): \(log.output)")
            }
        }
    }

    @Test func `what cannot be followed is wrong usage`() async throws {
        let house = try House()
        let missing = try await HeadroomProgram.run(["serve", "--sync-contracts", "nowhere.csv"] + house.options)
        #expect(missing.code == 2 && missing.errors.contains("must be a .csv or .json file"), "\(missing.errors)")
        let alone = try await HeadroomProgram.run(["serve", "--every", "1h"] + house.options)
        #expect(alone.code == 2 && alone.errors.contains("--every goes with --sync-contracts"), "\(alone.errors)")
    }
}
