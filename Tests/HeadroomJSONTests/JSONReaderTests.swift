import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct JSONReaderTests {
    @Test func `reads whole numbers exactly or refuses them`() throws {
        let good: [(String, Int64)] = [
            ("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("1.0", 1), ("1200.00", 1200), ("1e3", 1000), ("12.5e1", 125), ("0e999999999", 0), ("0.0", 0),
            ("1000000000000000000", 1_000_000_000_000_000_000), ("92233720368547758.07e2", .max),
        ]
        for (text, expected) in good {
            var reader = JSONReader(Array(text.utf8))
            #expect(try reader.readInt64() == expected, "\(text)")
            try reader.endDocument()
        }
        let bad: [(String, JSONError.Code)] = [
            ("9223372036854775808", .outOfRange), ("-9223372036854775809", .outOfRange), ("1e19", .outOfRange),
            ("1e999999999999", .outOfRange), ("123456789012345678901234567890", .outOfRange), ("1.5", .notInteger),
            ("1e-1", .notInteger), ("0.00001", .notInteger), ("\"1\"", .wrongType), ("null", .wrongType),
            ("-", .invalidNumber),
        ]
        for (text, code) in bad {
            var reader = JSONReader(Array(text.utf8))
            let error = #expect(throws: JSONError.self, "\(text)") { try reader.readInt64() }
            #expect(error?.code == code, "\(text)")
        }
    }

    @Test func `reads the nearest double`() throws {
        let texts = [
            "0", "-0", "1", "0.1", "-0.1", "812.5", "3.141592653589793", "1e22", "1e23", "1e-22", "1e-23", "5e-324",
            "4.9e-324",
            "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308", "2.2250738585072011e-308",
            "2.2250738585072014e-308", "9007199254740993", "9007199254740992.5", "123456789012345678",
            "9223372036854775807",
            "0.000001", "1.0000000000000002", "100000000000000000000000000000", "8.41e21", "7.2057594037927933e16",
            "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000123",
            "1" + String(repeating: "0", count: 400) + "e-400", "0." + String(repeating: "0", count: 400) + "1e401",
        ]
        for text in texts {
            var reader = JSONReader(Array(text.utf8))
            let value = try reader.readDouble()
            #expect(value.bitPattern == Double(text)?.bitPattern, "\(text) read as \(value)")
        }
    }

    @Test func `every double survives writing and reading, in its shortest form`() throws {
        for seed in UInt64(0)..<20 {
            var generator = SplitMix64(seed: seed)
            for _ in 0..<500 {
                let any = Double(bitPattern: generator.next())
                let decimal = Double(Int64.random(in: -99_999_999...99_999_999, using: &generator)) / 1000
                for value in [any, decimal] where value.isFinite {
                    var writer = JSONWriter()
                    writer.number(value)
                    let text = String(decoding: writer.bytes, as: UTF8.self)
                    #expect(
                        try JSONNode.parse(writer.bytes).number?.bitPattern == value.bitPattern, "seed \(seed): \(text)"
                    )
                    let plain =
                        value.description.hasSuffix(".0") ? String(value.description.dropLast(2)) : value.description
                    if !plain.contains("e") { #expect(text == plain, "seed \(seed)") }
                }
            }
        }
    }

    @Test func `nesting is allowed to 64 levels`() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = open == "[" ? "" : "1"
            func nested(_ depth: Int) -> [UInt8] {
                Array((String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)).utf8)
            }
            _ = try JSONNode.parse(nested(64))
            let error = #expect(throws: JSONError.self) { try JSONNode.parse(nested(65)) }
            #expect(error?.code == .tooDeep)
            #expect(error?.offset == 64 * open.utf8.count)
        }
    }

    @Test func `errors and nodes know their byte, and bytes their line and column`() throws {
        let text = "{\n  \"naïve\": 1,\r\n  \"b\": [true,\r   x]\n}"
        let bytes = Array(text.utf8)
        let error = #expect(throws: JSONError.self) { try JSONNode.parse(bytes) }
        #expect(error?.message == "expected a value, found 'x'")
        #expect(error.map { JSONPosition(of: $0.offset, in: bytes).description } == "line 4, column 4")

        let node = try JSONNode.parse(Array("{\n  \"é\": 1,\n  \"b\": [true,\n   7]\n}".utf8))
        let source = Array("{\n  \"é\": 1,\n  \"b\": [true,\n   7]\n}".utf8)
        let places: [(Int?, Int, Int)] = [
            (node["é"]?.offset, 2, 8), (node.members?[1].keyOffset, 3, 3), (node["b"]?.offset, 3, 8),
            (node["b"]?[1]?.offset, 4, 4),
            (0, 1, 1), (-5, 1, 1), (1000, 5, 2),
        ]
        for (offset, line, column) in places {
            let position = JSONPosition(of: offset ?? -1, in: source)
            #expect(position.line == line && position.column == column, "\(String(describing: offset)): \(position)")
        }
    }

    @Test func `messages say what would be right`() {
        let cases: [(String, String)] = [
            ("", "the text ends where a value is expected"), ("{\"a\":1,}", "a trailing comma is not allowed here"),
            ("{a:1}", "expected a key in double quotes, found 'a'"), ("[1 2]", "expected ',' or ']', found '2'"),
            ("{\"a\" 1}", "expected ':' after the key, found '1'"), ("[01]", "a number must not start with 0"),
            ("[NaN]", "NaN and Infinity are not allowed: write a finite number"), ("[tru]", "expected true, found 't'"),
            ("\u{FEFF}[]", "a byte order mark is not allowed: remove it"), ("[] []", "nothing may follow the value"),
            ("{\"a\":1,\"a\":2}", "the key \"a\" stands twice: remove one"), ("[\"x]", "the string is not closed"),
            ("[1e400]", "too large: a number is at most 1.7976931348623157e308"),
        ]
        for (text, message) in cases {
            let error = #expect(throws: JSONError.self, "\(text)") { try JSONNode.parse(Array(text.utf8)) }
            #expect(error?.message == message, "\(text)")
        }
    }

    @Test func `pulls members by name without copying them`() throws {
        let fields = JSONFields(["id", "count", "ratio", "on", "note", "tags"])
        let text =
            #" {"id":"a\u0062c","extra":{"x":[1,{}]},"count":3,"ratio":0.5,"on":true,"n\u006fte":null,"tags":["p","q"]} "#
        var reader = JSONReader(Array(text.utf8))
        var seen: JSONFields.Seen = 0
        var found: [String] = []
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch try reader.field(key, of: fields, seen: &seen) {
            case 0: found.append(try reader.readString())
            case 1: found.append("\(try reader.readInt64())")
            case 2: found.append("\(try reader.readDouble())")
            case 3: found.append("\(try reader.readBool())")
            case 4: found.append(try reader.readNull() ? "null" : "something")
            case 5:
                try reader.beginArray()
                while try reader.nextElement() {
                    let tag = try reader.readText()
                    found.append(reader.text(tag, equals: "p") ? "is p" : reader.withBytes(of: tag) { "\($0[0])" })
                }
            default: try reader.skipValue()
            }
        }
        try reader.endDocument()
        #expect(found == ["abc", "3", "0.5", "true", "null", "is p", "113"])
    }

    @Test func `a known key that stands twice is an error when pulled too`() {
        let fields = JSONFields(["id"])
        for text in [#"{"id":1,"id":2}"#, #"{"id":1,"\u0069d":2}"#] {
            let error = #expect(throws: JSONError.self) {
                var reader = JSONReader(Array(text.utf8))
                var seen: JSONFields.Seen = 0
                try reader.beginObject()
                while let key = try reader.nextKey() {
                    _ = try reader.field(key, of: fields, seen: &seen)
                    try reader.skipValue()
                }
            }
            #expect(error?.code == .duplicateKey && error?.offset == 8)
        }
    }

    @Test func `finds each of many keys and no other`() throws {
        let names = [
            "type", "id", "request", "at", "gateway", "tenant", "pool", "model", "endpoint", "criticality", "task",
            "parent",
            "attempt", "outcome", "status", "latency_ms", "queued_ms", "input_tokens", "output_tokens", "max_tokens",
        ]
        let fields = JSONFields(names)
        for (index, name) in names.enumerated() {
            for (key, expected) in [
                (name, Optional(index)), (name + "x", nil), ("x" + name, nil),
            ] {
                var reader = JSONReader(Array("{\"\(key)\":1}".utf8))
                try reader.beginObject()
                let text = try #require(try reader.nextKey())
                #expect(reader.index(of: text, in: fields) == expected, "\(key)")
            }
        }
        var reader = JSONReader(Array("{\"\":1}".utf8))
        try reader.beginObject()
        let empty = try #require(try reader.nextKey())
        #expect(reader.index(of: empty, in: fields) == nil)
    }

    @Test func `a range of the bytes is a document of its own`() throws {
        let bytes = Array("1\n[2]\n\"3".utf8)
        var reader = JSONReader(bytes, range: 2..<5)
        try reader.beginArray()
        #expect(try reader.nextElement())
        #expect(try reader.readInt64() == 2)
        #expect(try !reader.nextElement())
        try reader.endDocument()
        var open = JSONReader(bytes, range: 6..<8)
        #expect(throws: JSONError.self) { try open.readString() }
    }

    @Test func `finds the end of every line`() {
        for count in 0...20 {
            for place in 0...count {
                // 0x0B and 0x8A differ from a line feed in one bit.
                var bytes = [UInt8](repeating: place.isMultiple(of: 2) ? 0x0B : 0x8A, count: count)
                if place < count { bytes[place] = 0x0A }
                for start in 0...place {
                    #expect(NDJSON.endOfLine(from: start, in: bytes) == place, "\(bytes) from \(start)")
                }
            }
        }
    }
}
