/// Instants as text: `2026-11-21T10:00:00.000Z`.
package enum RFC3339 {
    /// Milliseconds since 1970; any offset, any number of decimals (what is below a millisecond is cut off).
    package static func parse(_ text: String) -> Int64? {
        parse(Array(text.utf8).span)
    }

    package static func parse(_ bytes: Span<UInt8>) -> Int64? {
        var scanner = DigitScanner(count: bytes.count)
        guard let year = scanner.number(digits: 4, in: bytes), scanner.skip(UInt8(ascii: "-"), in: bytes),
            let month = scanner.number(digits: 2, in: bytes), scanner.skip(UInt8(ascii: "-"), in: bytes),
            let day = scanner.number(digits: 2, in: bytes),
            scanner.skip(UInt8(ascii: "T"), in: bytes) || scanner.skip(UInt8(ascii: "t"), in: bytes)
                || scanner.skip(UInt8(ascii: " "), in: bytes),
            let hour = scanner.number(digits: 2, in: bytes), scanner.skip(UInt8(ascii: ":"), in: bytes),
            let minute = scanner.number(digits: 2, in: bytes), scanner.skip(UInt8(ascii: ":"), in: bytes),
            let second = scanner.number(digits: 2, in: bytes),
            (1...12).contains(month), (1...daysIn(month: month, year: year)).contains(day), hour < 24, minute < 60,
            second <= 60  // RFC 3339 §5.6: a leap second; it counts as the next second's start
        else { return nil }
        var milliseconds: Int64 = 0
        if scanner.skip(UInt8(ascii: "."), in: bytes) {
            guard let fraction = scanner.milliseconds(in: bytes) else { return nil }
            milliseconds = fraction
        }
        guard let offset = scanner.offsetMinutes(in: bytes), scanner.index == bytes.count else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        let minutes = (days * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + milliseconds
    }

    /// In UTC with milliseconds. Years outside 0 to 9999 become the nearest instant inside.
    package static func format(milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        append(milliseconds: milliseconds, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func append(milliseconds: Int64, to bytes: inout [UInt8]) {
        let instant = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let days = (instant >= 0 ? instant : instant - 86_399_999) / 86_400_000
        let date = date(daysSince1970: days)
        let time = instant - days * 86_400_000
        append(date.year, digits: 4, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(date.month, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "-"))
        append(date.day, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "T"))
        append(time / 3_600_000, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(time / 60000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(time / 1000 % 60, digits: 2, to: &bytes)
        bytes.append(UInt8(ascii: "."))
        append(time % 1000, digits: 3, to: &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static func append(_ value: Int64, digits: Int, to bytes: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    private static func daysIn(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Howard Hinnant's `days_from_civil`: years begin in March, so that the leap day is the last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Howard Hinnant's `civil_from_days`.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

/// Walks over the fixed-width fields of an instant.
private struct DigitScanner {
    let count: Int
    var index = 0

    mutating func skip(_ byte: UInt8, in bytes: Span<UInt8>) -> Bool {
        guard index < count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    mutating func digit(in bytes: Span<UInt8>) -> Int64? {
        guard index < count else { return nil }
        let digit = bytes[index] &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        index += 1
        return Int64(digit)
    }

    mutating func number(digits: Int, in bytes: Span<UInt8>) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit(in: bytes) else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    /// The digits behind the point.
    mutating func milliseconds(in bytes: Span<UInt8>) -> Int64? {
        guard let first = digit(in: bytes) else { return nil }
        var value = first * 100
        var unit: Int64 = 10
        while let digit = digit(in: bytes) {
            value += digit * unit
            unit /= 10
        }
        return value
    }

    /// `Z` or `±hh:mm`, in minutes ahead of UTC.
    mutating func offsetMinutes(in bytes: Span<UInt8>) -> Int64? {
        if skip(UInt8(ascii: "Z"), in: bytes) || skip(UInt8(ascii: "z"), in: bytes) { return 0 }
        let isAhead = skip(UInt8(ascii: "+"), in: bytes)
        guard isAhead || skip(UInt8(ascii: "-"), in: bytes), let hours = number(digits: 2, in: bytes),
            skip(UInt8(ascii: ":"), in: bytes), let minutes = number(digits: 2, in: bytes), hours < 24, minutes < 60
        else { return nil }
        return isAhead ? hours * 60 + minutes : -(hours * 60 + minutes)
    }
}
