import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct PolicyLoaderTests {
    @Test func `an empty rule file gives the defaults and a pool file its pool`() throws {
        let policy = try load(rules: "{}", pools: ["a": "{pool: 'a', nominal: {rpm: 60, tpm: 1000}}"])
        var expected = Policy(pools: [PoolPolicy(pool: "a", nominal: Rates(rpm: 60, tpm: 1000))])
        expected.digest = policy.digest
        #expect(policy == expected)
        #expect(policy.digest.count == 16)
    }

    @Test func `a fault is named with its line, its column, its key and what would be right`() {
        for (rules, code, place, key, message) in Self.faultyRules {
            let faults = faults(rules: rules)
            #expect(faults.count == 1, "\(rules): \(faults)")
            guard let fault = faults.first else { continue }
            #expect(fault.file == "policies/rules.json5", "\(rules)")
            #expect("\(fault.line ?? 0):\(fault.column ?? 0)" == place, "\(rules)")
            #expect(fault.code == code, "\(rules)")
            #expect(fault.key == key, "\(rules)")
            #expect(fault.message.contains(message), "\(rules): \(fault.message)")
        }
    }

    static let faultyRules: [(String, PolicyFault.Code, String, String, String)] = [
        ("", .syntax, "1:1", "", "a value"),
        ("{", .syntax, "1:2", "", "',' or '}'"),
        ("[]", .wrongType, "1:1", "", "must be an object, found an array"),
        ("{\n  perid: 1,\n}", .unknownKey, "2:3", "perid", "known here are name, tiers, default_tier"),
        ("{loop: {perid_seconds: 1}}", .unknownKey, "1:9", "loop.perid_seconds", "known here are period_seconds"),
        ("{name: 'a',\n name: 'b'}", .duplicateKey, "2:2", "name", "remove one"),
        ("{loop: {period_seconds: 1, period_seconds: 2}}", .duplicateKey, "1:28", "loop.period_seconds", "remove one"),
        ("{name: 7}", .wrongType, "1:8", "name", "must be a string, found a number"),
        ("{name: 'a b'}", .outOfRange, "1:8", "name", "the first a letter or digit, found \"a b\""),
        ("{loop: 3}", .wrongType, "1:8", "loop", "must be an object, found a number"),
        (
            "{loop: {period_seconds: '2'}}", .wrongType, "1:25", "loop.period_seconds",
            "from 0.1 to 60 (seconds), found a string"
        ),
        ("{loop: {period_seconds: null}}", .wrongType, "1:25", "loop.period_seconds", "found null"),
        (
            "{loop: {period_seconds: 0}}", .outOfRange, "1:25", "loop.period_seconds",
            "from 0.1 to 60 (seconds), found 0"
        ),
        ("{loop: {period_seconds: NaN}}", .outOfRange, "1:25", "loop.period_seconds", "write a finite number"),
        ("{loop: {period_seconds: -Infinity}}", .outOfRange, "1:25", "loop.period_seconds", "write a finite number"),
        ("{loop: {period_seconds: 1e999}}", .outOfRange, "1:25", "loop.period_seconds", "too large"),
        (
            "{loop: {max_tenants: 1.5}}", .outOfRange, "1:22", "loop.max_tenants",
            "must be a whole number from 1 to 1000000"
        ),
        (
            "{loop: {lease_seconds: 3}}", .conflict, "1:24", "loop.lease_seconds",
            "at least 4, twice loop.period_seconds"
        ),
        ("{loop: {period_seconds: 10}}", .conflict, "1:25", "loop.lease_seconds", "at least 20"),
        ("{strategic_factor: 0.5}", .outOfRange, "1:20", "strategic_factor", "from 1 to 10 (factor)"),
        ("{tiers: {}}", .wrongType, "1:9", "tiers", "must be a list of tiers"),
        ("{tiers: []}", .outOfRange, "1:9", "tiers", "1 to 32 tiers, found 0"),
        ("{tiers: [{name: 'standard'}]}", .missing, "1:10", "tiers[0].weight", "missing: the tier's weight"),
        ("{tiers: [{name: 'standard', weight: 0}]}", .outOfRange, "1:37", "tiers[0].weight", "from 0.001 to 1000"),
        (
            "{tiers: [{name: 'standard', weight: 1, ceiling_share: 2}]}", .outOfRange, "1:55", "tiers[0].ceiling_share",
            "or null"
        ),
        ("{tiers: [{name: 'gold', weight: 1}]}", .unknownName, "1:17", "default_tier", "(gold), found \"standard\""),
        (
            "{tiers: [{name:'standard',weight:1},\n{name:'standard',weight:1}]}", .duplicateName, "2:7",
            "tiers[1].name", "at tiers[0]"
        ),
        (
            "{tiers: [{name:'standard',weight:1},\n{name:'top',weight:2}]}", .conflict, "2:20", "tiers[1].weight",
            "highest first"
        ),
        (
            "{default_tier: 'gold'}", .unknownName, "1:16", "default_tier",
            "(critical, premium, standard, free), found \"gold\""
        ),
        ("{bands: []}", .outOfRange, "1:9", "bands", "1 to 32 bands"),
        ("{bands: [{}]}", .missing, "1:10", "bands[0].fill", "floor_in_demand"),
        (
            "{bands: [{fill: 'flor'}]}", .unknownName, "1:17", "bands[0].fill",
            "floor, floor_in_demand, least_share, start, demand, burst, ceiling"
        ),
        ("{bands: [{fill: 'floor'}, {fill: 'floor'}]}", .conflict, "1:27", "bands[1]", "bands[0] already"),
        (
            "{bands: [{fill: 'floor', criticality: 'batch'}]}", .conflict, "1:39", "bands[0].criticality",
            "only a band that fills demand"
        ),
        (
            "{bands: [{fill: 'demand', criticality: 'soon'}]}", .unknownName, "1:40", "bands[0].criticality",
            "near_real_time"
        ),
        ("{bands: [{fill: 'floor', tiers: ['gold']}]}", .unknownName, "1:34", "bands[0].tiers[0]", "found \"gold\""),
        ("{bands: [{fill: 'floor', tiers: [1]}]}", .wrongType, "1:34", "bands[0].tiers[0]", "must be a string"),
        ("{start: {share_each: 0.1}}", .conflict, "1:22", "start.share_total", "must be at least 0.1"),
        ("{demand: {window_seconds: 1}}", .conflict, "1:27", "demand.window_seconds", "at least 2"),
        ("{starvation: {seconds: 1}}", .conflict, "1:24", "starvation.seconds", "at least 2"),
        ("{telemetry: {raw_hours: 1, dedupe_seconds: 7200}}", .conflict, "1:25", "telemetry.raw_hours", "at least 2"),
        ("{'a\\u001bb': 1}", .unknownKey, "1:2", "[\"a\\u{1B}b\"]", "unknown key"),
    ]

    @Test func `a faulty pool file is named the same way`() {
        for (pool, code, place, key, message) in Self.faultyPools {
            let faults = faults(rules: "{}", pools: ["a": pool])
            #expect(faults.count == 1, "\(pool): \(faults)")
            guard let fault = faults.first else { continue }
            #expect(fault.file == "policies/pools/a.json5", "\(pool)")
            #expect("\(fault.line ?? 0):\(fault.column ?? 0)" == place, "\(pool)")
            #expect(fault.code == code, "\(pool)")
            #expect(fault.key == key, "\(pool)")
            #expect(fault.message.contains(message), "\(pool): \(fault.message)")
        }
    }

    static let faultyPools: [(String, PolicyFault.Code, String, String, String)] = [
        ("{nominal: {rpm: 1}}", .missing, "1:1", "pool", "as telemetry states it"),
        ("{pool: '-', nominal: {rpm: 1}}", .outOfRange, "1:8", "pool", "1 to 128 characters"),
        ("{pool: 'a'}", .missing, "1:1", "nominal", "{rpm: 500, tpm: 30000}"),
        ("{pool: 'a', nominal: {}}", .missing, "1:22", "nominal", "at least one of rpm, tpm, itpm, otpm"),
        ("{pool: 'a', nominal: {rpm: 0}}", .outOfRange, "1:28", "nominal.rpm", "from 1 to"),
        (
            "{pool: 'a', nominal: {rps: 1, rpm: 1}}", .unknownKey, "1:23", "nominal.rps",
            "known here are rpm, tpm, itpm, otpm"
        ),
        (
            "{pool: 'a', nominal: {rpm: 1}, mode: 'auto'}", .unknownName, "1:38", "mode",
            "observe, recommend, guarded, full"
        ),
        ("{pool: 'a', nominal: {rpm: 1}, counts_refused: 1}", .wrongType, "1:48", "counts_refused", "true or false"),
        (
            "{pool: 'a', nominal: {rpm: 1}, burst_seconds: 7}", .conflict, "1:47", "burst_seconds",
            "at most provider_burst_seconds, 6"
        ),
        ("{pool: 'a', nominal: {rpm: 1}, failover: ['a']}", .conflict, "1:43", "failover[0]", "to itself"),
        ("{pool: 'a', nominal: {rpm: 1}, failover: ['b']}", .unknownName, "1:43", "failover[0]", "found \"b\""),
    ]

    @Test func `a file with five faults names all five, in their order`() {
        let rules = """
            {
              name: "bad name",
              loop: { period_seconds: Infinity, lease: 15 },
              strategic_factor: 2,
              strategic_factor: 3,
              demand: { margin: "high" },
            }
            """
        let places = faults(rules: rules).map { "\($0.line ?? 0):\($0.column ?? 0) \($0.key) \($0.code.rawValue)" }
        #expect(
            places == [
                "2:9 name outOfRange", "3:27 loop.period_seconds outOfRange", "3:37 loop.lease unknownKey",
                "5:3 strategic_factor duplicateKey", "6:21 demand.margin wrongType",
            ])
    }

    @Test func `faults of all files come at once, also beside one that is not JSON5`() {
        let faults = faults(
            rules: "{nme: 1}",
            pools: [
                "a": "{pool: 'a'", "b": "{pool: 'b', nominal: {rpm: -1}, failover: ['c', 'c', 'nowhere']}",
                "c": "{pool: 'c', nominal: {rpm: 1}}", "d": "{pool: 'c', nominal: {rpm: 1}}",
            ])
        let lines = faults.map { "\($0.file.split(separator: "/").last ?? "") \($0.key) \($0.code.rawValue)" }
        // The rest of a.json5 is missing, and nothing is said of it.
        #expect(
            lines == [
                "a.json5  syntax", "b.json5 nominal.rpm outOfRange", "b.json5 failover[1] duplicateName",
                "b.json5 failover[2] unknownName",
                "d.json5 pool duplicateName", "rules.json5 nme unknownKey",
            ])
    }

    @Test func `what breaks the grammar hides no other fault, before it or behind it`() {
        let rules = """
            {
              nme: "x",
              tiers: [{name: "gold" weight: -1}, {name: "free", weight: high}]
              default_tier: "frea",
              loop: { period_seconds: 0, 7 },
              bands: [{fill: "flor"}, {fill: demand, tiers: ["fre"]}],
              start { share_each: 0.1 },
              guardrails: { nope: 1,
            """
        let found = faults(rules: rules).map { "\($0.line ?? 0):\($0.column ?? 0) \($0.key) \($0.code.rawValue)" }
        #expect(
            found == [
                "2:3 nme unknownKey", "3:25 tiers[0] syntax", "3:33 tiers[0].weight outOfRange",
                "3:61 tiers[1].weight syntax", "4:3  syntax", "4:17 default_tier unknownName",
                "5:27 loop.period_seconds outOfRange", "5:30 loop syntax", "6:18 bands[0].fill unknownName",
                "6:34 bands[1].fill syntax", "6:50 bands[1].tiers[0] unknownName", "7:9  syntax",
                "8:17 guardrails.nope unknownKey", "8:25 guardrails syntax",
            ], "\(faults(rules: rules))")
    }

    @Test func `an unknown name comes with the one that was probably meant`() {
        let found = faults(
            rules: "{tiers: [{name: 'gold', weight: 1}], default_tier: 'glod', lop: {}}",
            pools: [
                "a": "{pool: 'a', provider: 'opnai', nominal: {rpm: 1}, mode: 'ful', failover: ['azrue']}",
                "b": "{pool: 'azure', nominal: {rpm: 1}}",
            ])
        let questions = ["gold", "loop", "openai", "full", "azure"]
        for name in questions {
            #expect(found.contains { $0.message.hasSuffix("did you mean \"\(name)\"?") }, "\(name): \(found)")
        }
        #expect(found.count == questions.count, "\(found)")
    }

    @Test func `a document of brackets and commas alone is refused, and soon`() {
        for text in [
            String(repeating: "[", count: 5_000), String(repeating: "{a:", count: 5_000),
            String(repeating: "],}", count: 5_000), String(repeating: "{,", count: 5_000),
            "{" + String(repeating: "@ ", count: 5_000),
            String(repeating: "{a:[}", count: 2_000), "{a: \"" + String(repeating: "x\n", count: 2_000),
        ] {
            let count = faults(rules: text).count
            #expect((1...120).contains(count), "\(text.prefix(20)): \(count)")
        }
    }

    @Test func `a directory without rules or without pools is refused`() {
        #expect(message(files: []).contains("policies: has no rules.json5"))
        #expect(message(files: []).contains("policies: has no pool"))
        #expect(message(files: [("x/rules.json5", "{}")]).contains("x: has no pool"))
        #expect(message(files: [("x/other.json5", "{}")]).contains("x/other.json5: not a policy file"))
        #expect(message(files: [("x/pools/a.json", "{}")]).contains("x/pools/a.json: not a policy file"))
        #expect(message(files: [("x/rules.json5", "{}"), ("y/rules.json5", "{}")]).contains("a second file of rules"))
    }

    @Test func `sizes and counts are bounded`() {
        let large = "{}" + String(repeating: " ", count: PolicyLoader.maxFileSize)
        #expect(message(files: [("rules.json5", large)]).contains("at most 1048576 bytes"))
        let many = (0...1000).map { ("pools/\($0).json5", "{}") }
        #expect(message(files: many) == "policies: has 1001 policy files: at most 1000")
    }

    @Test func `the digest follows names and bytes, not the folder or the order of the files`() throws {
        func digest(_ files: [(String, String)]) throws -> String {
            try PolicyLoader.load(files: files.map { (path: $0.0, bytes: Array($0.1.utf8)) }).digest
        }
        let rules = "{}"
        let pool = "{pool: 'a', nominal: {rpm: 1}}"
        let first = try digest([("x/rules.json5", rules), ("x/pools/a.json5", pool)])
        #expect(try digest([("/y/z/pools/a.json5", pool), ("/y/z/rules.json5", rules)]) == first)
        #expect(try digest([("x/rules.json5", rules + " "), ("x/pools/a.json5", pool)]) != first)
        #expect(try digest([("x/rules.json5", rules), ("x/pools/b.json5", pool)]) != first)
    }

    @Test func `a policy put together in code has the same rules`() {
        var policy = Policy(pools: [PoolPolicy(pool: "a", nominal: Rates(rpm: 1))])
        #expect(policy.conflicts.isEmpty)
        policy.loop.leaseSeconds = 1
        policy.pools[0].failover = ["b"]
        #expect(policy.conflicts.map(\.keys) == [["loop.lease_seconds", "loop.period_seconds"], ["failover[0]"]])
    }

    private func message(files: [(String, String)]) -> String {
        do throws(PolicyError) {
            _ = try PolicyLoader.load(files: files.map { (path: $0.0, bytes: Array($0.1.utf8)) })
            return ""
        } catch {
            return error.description
        }
    }
}

func load(rules: String, pools: [String: String] = ["a": "{pool: 'a', nominal: {rpm: 1}}"]) throws(PolicyError)
    -> Policy
{
    var files = [(path: "policies/rules.json5", bytes: Array(rules.utf8))]
    for (name, text) in pools { files.append((path: "policies/pools/\(name).json5", bytes: Array(text.utf8))) }
    return try PolicyLoader.load(files: files)
}

func faults(rules: String, pools: [String: String] = ["a": "{pool: 'a', nominal: {rpm: 1}}"]) -> [PolicyFault] {
    do throws(PolicyError) {
        _ = try load(rules: rules, pools: pools)
        return []
    } catch {
        return error.faults
    }
}
