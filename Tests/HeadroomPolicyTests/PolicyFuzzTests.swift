import HeadroomModel
import HeadroomPolicy
import Testing

/// Files that people broke: whatever stands in them, the answer is a whole policy or faults that lie in the file.
@Suite struct PolicyFuzzTests {
    private static let rules = """
        {
          name: "a", tiers: [{ name: "x", weight: 2, ceiling_share: 0.5 }, { name: "standard", weight: 1 }],
          bands: [{ fill: "floor", tiers: ["x"] }, { fill: "demand", criticality: "batch" }], // why
          loop: { period_seconds: 2, lease_seconds: 1.5e1 }, strategic_factor: +1.5,
          telemetry: { ledger_bytes: 2000000000 },
        }
        """
    private static let pool = "{pool: 'a', nominal: {rpm: 600, tpm: 0x1000}, failover: [], counts_refused: false}"
    private static let csv = "tenant,tier,strategic,pool,floor_rpm\nacme,\"pre\"\"mium\",true,a,5\r\nzoe,,,b,1e3\n"
    private static let json =
        "[{\"tenant\":\"acme\",\"strategic\":true,\"pools\":[{\"pool\":\"a\",\"floor\":{\"rpm\":5}}]}]"

    @Test(arguments: 0..<400) func `a broken policy file gives faults inside it`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let rules = mutated(Self.rules, using: &random)
        let pool = mutated(Self.pool, using: &random)
        do throws(PolicyError) {
            let policy = try PolicyLoader.load(files: [("p/rules.json5", rules), ("p/pools/a.json5", pool)])
            #expect(policy.conflicts.isEmpty && policy.pools.count == 1, "seed \(seed): \(rules)\n\(pool)")
        } catch {
            for fault in error.faults {
                let text = fault.file == "p/rules.json5" ? rules : pool
                let lineCount = text.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
                let isInside =
                    (1...lineCount).contains(fault.line ?? 0) && (1...text.count + 1).contains(fault.column ?? 0)
                #expect(isInside, "seed \(seed): \(fault)")
            }
        }
    }

    @Test(arguments: 0..<400) func `a broken file of contracts gives faults inside it`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        for (text, format) in [(Self.csv, ContractImport.Format.csv), (Self.json, .json)] {
            let bytes = mutated(text, using: &random)
            do throws(ContractImportError) {
                let contracts = try ContractImport.parse(bytes, format: format)
                let tenants = contracts.map(\.tenant)
                #expect(tenants == Set(tenants).sorted(), "seed \(seed): \(bytes)")
            } catch {
                let lineCount = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
                for fault in error.faults {
                    #expect((1...lineCount).contains(fault.line ?? 1), "seed \(seed): \(fault)")
                }
            }
        }
    }

    /// One to three bytes changed, doubled or left out, or the end cut off.
    private func mutated(_ text: String, using random: inout SplitMix64) -> [UInt8] {
        var bytes = Array(text.utf8)
        let alphabet = Array("{}[]:,'\"\\/*-+.09eNI\n\r \u{7F}é".utf8)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: bytes.remove(at: index)
            case 1: bytes.insert(bytes[index], at: index)
            case 2: bytes.removeSubrange(max(index, 1)...)
            default: bytes[index] = alphabet.randomElement(using: &random) ?? 0
            }
        }
        return bytes
    }
}
