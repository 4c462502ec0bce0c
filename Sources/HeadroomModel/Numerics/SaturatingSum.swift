extension Int64 {
    /// Adds a count from telemetry, which may be any number: negative ones count as 0, and the sum stays at the largest
    /// number there is.
    public mutating func addSaturating(_ more: Int64) {
        let (sum, isOver) = addingReportingOverflow(Swift.max(0, more))
        self = isOver ? .max : sum
    }

    /// The whole number of `value` that is nearest, at most the largest and at least the smallest there is; 0 of what is no
    /// number. ``init(_:)`` of a number that came from outside could trap.
    public init(saturating value: Double) {
        // 2^63 is one more than the largest; -2^63 is the smallest.
        if value >= 0x1p63 {
            self = .max
        } else if value > -0x1p63 {
            self = Int64(value.rounded())
        } else {
            self = value.isNaN ? 0 : .min
        }
    }
}
