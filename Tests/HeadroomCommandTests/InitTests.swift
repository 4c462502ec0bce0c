import Foundation
import Testing

@Suite struct InitTests {
    @Test func `a newcomer has a service after two commands, and a budget after a line of telemetry`() async throws {
        let house = try House()
        let policies = house.directory.file("mine")
        let started = try await HeadroomProgram.run(
            "init", policies, "--pool", "anthropic:claude", "--rpm", "500", "--tpm", "200000")
        #expect(
            started.code == 0 && started.errors.contains("headroom serve --policies \(policies)"), "\(started.errors)")
        let text = try String(contentsOfFile: policies + "/pools/anthropic-claude.json5", encoding: .utf8)
        #expect(text.contains(#"provider: "anthropic""#) && text.contains("nominal: { rpm: 500, tpm: 200000 }"))
        #expect(try await HeadroomProgram.run("policy", "check", policies).code == 0)
        try await RunningService.run(house, "--policies", policies) { service in
            let line = #"{"type":"call","gateway":"gw-1","tenant":"acme","pool":"anthropic:claude","outcome":"ok"}"#
            #expect(try await service.client.post([line]).status == 200)
            let allocations = try await service.client.poll("/v1/allocations?gateway=gw-1") { reply in
                reply.json["pools"]?["anthropic:claude"]?["budget"]?["tpm"]?.number ?? 0 > 0
            }
            #expect(allocations.status == 200, "\(allocations.text)")
        }
    }

    @Test func `nothing is overwritten`() async throws {
        let house = try House()
        let path = try house.directory.write("mine", to: "policies/pools/a-b.json5")
        let refused = try await HeadroomProgram.run("init", house.policies, "--pool", "a:b", "--rpm", "60")
        #expect(refused.code == 1 && refused.errors.contains("\(path) is there already"), "\(refused.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        try FileManager.default.removeItem(atPath: path)
        let rules = try String(contentsOfFile: house.policies + "/rules.json5", encoding: .utf8)
        let added = try await HeadroomProgram.run("init", house.policies, "--pool", "a:b", "--rpm", "60")
        #expect(added.code == 0, "\(added.errors)")
        #expect(try String(contentsOfFile: house.policies + "/rules.json5", encoding: .utf8) == rules)
        let tiers = try await HeadroomProgram.run(
            "init", house.policies, "--pool", "a:c", "--provider", "openai", "--rpm", "60", "--tiers", "x,y")
        #expect(tiers.code == 1 && tiers.errors.contains("rules.json5 is there already"), "\(tiers.errors)")
    }

    @Test func `a provider that is not known is refused, an account's name is none`() async throws {
        let house = try House()
        let refused = try await HeadroomProgram.run(
            "init", house.policies, "--pool", "a:b", "--provider", "opnai", "--rpm", "60")
        #expect(refused.code == 2 && refused.errors.contains("must be one of openai"), "\(refused.errors)")
        for (pool, provider) in [("mine:b", "null"), ("openai:b", #""openai""#)] {
            let written = try await HeadroomProgram.run("init", house.policies, "--pool", pool, "--rpm", "60")
            #expect(written.code == 0, "\(written.errors)")
            let file = house.policies + "/pools/\(pool.replacing(":", with: "-")).json5"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("provider: \(provider),"), "\(text)")
        }
    }

    @Test func `tiers of one's own replace the standard ones`() async throws {
        let house = try House()
        let policies = house.directory.file("mine")
        let written = try await HeadroomProgram.run(
            "init", policies, "--pool", "a:b", "--provider", "openai", "--rpm", "60", "--tiers", "gold, silver,bronze",
            "--mode", "observe")
        #expect(written.code == 0, "\(written.errors)")
        let rules = try String(contentsOfFile: policies + "/rules.json5", encoding: .utf8)
        #expect(rules.contains(#"{ name: "gold", weight: 4, ceiling_share: null"#))
        #expect(rules.contains(#"default_tier: "silver""#) && !rules.contains(#"name: "premium""#))
        let pool = try String(contentsOfFile: policies + "/pools/a-b.json5", encoding: .utf8)
        #expect(pool.contains(#"mode: "observe""#) && pool.contains(#"provider: "openai""#))
    }

    @Test func `a service without policies says how to begin`() async throws {
        let bare = try await HeadroomProgram.run("serve", "--listen", "127.0.0.1:0")
        #expect(bare.code == 1 && bare.output == "")
        #expect(
            bare.errors.contains(#"policies: there are no policies here: "headroom init" writes some to begin with"#),
            "\(bare.errors)")
        let named = try await HeadroomProgram.run("serve", "--listen", "127.0.0.1:0", "--policies", "mine")
        #expect(named.errors.contains(#""headroom init mine" writes"#), "\(named.errors)")
    }
}
