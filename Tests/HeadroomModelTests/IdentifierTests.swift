import HeadroomModel
import Testing

@Suite struct IdentifierTests {
    @Test(arguments: ["a", "openai:gpt-4o", "azure:gpt-4o@eu-west.1_b", "9", String(repeating: "x", count: 128)])
    func `names of the alphabet are taken`(text: String) {
        #expect(PoolID(text)?.text == text)
    }

    @Test(arguments: ["", ":a", "-a", "a b", "a/b", "é", "a\u{0}", "a\n", String(repeating: "x", count: 129)])
    func `anything else is not`(text: String) {
        #expect(TenantID(text) == nil)
    }

    @Test func `a version is read as it is written`() {
        #expect(SnapshotVersion("1793000000.42") == SnapshotVersion(epoch: 1_793_000_000, generation: 42))
        #expect(SnapshotVersion(epoch: 7, generation: 8).description == "7.8")
        for text in ["", "1", "1.", ".1", "1.2.3", "-1.2", "a.b", "1.99999999999999999999"] {
            #expect(SnapshotVersion(text) == nil, "\(text)")
        }
        #expect(SnapshotVersion(epoch: 1, generation: 9) < SnapshotVersion(epoch: 2, generation: 1))
    }
}
