/// Finds how far one resource lets a common level rise.
///
/// Tenant i stands at `clamp(level, low_i, high_i)`, its weighted dominant share, and uses `cost_i` of the resource for
/// each unit of that, as a part of its capacity. The use is a rising, piecewise linear function of the level; the
/// answer is where it reaches 1. A sweep over the tenants gives the linear piece at one level, and Newton's method,
/// bracketed, goes from piece to piece: no sort, no branches, four to six sweeps.
///
/// Columns hold ``FillLanes``, several tenants each; unused lanes at the end have cost 0.
enum FillLevel {
    /// Use may exceed 1 by this much and still fits: twice the rounding error of a sum of parts that make 1.
    static let tolerance = 0x1p-48

    /// The linear piece at one level: what the tenants at an end of their range use, and how fast the others' use
    /// rises. Tenants exactly at an end count as rising, which shortens steps at a kink and misses none.
    struct Piece {
        var fixed: Double
        var slope: Double

        /// The level at which this piece, extended as a line, reaches 1.
        var root: Double {
            if slope > 0 { return (1 - fixed) / slope }
            return fixed <= 1 ? .infinity : -.infinity
        }

        func use(at level: Double) -> Double { fixed + (slope > 0 ? slope * level : 0) }
    }

    /// The level at which the use reaches 1.
    ///
    /// - Parameters:
    ///   - least: a level known to fit, above 0; `most`: one known not to.
    ///   - hint: where to look first. Only the number of sweeps depends on it: the answer is computed from the piece
    ///     that holds it.
    static func rise(
        low: [FillLanes], high: [FillLanes], cost: [FillLanes], least: Double, most: Double, hint: Double
    ) -> Double {
        var (feasible, infeasible) = (least, most)
        var level = hint > least && hint < most ? hint : least
        var sweepsLeft = 3
        var width = infeasible.bitPattern &- feasible.bitPattern
        while true {
            let root = piece(low: low, high: high, cost: cost, at: level).root
            if abs(root - level) <= level * 0x1p-50 { return root }
            if root > level { feasible = level } else { infeasible = level }
            let newWidth = infeasible.bitPattern &- feasible.bitPattern
            if newWidth <= 1 { return feasible }
            // On contrived curves Newton's method is slow or oscillates. Then halve the bracket by bit pattern: levels
            // may differ by many orders of magnitude, and 62 halvings end any search.
            sweepsLeft -= 1
            if newWidth <= width / 2 { (width, sweepsLeft) = (newWidth, 3) }
            if root > feasible && root < infeasible && sweepsLeft > 0 {
                level = root
            } else {
                level = Double(bitPattern: feasible.bitPattern + newWidth / 2)
            }
        }
    }

    /// The piece at `level`, by one sweep.
    ///
    /// Parts are summed in short chunks, and the chunks with compensation, so that the rounding error of a million
    /// parts is that of a few: the rest that all others leave may be one tenant's whole rate.
    static func piece(low: [FillLanes], high: [FillLanes], cost: [FillLanes], at level: Double) -> Piece {
        let level = FillLanes(repeating: level)
        var (fixed, slope) = (CompensatedSum(), CompensatedSum())
        let count = cost.count
        precondition(low.count == count && high.count == count)
        var chunk = 0
        while chunk < count {
            var (chunkFixed, chunkSlope) = (FillLanes.zero, FillLanes.zero)
            let end = min(chunk + 16, count)
            for index in chunk..<end {
                let share = level.clamped(from: low[index], to: high[index])
                let cost = cost[index]
                let rises = share .== level
                chunkFixed += (share * cost).replacing(with: 0, where: rises)
                chunkSlope += FillLanes.zero.replacing(with: cost, where: rises)
            }
            fixed.add(chunkFixed)
            slope.add(chunkSlope)
            chunk = end
        }
        return Piece(fixed: fixed.value, slope: slope.value)
    }

    /// Σ left · right, as exact as ``piece(low:high:cost:at:)``.
    static func total(_ left: [FillLanes], times right: [FillLanes]) -> Double {
        var sum = CompensatedSum()
        for index in left.indices { sum.add(left[index] * right[index]) }
        return sum.value
    }

    static func total(_ column: [FillLanes]) -> Double {
        column.reduce(FillLanes.zero, +).sum()
    }

    static func greatest(_ column: [FillLanes]) -> Double {
        column.reduce(FillLanes.zero) { $0.replacing(with: $1, where: $0 .< $1) }.max()
    }

    /// The end of a plateau: if no tenant rises just above `level`, the use stays the same up to the level at which the
    /// next tenant can rise. Returns that level; `nil` if some tenant rises at once, or none ever does.
    static func end(ofPlateauAt level: Double, low: [FillLanes], high: [FillLanes]) -> Double? {
        let above = FillLanes(repeating: level * (1 + 1e-12))
        var next = FillLanes(repeating: .infinity)
        for index in low.indices {
            let start = low[index].replacing(with: above, where: low[index] .< above)
            next = next.replacing(with: start, where: (start .< high[index]) .& (start .< next))
        }
        let start = next.min()
        return start > above[0] && start < .infinity ? start : nil
    }
}

/// Several tenants side by side. Four doubles are as many as fit the registers of any x86-64 or ARM64 machine together
/// with the sums.
typealias FillLanes = SIMD4<Double>

extension FillLanes {
    /// `low` wins where the ends cross.
    func clamped(from low: FillLanes, to high: FillLanes) -> FillLanes {
        let capped = replacing(with: high, where: high .< self)
        return capped.replacing(with: low, where: capped .< low)
    }
}

/// Sums with the rounding of each addition kept beside them (Neumaier; the two-sum of Knuth, TAOCP 4.2.2).
struct CompensatedSum {
    private var total = FillLanes.zero
    private var lost = FillLanes.zero

    mutating func add(_ part: FillLanes) {
        let sum = total + part
        let back = sum - total
        lost += (total - (sum - back)) + (part - back)
        total = sum
    }

    var value: Double {
        var (sum, rest) = (0.0, lost.sum())
        for lane in total.indices {
            let next = sum + total[lane]
            let back = next - sum
            rest += (sum - (next - back)) + (total[lane] - back)
            sum = next
        }
        return sum + rest
    }
}
