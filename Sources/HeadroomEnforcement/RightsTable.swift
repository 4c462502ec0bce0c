import HeadroomModel

/// Rates of many holders divided over gateways in whole units, so that each gateway's fit into its budget.
///
/// Rows keep their sums. Where a column holds more than its budget, each of its cells gives up units in proportion,
/// and they move along their rows to columns that have room.
struct RightsTable {
    /// By resource, then row by row.
    private var cells: [(resource: Resource, units: [Int])] = []
    /// The resources of each row.
    private let resources: [ResourceSet]
    private let columns: Int

    /// - Parameters:
    ///   - rows: one holder's whole rate each.
    ///   - shares: for each row its share at each gateway; they sum to 1.
    ///   - budgets: of each gateway. Together they cover the rows; what the whole itself over-commits is cut.
    init(_ rows: [Rates], by shares: [[Double]], within budgets: [Rates]) {
        resources = rows.map(\.resources)
        columns = budgets.count
        let limited = rows.reduce(into: ResourceSet()) { $0.formUnion($1.resources) }
        for resource in limited.members {
            var units: [Int] = []
            units.reserveCapacity(rows.count * columns)
            for (row, share) in zip(rows, shares) {
                units += LargestRemainder.divide(Int(row[resource] ?? 0), by: share)
            }
            let room = budgets.compactMap { $0[resource].map { Int($0) } }
            if room.count == columns { RightsTable.fit(&units, rows: rows.count, into: room) }
            cells.append((resource, units))
        }
    }

    subscript(row: Int, column: Int) -> Rates {
        var rates = Rates.none
        for (resource, units) in cells where resources[row].contains(resource) {
            rates[resource] = Double(units[row * columns + column])
        }
        return rates
    }

    private static func fit(_ units: inout [Int], rows: Int, into budgets: [Int]) {
        let columns = budgets.count
        var room = budgets
        for index in units.indices { room[index % columns] -= units[index] }
        guard room.contains(where: { $0 < 0 }) else { return }

        var moved = [Int](repeating: 0, count: rows)
        for column in 0..<columns where room[column] < 0 {
            let held = (0..<rows).map { Double(units[$0 * columns + column]) }
            for (row, given) in LargestRemainder.divide(-room[column], by: held).enumerated() {
                units[row * columns + column] -= given
                moved[row] += given
            }
            room[column] = 0
        }
        for row in 0..<rows where moved[row] > 0 {
            let fits = min(moved[row], room.reduce(0, +))
            guard fits > 0 else { return }
            for (column, taken) in LargestRemainder.divide(fits, by: room.map(Double.init)).enumerated() {
                units[row * columns + column] += taken
                room[column] -= taken
            }
        }
    }
}
