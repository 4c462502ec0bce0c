import HeadroomModel
import Testing

@Suite struct AddressRangeTests {
    @Test func `an address lies in its ranges and in no other, in either form`() throws {
        let cases: [(address: String, range: String, isIn: Bool)] = [
            ("169.254.169.254", "169.254.0.0/16", true), ("169.255.0.1", "169.254.0.0/16", false),
            ("::ffff:169.254.169.254", "169.254.0.0/16", true), ("::ffff:a9fe:a9fe", "169.254.169.254", true),
            ("10.1.2.3", "10.0.0.0/8", true), ("11.1.2.3", "10.0.0.0/8", false), ("10.1.2.3", "0.0.0.0/0", true),
            ("10.0.0.127", "10.0.0.0/25", true), ("10.0.0.128", "10.0.0.0/25", false),
            ("fe80::1%eth0", "fe80::/10", true), ("febf::1", "fe80::/10", true), ("fec0::1", "fe80::/10", false),
            ("::1", "::1", true), ("::2", "::1", false), ("2001:db8::1", "::/0", true), ("10.0.0.1", "::1/128", false),
            ("2001:db8:0:0:0:0:0:1", "2001:db8::1", true),
        ]
        for (address, range, isIn) in cases {
            let address = try #require(AddressRange(address), "\(address)")
            let range = try #require(AddressRange(range), "\(range)")
            #expect(range.contains(address) == isIn, "\(address.text) in \(range.text)")
        }
    }

    @Test(arguments: [
        "", "10.0.0", "10.0.0.256", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/", "::/129", "1::2::3",
        ":::",
        "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "g::", "example.com", "10.0.0.0/8/8",
    ])
    func `what is no address is none`(_ text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test func `machines' credentials are forbidden by default, and a list of allowed ones allows no other`() throws {
        let rules = AddressRules()
        for text in ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "fe80::a9fe:a9fe"] {
            #expect(!rules.allow(try #require(AddressRange(text))), "\(text)")
        }
        #expect(rules.allow(try #require(AddressRange("127.0.0.1"))))
        let narrow = AddressRules(allowed: [try #require(AddressRange("10.0.0.0/8"))])
        #expect(narrow.allow(try #require(AddressRange("10.1.1.1"))))
        #expect(!narrow.allow(try #require(AddressRange("127.0.0.1"))))
    }
}
