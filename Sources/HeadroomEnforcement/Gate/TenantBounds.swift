import HeadroomModel

/// The rates that go with assured ones, divided over gateways: order of service, plain rates and ceilings.
struct TenantBounds {
    private let tenants: [TenantAllocation]
    private let columns: Int
    /// Row by row, a row a tenant; lanes in the order of ``Resource``.
    private let assured: [SIMD4<Double>]
    private let shares: [Double]
    private var plain: [SIMD4<Double>]
    private var ceiling: [SIMD4<Double>]
    /// One criticality after the other.
    private var criticality: [SIMD4<Double>]

    init(_ tenants: [TenantAllocation], assured: [SIMD4<Double>], shares: [Double], columns: Int) {
        self.tenants = tenants
        self.columns = columns
        self.assured = assured
        self.shares = shares
        let none = [SIMD4<Double>](repeating: .zero, count: tenants.count * columns)
        plain = none
        ceiling = none
        criticality = none + none + none
    }

    mutating func divide(_ divider: inout UnitDivider) {
        for row in tenants.indices {
            divideCriticality(row, &divider)
            TenantBounds.divide(
                tenants[row].plain, above: assured, shares, row * columns..<(row + 1) * columns, into: &plain, &divider)
            TenantBounds.divide(
                tenants[row].ceiling, above: plain, shares, row * columns..<(row + 1) * columns, into: &ceiling,
                &divider)
        }
    }

    func read(_ cell: Int, into entry: inout TenantAllocation) {
        entry.plain = Rates(perMinute: plain[cell], resources: entry.plain.resources)
        entry.ceiling = Rates(perMinute: ceiling[cell], resources: entry.ceiling.resources)
        for kind in Criticality.allCases {
            entry.criticality[kind] = Rates(
                perMinute: criticality[kind.rawValue * plain.count + cell],
                resources: entry.criticality[kind].resources)
        }
    }

    /// A bound: what each gateway has below it, and a share of what is above that.
    private static func divide(
        _ bound: Rates, above below: [SIMD4<Double>], _ shares: [Double], _ cells: Range<Int>,
        into parts: inout [SIMD4<Double>], _ divider: inout UnitDivider
    ) {
        for resource in bound.resources.members {
            let lane = resource.rawValue
            var least = 0.0
            for cell in cells { least += below[cell][lane] }
            let above = max(0, (bound[resource] ?? 0) - least).rounded(.down)
            if above > 0 {
                for cell in cells { divider.weights[cell - cells.lowerBound] = shares[cell] }
                divider.divide(above)
                for cell in cells { parts[cell][lane] = below[cell][lane] + divider.units[cell - cells.lowerBound] }
            } else {
                for cell in cells { parts[cell][lane] = below[cell][lane] }
            }
        }
    }

    /// The order of service of an assured rate, divided in the proportions of its parts: each criticality's parts sum to
    /// its own, each gateway's to its assured part. Of a rate that was cut the last in the order lose.
    private mutating func divideCriticality(_ row: Int, _ divider: inout UnitDivider) {
        let first = row * columns
        for resource in tenants[row].assured.resources.members {
            let lane = resource.rawValue
            var all = 0.0
            for column in 0..<columns {
                divider.weights[column] = assured[first + column][lane]
                all += divider.weights[column]
            }
            for kind in Criticality.allCases where all > 0 {
                let rate = min(all, tenants[row].criticality[kind][resource] ?? 0)
                guard rate > 0 else { continue }
                divider.divide(rate)
                let start = kind.rawValue * plain.count + first
                for column in 0..<columns {
                    criticality[start + column][lane] = divider.units[column]
                    divider.weights[column] = max(0, divider.weights[column] - divider.units[column])
                }
                all -= rate
            }
        }
    }
}
