import HeadroomModel

/// Which alerts are open: a state machine over what each look at the service found.
///
/// A member joins its alert when its condition has held for as long as its kind asks for, and leaves when the condition has
/// been gone for ``AlertPolicy/closeSeconds``. An alert opens with its first member and closes with its last, so whatever
/// happens to many tenants of a pool at once is one alert. It knows no clock and no storage.
package struct AlertEngine: Sendable {
    /// A condition over the looks that saw it.
    fileprivate struct Spell: Sendable {
        var member: Alert.Member
        var firstSeen: Timestamp
        var lastSeen: Timestamp
        var isOpen = false
    }

    fileprivate struct Group: Sendable {
        var spells: [String: Spell] = [:]
        /// Of members that were found and not named.
        var unnamed = 0
        /// As it was reported last; `nil` while it is not open.
        var reported: Alert?
    }

    /// Alerts that are open or about to open; kinds × pools × reasons of a large service.
    package static let maxAlerts = 2_000
    /// An open alert whose text or members have changed is reported again after so long, or at once when it is graver.
    private static let updateSeconds = 30.0

    private var groups: [AlertKey: Group] = [:]
    /// Conditions that found no room.
    package private(set) var dropped = 0

    package init() {}

    /// The alerts that were open when the process before ended. Each closes like any other unless its cause is seen again.
    package init(restoring open: [Alert], at now: Timestamp) {
        for alert in open.prefix(Self.maxAlerts) {
            var group = Group(reported: alert)
            for member in alert.members {
                group.spells[member.name] = Spell(
                    member: member, firstSeen: member.since, lastSeen: now, isOpen: true)
            }
            groups[alert.key] = group
        }
    }

    /// Takes what was found at `now`. Returns the alerts that have opened, changed or closed, ascending by key.
    /// - Parameter outcome: How it stands where an alert closes.
    package mutating func step(
        _ found: FoundConditions, closingAfter closeSeconds: Double, at now: Timestamp,
        outcome: (Alert) -> String? = { _ in nil }
    ) -> [Alert] {
        for key in found.keys {
            guard groups[key] != nil || groups.count < Self.maxAlerts else {
                dropped += 1
                continue
            }
            groups[key, default: Group()].note(found[key], opensAfter: key.kind.openSeconds, at: now)
        }
        var changed: [Alert] = []
        for key in groups.keys.sorted() {
            guard var group = groups[key] else { continue }
            group.leave(closingAfter: closeSeconds, at: now)
            if found.isEmpty(key) { group.unnamed = 0 }
            if var alert = group.report(key, updatingAfter: Self.updateSeconds, at: now) {
                if alert.closedAt != nil { alert.outcome = outcome(alert) }
                changed.append(alert)
            }
            groups[key] = group.spells.isEmpty ? nil : group
        }
        return changed
    }

    /// The tenants with these names were erased.
    package mutating func forget(_ fingerprints: Set<UInt64>) {
        guard !fingerprints.isEmpty else { return }
        for key in groups.keys.sorted() {
            let erased = groups[key]?.spells.filter { entry in
                entry.value.member.tenant.map { fingerprints.contains($0.text.fingerprint) } ?? false
            }
            for name in erased?.keys ?? [:].keys { groups[key]?.spells[name] = nil }
        }
    }
}

extension AlertEngine.Group {
    fileprivate mutating func note(_ found: FoundConditions.Found, opensAfter openSeconds: Double, at now: Timestamp) {
        unnamed = found.unnamed
        for (member, isFiring) in found.members {
            guard var spell = spells[member.name] else {
                // One between its two thresholds keeps an alert open and opens none.
                guard isFiring else { continue }
                let spell = AlertEngine.Spell(
                    member: member, firstSeen: now, lastSeen: now,
                    isOpen: max(0, now.seconds(since: member.since)) >= openSeconds)
                spells[member.name] = spell
                continue
            }
            if !isFiring, !spell.isOpen {
                spells[member.name] = nil
                continue
            }
            let since = min(spell.member.since, member.since)
            spell.member = member
            spell.member.since = since
            spell.lastSeen = now
            spell.isOpen = spell.isOpen || now.seconds(since: min(spell.firstSeen, since)) >= openSeconds
            spells[member.name] = spell
        }
    }

    /// Forgets causes that were not seen at this look: at once where no alert was open yet, later where one was.
    fileprivate mutating func leave(closingAfter closeSeconds: Double, at now: Timestamp) {
        guard spells.contains(where: { $0.value.lastSeen != now }) else { return }
        spells = spells.filter { _, spell in
            spell.lastSeen == now || (spell.isOpen && now.seconds(since: spell.lastSeen) < closeSeconds)
        }
    }

    /// The alert, when it has to be reported.
    fileprivate mutating func report(
        _ key: AlertKey, updatingAfter updateSeconds: Double, at now: Timestamp
    ) -> Alert? {
        let members = spells.values.filter(\.isOpen).map(\.member).sorted(by: Alert.Member.isWorse)
        guard !members.isEmpty else {
            guard var closing = reported else { return nil }
            reported = nil
            closing.updatedAt = now
            closing.closedAt = now
            return closing
        }
        let alert = Alert(
            id: reported?.id ?? 0, key: key, openedAt: reported?.openedAt ?? now, updatedAt: now,
            members: Array(members.prefix(Alert.maxMembers)), memberCount: members.count + unnamed)
        if let reported {
            let isDue = now.seconds(since: reported.updatedAt) >= updateSeconds
            let isSame = reported.members == alert.members && reported.memberCount == alert.memberCount
            guard alert.severity > reported.severity || (isDue && !isSame) else { return nil }
        }
        reported = alert
        return alert
    }
}

extension Alert.Member {
    /// The gravest first, then the oldest, then by name.
    fileprivate static func isWorse(_ left: Alert.Member, _ right: Alert.Member) -> Bool {
        (right.severity, left.since, left.name) < (left.severity, right.since, right.name)
    }
}

extension AlertKind {
    /// For how long a condition must hold, in seconds. What has lasted before it is noticed (a starved tenant, a vanished
    /// gateway) needs no more; what comes and goes within a minute is nobody's concern.
    var openSeconds: Double {
        switch self {
        case .capacityLost, .latency, .drift, .queueWait, .taskSlow: 60
        case .loopLate: 20
        case .loopFailing, .service, .breakerOpen, .retryStorm, .sinkFailing: 10
        case .starvation, .providerBilling, .providerKey, .costNear, .costReached, .costSlowing, .costPausing,
            .taskStopped,
            .gatewayLost, .approvalWaiting, .approvalEnding, .gaming, .limitsReversing, .sloBurn, .telemetrySilent,
            .unknownName, .diskFull,
            .policyRejected, .certificateEnding:
            0
        }
    }
}
