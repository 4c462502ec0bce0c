import HeadroomModel
import Testing

@Suite struct CivilMonthTests {
    @Test(arguments: [
        // Days since 1970: any day of the month, its first, and the first of the next.
        (0, 0, 31), (31, 31, 59), (58, 31, 59), (59, 59, 90), (789, 761, 790), (11_016, 10_988, 11_017),
        (19_782, 19_754, 19_783), (20_453, 20_423, 20_454), (20_779, 20_758, 20_788), (47_540, 47_513, 47_541),
    ])
    func `a month has its days, also in leap years and at the turn of a year`(day: Int64, first: Int64, end: Int64) {
        #expect(CivilMonth(containing: day).days == first..<end)
    }

    @Test func `months follow each other for centuries without a gap`() {
        var (day, months): (Int64, Int) = (0, 0)
        while day < 400 * 366 {
            let days = CivilMonth(containing: day).days
            #expect(days.lowerBound == day && (28...31).contains(days.count))
            #expect(CivilMonth(containing: days.upperBound - 1).days == days)
            (day, months) = (days.upperBound, months + 1)
        }
        #expect(months > 4_800)
    }
}
