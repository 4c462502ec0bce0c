/// What one gateway has made of the float's grants in a pool in the last five to ten minutes.
public struct GrantUse: Equatable, Sendable {
    public var pool: PoolID
    public var gateway: GatewayID
    /// Calls that it was granted, and how many of them its next totals did not show as used, or it never told of.
    public var granted: Double
    public var unused: Double

    public init(pool: PoolID, gateway: GatewayID, granted: Double, unused: Double) {
        self.pool = pool
        self.gateway = gateway
        self.granted = granted
        self.unused = unused
    }

    /// Some grants are always in vain: a caller hangs up, an answer is lost. More than a tenth of at least so many is a fault of
    /// the gateway: it asks for calls that it does not send.
    public var isWasteful: Bool { granted >= 20 && unused > granted / 10 }
}
