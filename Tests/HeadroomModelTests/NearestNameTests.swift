import HeadroomModel
import Testing

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("acem", "acme"), ("acm", "acme"), ("ACME", "acme"), ("globexx", "globex"), ("intech", "initech"),
        ("openai:gpt-4", "openai:gpt-4o"), ("--databse", "--database"),
    ])
    func `one edit in three letters is forgiven`(name: String, expected: String) {
        let names = ["globex", "initech", "acme", "openai:gpt-4o", "--database", "zeta"]
        #expect(NearestName.of(name, among: names) == expected)
    }

    @Test func `what is not near is not guessed`() {
        #expect(NearestName.of("acxy", among: ["acme"]) == nil)
        #expect(NearestName.of("frobnicate", among: ["serve", "status"]) == nil)
        #expect(NearestName.of("", among: ["acme"]) == nil)
        #expect(NearestName.of(String(repeating: "a", count: 1000), among: ["a"]) == nil)
    }

    @Test func `of names as near the first one is meant, in any order`() {
        #expect(NearestName.of("acmf", among: ["acmx", "acme", "acmd"]) == "acmd")
        #expect(NearestName.of("acmf", among: ["acmd", "acmx", "acme"]) == "acmd")
    }
}
