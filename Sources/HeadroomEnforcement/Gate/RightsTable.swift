import HeadroomModel

/// Rates of many holders divided over gateways in whole units, so that each gateway's fit into its budget.
///
/// Rows keep their sums. Where a column holds more than its budget, each of its cells gives up units in proportion,
/// and they move along their rows to columns that have room; what all budgets together cannot hold is cut.
struct RightsTable {
    /// Row by row; lanes in the order of ``Resource``.
    private(set) var cells: [SIMD4<Double>]
    /// Rows that lost units because the budgets cannot hold them.
    private(set) var isCut: [Bool]
    private let columns: Int

    /// - Parameters:
    ///   - rows: one holder's whole rate each.
    ///   - shares: row by row, its share at each gateway.
    ///   - budgets: of each gateway.
    init(_ rows: [Rates], by shares: [Double], within budgets: [Rates], _ divider: inout UnitDivider) {
        columns = budgets.count
        cells = [SIMD4<Double>](repeating: .zero, count: rows.count * columns)
        isCut = [Bool](repeating: false, count: rows.count)
        let limited = rows.reduce(into: ResourceSet()) { $0.formUnion($1.resources) }
        for resource in limited.members {
            let lane = resource.rawValue
            for row in rows.indices {
                guard let rate = rows[row][resource], rate >= 1 else { continue }
                for column in 0..<columns { divider.weights[column] = shares[row * columns + column] }
                divider.divide(rate.rounded(.down))
                for column in 0..<columns { cells[row * columns + column][lane] = divider.units[column] }
            }
            let room = budgets.compactMap { $0[resource] }
            if room.count == columns { fit(lane, into: room, &divider) }
        }
    }

    private mutating func fit(_ lane: Int, into budgets: [Double], _ divider: inout UnitDivider) {
        var room = budgets
        for row in isCut.indices {
            for column in 0..<columns { room[column] -= cells[row * columns + column][lane] }
        }
        guard room.contains(where: { $0 < 0 }) else { return }

        var moved = [Double](repeating: 0, count: isCut.count)
        for column in 0..<columns where room[column] < 0 {
            let held = isCut.indices.map { cells[$0 * columns + column][lane] }
            for (row, given) in LargestRemainder.divide(Int(-room[column]), by: held).enumerated() {
                cells[row * columns + column][lane] -= Double(given)
                moved[row] += Double(given)
            }
            room[column] = 0
        }
        place(moved, lane, into: &room, &divider)
    }

    /// Where not all of it fits, each row gets back in proportion to what it gave.
    private mutating func place(
        _ moved: [Double], _ lane: Int, into room: inout [Double], _ divider: inout UnitDivider
    ) {
        let free = room.reduce(0, +)
        let all = moved.reduce(0, +)
        let fitting = all <= free ? moved : LargestRemainder.divide(Int(free), by: moved).map(Double.init)
        for row in moved.indices where moved[row] > 0 {
            if fitting[row] < moved[row] { isCut[row] = true }
            guard fitting[row] > 0 else { continue }
            for column in 0..<columns { divider.weights[column] = room[column] }
            divider.divide(fitting[row])
            for column in 0..<columns {
                cells[row * columns + column][lane] += divider.units[column]
                room[column] -= divider.units[column]
            }
        }
    }
}
