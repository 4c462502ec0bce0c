import HeadroomModel

/// The gateways that take part in the division of budgets: for each name its members, bounded.
///
/// A name takes part once it has acknowledged a snapshot or sent telemetry; a poll before that is a reader's and leaves no
/// trace. A member goes some time after its lease, a name when nothing is withheld for it any more.
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

    /// A request's statement of its sender.
    package struct Visitor {
        package var key: Key
        package var applied: SnapshotVersion?
        /// A name that is new at each start of the process (`boot` in WireFormat §2).
        package var boot: String?
        /// The boot of a process under this name that is dead, as the sender knows.
        package var succeeds: String?
        /// The token that it came with; `nil` where there are none.
        package var owner: String?
        /// It was noted before, and has waited since.
        package var hasWaited: Bool

        package init(
            key: Key, applied: SnapshotVersion? = nil, boot: String? = nil, succeeds: String? = nil,
            owner: String? = nil, hasWaited: Bool = false
        ) {
            self.key = key
            self.applied = applied
            self.boot = boot
            self.succeeds = succeeds
            self.owner = owner
            self.hasWaited = hasWaited
        }
    }

    package enum Standing: Equatable, Sendable {
        /// - Parameter isFirst: it was not sent any part before: it knows nothing that a difference could count from.
        case takesPart(isFirst: Bool)
        /// It has neither acknowledged nor reported anything, or has left.
        case reader
        /// Another process under this name is alive, for so long at least.
        case otherProcess(seconds: Double)
        /// The name has as many members, or the token as many names, as are kept.
        case tooManyMembers, tooManyNames
        case full
    }

    fileprivate struct Member {
        var lastSeen: Timestamp
        var applied: SnapshotVersion?
        var sent: SnapshotVersion?
        var boot: String?
        /// By any call that bore its boot; polls are in `lastSeen`.
        var heardAt: Timestamp?

        /// For so long another process under its name is refused.
        func secondsAlive(after now: Timestamp, leaseSeconds: Double) -> Double {
            leaseSeconds - now.seconds(since: max(lastSeen, heardAt ?? lastSeen))
        }
    }

    fileprivate struct Name {
        var members: [String?: Member] = [:]
        /// Of all members, also of those that went.
        var lastSeen: Timestamp
        var sent: SnapshotVersion?
        var owner: String?
        /// It said goodbye.
        var hasLeft = false
        /// When it left, this publication had a part for it: what it had is free with the next one.
        var leftBehind: SnapshotVersion?
    }

    package struct Limits: Sendable {
        /// Of all names together.
        package var members = 65_536
        package var membersOfOneName = 4096
        package var namesOfOneToken = 1024

        package init() {}
    }

    private let limits: Limits
    private var names: [GatewayID: Name] = [:]
    private var memberCount = 0
    /// Gateways that sent telemetry and have not polled since take part by that.
    private var reporters: [GatewayID: Timestamp] = [:]
    private var namesByOwner: [String: Int] = [:]

    /// How long a name is remembered without being heard of: as long as the loop withholds something for it.
    package var memorySeconds = LoopPolicy().forgottenSeconds
    package var leaseSeconds = LoopPolicy().leaseSeconds

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    // MARK: Who comes and goes

    /// Notes a request.
    /// - Parameters:
    ///   - part: the newest publication, when it has a part for the gateway: the answer may hold it.
    ///   - newest: the newest publication.
    package mutating func note(
        _ visitor: Visitor, part: SnapshotVersion?, newest: SnapshotVersion?, at now: Timestamp
    ) -> Standing {
        let (gateway, id) = (visitor.key.gateway, visitor.key.member)
        if let known = names[gateway], known.hasLeft {
            // A request from before the goodbye does not take it back, nor is what was left behind handed out again.
            if visitor.hasWaited || (known.leftBehind.map { newest == $0 } ?? false) { return .reader }
            guard isHeardOf(visitor, at: now) else { return .reader }
            remove(gateway)
        }
        if names[gateway] == nil {
            guard !visitor.hasWaited, isHeardOf(visitor, at: now) else { return .reader }
            if let owner = visitor.owner, namesByOwner[owner, default: 0] >= limits.namesOfOneToken {
                return .tooManyNames
            }
        }
        var member = names[gateway]?.members[id] ?? Member(lastSeen: now)
        if names[gateway]?.members[id] == nil {
            guard memberCount < limits.members else { return .full }
            guard names[gateway]?.members.count ?? 0 < limits.membersOfOneName else { return .tooManyMembers }
            memberCount += 1
        }
        if let boot = visitor.boot {
            if let other = member.boot, other != boot {
                let left = member.secondsAlive(after: now, leaseSeconds: leaseSeconds)
                if left > 0, other != visitor.succeeds { return .otherProcess(seconds: left) }
                member = Member(lastSeen: now)
            }
            member.boot = boot
        }
        let isFirst = member.sent == nil
        member.lastSeen = max(member.lastSeen, now)
        // A version that was never sent there in this term cannot be in force there.
        if let applied = visitor.applied, applied <= (member.sent ?? applied) { member.applied = applied }
        if let part { member.sent = max(member.sent ?? part, part) }
        if names[gateway] == nil {
            names[gateway] = Name(lastSeen: now, owner: visitor.owner)
            if let owner = visitor.owner { namesByOwner[owner, default: 0] += 1 }
            reporters[gateway] = nil
        }
        names[gateway]?.note(member, as: id)
        return .takesPart(isFirst: isFirst)
    }

    private func isHeardOf(_ visitor: Visitor, at now: Timestamp) -> Bool {
        visitor.applied != nil
            || reporters[visitor.key.gateway].map { now.seconds(since: $0) <= memorySeconds } ?? false
    }

    /// Notes a call that is no poll: telemetry, or a draw. It renews no lease, and makes nobody take part.
    /// - Parameter boot: `nil` when the call does not say.
    package mutating func hear(_ key: Key, boot: String?, at now: Timestamp) -> Standing {
        guard let name = names[key.gateway], !name.hasLeft, var member = name.members[key.member] else {
            return .reader
        }
        guard let boot else { return .takesPart(isFirst: false) }
        if let other = member.boot, other != boot {
            let left = member.secondsAlive(after: now, leaseSeconds: leaseSeconds)
            // The old process has gone: the new one is known with its first poll.
            return left > 0 ? .otherProcess(seconds: left) : .reader
        }
        member.boot = boot
        member.heardAt = max(member.heardAt ?? now, now)
        names[key.gateway]?.members[key.member] = member
        return .takesPart(isFirst: false)
    }

    /// Notes that an answer has been handed over: the lease counts from there.
    package mutating func noteDelivery(_ key: Key, at now: Timestamp) {
        guard let name = names[key.gateway], !name.hasLeft, var member = name.members[key.member],
            member.lastSeen < now
        else { return }
        member.lastSeen = now
        names[key.gateway]?.note(member, as: key.member)
    }

    /// Notes whose telemetry was stored: they take part with their next poll.
    package mutating func noteReports(of gateways: Set<GatewayID>, at now: Timestamp) {
        for gateway in gateways where names[gateway]?.hasLeft ?? true {
            guard reporters[gateway] != nil || reporters.count < limits.members else { continue }
            reporters[gateway] = now
        }
    }

    /// The name uses nothing any more.
    /// - Parameter part: the newest publication, when it has a part for the gateway.
    package mutating func leave(_ gateway: GatewayID, part: SnapshotVersion?, at now: Timestamp) {
        remove(gateway)
        names[gateway] = Name(lastSeen: now, hasLeft: true, leftBehind: part)
        reporters[gateway] = nil
    }

    /// True of a name that takes part.
    package func isKnown(_ gateway: GatewayID) -> Bool { names[gateway].map { !$0.hasLeft } ?? false }

    private mutating func remove(_ gateway: GatewayID) {
        guard let name = names.removeValue(forKey: gateway) else { return }
        memberCount -= name.members.count
        guard let owner = name.owner, let count = namesByOwner[owner] else { return }
        namesByOwner[owner] = count > 1 ? count - 1 : nil
    }

    /// Forgets members that have not been heard of for two leases, and names for which nothing is withheld any more. The
    /// last member of a name stays as long as that.
    package mutating func forget(at now: Timestamp) {
        for (gateway, name) in names where now.seconds(since: name.lastSeen) > memorySeconds { remove(gateway) }
        for gateway in names.keys {
            let before = names[gateway]?.members.count ?? 0
            guard before > 1 else { continue }
            names[gateway]?.forget(at: now, after: 2 * leaseSeconds)
            memberCount -= before - (names[gateway]?.members.count ?? 0)
        }
        reporters = reporters.filter { now.seconds(since: $0.value) <= memorySeconds }
    }

    // MARK: What is known of them

    /// The generations that a gateway may still name in `since`.
    package struct Use {
        /// The newest that it was sent.
        package var newest: SnapshotVersion?
        /// All its members have this one, or a newer one, in force; `nil` where one does not say.
        package var oldest: SnapshotVersion?
    }

    /// Of each name that takes part.
    package var uses: [GatewayID: Use] {
        names.compactMapValues { name in
            guard !name.hasLeft else { return nil }
            var use = Use(newest: name.sent, oldest: name.members.first?.value.applied)
            for member in name.members.values {
                use.oldest = member.applied.flatMap { applied in use.oldest.map { min($0, applied) } }
            }
            return use
        }
    }

    /// One entry for each name that takes part or has left, and was seen since; ascending by id. A gateway has applied what
    /// all of its members seen within the lease have.
    package func presences(since: Timestamp, now: Timestamp) -> [GatewayPresence] {
        names.filter { $0.value.lastSeen >= since }.sorted { $0.key < $1.key }.map { gateway, name in
            let members = name.members.values
            let live = members.filter { now.seconds(since: $0.lastSeen) <= leaseSeconds }
            let applied = (live.isEmpty ? Array(members) : live).map(\.applied)
            return GatewayPresence(
                gateway: gateway, lastSeen: name.lastSeen,
                applied: applied.contains(nil) ? nil : applied.compactMap(\.self).min(), sent: name.sent,
                hasLeft: name.hasLeft)
        }
    }
}

extension GatewayRegister.Name {
    fileprivate mutating func note(_ member: GatewayRegister.Member, as id: String?) {
        members[id] = member
        lastSeen = max(lastSeen, member.lastSeen)
        if let newer = member.sent { sent = max(sent ?? newer, newer) }
    }

    fileprivate mutating func forget(at now: Timestamp, after seconds: Double) {
        let fresh = members.filter { now.seconds(since: $0.value.lastSeen) <= seconds }
        if !fresh.isEmpty {
            members = fresh
        } else if let last = members.max(by: { $0.value.lastSeen < $1.value.lastSeen }) {
            members = [last.key: last.value]
        }
    }
}
