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
        ("init --rpm 60", "--pool is missing: the upstream limit that tenants share"),
        ("init --pool a:b", "a rate is missing: what the contract grants, as --rpm 500 --tpm 200000"),
        ("init --pool a:b --rpm 60 --mode on", "must be one of observe, recommend, guarded, full"),
        ("init --pool a:b --rpm 60 --tiers a,a", "must be 1 to 8 different names with commas between"),
        ("serv", #"there is no command "serv"; did you mean "headroom serve"?"#),
        ("polciy check DIR", #"did you mean "headroom policy"?"#),
        ("tenants import f.csv --yes --dry-run", "--yes and --dry-run exclude each other"),
        ("frobnicate --token x", #"there is no command "frobnicate"; "headroom --help" lists them"#),
        ("policy", #"there is no command "policy"; there is "policy check""#),
        (
            "policy chek DIR",
            #"there is no command "policy chek"; did you mean "headroom policy check"? there is "policy check""#
        ),
        ("serve --databse F", "unknown option --databse; known are --accept-clock, --audit-key FILE"),
        ("serve --databse F", #"; did you mean "--database"?"#),
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
        ("approvals accept 1", #""accept": must be list, show, approve or deny"#),
        ("approvals --state open", #"--state "open": must be one of pending, approved, denied, expired, all"#),
        ("recommendations apply 1", "--revision must be the number"),
        ("recommendations apply 1 --revision 1", "--reason is missing"),
        ("approvals deny 1 --reason r --tenants a,,b", #"--tenants "": must be names, separated by commas"#),
        ("freeze", "say either POOL or --all"),
        ("freeze p --all", "say either POOL or --all"),
        ("freeze p", "--reason is missing"),
        ("rollback", "GENERATION is missing"),
        ("rollback old", #""old": must be the number of an earlier generation, as 1842"#),
        ("capacity pin", "POOL is missing"),
        ("capacity pin p", "say a rate: --rpm N, --tpm N, --itpm N, --otpm N"),
        ("capacity pin p --tpm many", #"--tpm "many": must be a number a minute from 0 to 1,000"#),
        ("explain --pool p", "--tenant is missing"),
        ("explain --tenant a*b", #"--tenant "a*b": a name must have"#),
        ("audit --limit 0", #"--limit "0": must be a whole number from 1 to 1000"#),
        ("tenants import", "FILE is missing"),
        ("tenants import -", "say --format csv or --format json"),
        ("tenants import - --format xml", #"--format "xml": must be csv or json"#),
        ("token make", #""make": must be create, list or revoke"#),
        ("token create", "--name is missing"),
        ("token create --name local", #"--name "local": stands for Headroom itself or for a caller without a token"#),
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
        #expect(help.errors == "headroom: standard output cannot be written: No space left on device\n")
    }

    @Test func `a reader that has seen enough ends a command quietly`() async throws {
        let outcome = try await HeadroomProgram.runIntoClosedPipe("simulate", "--help")
        #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
    }

    @Test func `help names a command as its option does`() async throws {
        let named = try await HeadroomProgram.run("help", "policy", "check")
        #expect(named.code == 0 && named.output.hasPrefix("usage: headroom policy check"))
        let family = try await HeadroomProgram.run("help", "policy")
        #expect(family.code == 0 && family.output == named.output)
        let unknown = try await HeadroomProgram.run("help", "polic")
        #expect(unknown.code == 2 && unknown.errors.contains(#"did you mean "headroom policy"?"#), "\(unknown.errors)")
    }

    @Test func `the environment names the service`() async throws {
        let status = try await HeadroomProgram.run("status", environment: ["HEADROOM_URL": "http://127.0.0.1:9"])
        #expect(status.code == 1 && status.errors.contains("http://127.0.0.1:9: no answer"), "\(status.errors)")
        let wrong = try await HeadroomProgram.run("status", environment: ["HEADROOM_URL": "here"])
        #expect(wrong.code == 2 && wrong.errors.contains(#"HEADROOM_URL "here": must be as"#), "\(wrong.errors)")
        // An option that names a database is stronger.
        let list = try await HeadroomProgram.run(
            "tenants", "list", "--database", "none.sqlite", environment: ["HEADROOM_URL": "http://127.0.0.1:9"])
        #expect(list.code == 1 && list.errors.contains("none.sqlite: no such database"), "\(list.errors)")
    }

    @Test func `status says that nothing answers`() async throws {
        // Port 9 is "discard", which nothing serves on loopback.
        let status = try await HeadroomProgram.run("status", "--url", "http://127.0.0.1:9")
        #expect(status.code == 1)
        #expect(status.errors.contains(#"is "headroom serve" running there? --url names another place"#))
    }
}
