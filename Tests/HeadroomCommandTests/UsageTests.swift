import Testing

@Suite struct UsageTests {
    @Test func `every command explains itself`() async throws {
        let list = try await HeadroomProgram.run("--help")
        #expect(list.code == 0 && list.errors == "")
        // Two spaces, the name, at least two spaces, the summary.
        let names = list.output.split(separator: "\n").filter { $0.hasPrefix("  ") }
            .map { $0.dropFirst(2).split(separator: "  ")[0] }
        #expect(
            Set(names).isSuperset(of: ["serve", "demo", "allocate", "migrate", "policy check", "tenants", "token"]))
        for name in names {
            let words = name.split(separator: " ").map(String.init)
            let help = try await HeadroomProgram.run(words + ["--help"])
            #expect(help.code == 0 && help.errors == "", "\(name)")
            #expect(help.output.hasPrefix("usage: headroom \(name)"), "\(help.output)")
        }
        let family = try await HeadroomProgram.run("policy", "--help")
        #expect(family.code == 0 && family.output.hasPrefix("usage: headroom policy check"))
    }

    @Test func `the version is one line of data`() async throws {
        let version = try await HeadroomProgram.run("--version")
        #expect(version.code == 0 && version.errors == "")
        #expect(version.output.hasPrefix("headroom ") && version.output.hasSuffix("\n"))
    }

    @Test(arguments: [
        ("", "usage: headroom COMMAND"),
        ("frobnicate --token x", #"there is no command "frobnicate"; "headroom --help" lists them"#),
        ("policy", #"there is no command "policy"; there is "policy check""#),
        ("policy chek DIR", #"there is no command "policy chek"; there is "policy check""#),
        ("serve --databse F", "unknown option --databse; known are --database FILE, --listen HOST:PORT"),
        ("serve --listen", "--listen needs a value: --listen HOST:PORT"),
        ("serve --listen 8420", #"--listen "8420": "8420" has no port from 0 to 65535; an address is HOST:PORT"#),
        ("serve --listen localhost:70000", "has no port from 0 to 65535"),
        ("serve --tls-ends-at-proxy=yes", "--tls-ends-at-proxy takes no value"),
        ("serve now", #"unexpected argument "now""#),
        ("allocate a b", #"unexpected argument "b""#),
        ("allocate --fast", "unknown option --fast; there are none but --help"),
        ("policy check", "DIR is missing"),
        ("tenants", "say import, list, put or remove"),
        ("tenants export", #""export": must be import, list, put or remove"#),
        ("tenants remove acme", "this erases all that is stored of acme, for good: add --yes"),
        ("tenants list --url http://a --database f", "--database and --url exclude each other"),
        ("override", "say set, list or end"),
        ("override set --tier x", "--tenant is missing"),
        ("override set --tenant a", "--tier or --weight is missing"),
        ("override set --tenant a --weight 0", #"--weight "0": must be a number from 0.001 to 1000.0"#),
        ("override set --tenant a --tier x", "--reason is missing"),
        ("override set --tenant a --tier x --reason y", "--expires-in is missing: when it ends by itself, as 90s"),
        ("override end", #"ID is missing: "headroom override list" shows them"#),
        ("override end x", #""x": must be the number that "headroom override list" shows"#),
        ("approvals accept 1", #""accept": must be list, approve or deny"#),
        ("approvals --state open", #"--state "open": must be one of pending, approved, denied, expired, all"#),
        ("recommendations apply 1", "--reason is missing"),
        ("freeze", "say either POOL or --all"),
        ("freeze p --all", "say either POOL or --all"),
        ("freeze p", "--reason is missing"),
        ("rollback", "GENERATION is missing"),
        ("rollback old", #""old": must be the number of an earlier generation, as 1842"#),
        ("capacity pin", "POOL is missing"),
        ("capacity pin p", "say a rate: --rpm N, --tpm N, --itpm N, --otpm N"),
        ("capacity pin p --tpm many", #"--tpm "many": must be a number from 0.0 to"#),
        ("explain --pool p", "--tenant is missing"),
        ("explain --tenant a*b", #"--tenant "a*b": a name must have"#),
        ("audit --limit 0", #"--limit "0": must be a whole number from 1 to 1000"#),
        ("tenants import", "FILE is missing"),
        ("tenants import -", "say --format csv or --format json"),
        ("tenants import - --format xml", #"--format "xml": must be csv or json"#),
        ("token make", #""make": must be create, list or revoke"#),
        ("token create", "--name is missing"),
        ("token create --name local", #"--name "local": stands for Headroom itself or for whoever needs no token"#),
        ("token create --name a", "--role is missing: one of gateway, viewer, success, sre, admin"),
        ("token create --name a --role root", #"--role "root": must be one of gateway, viewer, success, sre, admin"#),
        ("token create --name a --role gateway", "--gateways is missing"),
        ("token create --name a --role viewer --expires-in soon", "must be a time from 1s to 3650d, as 90s"),
        ("token create --name a*b --role viewer", #"--name "a*b": must have"#),
        ("token revoke", "NAME is missing"),
        ("status --url here", #"--url "here": must be as http://127.0.0.1:8420"#),
    ])
    func `wrong usage names the word and what would be right`(line: String, words: String) async throws {
        let outcome = try await HeadroomProgram.run(line.split(separator: " ").map(String.init))
        #expect(outcome.code == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test func `data that nobody takes is an error, not a crash`() async throws {
        let help = try await HeadroomProgram.run("--help", outputPath: "/dev/full")
        #expect(help.code == 1)
        #expect(
            help.errors == "headroom: standard output cannot be written: its reader has gone, or the disk is full\n")
    }

    @Test func `status says that nothing answers`() async throws {
        // Port 9 is "discard", which nothing serves on loopback.
        let status = try await HeadroomProgram.run("status", "--url", "http://127.0.0.1:9")
        #expect(status.code == 1)
        #expect(status.errors.contains(#"is "headroom serve" running there? --url names another place"#))
    }
}
