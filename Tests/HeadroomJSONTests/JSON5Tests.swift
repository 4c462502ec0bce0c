import HeadroomJSON
import Testing

@Suite struct JSON5Tests {
    @Test func `reads what people write`() throws {
        let cases: [(String, String)] = [
            ("// top\n{a: 1, /* in\nside */ $b_2: 'x',}", #"{"a":1,"$b_2":"x"}"#), ("[1,2,]", "[1,2]"), ("[]//", "[]"),
            ("{'single': \"dou'ble\", \"d\": 'sin\"gle'}", #"{"single":"dou'ble","d":"sin\"gle"}"#),
            ("[0x1F, -0xff, +0X0, 0xFFFFFFFFFFFFFFFF]", "[31,-255,0,1.8446744073709552e+19]"),
            ("[+1, .5, 5., -.5e1, +.25, 5.e2]", "[1,0.5,5,-5,0.25,500]"), ("{ñandú: 1, 日本: 2}", #"{"ñandú":1,"日本":2}"#),
            (
                #"['\x41\v\0\'\a', 'one\"# + "\n" + #"line', 'crlf\"# + "\r\n" + #"too']"#,
                #"["A\u000b\u0000'a","oneline","crlftoo"]"#
            ),
            ("\u{FEFF}\u{A0}\u{2003}[\u{B}\u{C}1\u{2028}]", "[1]"), ("['tab\there']", #"["tab\there"]"#),
            ("{null: true, Infinity: 1}", #"{"null":true,"Infinity":1}"#), ("'\u{2028}'", "\"\u{2028}\""),
            ("[ /**/ ]", "[]"),
            ("[.00000000000000000000000000001e29, +1.7976931348623157e308, .5e-400]", "[1,1.7976931348623157e+308,0]"),
        ]
        for (text, expected) in cases {
            do {
                let node = try JSONNode.parse(Array(text.utf8), dialect: .json5)
                #expect(String(decoding: node.encoded(), as: UTF8.self) == expected, "\(text)")
            } catch { Issue.record("\(text.debugDescription): \(error)") }
        }
    }

    @Test func `refuses what is no JSON5, and what has no finite value`() {
        let cases: [(String, JSONError.Code)] = [
            ("NaN", .notFinite), ("-NaN", .notFinite), ("+Infinity", .notFinite), ("[-Infinity]", .notFinite),
            ("1e999", .notFinite),
            ("+.5e999", .notFinite), ("[,]", .unexpectedByte), ("[1,,]", .unexpectedByte), ("{,}", .unexpectedByte),
            (".", .invalidNumber),
            ("+", .invalidNumber), ("0x", .invalidNumber), ("010", .invalidNumber),
            ("0x10000000000000000", .outOfRange),
            ("/* open", .unexpectedEnd), ("1 /", .trailingContent), ("{1a: 1}", .unexpectedByte),
            ("{a-b: 1}", .unexpectedByte),
            ("'new\nline'", .controlCharacter), (#"'\1'"#, .invalidEscape), (#"'\01'"#, .invalidEscape),
            (#"'\xG0'"#, .invalidEscape),
            ("{a:1, 'a':2}", .duplicateKey), ("{a:1, \"\\u0061\":2}", .duplicateKey), ("'open", .unexpectedEnd),
            ("# no", .unexpectedByte),
        ]
        for (text, code) in cases {
            let error = #expect(throws: JSONError.self, "\(text)") {
                try JSONNode.parse(Array(text.utf8), dialect: .json5)
            }
            #expect(error?.code == code, "\(text): \(String(describing: error))")
        }
    }

    @Test func `comments must be valid UTF-8 too`() {
        let error = #expect(throws: JSONError.self) {
            try JSONNode.parse([0x2F, 0x2F, 0xFF, 0x0A, 0x31], dialect: .json5)
        }
        #expect(error?.code == .invalidUTF8 && error?.offset == 2)
    }

    @Test func `the key of an unquoted member stands at its first letter`() throws {
        let node = try JSONNode.parse(Array("{ab:1, 'cd':2}".utf8), dialect: .json5)
        #expect(node.members?.map(\.keyOffset) == [1, 7])
    }
}
