extension Int64 {
    /// Adds a count from telemetry, which may be any number: negative ones count as 0, and the sum stays at the largest
    /// number there is.
    public mutating func addSaturating(_ more: Int64) {
        let (sum, isOver) = addingReportingOverflow(Swift.max(0, more))
        self = isOver ? .max : sum
    }
}
