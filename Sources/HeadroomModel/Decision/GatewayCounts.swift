/// How many gateways work from a pool, by how budget gets to the one where work waits.
public struct GatewayCounts: Equatable, Sendable {
    /// Those that draw from the float.
    public var drawing: Int
    /// Those that had work in the last ten minutes and do not draw: they lend what they have, or take one number a
    /// tenant.
    public var lending: Int

    /// So many may do without draws. In a steady shortage gateways that only lend have a shortfall of 0.143 where there
    /// are 4 of them, 0.283 with 16 and 0.458 with 64; those that draw have 0.064 at any number (ControlLaw).
    public static let mostLending = 4

    public init(drawing: Int = 0, lending: Int = 0) {
        self.drawing = drawing
        self.lending = lending
    }

    /// More do not draw than should.
    public var needDraws: Bool { lending > GatewayCounts.mostLending }
}
