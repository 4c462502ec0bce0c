import HeadroomJSON
import Testing

@Suite struct GoDurationTests {
    @Test func `reads what Go prints`() {
        let cases: [(String, Double)] = [
            ("6m0s", 360_000), ("2m59.56s", 179_560), ("20ms", 20), ("1h8m26.585s", 4_106_585), ("1.5h", 5_400_000),
            ("100us", 0.1),
            ("100µs", 0.1), ("100\u{3BC}s", 0.1), ("500ns", 0.0005), ("0", 0), ("-0", 0), ("0s", 0), ("-2s", -2000),
            ("+3s", 3000), (".5s", 500),
            ("1.s", 1000), ("7.66s", 7660), ("1s500ms", 1500),
        ]
        for (text, milliseconds) in cases {
            let parsed = GoDuration.parse(text)
            #expect(
                parsed.map { abs($0 - milliseconds) < 1e-9 * max(1, abs(milliseconds)) } == true,
                "\(text): \(String(describing: parsed))")
        }
    }

    @Test func `refuses numbers without a unit, unknown units and noise`() {
        let huge = String(repeating: "9", count: 400) + "h"
        for text in [
            "", "1", "-", "s", ".s", "1d", "1 s", "1s ", "1.2.3s", "1e3s", "00", "s1", "--1s", "１s", "1S", "NaNs",
            "infs", huge,
        ] {
            #expect(GoDuration.parse(text) == nil, "\(text)")
        }
    }
}
