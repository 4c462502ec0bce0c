/// How long telemetry is remembered.
package struct TelemetrySettings: Sendable {
    /// A line id counts once within this time.
    package var dedupeSeconds: Double
    /// Raw rows are kept for this long; older lines are refused.
    package var retentionHours: Double

    package init(dedupeSeconds: Double = 900, retentionHours: Double = 48) {
        self.dedupeSeconds = dedupeSeconds
        self.retentionHours = retentionHours
    }
}
