/// Whole numbers in place of fractions, so that not one unit is lost or invented (Hamilton's method).
public enum LargestRemainder {
    /// `total` divided in proportion to `weights`; evenly where no weight is positive.
    ///
    /// A weight that is itself a whole number and at least its part bounds its part, so a division by room never
    /// exceeds the room.
    public static func divide(_ total: Int, by weights: [Double]) -> [Int] {
        integers(of: scaled(weights, to: total), total: total)
    }

    /// Whole numbers that sum exactly to `total`, each as near to its part as that allows.
    ///
    /// Every part is cut to its floor; the units that are still missing go to the largest remainders, ties to the lower
    /// index. With `total` ≤ Σ `parts` no value exceeds the ceiling of its part. Parts that cannot be rounded to
    /// `total` are scaled to it first.
    /// - Precondition: `parts` are finite and not negative, `total` is not negative, and 0 when there are no parts.
    public static func integers(of parts: [Double], total: Int) -> [Int] {
        precondition(total >= 0 && (total == 0 || !parts.isEmpty), "nobody to divide \(total) over")
        let floors = parts.reduce(0) { $0 + Int($1) }
        let parts = floors <= total && total <= floors + parts.count ? parts : scaled(parts, to: total)
        var values = parts.map { Int($0) }
        var missing = total - values.reduce(0, +)
        let remainders = zip(parts, values).map { $0 - Double($1) }
        while missing > 0 {
            for index in largest(min(missing, parts.count), of: remainders) { values[index] += 1 }
            missing -= min(missing, parts.count)
        }
        // Scaling may round a part up to the next whole number: the units too many come off the smallest remainders.
        while missing < 0 {
            let smallest = largest(parts.count, of: remainders).reversed().first { values[$0] > 0 }
            guard let smallest else { break }
            values[smallest] -= 1
            missing += 1
        }
        return values
    }

    private static func scaled(_ parts: [Double], to total: Int) -> [Double] {
        let sum = parts.reduce(0, +)
        guard sum > 0 else { return parts.map { _ in Double(total) / Double(parts.count) } }
        let whole = Double(total)
        // Multiplied before it is divided: a part that is the whole of a whole number stays that number.
        return parts.map { $0 * whole / sum }
    }

    /// The indices of the `count` largest remainders (each in 0..<1), ties to the lower index, largest first.
    ///
    /// As many buckets as remainders, so that only the few that share a bucket are compared: linear, where a sort of a
    /// million tenants would cost more than the fill.
    private static func largest(_ count: Int, of remainders: [Double]) -> [Int] {
        let buckets = remainders.count
        func bucket(_ remainder: Double) -> Int { min(buckets - 1, Int((1 - remainder) * Double(buckets))) }
        var starts = [Int](repeating: 0, count: buckets + 1)
        for remainder in remainders { starts[bucket(remainder) + 1] += 1 }
        for index in 1...buckets { starts[index] += starts[index - 1] }
        var next = starts
        var ordered = [Int](repeating: 0, count: buckets)
        for index in remainders.indices {
            let bucket = bucket(remainders[index])
            ordered[next[bucket]] = index
            next[bucket] += 1
        }
        for bucket in 0..<buckets where starts[bucket] < count && starts[bucket + 1] - starts[bucket] > 1 {
            ordered[starts[bucket]..<starts[bucket + 1]].sort {
                (-remainders[$0], $0) < (-remainders[$1], $1)
            }
        }
        return Array(ordered.prefix(count))
    }
}
