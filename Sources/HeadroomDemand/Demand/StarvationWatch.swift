import HeadroomModel

/// Finds starved tenants: for longer than the policy's seconds throughput has been under a share of min(demand,
/// entitlement). Both are compared in seconds of the pool's nominal capacity, so that a tenant is not starved for
/// want of a resource that it hardly uses.
///
/// A call that waits for longer than its tier's calls should is second evidence: then half the way from the share to
/// all of it is enough. A long wait alone is none: who asks for more than it is entitled to waits for that.
public struct StarvationWatch: Sendable {
    private struct Spell: Sendable {
        var since: Timestamp
        var lastSeen: Timestamp
    }

    /// One tenant's standing at a tick.
    public struct Finding: Equatable, Sendable {
        /// 0 when it is not underserved.
        public var underservedSeconds: Double
        public var starvation: Starvation?
        /// The first tick at which the spell counts as starvation: all of it does, from its first second on.
        public var isFirst: Bool

        public init(underservedSeconds: Double, starvation: Starvation?, isFirst: Bool = false) {
            self.underservedSeconds = underservedSeconds
            self.starvation = starvation
            self.isFirst = isFirst
        }
    }

    public var settings: StarvationPolicy
    private var spells: [TenantID: Spell] = [:]

    public init(settings: StarvationPolicy) {
        self.settings = settings
    }

    /// Judges one tenant at one tick. `hasLostCapacity` says that the pool grants less than its contract.
    /// - Parameter longestWait: of the tenant's tier, in seconds.
    public mutating func judge(
        _ tenant: TenantDemand, entitlement: Rates, nominal: Rates, hasLostCapacity: Bool,
        longestWait: Double = .infinity, at now: Timestamp
    ) -> Finding {
        let due = min(cost(tenant.wanted, nominal), cost(entitlement, nominal))
        let got = cost(tenant.consumed, nominal)
        let waitsLong = Criticality.allCases.contains { tenant.queue[$0].oldestSeconds > longestWait }
        let share = waitsLong ? (settings.share + 1) / 2 : settings.share
        guard due > 0, got < share * due else {
            if !spells.isEmpty { spells[tenant.tenant] = nil }
            return Finding(underservedSeconds: 0, starvation: nil)
        }
        let before = spells[tenant.tenant]
        let since = before?.since ?? now
        let wasStarved = before.map { $0.lastSeen.seconds(since: $0.since) > settings.seconds } ?? false
        spells[tenant.tenant] = Spell(since: since, lastSeen: now)
        let seconds = now.seconds(since: since)
        let starvation: Starvation? = seconds > settings.seconds ? (hasLostCapacity ? .shortage : .delivery) : nil
        return Finding(
            underservedSeconds: seconds, starvation: starvation, isFirst: starvation != nil && !wasStarved)
    }

    public mutating func forget(_ tenant: TenantID) { spells[tenant] = nil }

    /// Forgets tenants that were not judged at `now`.
    public mutating func forgetOthers(at now: Timestamp) {
        if !spells.isEmpty { spells = spells.filter { $0.value.lastSeen == now } }
    }

    private func cost(_ rates: Rates, _ nominal: Rates) -> Double {
        rates.work(overSeconds: 60).seconds(of: nominal)
    }
}

extension StarvationWatch {
    public func write(to writer: inout ByteWriter) {
        writer.write(spells.sorted { $0.key < $1.key }) { writer, entry in
            writer.write(entry.key.text)
            writer.write(entry.value.since)
        }
    }

    /// - Parameter now: of the checkpoint, which was the last to see them.
    public mutating func restore(from reader: inout ByteReader, at now: Timestamp) throws(ByteCodingError) {
        for _ in 0..<(try reader.readCount(leastBytes: 10)) {
            spells[try reader.readIdentifier()] = Spell(since: try reader.readTimestamp(), lastSeen: now)
        }
    }
}
