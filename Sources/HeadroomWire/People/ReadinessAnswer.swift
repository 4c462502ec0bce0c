import HeadroomJSON
import HeadroomModel

/// The body of `/readyz`.
package struct ReadinessAnswer: Sendable {
    /// Why the service cannot be relied on; empty when it can.
    package var reasons: [String]
    /// Conditions that need a person's eye and do not make the service unready.
    package var warnings: [String]
    /// The newest generation.
    package var version: SnapshotVersion?
    package var publishedAgeSeconds: Double?
    package var decisionAgeSeconds: Double?

    package init(
        reasons: [String], warnings: [String], version: SnapshotVersion?, publishedAgeSeconds: Double?,
        decisionAgeSeconds: Double?
    ) {
        self.reasons = reasons
        self.warnings = warnings
        self.version = version
        self.publishedAgeSeconds = publishedAgeSeconds
        self.decisionAgeSeconds = decisionAgeSeconds
    }

    package var isReady: Bool { reasons.isEmpty }

    /// Unknown numbers are left out.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("ready", isReady)
        writer.field("reasons", reasons)
        writer.field("warnings", warnings)
        if let version {
            writer.field("epoch", version.epoch)
            writer.field("generation", version.generation)
        }
        if let publishedAgeSeconds { writer.field("published_age_seconds", publishedAgeSeconds) }
        if let decisionAgeSeconds { writer.field("decision_age_seconds", decisionAgeSeconds) }
        writer.endObject()
        return writer.bytes
    }
}
