import HeadroomModel

/// Who polls: one entry for each member of each gateway, bounded.
package struct GatewayRegister {
    package struct Key: Hashable {
        package let gateway: GatewayID
        /// Tells processes apart that share one gateway's counters.
        package let member: String?

        package init(gateway: GatewayID, member: String? = nil) {
            self.gateway = gateway
            self.member = member
        }
    }

    private struct Member {
        var lastSeen: Timestamp
        var applied: SnapshotVersion?
        var sent: SnapshotVersion?
    }

    private var members: [Key: Member] = [:]
    let limit: Int

    /// How long a member is remembered: Model §5.3's `safe_seconds`, for which its last budget may be in use.
    static let memorySeconds = 3600.0

    package init(limit: Int) {
        self.limit = limit
    }

    /// Notes a request. `sent` is the newest that its answer may hold. False when there is no room for a newcomer.
    package mutating func note(_ key: Key, at now: Timestamp, applied: SnapshotVersion?, sent: SnapshotVersion?) -> Bool
    {
        guard var member = members[key] ?? (members.count < limit ? Member(lastSeen: now) : nil) else { return false }
        member.lastSeen = max(member.lastSeen, now)
        // What was never sent there in this term cannot be in force there.
        if let applied, applied <= (member.sent ?? applied) { member.applied = applied }
        if let sent { member.sent = max(member.sent ?? sent, sent) }
        members[key] = member
        return true
    }

    /// Notes that an answer has been handed over: the lease counts from there.
    package mutating func noteDelivery(_ key: Key, at now: Timestamp) {
        guard let lastSeen = members[key]?.lastSeen, lastSeen < now else { return }
        members[key]?.lastSeen = now
    }

    package mutating func forget(before now: Timestamp) {
        members = members.filter { now.seconds(since: $0.value.lastSeen) <= Self.memorySeconds }
    }

    /// One entry a gateway, ascending by id. It has applied what all of its members seen within the lease have.
    package func presences(since: Timestamp, now: Timestamp, leaseSeconds: Double) -> [GatewayPresence] {
        var groups: [GatewayID: [Member]] = [:]
        for (key, member) in members where member.lastSeen >= since { groups[key.gateway, default: []].append(member) }
        return groups.sorted { $0.key < $1.key }.map { gateway, members in
            let live = members.filter { now.seconds(since: $0.lastSeen) <= leaseSeconds }
            let applied = (live.isEmpty ? members : live).map(\.applied)
            return GatewayPresence(
                gateway: gateway, lastSeen: members.map(\.lastSeen).max() ?? since,
                applied: applied.contains(nil) ? nil : applied.compactMap(\.self).min(),
                sent: members.compactMap(\.sent).max())
        }
    }
}
