/// The division in which everyone stands at one proportion of a target, except who is held by a bound.
///
/// Solved as Kubernetes does (`conc_alloc.go`): the sum of all parts grows with the proportion in straight pieces that
/// meet where a part leaves its lower or reaches its upper bound, so one sweep over the sorted bounds finds it exactly.
package enum ClampedProportion {
    package struct Part: Equatable, Sendable {
        /// Above 0.
        package var target: Double
        package var lower: Double
        /// At least ``lower``; may be infinite.
        package var upper: Double

        package init(target: Double, lower: Double = 0, upper: Double = .infinity) {
            self.target = target
            self.lower = lower
            self.upper = upper
        }
    }

    /// Parts that sum to `total`: the lower bounds where these alone exceed it, the upper ones where they fall short.
    package static func divide(_ total: Double, over parts: [Part]) -> [Double] {
        var sum = parts.reduce(0) { $0 + $1.lower }
        if sum >= total { return parts.map(\.lower) }
        if parts.reduce(0, { $0 + $1.upper }) <= total { return parts.map(\.upper) }

        // From a part's lower bound to its upper one the sum grows by its target for each unit of proportion.
        let bounds = parts.indices.flatMap { index -> [(proportion: Double, part: Int, isLower: Bool)] in
            let part = parts[index]
            return [(part.lower / part.target, index, true), (part.upper / part.target, index, false)]
        }
        var proportion = 0.0
        var slope = 0.0
        var moving = 0
        for bound in bounds.sorted(by: { ($0.proportion, $0.part) < ($1.proportion, $1.part) }) {
            // Counted: what is left in `slope` when nobody moves is rounding.
            if moving > 0 {
                let found = proportion + (total - sum) / slope
                if found <= bound.proportion {
                    proportion = found
                    break
                }
                sum += slope * (bound.proportion - proportion)
            }
            proportion = bound.proportion
            moving += bound.isLower ? 1 : -1
            slope += bound.isLower ? parts[bound.part].target : -parts[bound.part].target
        }
        return parts.map { max($0.lower, min($0.upper, proportion * $0.target)) }
    }
}
