import HeadroomModel
import HeadroomWire

/// Rows for a person's eyes: columns as wide as their widest cell.
struct TextTable {
    private var rows: [[String]]
    /// By row and column.
    private var tints: [[Int: TerminalColor.Tint]]

    init(_ header: [String]) {
        rows = [header]
        tints = [Dictionary(uniqueKeysWithValues: header.indices.map { ($0, .strong) })]
    }

    /// - Parameter tints: by column.
    mutating func add(_ row: [String], tints: [Int: TerminalColor.Tint] = [:]) {
        rows.append(row)
        self.tints.append(tints)
    }

    /// Without a line break at the end.
    var text: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return zip(rows, tints).map { row, tints in
            let cells = row.enumerated().map { column, cell in
                let space = column == row.count - 1 ? "" : String(repeating: " ", count: widths[column] - cell.count)
                return TerminalColor.paint(cell, tints[column]) + space
            }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Rounded to whole numbers, thousands apart: `1,800,000`.
    static func number(_ value: Double) -> String { GroupedNumber.whole(value) }
}
