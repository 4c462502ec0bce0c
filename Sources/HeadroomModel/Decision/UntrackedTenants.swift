/// Telemetry of tenants beyond the bounds on the number of tenants in memory: they have no entry of their own, and share
/// the `unlisted` bucket of their pool.
public struct UntrackedTenants: Equatable, Sendable {
    /// The bound that turns tenants away.
    public enum Bound: String, CaseIterable, Sendable, Hashable {
        /// ``LoopPolicy/maxTenants``.
        case pool
        /// ``LoopPolicy/maxTenantsTotal``.
        case total
        /// ``LoopPolicy/maxNewTenantsPerGateway``.
        case gateway
    }

    /// Lines since the estimator began.
    public var lines: Int
    /// Which bound the newest of these lines met, whose line it was, and when it was read; `nil` before the first.
    public var last: (bound: Bound, gateway: GatewayID, at: Timestamp)?

    public init(lines: Int = 0) {
        self.lines = lines
    }

    public static func == (left: UntrackedTenants, right: UntrackedTenants) -> Bool {
        left.lines == right.lines && left.last?.bound == right.last?.bound && left.last?.gateway == right.last?.gateway
            && left.last?.at == right.last?.at
    }
}
