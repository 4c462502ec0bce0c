import HeadroomJSON
import Testing

@Suite struct JSONWriterTests {
    @Test func `puts commas, escapes and lines where they belong`() {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        writer.key("a")
        writer.integer(-12)
        writer.key("b")
        writer.beginArray()
        writer.number(0.25)
        writer.bool(true)
        writer.bool(false)
        writer.null()
        writer.beginObject()
        writer.endObject()
        writer.beginArray()
        writer.endArray()
        writer.raw(Array("[7]".utf8))
        writer.endArray()
        let key = "qu\"ote\n"
        writer.key(key)
        writer.string("\u{0}\u{1F}\u{7F}\\/\"\u{8}\u{C}\r\té日😀")
        writer.key("at")
        writer.timestamp(milliseconds: 1_793_000_000_123)
        writer.endObject()
        writer.newline()
        writer.integer(UInt64.max)
        writer.newline()
        let text = String(decoding: writer.bytes, as: UTF8.self)
        #expect(
            text == #"{"a":-12,"b":[0.25,true,false,null,{},[],[7]],"qu\"ote\n":"#
                + #""\u0000\u001f"# + "\u{7F}" + #"\\/\"\b\f\r\té日😀","at":"2026-10-26T07:33:20.123Z"}"# + "\n"
                + "18446744073709551615\n")
        writer.removeAll(keepingCapacity: true)
        writer.integer(Int64.min)
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "-9223372036854775808")
    }

    @Test func `numbers are as short as they can be`() {
        let cases: [(Double, String)] = [
            (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (812.5, "812.5"), (0.0123, "0.0123"), (0.000001, "0.000001"),
            (1831.25, "1831.25"),
            (0.1 + 0.2, "0.30000000000000004"), (1e15, "1000000000000000"),
            (123_456_789_012_345_680, "1.2345678901234568e+17"),
            (.leastNonzeroMagnitude, "5e-324"), (1e-7, "1e-07"), (-0.05, "-0.05"), (100.001, "100.001"),
            (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (999_999_999_999_999, "999999999999999"),
        ]
        for (value, text) in cases {
            var writer = JSONWriter()
            writer.number(value)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
        }
    }
}
