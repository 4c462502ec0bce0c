/// How a subject's spending stands against its ceiling, and what the cost breaker makes of it. Money is in millionths.
public struct CostBreak: Equatable, Sendable {
    public enum State: Int, CaseIterable, Comparable, Sendable, Hashable {
        case free
        /// The alert is out: it will be slowed at ``CostBreak/due``.
        case slowing
        /// Held to what is left of the money.
        case slowed
        /// Slowed, and the alert is out: it will be paused at ``CostBreak/due``.
        case pausing
        /// Until the window ends.
        case paused

        public var name: String {
            switch self {
            case .free: "free"
            case .slowing: "slowing"
            case .slowed: "slowed"
            case .pausing: "pausing"
            case .paused: "paused"
            }
        }

        /// Gateways hold it back.
        public var isHeld: Bool { self >= .slowed }

        public static func < (left: State, right: State) -> Bool { left.rawValue < right.rawValue }
    }

    /// The requests a minute that it may make in one pool.
    public struct Limit: Equatable, Sendable {
        public var pool: PoolID
        public var requestsPerMinute: Double

        public init(pool: PoolID, requestsPerMinute: Double) {
            self.pool = pool
            self.requestsPerMinute = requestsPerMinute
        }
    }

    /// The present tasks of a kind.
    public struct FanOut: Equatable, Sendable {
        public var tasksPerMinute: Double
        /// Of a task with all that it starts, on average.
        public var callsPerTask: Double

        public init(tasksPerMinute: Double, callsPerTask: Double) {
            self.tasksPerMinute = tasksPerMinute
            self.callsPerTask = callsPerTask
        }
    }

    public var subject: CostSubject
    public var state: State
    /// It has been in that state since then.
    public var since: Timestamp
    /// When the announced step follows; `nil` where none is.
    public var due: Timestamp?
    public var currency: String
    public var ceiling: Double
    /// Since the window began.
    public var spent: Double
    /// The present rate.
    public var perMinute: Double
    /// What it will have spent when the window ends: the interval in which that lies 19 times in 20, if minutes go on as they
    /// are, and its middle.
    public var projected: Double
    public var projectedLeast: Double
    public var projectedMost: Double
    /// The end of the window.
    public var until: Timestamp
    /// `nil`: of a tenant, or not known.
    public var fanOut: FanOut?
    /// Ascending by pool; empty unless it is held.
    public var limits: [Limit]
    /// The person's act that lifts it just now.
    public var lift: Int64?

    public init(
        subject: CostSubject, state: State = .free, since: Timestamp, due: Timestamp? = nil, currency: String = "USD",
        ceiling: Double, spent: Double = 0, perMinute: Double = 0, projected: Double = 0, projectedLeast: Double = 0,
        projectedMost: Double = 0, until: Timestamp, fanOut: FanOut? = nil, limits: [Limit] = [], lift: Int64? = nil
    ) {
        self.subject = subject
        self.state = state
        self.since = since
        self.due = due
        self.currency = currency
        self.ceiling = ceiling
        self.spent = spent
        self.perMinute = perMinute
        self.projected = projected
        self.projectedLeast = projectedLeast
        self.projectedMost = projectedMost
        self.until = until
        self.fanOut = fanOut
        self.limits = limits
        self.lift = lift
    }

    /// `nil`: it is not held there.
    public func limit(in pool: PoolID) -> Double? { limits.first { $0.pool == pool }?.requestsPerMinute }
}

extension CostBreak {
    /// For a person: what it has spent and will have spent, and against which ceiling.
    public var sentence: String {
        var text =
            "\(subject) has spent \(Self.money(spent)) of the \(Self.money(ceiling)) \(currency) that it may until "
            + Self.clock(until)
        if projectedMost > spent {
            text +=
                "; as it goes, it will have spent \(Self.money(projected)) (\(Self.money(projectedLeast)) to "
                + "\(Self.money(projectedMost)))"
        }
        if let fanOut {
            text +=
                ", with \(GroupedNumber.plain((fanOut.tasksPerMinute * 10).rounded() / 10)) tasks a minute of "
                + "\(GroupedNumber.plain((fanOut.callsPerTask * 10).rounded() / 10)) calls each"
        }
        return text + "."
    }

    /// Hours and minutes in UTC.
    private static func clock(_ instant: Timestamp) -> String {
        let minutes = instant.minute % 1440
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60)) UTC"
    }

    /// Of millionths, with two decimals.
    package static func money(_ micros: Double) -> String {
        let hundredths = Int64((min(max(micros, 0), 1e18) / 10_000).rounded())
        let rest = hundredths % 100
        return "\(GroupedNumber.whole(Double(hundredths / 100))).\(rest < 10 ? "0" : "")\(rest)"
    }
}
