import HeadroomJSON
import Testing

@Suite struct PolicyCheckTests {
    @Test func `a good directory is summed up`() async throws {
        let house = try House()
        let text = try await HeadroomProgram.run("policy", "check", house.policies)
        #expect(text.code == 0 && text.errors == "")
        #expect(text.output.contains("test@") && text.output.contains("1 pool: \(House.pool)"))
        let json = try await HeadroomProgram.run("policy", "check", house.policies, "--json")
        let answer = try JSONNode.parse(Array(json.output.utf8))
        #expect(json.code == 0 && json.errors == "")
        #expect(answer["valid"]?.bool == true)
        #expect(answer["pools"]?.array?.map(\.string) == [House.pool])
        #expect(answer["faults"]?.array?.isEmpty == true)
    }

    @Test func `every fault of every file is named with its place`() async throws {
        let house = try House()
        try house.directory.write(
            """
            { name: "bad",
              loop: { period_secs: 1, lease_seconds: -3 },
              tiers: [ { name: "gold", weight: 0 } ],
              default_tier: "silver", name: "twice" }
            """, to: "policies/rules.json5")
        try house.directory.write(#"{ pool: "no spaces" }"#, to: "policies/pools/other.json5")
        let text = try await HeadroomProgram.run("policy", "check", house.policies)
        #expect(text.code == 1 && text.output == "")
        for words in [
            "rules.json5:2:11: loop.period_secs: unknown key", "rules.json5:2:42: loop.lease_seconds: must be",
            "rules.json5:3:36: tiers[0].weight: must be", "rules.json5:4:17: default_tier", "rules.json5:4:27: name:",
            "other.json5:1:9: pool: must", "nominal",
        ] {
            #expect(text.errors.contains(words), "\(words) in \(text.errors)")
        }
        let json = try await HeadroomProgram.run("policy", "check", house.policies, "--json")
        let answer = try JSONNode.parse(Array(json.output.utf8))
        #expect(json.code == 1 && json.errors == "")
        #expect(answer["valid"]?.bool == false)
        #expect(text.errors.hasSuffix("\(answer["faults"]?.array?.count ?? 0) faults\n"))
    }

    @Test func `a directory that cannot be read is named`() async throws {
        let house = try House()
        let file = house.policies + "/rules.json5"
        for (path, reason) in [("nowhere", "No such file or directory"), (file, "Not a directory")] {
            let outcome = try await HeadroomProgram.run("policy", "check", path)
            #expect(outcome.code == 1)
            #expect(outcome.errors.hasPrefix("\(path): cannot be read: \(reason)"), "\(outcome.errors)")
        }
    }
}
