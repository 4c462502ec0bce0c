import HeadroomModel
import HeadroomWire

/// Rows for a person's eyes: columns as wide as their widest cell.
struct TextTable {
    private var rows: [[String]]

    init(_ header: [String]) {
        rows = [header]
    }

    mutating func add(_ row: [String]) { rows.append(row) }

    /// Without a line break at the end.
    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                column == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Rounded to whole numbers, thousands apart: `1,800,000`.
    static func number(_ value: Double) -> String { GroupedNumber.whole(value) }
}
