/// Numbers as spreadsheets write them. Where fields stand between semicolons the comma is the decimal sign, since it could
/// not separate fields; elsewhere it is the point. The other one, spaces, apostrophes and underscores group thousands.
struct NumberText {
    private let decimalSign: Character
    private let groupingSigns: Set<Character>

    init(separator: UInt8) {
        let isContinental = separator == UInt8(ascii: ";")
        decimalSign = isContinental ? "," : "."
        groupingSigns = [isContinental ? "." : ",", " ", "\u{A0}", "\u{202F}", "'", "\u{2019}", "_"]
    }

    /// For people.
    var example: String {
        "1200000, 1\(decimalSign == "," ? "." : ",")200\(decimalSign == "," ? "." : ",")000 or 1\(decimalSign)5"
    }

    /// Without groups and with a point; empty, which is no number, where the groups are not of three digits.
    func plain(_ text: String) -> String {
        let parts = text.split(separator: decimalSign, maxSplits: 1, omittingEmptySubsequences: false)
        let groups = parts[0].split(omittingEmptySubsequences: false, whereSeparator: groupingSigns.contains)
        let isGrouped =
            groups.count > 1 && (1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 }
        guard groups.count == 1 || isGrouped else { return "" }
        return groups.joined() + (parts.count == 2 ? "." + parts[1] : "")
    }
}
