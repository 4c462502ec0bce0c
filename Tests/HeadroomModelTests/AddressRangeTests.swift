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
        for text in [
            "169.254.169.254", "169.254.170.2", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "168.63.129.16",
            "192.0.0.192", "fd00:c1::a9fe:a9fe", "100.100.100.200", "fe80::a9fe:a9fe",
        ] {
            #expect(!rules.allow(try #require(AddressRange(text))), "\(text)")
        }
        #expect(rules.allow(try #require(AddressRange("127.0.0.1"))))
        let narrow = AddressRules(allowed: [try #require(AddressRange("10.0.0.0/8"))])
        #expect(narrow.allow(try #require(AddressRange("10.1.1.1"))))
        #expect(!narrow.allow(try #require(AddressRange("127.0.0.1"))))
    }

    /// 169.254.169.254 is a9fe:a9fe, and with its bits turned round 5601:5601; 8.8.8.8 is 808:808 and f7f7:f7f7.
    private static let forms = [
        "::ffff:%@", "::%@", "::ffff:0:%@", "64:ff9b::%@", "64:ff9b:1::%@", "64:ff9b:1:ffff:1:2:%@",
    ]

    @Test func `an address in which another one stands is judged by that one too`() throws {
        let rules = AddressRules()
        func allows(_ text: String) throws -> Bool { rules.allow(try #require(AddressRange(text), "\(text)")) }
        for form in Self.forms {
            #expect(try !allows(form.replacing("%@", with: "169.254.169.254")), "\(form)")
            #expect(try !allows(form.replacing("%@", with: "a83f:8110")), "\(form)")
            #expect(try allows(form.replacing("%@", with: "8.8.8.8")), "\(form)")
        }
        for forbidden in [
            "2002:a9fe:a9fe::", "2002:a9fe:a9fe::1", "64:ff9b:1:a9fe:a9:fe00::", "64:ff9b:1:a9:fe:a9fe::",
            "64:ff9b:1:0:a9:fea9:fe00:0", "2001:0:a9fe:a9fe::1", "2001:0:808:808:0:0:5601:5601",
            "2001:db8::5efe:a9fe:a9fe", "2001:db8::200:5efe:a9fe:a9fe",
        ] {
            #expect(try !allows(forbidden), "\(forbidden)")
        }
        for allowed in [
            "2002:808:808::1", "2001:0:808:808:0:0:f7f7:f7f7", "2001:db8::5efe:808:808", "2001:db8::a9fe:a9fe",
            "2606:4700::1111", "::1",
        ] {
            #expect(try allows(allowed), "\(allowed)")
        }
    }

    @Test
    func `an allowed address is allowed in the forms of a translator, and the unspecified one is the machine's own`()
        throws
    {
        func range(_ text: String) throws -> AddressRange { try #require(AddressRange(text)) }
        let narrow = AddressRules(allowed: [try range("203.0.113.0/24"), try range("::1")])
        for text in ["203.0.113.9", "64:ff9b::203.0.113.9", "::1"] {
            #expect(narrow.allow(try range(text)), "\(text)")
        }
        for text in ["64:ff9b::8.8.8.8", "2001:db8::1"] { #expect(!narrow.allow(try range(text)), "\(text)") }
        let closed = AddressRules(forbidden: [try range("127.0.0.0/8"), try range("::1")])
        for text in ["0.0.0.0", "::", "::ffff:0.0.0.0", "127.1.2.3", "64:ff9b::127.0.0.1"] {
            #expect(!closed.allow(try range(text)), "\(text)")
        }
    }
}
