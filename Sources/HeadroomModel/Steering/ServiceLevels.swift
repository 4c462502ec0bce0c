/// The times over which a service level is looked at. The raw values are the words of the API and the metrics.
public enum LevelWindow: String, CaseIterable, Sendable, Hashable {
    /// Is it still going on?
    case recent = "5m"
    case hour = "1h"
    case day = "24h"
    case month = "30d"

    public var seconds: Double {
        switch self {
        case .recent: 300
        case .hour: 3600
        case .day: 86_400
        case .month: 30 * 86_400
        }
    }
}

/// How long a service level was looked at, and for how much of that it was missed.
public struct LevelSums: Equatable, Sendable {
    public var observedSeconds = 0.0
    public var missedSeconds = 0.0
    /// Of a queued call; 0 where no call waited.
    public var longestWaitSeconds = 0.0

    public init(observedSeconds: Double = 0, missedSeconds: Double = 0, longestWaitSeconds: Double = 0) {
        self.observedSeconds = observedSeconds
        self.missedSeconds = missedSeconds
        self.longestWaitSeconds = longestWaitSeconds
    }

    public mutating func add(_ other: LevelSums) {
        observedSeconds += other.observedSeconds
        missedSeconds += other.missedSeconds
        longestWaitSeconds = max(longestWaitSeconds, other.longestWaitSeconds)
    }

    /// The part of the time in which the level was kept; `nil` where nothing was looked at.
    public var attainment: Double? {
        observedSeconds > 0 ? 1 - min(1, max(0, missedSeconds / observedSeconds)) : nil
    }

    /// How many times faster the level is missed than `objective` allows: at 1, all that it allows is used up.
    /// - Parameter objective: the part of the time in which the level must be kept, below 1.
    public func burn(objective: Double) -> Double? { attainment.map { (1 - $0) / (1 - objective) } }
}

/// A service level over each window.
public struct LevelWindows: Equatable, Sendable {
    private var sums = Array(repeating: LevelSums(), count: LevelWindow.allCases.count)

    public init() {}

    public subscript(window: LevelWindow) -> LevelSums {
        get { sums[window.place] }
        set { sums[window.place] = newValue }
    }

    public mutating func add(_ other: LevelWindows) {
        for window in LevelWindow.allCases { self[window].add(other[window]) }
    }
}

extension LevelWindow {
    fileprivate var place: Int {
        switch self {
        case .recent: 0
        case .hour: 1
        case .day: 2
        case .month: 3
        }
    }
}

/// How one tenant fared in one pool.
public struct TenantLevel: Equatable, Sendable {
    public var tenant: TenantID
    public var pool: PoolID
    public var windows: LevelWindows

    public init(tenant: TenantID, pool: PoolID, windows: LevelWindows = LevelWindows()) {
        self.tenant = tenant
        self.pool = pool
        self.windows = windows
    }
}

/// How long one tenant's agent tasks took that ended in each window, in all pools.
public struct TaskLevel: Equatable, Sendable {
    public var tenant: TenantID
    public var times: [LevelWindow: TaskTimes]

    public init(tenant: TenantID, times: [LevelWindow: TaskTimes] = [:]) {
        self.tenant = tenant
        self.times = times
    }

    /// Against a level: a task counts as a second that was looked at, and one that took longer than `limitSeconds` as a second
    /// that was missed.
    public func windows(atMost limitSeconds: Double) -> LevelWindows {
        var windows = LevelWindows()
        for (window, times) in times {
            let tasks = times.sums.tasks
            windows[window] = LevelSums(
                observedSeconds: Double(tasks), missedSeconds: Double(tasks - times.count(upTo: limitSeconds)))
        }
        return windows
    }
}

/// What Headroom itself is held to. The raw values are the words of the API and the metrics.
public enum OwnLevel: String, CaseIterable, Sendable, Hashable {
    /// What gateways are given is what was decided, and not long ago.
    case published
    case decision
    /// Telemetry is read soon after it was taken.
    case ingest

    /// The most that its age may be, and never less than three ticks.
    public func limitSeconds(under policy: Policy) -> Double {
        let seconds =
            switch self {
            case .published: policy.serviceLevels.publishedSeconds
            case .decision: policy.serviceLevels.decisionSeconds
            case .ingest: policy.serviceLevels.ingestSeconds
            }
        return max(seconds, 3 * policy.loop.periodSeconds)
    }

    /// How old it is by the loop's last report; `nil` before there was any.
    public func ageSeconds(of report: LoopReport, at now: Timestamp) -> Double? {
        let last =
            switch self {
            case .published: report.confirmedAt
            case .decision: report.decidedAt
            case .ingest: report.caughtUpAt
            }
        return last.map { max(0, now.seconds(since: $0)) }
    }
}

/// One of Headroom's own levels in one minute. Two of the same minute add up.
public struct OwnLevelMinute: Equatable, Sendable {
    public var start: Timestamp
    public var level: OwnLevel
    public var observedSeconds: Double
    public var missedSeconds: Double

    public init(start: Timestamp, level: OwnLevel, observedSeconds: Double, missedSeconds: Double) {
        self.start = start
        self.level = level
        self.observedSeconds = observedSeconds
        self.missedSeconds = missedSeconds
    }
}

/// What is recorded of service levels, over each window up to a moment.
public struct LevelRecords: Equatable, Sendable {
    /// Those that wanted something in the longest window; ascending by pool, then tenant.
    public var tenants: [TenantLevel]
    public var own: [OwnLevel: LevelWindows]
    /// Of tenants whose agent tasks ended in the longest window; ascending by tenant.
    public var tasks: [TaskLevel]

    public init(tenants: [TenantLevel] = [], own: [OwnLevel: LevelWindows] = [:], tasks: [TaskLevel] = []) {
        self.tenants = tenants
        self.own = own
        self.tasks = tasks
    }
}
