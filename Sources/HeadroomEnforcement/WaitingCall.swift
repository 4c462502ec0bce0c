import HeadroomModel

/// A call that asks a gateway for its turn.
package struct WaitingCall: Equatable, Sendable {
    /// The caller's; unique among the calls that wait or are on their way.
    package var id: Int
    package var tenant: TenantID
    package var criticality: Criticality
    /// What it is expected to cost; settled when it ends.
    package var estimate: Work
    /// Its place in the queue.
    package var arrival: Timestamp
    /// Not before.
    package var eligibleAt: Timestamp
    /// When the caller's patience ends.
    package var deadline: Timestamp

    package init(
        id: Int, tenant: TenantID, criticality: Criticality = .interactive, estimate: Work, arrival: Timestamp,
        eligibleAt: Timestamp? = nil, deadline: Timestamp
    ) {
        self.id = id
        self.tenant = tenant
        self.criticality = criticality
        self.estimate = estimate
        self.arrival = arrival
        self.eligibleAt = eligibleAt ?? arrival
        self.deadline = deadline
    }
}

/// On what right a call goes.
package enum Grant: Int, CaseIterable, Sendable, Hashable {
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
package struct Dispatch: Equatable, Sendable {
    package var call: WaitingCall
    package var grant: Grant
    /// 1 for the first.
    package var attempt: Int
}
