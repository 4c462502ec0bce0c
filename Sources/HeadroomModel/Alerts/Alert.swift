/// The identity of an alert: of one kind, in one pool, for one reason there is at most one open.
package struct AlertKey: Hashable, Comparable, Sendable {
    package var kind: AlertKind
    /// `nil`: it concerns the service and not a pool.
    package var pool: PoolID?
    /// `delivery` and `shortage` are two alerts of starvation; empty where a kind has one reason.
    package var reason: String

    package init(_ kind: AlertKind, pool: PoolID? = nil, reason: String = "") {
        self.kind = kind
        self.pool = pool
        self.reason = reason
    }

    package static func < (left: AlertKey, right: AlertKey) -> Bool {
        (left.kind.rawValue, left.pool?.text ?? "", left.reason)
            < (right.kind.rawValue, right.pool?.text ?? "", right.reason)
    }
}

/// Something that a person should look at, from when it was seen until it is over by itself.
///
/// Whatever happens to many tenants or gateways of a pool at once is one alert with as many members.
package struct Alert: Equatable, Sendable {
    /// One tenant, gateway or question that it is about.
    package struct Member: Equatable, Sendable {
        /// Within the alert: a tenant, a gateway, the number of an approval; empty where there is only one.
        package var name: String
        /// Whom it is about, where that is a tenant.
        package var tenant: TenantID?
        /// When it began, which may be before it was seen to last.
        package var since: Timestamp
        package var severity: AlertSeverity
        /// One sentence, with numbers, that names no other tenant.
        package var sentence: String
        package var recommendation: AlertRecommendation?

        package init(
            name: String = "", tenant: TenantID? = nil, since: Timestamp, severity: AlertSeverity, sentence: String,
            recommendation: AlertRecommendation? = nil
        ) {
            self.name = name
            self.tenant = tenant
            self.since = since
            self.severity = severity
            self.sentence = sentence
            self.recommendation = recommendation
        }
    }

    /// Of storage; 0 before it is stored.
    package var id: Int64
    package var key: AlertKey
    package var openedAt: Timestamp
    package var updatedAt: Timestamp
    /// `nil` while it is open.
    package var closedAt: Timestamp?
    /// How it stood when it closed, in one sentence; `nil` while it is open, and where there is nothing to say.
    package var outcome: String?
    /// The gravest first, then the oldest; at most ``maxMembers``.
    package var members: [Member]
    /// Also those that are not listed.
    package var memberCount: Int
    /// A person looks after it.
    package var acknowledgement: Authorship?
    /// Nobody is notified until this ends.
    package var mute: Authorship?

    package static let maxMembers = 20

    package init(
        id: Int64 = 0, key: AlertKey, openedAt: Timestamp, updatedAt: Timestamp, closedAt: Timestamp? = nil,
        members: [Member], memberCount: Int, acknowledgement: Authorship? = nil, mute: Authorship? = nil
    ) {
        self.id = id
        self.key = key
        self.openedAt = openedAt
        self.updatedAt = updatedAt
        self.closedAt = closedAt
        self.members = members
        self.memberCount = memberCount
        self.acknowledgement = acknowledgement
        self.mute = mute
    }

    /// Of its gravest member.
    package var severity: AlertSeverity { members.map(\.severity).max() ?? .info }
    /// Of its oldest member that is listed.
    package var since: Timestamp { members.map(\.since).min() ?? openedAt }

    package var state: AlertState {
        if closedAt != nil { return .closed }
        return acknowledgement == nil ? .open : .acknowledged
    }

    /// The sentence that a person reads first: that of its only member, or how many there are, and who.
    package var sentence: String {
        guard let first = members.first else { return "\(key.kind.plural) (no details are kept)" }
        guard memberCount > 1 else { return first.sentence }
        let listed = members.prefix(3).map(\.name).joined(separator: ", ")
        let more = memberCount > 3 ? " and \(memberCount - min(3, members.count)) more" : ""
        let place = key.pool.map { " in \($0)" } ?? ""
        return "\(memberCount) \(key.kind.plural)\(place): \(listed)\(more). \(first.sentence)"
    }

    /// For a reader who may see some tenants only: without the others, and not at all when nothing is left.
    package func showing(_ isVisible: (TenantID) -> Bool) -> Alert? {
        var shown = self
        shown.members.removeAll { member in member.tenant.map { !isVisible($0) } ?? false }
        guard shown.members.count < members.count else { return self }
        shown.memberCount = shown.members.count
        // It may speak of them all.
        shown.outcome = nil
        return shown.members.isEmpty ? nil : shown
    }
}

package enum AlertState: String, CaseIterable, Sendable {
    case open, acknowledged, closed
}

/// What a person may do about it, ready to be sent.
package struct AlertRecommendation: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        /// Raises the tenant for a while. Beyond what one person may set alone the call asks a second one.
        case override(TenantID, pool: PoolID, tier: String?, weight: Double?, seconds: Double)
        /// Says yes to a question that waits, as far as it is about one tenant, and as it was at `revision`: what its sentence
        /// tells, and no more.
        case approve(Int64, tenant: TenantID, revision: Int64, isRecommendation: Bool)
        /// Frees what is withheld for a gateway that vanished.
        case releaseGateway(GatewayID)
    }

    /// What to do, and what it does.
    package var sentence: String
    /// `nil`: no call of Headroom does it.
    package var action: Action?

    package init(_ sentence: String, _ action: Action? = nil) {
        self.sentence = sentence
        self.action = action
    }
}
