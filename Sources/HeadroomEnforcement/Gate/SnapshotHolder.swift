import HeadroomModel

/// A gateway's view of the control plane: the snapshot in force, its lease, and when to ask again.
public struct SnapshotHolder: Sendable {
    public private(set) var snapshot: Snapshot?
    public private(set) var lease = Lease()
    /// Polls in a row that brought nothing.
    private var failures = 0
    private var askedAt: Timestamp?

    public init() {}

    /// The version that the gateway acknowledges with `applied=`.
    public var applied: SnapshotVersion? { snapshot?.version }

    public enum Acceptance: Equatable, Sendable {
        /// Newer: load it.
        case applied
        /// The one in force; its lease was renewed.
        case renewed
        /// Of an older generation or an older term: a stale copy, which changes and renews nothing.
        case ignored
    }

    /// A 200 with a whole snapshot, or one put together from a delta.
    /// - Parameter isLate: it was so long on its way that Headroom may count the lease as over: what it says is newer, and
    ///   renews nothing.
    public mutating func accept(_ received: Snapshot, isLate: Bool = false, at now: Timestamp) -> Acceptance {
        if let applied, received.version < applied {
            noteFailure(at: now)
            return .ignored
        }
        let acceptance: Acceptance = received.version == applied ? .renewed : .applied
        snapshot = received
        renew(seconds: isLate ? 0 : received.leaseSeconds, at: now)
        return acceptance
    }

    /// A 304, or an empty delta, with the version that its headers name. Renews the lease if that is the one in force.
    public mutating func notModified(
        _ version: SnapshotVersion, isLate: Bool = false, at now: Timestamp
    ) -> Acceptance {
        guard let snapshot, version == snapshot.version else {
            noteFailure(at: now)
            return .ignored
        }
        renew(seconds: isLate ? 0 : snapshot.leaseSeconds, at: now)
        return .renewed
    }

    /// A poll brought no answer, or an error.
    public mutating func noteFailure(at now: Timestamp) {
        failures += 1
        askedAt = now
    }

    /// When to poll next, for gateways that do not keep a long poll open.
    ///
    /// Three polls a lease, so that two may be lost. After failures 0.5 s, doubled each time up to the usual interval.
    /// - Parameter jitter: in 0..<1; takes up to a third off, so that gateways that started together drift apart.
    public func nextPoll(jitter: Double, at now: Timestamp) -> Timestamp {
        guard let askedAt else { return now }
        let usual = (snapshot?.leaseSeconds ?? LoopPolicy().leaseSeconds) / 3
        let interval = failures == 0 ? usual : min(usual, 0.5 * Double(1 << min(failures - 1, 10)))
        return max(now, askedAt.adding(seconds: interval * (1 - jitter / 3)))
    }

    private mutating func renew(seconds: Double, at now: Timestamp) {
        lease.renew(seconds: seconds, at: now)
        failures = 0
        askedAt = now
    }
}
