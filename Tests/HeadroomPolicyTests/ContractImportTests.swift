import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct ContractImportTests {
    static let contracts = [
        Contract(
            tenant: "acme", tier: "premium", isStrategic: true,
            terms: [
                Contract.Terms(pool: "a", floor: Rates(rpm: 10, tpm: 1000.5), ceiling: Rates(rpm: 40)),
                Contract.Terms(pool: "b", floor: .none, ceiling: Rates(itpm: 5, otpm: 6)),
            ]),
        Contract(tenant: "zoe"),
    ]

    @Test func `CSV in any dialect that spreadsheets write gives the same contracts`() throws {
        let texts = [
            """
            tenant,tier,strategic,pool,floor_rpm,floor_tpm,ceiling_rpm,ceiling_itpm,ceiling_otpm
            acme,premium,true,a,10,1000.5,40,,
            acme,,,b,,,,5,6
            zoe,,,,,,,,
            """,
            "\u{FEFF}pool,tenant,floor_rpm,floor_tpm,ceiling_rpm,ceiling_itpm,ceiling_otpm,strategic,tier\r\n"
                + "\"b\",\"acme\",,,,5,6,yes,\"premium\"\r\n\r\n"
                + "a , acme,1e1,1000.5,\"40\",,,1,premium\r\n,zoe,,,,,,no,\r\n",
        ]
        for text in texts {
            #expect(try ContractImport.parse(Array(text.utf8), format: .csv) == Self.contracts, "\(text)")
        }
    }

    @Test func `a table says nothing of what agent tasks may use, and takes nothing away; JSON says all`() throws {
        var old = Self.contracts
        old[0].taskBudgets = [TaskBudget(limits: TaskLimits(calls: 500))]
        let table = try ContractImport.parse(Array("tenant\nacme\nnew\n".utf8), format: .csv)
        let completed = ContractImport.completed(table, from: .csv, after: old)
        #expect(completed.map(\.taskBudgets) == [old[0].taskBudgets, []])
        #expect(ContractImport.completed(table, from: .json, after: old) == table)
    }

    @Test func `exports of a CRM are taken as they are: separators, thousands, names in any case, a byte order mark`()
        throws
    {
        let contracts = [
            Contract(
                tenant: "acme", tier: "premium",
                terms: [
                    Contract.Terms(pool: "a", floor: Rates(tpm: 1_200_000), ceiling: Rates(rpm: 1.5, tpm: 2_000_000))
                ])
        ]
        let texts = [
            "Tenant,TIER,Pool,Floor TPM,ceiling-rpm,Ceiling_TPM\nacme,premium,a,\"1,200,000\",1.5,2'000'000\n",
            "\u{FEFF}Tenant;Tier;Pool;Floor TPM;Ceiling RPM;Ceiling TPM\r\nacme;premium;a;1.200.000;1,5;2 000 000\r\n",
            "Tenant\tTier\tPool\tFloor TPM\tCeiling RPM\tCeiling TPM\nacme\tpremium\ta\t1,200,000\t1.5\t2_000_000\n",
            "\"tenant\";\"a,b,c,d,e\";tier\n".replacing(
                "\"a,b,c,d,e\";", with: "pool;floor_tpm;ceiling_rpm;ceiling_tpm;")
                + "acme;a;1\u{A0}200\u{A0}000;1,5;2\u{202F}000\u{202F}000;premium\n",
        ]
        for text in texts {
            #expect(try ContractImport.parse(Array(text.utf8), format: .csv) == contracts, "\(text)")
        }
    }

    @Test func `what the policy does not allow is told in the same round, with its line`() throws {
        let policy = Policy(pools: [PoolPolicy(pool: "a", nominal: Rates(tpm: 1000))])
        let csv = "tenant,tier,pool,floor_tpm\nacme,gold,a,10\nbeta,free,b,10\n-x,free,a,1\nzeta,free,a,900\n"
        let error = #expect(throws: ContractImportError.self) {
            try ContractImport.parse(Array(csv.utf8), format: .csv, checking: policy.faults)
        }
        #expect(error?.faults.map(\.line) == [2, 3, 4, 5], "\(error.map { "\($0)" } ?? "")")
        #expect(error?.faults.first?.message.contains("the tier must be one of") == true)
        let json = "[{\"tenant\":\"acme\",\"tier\":\"gold\"},\n{\"tenant\":\"beta\",\"teir\":\"free\"}]"
        let other = #expect(throws: ContractImportError.self) {
            try ContractImport.parse(Array(json.utf8), format: .json, checking: policy.faults)
        }
        #expect(other?.faults.map(\.line) == [1, 2])
    }

    @Test func `an export with names of its own is read as the policy says`() throws {
        let policy = try load(
            rules: """
                {contracts: {
                  columns: {tenant: "Account ID", tier: "Plan", pool: "Model", floor_tpm: "Guaranteed Tokens/min"},
                  ignore_other_columns: true, tiers: {"Enterprise Plus": "critical", "Base": "free"},
                }}
                """)
        let export =
            "\u{FEFF}Owner;ACCOUNT ID;Plan;Model;guaranteed tokens/min\r\nJo;acme;enterprise plus;a;1.200.000\r\n"
            + "Al;zoe;premium;;\r\nEd;mo;BASE;;\r\n"
        let contracts = try ContractImport.parse(Array(export.utf8), format: .csv, mapping: policy.contracts)
        #expect(
            contracts == [
                Contract(
                    tenant: "acme", tier: "critical", terms: [Contract.Terms(pool: "a", floor: Rates(tpm: 1_200_000))]),
                Contract(tenant: "mo", tier: "free"), Contract(tenant: "zoe", tier: "premium"),
            ])
        // Headroom's own names are still known.
        let own = "tenant,tier\nacme,premium\n"
        #expect(try ContractImport.parse(Array(own.utf8), format: .csv, mapping: policy.contracts).count == 1)
        let nameless = #expect(throws: ContractImportError.self) {
            try ContractImport.parse(Array("Account,Plan\nacme,Base\n".utf8), format: .csv, mapping: policy.contracts)
        }
        #expect(
            nameless?.description == "line 1: the column tenant is missing: the policy has it as \"Account ID\"")
    }

    @Test func `a mapping that cannot be is a fault of the policy`() {
        for (contracts, key, message) in [
            ("columns: {tenannt: 'x'}", "contracts.columns.tenannt", "did you mean \"tenant\"?"),
            ("columns: {tenant: ''}", "contracts.columns.tenant", "must be the column's header in the export"),
            ("columns: {tenant: 'Name', pool: 'name'}", "contracts.columns.pool", "stands at tenant already"),
            ("columns: []", "contracts.columns", "must be an object, found an array"),
            ("tiers: {Gold: 'gold'}", "contracts.tiers.Gold", "must be one of the tiers (critical"),
            ("tiers: {Gold: 'premium', GOLD: 'free'}", "contracts.tiers.GOLD", "stands as \"Gold\" already"),
            ("tier: {}", "contracts.tier", "did you mean \"tiers\"?"),
        ] {
            let found = HeadroomPolicyTests.faults(rules: "{contracts: {\(contracts)}}")
            #expect(found.count == 1 && found.first?.key == key, "\(contracts): \(found)")
            #expect(found.first?.message.contains(message) == true, "\(contracts): \(found)")
        }
    }

    @Test func `faults of meaning come in the same round as faults of form, each with its line`() {
        let policy = Policy(pools: [PoolPolicy(pool: "a", nominal: Rates(tpm: 1000))])
        let csv = """
            tenant,tier,pool,floor_tpm,strategic,color
            acme,gold,a,many,no,red
            be ta,silver,b,1,maybe,
            zeta,free,-,900,,
            omega,premium,a,700,,
            last,premium,a,400,,
            """
        let error = #expect(throws: ContractImportError.self) {
            try ContractImport.parse(Array(csv.utf8), format: .csv, checking: policy.faults)
        }
        let found = error?.faults.map { "\($0.line ?? 0) \($0.message)" } ?? []
        let wanted = [
            "1 unknown column \"color\"", "2 floor_tpm must be a number", "2 tenant acme: the tier must be one of",
            "3 tenant must have", "3 strategic must be true or false", "3 tenant be ta: the tier must be one of",
            "3 tenant be ta, pool b: the policy has no such pool", "4 pool must have",
            "5 pool a: the floors of 2 tenants sum to 1100 tpm",
        ]
        for start in wanted { #expect(found.contains { $0.hasPrefix(start) }, "\(start): \(found)") }
        #expect(found.count == wanted.count, "\(found)")

        let json = """
            [{"tenant":"acme","tier":"gold"},
             {"tenant":"beta","tier":"free",,"pools":[{"pool":"b"}]},
             {"tenant":"zeta","tier":7} {"tenant":"omega","tier":"silver"},
             {"tenant":"last","pools":[{"pool":"a","floor":{"tpm":2000}}]
            """
        let other = #expect(throws: ContractImportError.self) {
            try ContractImport.parse(Array(json.utf8), format: .json, checking: policy.faults)
        }
        #expect(other?.faults.map(\.line) == [1, 2, 2, 3, 3, 3, 4, 4, 4], "\(other.map { "\($0)" } ?? "")")
    }

    @Test func `JSON gives the same contracts`() throws {
        let text = """
            [{"tenant":"zoe","tier":null},
             {"tenant":"acme","tier":"premium","strategic":true,"pools":[
              {"pool":"b","ceiling":{"itpm":5,"otpm":6}},
              {"pool":"a","floor":{"rpm":10,"tpm":1000.5},"ceiling":{"rpm":40}}]}]
            """
        #expect(try ContractImport.parse(Array(text.utf8), format: .json) == Self.contracts)
        #expect(try ContractImport.parse(Array("[]".utf8), format: .json) == [])
    }

    static let priced = [
        Contract(
            tenant: "acme", terms: [Contract.Terms(pool: "a"), Contract.Terms(pool: "b", floor: Rates(rpm: 5))],
            cost: CostTerms(
                currency: "EUR", period: .month, most: 500_000_000,
                prices: [
                    CostTerms.Price(
                        perMillionInputTokens: 2_500_000, perMillionCachedInputTokens: 250_000,
                        perMillionOutputTokens: 10_000_000),
                    CostTerms.Price(pool: "a", perMillionInputTokens: 7, perRequest: 400),
                ]))
    ]

    @Test func `what use costs comes with the contract`() throws {
        let csv = """
            tenant,pool,floor_rpm,currency,period,most_micros,input_micros_per_million,cached_input_micros_per_million,\
            output_micros_per_million,request_micros
            acme,,,EUR,month,500000000,2500000,250000,10000000,
            acme,a,,,,,7,,,400
            acme,b,5,EUR,,,,,,
            """
        #expect(try ContractImport.parse(Array(csv.utf8), format: .csv) == Self.priced)
        let json = #"""
            [{"tenant":"acme","pools":[{"pool":"a"},{"pool":"b","floor":{"rpm":5}}],
              "cost":{"currency":"EUR","period":"month","most_micros":500000000,"prices":[
               {"pool":"a","input_micros_per_million":7,"request_micros":400},
               {"pool":null,"input_micros_per_million":2500000,"cached_input_micros_per_million":250000,
                "output_micros_per_million":10000000}]}}]
            """#
        #expect(try ContractImport.parse(Array(json.utf8), format: .json) == Self.priced)
    }

    @Test func `a fault in what use costs says what would be right`() {
        let columns = "tenant,currency,period,most_micros,request_micros\n"
        let csv: [(String, String)] = [
            ("acme,EUR,month,5,-1", "line 2: request_micros must be a whole number from 0 to 100000000000000 ("),
            ("acme,EUR,month,5,nan", "line 2: request_micros must be a whole number"),
            ("acme,EUR,month,5,1.5", "line 2: request_micros must be a whole number"),
            ("acme,EUR,month,99999999999999999999,1", "line 2: most_micros must be a whole number"),
            ("acme,XYZ,month,5,1", "line 2: currency must be a currency of ISO 4217 in capitals, such as EUR"),
            ("acme,EUR,week,5,1", "line 2: period must be day or month"),
            ("acme,EUR,month,,1", "line 2: tenant acme lacks most_micros: a cost has all of it"),
            ("acme,EUR,month,5,", "line 2: tenant acme lacks a price: a cost has all of it"),
            ("acme,EUR,month,5,1\nacme,,,,2", "line 3: tenant acme has a price of every other pool on line 2 already"),
            ("acme,EUR,month,5,1\nacme,USD,,,", "line 3: tenant acme has the currency USD here and EUR on line 2"),
        ]
        for (text, expected) in csv { check(columns + text, .csv, expected) }
        func cost(_ text: String) -> String { #"[{"tenant":"a","cost":{\#(text)}}]"# }
        let start = #""currency":"EUR","period":"day","most_micros":5,"#
        let json: [(String, String)] = [
            (#""currency":"eur","period":"day","most_micros":5,"prices":[{}]"#, "line 1: [0].cost.currency: must be a"),
            (#""period":"day","most_micros":5,"prices":[{}]"#, "line 1: [0].cost.currency: missing"),
            (start + #""prices":[]"#, "line 1: [0].cost.prices: must list 1 to 1000 prices"),
            (
                start + #""prices":[{"request_micros":-1}]"#,
                "line 1: [0].cost.prices[0].request_micros: must be a whole"
            ),
            (
                start + #""prices":[{"request_micros":1e16}]"#,
                "line 1: [0].cost.prices[0].request_micros: must be a whole"
            ),
            (start + #""prices":[{"request":1}]"#, "line 1: [0].cost.prices[0].request: unknown key"),
            (start + #""prices":[{},{}]"#, "line 1: [0].cost.prices[1]: the price of every other pool stands at"),
        ]
        for (text, expected) in json { check(cost(text), .json, expected) }
    }

    @Test func `a fault in CSV is named by its line`() {
        for (text, expected) in Self.faultyCSV { check(text, .csv, expected) }
    }

    static let faultyCSV: [(String, String)] = [
        ("", "is empty: the first line names the columns"),
        ("tier\n", "line 1: the column tenant is missing"),
        ("tenant,teir\nacme,x", "line 1: unknown column \"teir\": known are tenant, tier"),
        ("tenant,tenant\n", "line 1: the column tenant stands twice"),
        ("tenant,tier\nacme", "line 2: has 1 fields: the header has 2"),
        ("tenant\n-x", "line 2: tenant must have 1 to 128 characters"),
        ("tenant,tier\n,x", "line 2: tenant must have"),
        ("tenant,strategic\nacme,maybe", "line 2: strategic must be true or false, found \"maybe\""),
        ("tenant,pool,floor_rpm\nacme,a,\"1,00\"", "line 2: floor_rpm must be a number per minute"),
        ("tenant;pool;floor_rpm\nacme;a;1.00", "line 2: floor_rpm must be a number per minute"),
        ("tenant,pool,floor_rpm\nacme,a,\",000\"", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,a,\"1000,000\"", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,a,-1", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,a,nan", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,a,0x10", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,a,1e400", "line 2: floor_rpm must be"),
        ("tenant,pool,floor_rpm\nacme,,5", "line 2: has a floor or a ceiling but no pool"),
        ("tenant,pool,floor_rpm,ceiling_rpm\nacme,a,5,4", "line 2: floor_rpm 5 is over ceiling_rpm 4"),
        ("tenant,pool\nacme,a\n\nacme,a", "line 4: tenant acme and pool a stand on line 2 already"),
        ("tenant,tier,pool\nacme,x,a\nacme,y,b", "line 3: tenant acme has the tier y here and x on line 2"),
        ("tenant,strategic,pool\nacme,1,a\nacme,0,b", "line 3: tenant acme is strategic false here and true on line 2"),
        ("tenant,tier\nacme,\"a\nb\"\nzoe,\"x", "line 2: tier must have"),
        ("tenant,tier\nacme,\"a\n", "line 2: the quote that opens on line 2 is not closed"),
        ("tenant,tier\nacme,\"a\"b", "line 2: text behind a closing quote"),
        ("tenant,tier\nacme,a\"b", "line 2: a quote inside a field"),
    ]

    @Test func `a fault in JSON is named by its line and its path`() {
        for (text, expected) in Self.faultyJSON { check(text, .json, expected) }
    }

    static let faultyJSON: [(String, String)] = [
        ("", "line 1: the text ends where a value is expected"),
        ("{}", "line 1: expected an array, found an object"),
        ("[{\"tenant\":\"a\"}\n{}]", "line 2: expected ',' or ']'"),
        ("[{\"tenant\":\"a\"}] x", "line 1: nothing may follow"),
        ("[{}]", "line 1: [0].tenant: missing"),
        ("[1]", "line 1: [0]: must be an object"),
        (
            "[\n{\"tenant\":\"a\",\"teir\":\"x\"}]",
            "line 2: [0].teir: unknown key: known here are tenant, tier, strategic, pools, cost"
        ),
        ("[{\"tenant\":\"a\",\"tenant\":\"b\"}]", "line 1: [0].tenant: this key stands twice"),
        ("[{\"tenant\":\"a\"},\n{\"tenant\":\"a\"}]", "line 2: [1].tenant: tenant a stands at [0] already"),
        ("[{\"tenant\":\"a\",\"pools\":[{}]}]", "line 1: [0].pools[0].pool: missing"),
        (
            "[{\"tenant\":\"a\",\"pools\":[{\"pool\":\"p\"},\n{\"pool\":\"p\"}]}]",
            "line 2: [0].pools[1].pool: pool p stands at [0].pools[0] already"
        ),
        (
            "[{\"tenant\":\"a\",\"pools\":[{\"pool\":\"p\",\"floor\":{\"rpm\":-1}}]}]",
            "line 1: [0].pools[0].floor.rpm: must be a number from 0 to 1000000000000 (requests per minute), found -1"
        ),
        (
            "[{\"tenant\":\"a\",\"pools\":[{\"pool\":\"p\",\"floor\":{\"rpm\":2},\"ceiling\":{\"rpm\":1}}]}]",
            "line 1: [0].pools[0]: floor_rpm 2 is over ceiling_rpm 1"
        ),
    ]

    @Test func `all faults come at once`() {
        let text = "tenant,tier,strategic\n-,x,y\nacme\nzoe,a b,1\n"
        let lines = faults(text, .csv).map(\.line)
        #expect(lines == [2, 2, 3, 4])
    }

    @Test func `a field in quotes may hold commas, quotes and line breaks, and lines are still counted`() {
        let text = "tenant,tier\n\"a\"\"b\",\"x,y\r\nz\"\n-,\n"
        #expect(faults(text, .csv).map(\.line) == [2, 2, 4])
    }

    private func check(_ text: String, _ format: ContractImport.Format, _ expected: String) {
        let faults = faults(text, format)
        #expect(faults.first?.description.hasPrefix(expected) == true, "\(text): \(faults)")
    }

    private func faults(_ text: String, _ format: ContractImport.Format) -> [ContractImportError.Fault] {
        do throws(ContractImportError) {
            _ = try ContractImport.parse(Array(text.utf8), format: format)
            return []
        } catch {
            return error.faults
        }
    }
}
