/// When a tenant's spending, or that of one kind of agent task, is slowed and then paused. Money is in whole millionths of the
/// currency's unit, as everywhere.
///
/// A ceiling holds for a *window*: the hours of UTC where ``windowSeconds`` is 3,600. What is projected to cross it before the
/// window ends is held to what is left of the money, and what crosses it all the same is paused until the window ends.
public struct CostBreakerPolicy: Equatable, Sendable {
    /// Use that is priced in another currency counts for no ceiling: Headroom converts none.
    public var currency: String
    /// From one window to the next; windows begin at whole multiples of it since 1970.
    public var windowSeconds: Double
    /// The ceiling of tenants that have none of their own in ``ceilings``; 0 is none.
    public var tenantMicros: Int64
    /// Of tenants and of kinds of tasks, over all pools; 0 is none.
    public var ceilings: [CostSubject: Int64]
    /// The present rate of spending is measured over so long.
    public var rateSeconds: Double
    /// From the alert until what it announces.
    public var noticeSeconds: Double
    /// A slowed subject may spend so much of what it could afford until the window ends.
    public var slowShare: Double
    /// A slowed subject is let go once it is projected to spend less than this part of its ceiling.
    public var resumeShare: Double

    public init(
        currency: String = "USD", windowSeconds: Double = 3600, tenantMicros: Int64 = 0,
        ceilings: [CostSubject: Int64] = [:], rateSeconds: Double = 180, noticeSeconds: Double = 60,
        slowShare: Double = 0.9, resumeShare: Double = 0.7
    ) {
        self.currency = currency
        self.windowSeconds = windowSeconds
        self.tenantMicros = tenantMicros
        self.ceilings = ceilings
        self.rateSeconds = rateSeconds
        self.noticeSeconds = noticeSeconds
        self.slowShare = slowShare
        self.resumeShare = resumeShare
    }

    /// Whether anything has a ceiling.
    public var isOn: Bool { tenantMicros > 0 || !ceilings.isEmpty }

    /// In millionths; `nil`: it has none.
    public func ceiling(of subject: CostSubject) -> Int64? {
        let own = ceilings[subject]
        switch subject {
        case .tenant: return (own ?? tenantMicros) > 0 ? own ?? tenantMicros : nil
        case .taskKind: return own.flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

/// Whose spending has a ceiling: a tenant, or a kind of agent task, of all tenants together.
public enum CostSubject: Hashable, Comparable, Sendable, CustomStringConvertible {
    case tenant(TenantID)
    case taskKind(String)

    /// Characters of a kind's name.
    public static let maxKindCharacters = 200

    public var name: String {
        switch self {
        case .tenant(let tenant): tenant.text
        case .taskKind(let kind): kind
        }
    }

    public var description: String {
        switch self {
        case .tenant(let tenant): tenant.text
        case .taskKind(let kind): "the kind of task \"\(kind)\""
        }
    }

    public var tenant: TenantID? {
        if case .tenant(let tenant) = self { tenant } else { nil }
    }

    public var taskKind: String? {
        if case .taskKind(let kind) = self { kind } else { nil }
    }
}
