import HeadroomJSON
import HeadroomModel
import Testing

@Suite struct RFC3339Tests {
    @Test func `reads any offset and any number of decimals`() {
        let cases: [(String, Int64)] = [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("1969-12-31T23:59:59.999Z", -1),
            ("2026-11-21T10:00:00Z", 1_795_255_200_000), ("2026-11-21T11:00:00+01:00", 1_795_255_200_000),
            ("2026-11-21T04:30:00.5-05:30", 1_795_255_200_500), ("2026-11-21t10:00:00z", 1_795_255_200_000),
            ("2026-11-21 10:00:00.123456789Z", 1_795_255_200_123), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("1994-11-05T08:15:30-00:00", 784_023_330_000),
        ]
        for (text, milliseconds) in cases { #expect(RFC3339.parse(text) == milliseconds, "\(text)") }
    }

    @Test func `refuses what is no instant`() {
        let cases = [
            "", "2026", "2026-11-21", "2026-11-21T10:00:00", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:60:00Z",
            "2026-11-21T10:00:61Z",
            "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00+1:00", "2026-11-21T10:00:00+24:00",
            "2026-11-21T10:00:00+0100",
            "2026-11-21T10:00:00Z ", "+026-11-21T10:00:00Z", "2026-11-21T10:00Z", "２026-11-21T10:00:00Z",
        ]
        for text in cases { #expect(RFC3339.parse(text) == nil, "\(text)") }
    }

    @Test func `writes UTC with milliseconds, and reads it back`() {
        #expect(RFC3339.format(milliseconds: 1_795_255_200_000) == "2026-11-21T10:00:00.000Z")
        #expect(RFC3339.format(milliseconds: -1) == "1969-12-31T23:59:59.999Z")
        #expect(RFC3339.format(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
        #expect(RFC3339.format(milliseconds: .min) == "0000-01-01T00:00:00.000Z")
        var generator = SplitMix64(seed: 1)
        for _ in 0..<2000 {
            let milliseconds = Int64.random(in: -62_167_219_200_000...253_402_300_799_999, using: &generator)
            let text = RFC3339.format(milliseconds: milliseconds)
            #expect(text.utf8.count == 24 && RFC3339.parse(text) == milliseconds, "\(milliseconds) \(text)")
        }
    }
}
