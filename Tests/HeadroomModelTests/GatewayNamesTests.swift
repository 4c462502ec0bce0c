import HeadroomModel
import Testing

@Suite struct GatewayNamesTests {
    @Test func `one name may end in a star for worker processes`() throws {
        let names = try GatewayNames(parsing: ["gw-1", "litellm.*"])
        let cases: [(GatewayID, Bool)] = [
            ("gw-1", true), ("litellm.1", true), ("litellm.host-7.3", true), ("litellm", false), ("litellm2.1", false),
            ("gw-10", false),
        ]
        for (gateway, isIncluded) in cases { #expect(names.contains(gateway) == isIncluded, "\(gateway)") }
        #expect(names.texts == ["gw-1", "litellm.*"])
        #expect(try GatewayNames(parsing: names.texts) == names)
    }

    @Test func `what is no name, and a second star, are refused`() {
        for (texts, fault) in [
            (["*"], GatewayNames.Fault.notAName("*")), ([".*"], .notAName(".*")), (["a*"], .notAName("a*")),
            (["a.*", "b.*"], .secondPrefix("b.*")),
        ] {
            #expect(throws: fault) { try GatewayNames(parsing: texts) }
        }
    }

    @Test func `only a single whole name stands for its holder`() throws {
        #expect(try GatewayNames(parsing: ["gw-1"]).only == "gw-1")
        #expect(try GatewayNames(parsing: ["gw-1", "gw-2"]).only == nil)
        #expect(try GatewayNames(parsing: ["gw.*"]).only == nil)
    }
}
