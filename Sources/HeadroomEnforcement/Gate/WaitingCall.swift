import HeadroomModel

/// A call that asks a gateway for its turn.
public struct WaitingCall: Equatable, Sendable {
    /// The caller's; unique among the calls that wait or are on their way.
    public var id: Int
    public var tenant: TenantID
    public var criticality: Criticality
    /// Its expected cost; settled when it ends.
    public var estimate: Work
    /// Its place in the queue.
    public var arrival: Timestamp
    /// Not before.
    public var eligibleAt: Timestamp
    /// When the caller's patience ends.
    public var deadline: Timestamp
    /// Its model has a circuit breaker of its own; `nil`: only the pool's counts.
    public var model: String?

    public init(
        id: Int, tenant: TenantID, criticality: Criticality = .interactive, estimate: Work, arrival: Timestamp,
        eligibleAt: Timestamp? = nil, deadline: Timestamp, model: String? = nil
    ) {
        self.id = id
        self.tenant = tenant
        self.criticality = criticality
        self.estimate = estimate
        self.arrival = arrival
        self.eligibleAt = eligibleAt ?? arrival
        self.deadline = deadline
        self.model = model
    }
}

/// On what right a call goes.
public enum CallRight: Int, CaseIterable, Sendable, Hashable {
    /// Within its tenant's assured rate.
    case assured
    /// From budget that others leave unused.
    case lent
    /// From the pool's float.
    case drawn
    /// Within the rate that all tenants without an entry share.
    case unlisted
    /// Nothing is enforced.
    case unlimited
}

/// A call whose turn it is. The caller sends it, then tells the gate how it ended: settled or refused.
public struct Dispatch: Equatable, Sendable {
    public var call: WaitingCall
    public var grant: CallRight
    /// 1 for the first.
    public var attempt: Int
}
