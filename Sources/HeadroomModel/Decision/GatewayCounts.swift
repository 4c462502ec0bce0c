/// How many gateways work from a pool, by how budget gets to the one where work waits.
public struct GatewayCounts: Equatable, Sendable {
    /// Those that draw from the float.
    public var drawing: Int
    /// Those that had work in the last ten minutes and do not draw: they lend what they have, or take one number a
    /// tenant.
    public var lending: Int

    /// So many may do without draws. The more gateways only lend, the more budget sits where nobody waits; of those that
    /// draw the number does not matter (ControlLaw, rule 15; the article Evidence has the figures).
    public static let mostLending = 4

    public init(drawing: Int = 0, lending: Int = 0) {
        self.drawing = drawing
        self.lending = lending
    }

    /// More do not draw than should.
    public var needDraws: Bool { lending > GatewayCounts.mostLending }
}
