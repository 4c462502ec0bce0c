import HeadroomJSON
import Testing

@Suite struct AllocateTests {
    /// WireFormat §4.1's problem, without `bands`.
    private static let problem = """
        {"capacity":{"rpm":1000,"tpm":1000000},
         "tenants":[{"id":"a","tier":"premium","weight":4,"demand":{"rpm":50,"tpm":500000},"floor":{"tpm":100000},"ceiling":{"rpm":400},"shape":{"rpm":1,"tpm":10000}}]}
        """

    @Test func `the documented problem has the documented answer, byte for byte`() async throws {
        let answer =
            #"{"bands":[{"level":0.025,"saturated":null},{"level":0.125,"saturated":null},{"level":0.25,"saturated":"tpm"}],"#
            + #""tenants":[{"id":"a","fill":{"rpm":100,"tpm":1000000},"limit":{"rpm":400,"tpm":1000000},"constraint":"level"}]}"#
            + "\n"
        let house = TemporaryDirectory()
        let file = try house.write(Self.problem, to: "problem.json")
        for outcome in [
            try await HeadroomProgram.run("allocate", input: Self.problem),
            try await HeadroomProgram.run("allocate", "-", input: Self.problem),
            try await HeadroomProgram.run("allocate", file),
        ] {
            #expect(outcome.code == 0 && outcome.errors == "")
            #expect(outcome.output == answer)
        }
    }

    @Test func `every fault is named with its path, all at once`() async throws {
        let problem = """
            {"capacity":{"rpm":-1,"rps":3},
             "bands":[{"fill":"all"},{},{"fill":"floor","criticality":"batch"},{"fill":"demand","criticality":"late","tiers":[1]}],
             "extra":1,
             "tenants":[{"id":"a","weight":0},{"id":"a","demand":{"tpm":"x"}},{"tier":3},5,{"id":"a b"},
              {"id":"c","demand":{"batch":{"rpm":1},"rpm":1},"ceiling":{"rpm":1e40},"floor":[],"color":"red"}]}
            """
        let outcome = try await HeadroomProgram.run("allocate", input: problem)
        #expect(outcome.code == 1)
        #expect(outcome.output == "")
        let faults = outcome.errors.split(separator: "\n").map(String.init)
        let rule = "1 to 128 characters out of A-Z a-z 0-9 . _ : @ -, the first a letter or digit"
        #expect(
            Set(faults) == [
                "extra: unknown; known are capacity, bands, tenants",
                "capacity.rpm: must be a number of at least 0",
                "capacity.rps: unknown; known are rpm, tpm, itpm, otpm",
                "tenants[0].weight: must be a number above 0",
                "tenants[1].demand.tpm: must be a number of at least 0",
                "tenants[2].id: is required",
                "tenants[2].tier: must be a string",
                "tenants[3]: must be an object",
                "tenants[4].id: must be \(rule)",
                "tenants[5].demand: must be either rates or rates by criticality, not both",
                "tenants[5].ceiling.rpm: must be a number of at least 0, and if not 0 from 1e-30 to 1e30",
                "tenants[5].floor: must be an object",
                "tenants[5].color: unknown; known are id, tier, weight, demand, floor, ceiling, shape",
                #"tenants[1].id: "a" is tenants[0] already: ids must be unique"#,
                "bands[0].fill: must be floor, floor_in_demand, demand or ceiling",
                "bands[1].fill: is required: floor, floor_in_demand, demand or ceiling",
                "bands[2].criticality: only demand has a criticality: leave it out",
                "bands[3].criticality: must be interactive, near_real_time or batch",
                "bands[3].tiers[0]: must be a string",
            ])
        #expect(faults.count == Set(faults).count)
    }

    @Test(arguments: [
        ("", "line 1, column 1: the text ends where a value is expected"),
        ("{", "line 1, column 2: the text ends"),
        ("[]", "the problem: must be an object"),
        ("{}", "capacity: is required"),
        (#"{"capacity":{},"tenants":[]}"#, "capacity: must name at least one of rpm, tpm, itpm, otpm"),
        (#"{"capacity":{"rpm":1}}"#, "tenants: is required: a list, may be empty"),
        (#"{"capacity":{"rpm":1},"capacity":{"rpm":2},"tenants":[]}"#, #"the key "capacity" stands twice"#),
        (#"{"capacity":{"rpm":1e999},"tenants":[]}"#, "line 1, column 20"),
        (#"{"capacity":{"rpm":NaN},"tenants":[]}"#, "line 1, column 20"),
        (String(repeating: "[", count: 100_000), "line 1, column 65"),
    ])
    func `what is no problem at all is refused`(input: String, words: String) async throws {
        let outcome = try await HeadroomProgram.run("allocate", input: input)
        #expect(outcome.code == 1)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }

    @Test func `a file that cannot be read is named`() async throws {
        let house = TemporaryDirectory()
        for (path, reason) in [("nothing.json", "No such file or directory"), (house.path, "it is a directory")] {
            let outcome = try await HeadroomProgram.run("allocate", path)
            #expect(outcome.code == 1)
            #expect(outcome.errors.hasPrefix("headroom allocate: \(path): cannot be read: \(reason)"))
        }
    }

    @Test func `a hundred thousand tenants are one problem`() async throws {
        let count = 100_000
        let tenants = (0..<count).map { #"{"id":"t\#($0)","demand":{"rpm":2,"tpm":2000}}"# }
        let input = #"{"capacity":{"rpm":100000,"tpm":1e9},"tenants":[\#(tenants.joined(separator: ","))]}"#
        let outcome = try await HeadroomProgram.run("allocate", input: input)
        #expect(outcome.code == 0 && outcome.errors == "")
        let answer = try JSONNode.parse(Array(outcome.output.utf8))
        // All alike, and each wants twice its part.
        let fills = answer["tenants"]?.array?.map { $0["fill"]?["rpm"]?.number ?? 0 } ?? []
        #expect(fills.count == count)
        #expect(fills.allSatisfy { abs($0 - 1) < 1e-6 })
    }
}
