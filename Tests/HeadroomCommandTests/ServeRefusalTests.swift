import Foundation
import Glibc
import Testing

/// What keeps a service from starting: one clear sentence, exit code 1, nothing changed.
@Suite struct ServeRefusalTests {
    @Test func `nobody is let in unasked or in clear text`() async throws {
        let house = try House()
        let open = try await serve(house, "--listen", "0.0.0.0:0")
        #expect(open.contains(#"will not listen on 0.0.0.0:0 without tokens; make one with "headroom token create""#))
        _ = try await HeadroomProgram.run(
            "token", "create", "--name", "v", "--role", "viewer", "--database", house.database)
        let clear = try await serve(house, "--listen", "0.0.0.0:0")
        #expect(
            clear.contains("in clear text; give --tls-certificate and --tls-key, or put a proxy that speaks TLS"))
    }

    @Test func `an address that cannot be served is named`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let other = try House()
            let errors = try await serve(other, "--listen", "127.0.0.1:\(service.client.port)")
            #expect(errors.contains("127.0.0.1:\(service.client.port) is in use: another program listens there"))
            // It was found before a file was touched.
            #expect(!FileManager.default.fileExists(atPath: other.database))
            #expect(try await service.client.get("/healthz").status == 200)
        }
        #expect(try await serve(house, "--listen", "127.example.org:0").contains("is no address; give an IP address"))
    }

    @Test func `a second Headroom on the same file is refused`() async throws {
        let house = try House()
        try await RunningService.run(house) { service in
            let errors = try await serve(house)
            #expect(errors.contains("\(house.database): another Headroom serves this database; stop it first"))
            let link = house.directory.file("link.sqlite")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: house.database)
            let linked = try await serve(house, "--database", link)
            #expect(linked.contains("link.sqlite: another Headroom serves this database"), "\(linked)")
            #expect(try await service.client.get("/readyz").status == 200)
        }
    }

    @Test func `a file that is no database of Headroom's stays as it is`() async throws {
        let house = try House()
        let text = String(repeating: "this is no database\n", count: 100)
        try house.directory.write(text, to: "headroom.sqlite")
        #expect(try await serve(house).contains("this is not a SQLite database: name another file"))
        #expect(try String(contentsOfFile: house.database, encoding: .utf8) == text)

        let other = try House()
        try other.tamper("CREATE TABLE recipe (id INTEGER PRIMARY KEY)")
        #expect(try await serve(other).contains("this is another program's database"))
    }

    @Test func `a damaged database stops the start`() async throws {
        let house = try House()
        _ = try await HeadroomProgram.run("migrate", "--database", house.database)
        // All pages but the first, which has the header and the schema.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: house.database))
        bytes[4096...] = Data(repeating: 0xA5, count: bytes.count - 4096)
        try bytes.write(to: URL(fileURLWithPath: house.database))
        #expect(try await serve(house).contains("the file is damaged: restore it from a backup, or move it away"))
    }

    @Test func `a place that cannot hold a database is named`() async throws {
        let house = try House()
        for (path, words) in [
            (house.policies, "is a directory; name a file in it"),
            ("missing/headroom.sqlite", "No such file or directory"),
            ("", "is no name of a file"), (":memory:", "is no name of a file"),
        ] {
            let errors = try await serve(house, "--database", path)
            #expect(errors.contains(words), "\(path): \(errors)")
        }
    }

    /// The superuser may write everywhere.
    @Test(.enabled(if: geteuid() != 0))
    func `a database that cannot be written is named`() async throws {
        let house = try House()
        _ = try await HeadroomProgram.run("migrate", "--database", house.database)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: house.database)
        #expect(try await serve(house).contains("must be writable for the user that runs Headroom"))
    }

    @Test func `a policy that cannot be read leaves no database behind`() async throws {
        let house = try House()
        #expect(try await serve(house, "--policies", "nowhere").contains("nowhere: there are no policies here"))
        #expect(!FileManager.default.fileExists(atPath: house.database))
        try house.directory.write("{ name: 7, loop: { period_seconds: 0 } }", to: "policies/rules.json5")
        let errors = try await serve(house)
        #expect(errors.contains("rules.json5:1:9: name: must be"), "\(errors)")
        #expect(errors.contains("rules.json5:1:36: loop.period_seconds: must be"), "\(errors)")
        #expect(!FileManager.default.fileExists(atPath: house.database))
    }

    @Test func `a database with another history is refused`() async throws {
        let edited = try House()
        _ = try await HeadroomProgram.run("migrate", "--database", edited.database)
        try edited.tamper("UPDATE schema_migration SET checksum = 'edited' WHERE number = 2")
        #expect(try await serve(edited).contains("migration 0002_create_deduplication.sql was edited"))

        let newer = try House()
        _ = try await HeadroomProgram.run("migrate", "--database", newer.database)
        try newer.tamper("INSERT INTO schema_migration VALUES (9999, '9999_future.sql', 'x', 0)")
        let errors = try await serve(newer)
        #expect(errors.contains("a newer Headroom has written this database (migration 9999_future.sql)"))
        let command = try await HeadroomProgram.run("token", "list", "--database", newer.database)
        #expect(command.code == 1 && command.errors.contains("a newer Headroom has written this database"))
    }

    /// Standard error of a `serve` that must not start; what is given last counts.
    private func serve(_ house: House, _ arguments: String...) async throws -> String {
        let outcome = try await HeadroomProgram.run(
            ["serve", "--listen", "127.0.0.1:0"] + house.options + arguments)
        #expect(outcome.code == 1)
        #expect(outcome.output == "")
        return outcome.errors
    }
}
