/// The service levels of Headroom itself: how old what gateways enforce may be, and what it is decided from.
public struct ServiceLevelPolicy: Equatable, Sendable {
    /// Most time since a tick last made sure that what is published is what was decided.
    public var publishedSeconds: Double
    /// Most time since the last decision.
    public var decisionSeconds: Double
    /// Most time for which telemetry that was taken may wait to be read.
    public var ingestSeconds: Double
    /// The part of all time in which each of them must hold. Below 1.
    public var share: Double

    public init(
        publishedSeconds: Double = 10, decisionSeconds: Double = 10, ingestSeconds: Double = 10, share: Double = 0.999
    ) {
        self.publishedSeconds = publishedSeconds
        self.decisionSeconds = decisionSeconds
        self.ingestSeconds = ingestSeconds
        self.share = share
    }
}
