import HeadroomJSON

/// An instant as HTTP headers bear it, in the three forms of RFC 9110 §5.6.7.
enum HTTPDate {
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Milliseconds since 1970.
    ///
    ///     Sun, 06 Nov 1994 08:49:37 GMT     IMF-fixdate
    ///     Sunday, 06-Nov-94 08:49:37 GMT    RFC 850
    ///     Sun Nov  6 08:49:37 1994          asctime
    static func parse(_ text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.lowercased().split(whereSeparator: { $0 == " " || $0 == "," || $0 == "-" }).map(String.init)
        switch words.count {
        case 6 where words[5] == "gmt" || words[5] == "utc":
            return instant(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5:
            return instant(day: words[2], month: words[1], year: words[4], time: words[3])
        default:
            return nil
        }
    }

    private static func instant(day: String, month: String, year: String, time: String) -> Int64? {
        guard let month = months.firstIndex(of: month), let day = Int(day), var year = Int(year),
            (0...9999).contains(year)
        else { return nil }
        // RFC 850 has two digits of the year; no date of HTTP is older than 1970.
        if year < 100 { year += year < 70 ? 2000 : 1900 }
        return RFC3339.parse("\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(day, 2))T\(time)Z")
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
