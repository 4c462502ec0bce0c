import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct DatabaseCommandTests {
    private static let contracts = """
        tenant,tier,strategic,pool,floor_tpm,ceiling_rpm
        acme,premium,true,test:model,1000,400
        globex,free,,,,
        """

    // MARK: audit

    @Test func `audit verify prints the head of a log that is whole, and says where one is broken`() async throws {
        let house = try House()
        for name in ["a", "b", "c"] {
            _ = try await HeadroomProgram.run(
                "token", "create", "--name", name, "--role", "viewer", "--database", house.database)
        }
        let whole = try await HeadroomProgram.run("audit", "verify", "--database", house.database)
        #expect(whole.code == 0 && whole.output.hasPrefix("3 "), "\(whole.errors)")
        #expect(whole.output.filter { !$0.isNewline }.count == 66)

        try house.tamper("DELETE FROM audit WHERE sequence = 3")
        let broken = try await HeadroomProgram.run("audit", "verify", "--database", house.database)
        #expect(broken.code == 1 && broken.output.isEmpty)
        #expect(broken.errors.contains("entry 3: row 3 is missing: expected the row that follows"), "\(broken.errors)")
        // A service says so too.
        try await RunningService.run(house) { service in
            let ready = try await service.client.poll("/readyz") { $0.text.contains("audit log") }
            #expect(ready.text.contains("the audit log is not as it was written: row 3 is missing"), "\(ready.text)")
        }
        let missing = try await HeadroomProgram.run("audit", "verify", "--database", house.directory.file("none"))
        #expect(missing.code == 1 && missing.errors.contains("no such database"))
    }

    // MARK: tenants

    @Test func `an import with faults changes nothing`() async throws {
        let house = try House()
        let good = try house.directory.write(Self.contracts, to: "good.csv")
        let imported = try await HeadroomProgram.run("tenants", "import", good, "--database", house.database)
        #expect(imported.code == 0 && imported.output == "")
        #expect(imported.errors.contains("all contracts replaced by 2"))
        let before = try await list(house)
        #expect(before.array?.map { $0["tenant"]?.string } == ["acme", "globex"])
        #expect(before.array?.first?["pools"]?.array?.first?["floor"]?["tpm"]?.number == 1000)

        let faulty = """
            tenant,tier,pool,floor_tpm
            initech,premium,test:model,500
            initech,premium,test:model,500
            a b,premium,test:model,-5
            """
        let refused = try await HeadroomProgram.run(
            "tenants", "import", "-", "--format", "csv", "--database", house.database, input: faulty)
        #expect(refused.code == 1 && refused.output == "")
        for words in ["-: line 3: tenant initech", "-: line 4: tenant must", "-: line 4: floor_tpm must", "3 faults"] {
            #expect(refused.errors.contains(words), "\(words) in \(refused.errors)")
        }
        #expect(refused.errors.hasSuffix("nothing was imported\n"))
        #expect(try await list(house) == before)

        // What no policy can keep: a tier and a pool that do not exist, a floor beyond the pool.
        let impossible = #"""
            [{"tenant":"acme","tier":"gold","pools":[{"pool":"test:other"}]},
             {"tenant":"globex","pools":[{"pool":"test:model","floor":{"tpm":600001}}]}]
            """#
        let checked = try await HeadroomProgram.run(
            ["tenants", "import", "-", "--format", "json"] + house.options, input: impossible)
        #expect(checked.code == 1)
        for words in ["gold", "test:other", "600000", "nothing was imported"] {
            #expect(checked.errors.contains(words), "\(words) in \(checked.errors)")
        }
        #expect(try await list(house) == before)
    }

    @Test func `what is listed can be imported again`() async throws {
        let house = try House()
        _ = try await HeadroomProgram.run(
            "tenants", "import", "-", "--format", "csv", "--database", house.database, input: Self.contracts)
        let listed = try await HeadroomProgram.run("tenants", "list", "--json", "--database", house.database)
        let other = house.directory.file("other.sqlite")
        let imported = try await HeadroomProgram.run(
            "tenants", "import", "-", "--format", "json", "--database", other, input: listed.output)
        #expect(imported.code == 0)
        let again = try await HeadroomProgram.run("tenants", "list", "--json", "--database", other)
        #expect(again.output == listed.output)
    }

    @Test func `an import that would remove contracts shows them and asks`() async throws {
        let house = try House()
        func run(_ text: String, _ more: String...) async throws -> HeadroomProgram.Outcome {
            try await HeadroomProgram.run(
                ["tenants", "import", "-", "--format", "csv", "--database", house.database] + more, input: text)
        }
        let dry = try await run(Self.contracts, "--dry-run")
        #expect(dry.code == 1 && dry.errors.contains("no such database"), "\(dry.errors)")
        #expect(!FileManager.default.fileExists(atPath: house.database))
        // Nothing goes: nobody has to be asked.
        #expect(try await run(Self.contracts).code == 0)
        let before = try await list(house)

        let empty = try await run("tenant,tier\n")
        #expect(empty.code == 1 && empty.output == "")
        #expect(empty.errors.contains("2 removed: acme, globex\n"), "\(empty.errors)")
        #expect(empty.errors.contains("2 contracts would be removed: add --yes if that is meant; nothing was imported"))
        #expect(try await list(house) == before)

        let changed = "tenant,tier\nacme,free\ninitech,free\n"
        let shown = try await run(changed, "--dry-run")
        let lines = "1 added: initech\n1 changed: acme\n1 removed: globex\n0 unchanged\n"
        #expect(shown.code == 0 && shown.output == lines, "\(shown.output)")
        #expect(try await list(house) == before)

        let meant = try await run(changed, "--yes")
        #expect(meant.code == 0 && meant.errors.hasPrefix(lines), "\(meant.errors)")
        #expect(try await list(house).array?.map { $0["tenant"]?.string } == ["acme", "initech"])
        #expect(try await run("tenant,tier\n", "--yes").code == 0)
        #expect(try await list(house).array?.isEmpty == true)
    }

    @Test func `once there are tokens, an import that changes much waits for a second person here too`() async throws {
        let house = try House()
        func run(_ text: String) async throws -> HeadroomProgram.Outcome {
            let file = try house.directory.write(text, to: "contracts.csv")
            return try await HeadroomProgram.run(
                "tenants", "import", file, "--yes", "--database", house.database)
        }
        let many = "tenant,tier\n" + (1...10).map { "t\($0),free\n" }.joined()
        #expect(try await run(many).code == 0)
        let token = try await HeadroomProgram.run(
            "token", "create", "--name", "ann", "--role", "sre", "--database", house.database)
        #expect(token.code == 0)
        let asked = try await run("tenant,tier\nt1,premium\n")
        #expect(asked.code == 0 && asked.output.hasPrefix("approval 1 is needed: "), "\(asked.output)\(asked.errors)")
        #expect(asked.output.contains("import the same contracts again"))
        #expect(try await list(house).array?.count == 10)
        // One of ten is one person's word.
        #expect(try await run(many.replacing("t1,free", with: "t1,premium")).output == "")
        #expect(try await list(house).array?.count == 10)
    }

    private func list(_ house: House) async throws -> JSONNode {
        let outcome = try await HeadroomProgram.run("tenants", "list", "--json", "--database", house.database)
        #expect(outcome.code == 0)
        return try JSONNode.parse(Array(outcome.output.utf8))
    }

    // MARK: token

    @Test func `a token's secret is printed once and not stored`() async throws {
        let house = try House()
        let created = try await HeadroomProgram.run(
            "token", "create", "--name", "gw-1", "--role", "gateway", "--gateways", "gw-1", "--database", house.database
        )
        #expect(created.code == 0)
        let secret = created.output.trimmingCharacters(in: .newlines)
        #expect(secret.hasPrefix("hr_") && secret.utf8.count > 40)
        #expect(!created.errors.contains(secret))
        for ending in ["", "-wal"] {
            guard let bytes = FileManager.default.contents(atPath: house.database + ending) else { continue }
            #expect(bytes.range(of: Data(secret.utf8)) == nil)
        }
        let digest = SHA256.digest(of: Array(secret.utf8))
        let database = try Database(
            path: house.database, use: .command, coding: .none, time: TimeSource { Timestamp(milliseconds: 0) })
        #expect(try await database.tokens.all().map(\.secretDigest) == [digest])

        let listed = try await HeadroomProgram.run("token", "list", "--json", "--database", house.database)
        let token = try JSONNode.parse(Array(listed.output.utf8)).array?.first
        #expect(token?["state"]?.string == "valid")
        #expect(token?["gateways"]?.array?.map(\.string) == ["gw-1"])
        #expect(!listed.output.contains(secret))

        let again = try await HeadroomProgram.run(
            "token", "create", "--name", "gw-1", "--role", "viewer", "--database", house.database)
        #expect(again.code == 1)
        #expect(again.output == "" && again.errors.contains("gw-1"), "\(again.errors)")
        let revoked = try await HeadroomProgram.run("token", "revoke", "gw-1", "--database", house.database)
        #expect(revoked.code == 0 && revoked.errors.contains("token gw-1 is revoked"))
        let unknown = try await HeadroomProgram.run("token", "revoke", "gw-2", "--database", house.database)
        #expect(unknown.code == 1 && unknown.errors.contains(#"no token "gw-2""#))
    }

    // MARK: migrate

    @Test func `a database is migrated once`() async throws {
        let house = try House()
        let first = try await HeadroomProgram.run("migrate", "--database", house.database)
        #expect(first.code == 0 && first.errors == "")
        let names = first.output.split(separator: "\n").map(String.init)
        #expect(names.first == "0001_create_telemetry.sql")
        #expect(names == names.sorted() && names.count >= 5)
        let second = try await HeadroomProgram.run("migrate", "--database", house.database)
        #expect(second.code == 0 && second.output == "" && second.errors.contains("nothing to do"))
    }

    @Test func `a command that only looks leaves no file behind`() async throws {
        let house = try House()
        for words in [["tenants", "list"], ["token", "list"], ["token", "revoke", "x"]] {
            let outcome = try await HeadroomProgram.run(words + ["--database", house.database])
            #expect(outcome.code == 1)
            #expect(outcome.errors.contains("no such database; name it with --database FILE"), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: house.database))
        }
    }
}

extension SnapshotStore.Coding {
    /// For a database whose snapshots nobody looks at.
    fileprivate static let none = SnapshotStore.Coding(
        encode: { _ in [] }, decode: { _ in throw StorageError(code: .misuse, message: "no snapshots here") })
}
