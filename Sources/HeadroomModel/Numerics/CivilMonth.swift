/// A month of the calendar, from and to days since 1970 in UTC (Howard Hinnant, "chrono-compatible low-level date
/// algorithms"). Years are counted from March, so that the leap day is the last of one; from 1970 on.
public struct CivilMonth: Equatable, Sendable {
    private var year: Int64
    /// 0 is March.
    private var month: Int64

    /// That day `day` lies in.
    public init(containing day: Int64) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        year = yearOfEra + era * 400
        month = (5 * dayOfYear + 2) / 153
    }

    /// Its days.
    public var days: Range<Int64> {
        var next = self
        (next.year, next.month) = month == 11 ? (year + 1, 0) : (year, month + 1)
        return firstDay..<next.firstDay
    }

    private var firstDay: Int64 {
        let (era, yearOfEra) = year.quotientAndRemainder(dividingBy: 400)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + (153 * month + 2) / 5 - 719_468
    }
}

extension Timestamp {
    /// Since 1970, in UTC.
    public var day: Int64 { milliseconds / 86_400_000 }

    /// When it begins.
    public init(day: Int64) {
        self.init(milliseconds: day * 86_400_000)
    }
}
