/// How long agent tasks took that ended in a minute or longer, and how much of that they waited for quota. Two of the same
/// time add up.
///
/// A task is the whole tree here: what another task started belongs to it. It begins when its first call arrives, and ends
/// when a line says so, or with its last call. It waits while a call of it waits at a gateway, and between a refusal for want
/// of quota and the next attempt at the same work; two calls that wait at once make it wait once.
///
/// Tasks are counted by how long they took, in steps of a twelfth at most. A quantile is the mean of its step.
public struct TaskTimes: Equatable, Sendable {
    public struct Sums: Equatable, Sendable {
        public var tasks: Int64 = 0
        /// Of these, by the lines that said so; of the others only their calls are known.
        public var completed: Int64 = 0
        public var failed: Int64 = 0
        public var seconds = 0.0
        /// Among ``seconds``.
        public var waitedSeconds = 0.0
        /// That were served; attempts after the first; and attempts that were refused for want of quota, by gateways or the
        /// provider.
        public var calls: Int64 = 0
        public var retries: Int64 = 0
        public var refused: Int64 = 0

        public init() {}

        /// With what `fill` sets.
        public init(_ fill: (inout Sums) -> Void) {
            fill(&self)
        }

        public mutating func add(_ other: Sums) {
            tasks.addSaturating(other.tasks)
            completed.addSaturating(other.completed)
            failed.addSaturating(other.failed)
            seconds += other.seconds
            waitedSeconds += other.waitedSeconds
            calls.addSaturating(other.calls)
            retries.addSaturating(other.retries)
            refused.addSaturating(other.refused)
        }

        fileprivate var halved: Sums {
            Sums {
                $0.tasks = tasks / 2
                $0.completed = completed / 2
                $0.failed = failed / 2
                $0.seconds = tasks > 0 ? seconds / Double(tasks) * Double(tasks / 2) : 0
                $0.waitedSeconds = tasks > 0 ? waitedSeconds / Double(tasks) * Double(tasks / 2) : 0
                $0.calls = calls / 2
                $0.retries = retries / 2
                $0.refused = refused / 2
            }
        }
    }

    /// By ``step(of:)``.
    public private(set) var steps: [UInt8: Sums] = [:]

    public init() {}

    /// The step that a duration falls into: eight to each doubling, from 8 ms to half a year.
    public static func step(of seconds: Double) -> UInt8 {
        guard seconds > 0x1p-7 else { return 0 }
        guard seconds < 0x1p24 else { return 248 }
        return UInt8((Int(seconds.exponent) + 7) * 8 + Int((seconds.significand - 1) * 8))
    }

    /// One task that took `sums.seconds`.
    public mutating func add(task sums: Sums) { add(sums, to: Self.step(of: sums.seconds)) }

    public mutating func add(_ sums: Sums, to step: UInt8) { steps[step, default: Sums()].add(sums) }

    public mutating func add(_ other: TaskTimes) {
        for (step, sums) in other.steps { add(sums, to: step) }
    }

    /// Of all tasks together.
    public var sums: Sums {
        var all = Sums()
        // In order, so that the same tasks have the same sum to the last bit.
        for step in steps.keys.sorted() { all.add(steps[step] ?? Sums()) }
        return all
    }

    public var isEmpty: Bool { steps.isEmpty }

    /// The duration in seconds that a part `share` of the tasks does not exceed; `nil` where there are none.
    public func seconds(atMost share: Double) -> Double? {
        let count = steps.values.reduce(0) { $0 + $1.tasks }
        let rank = max(1, (Double(count) * share).rounded(.up))
        var below: Int64 = 0
        for step in steps.keys.sorted() {
            guard let sums = steps[step], sums.tasks > 0 else { continue }
            below += sums.tasks
            if Double(below) >= rank { return sums.seconds / Double(sums.tasks) }
        }
        return nil
    }

    /// Tasks that took `seconds` or longer, by the steps that lie above it, and by the means of the others.
    public func count(from seconds: Double) -> Int64 {
        steps.values.reduce(0) { $0 + ($1.tasks > 0 && $1.seconds >= seconds * Double($1.tasks) ? $1.tasks : 0) }
    }

    /// Tasks that took `seconds` at most, by the means of the steps.
    public func count(upTo seconds: Double) -> Int64 {
        steps.values.reduce(0) { $0 + ($1.tasks > 0 && $1.seconds <= seconds * Double($1.tasks) ? $1.tasks : 0) }
    }

    /// Half of each count, so that what is older counts less.
    public mutating func halve() { steps = steps.mapValues(\.halved).filter { $0.value.tasks > 0 } }
}

/// One tenant's tasks of one kind that ended in a minute, hour or day.
public struct TaskTimeRollup: Equatable, Sendable {
    /// The start of the minute, the hour or the day.
    public var start: Timestamp
    public var tenant: TenantID
    /// `nil`: their calls name none.
    public var kind: String?
    public var times: TaskTimes

    public init(start: Timestamp, tenant: TenantID, kind: String?, times: TaskTimes) {
        self.start = start
        self.tenant = tenant
        self.kind = kind
        self.times = times
    }
}

/// How one tenant's tasks of one kind fare just now, beside how they used to.
public struct TaskPace: Equatable, Sendable {
    public var tenant: TenantID
    /// `nil`: their calls name none.
    public var kind: String?
    /// Where one of them waited last, or called.
    public var pool: PoolID
    /// In progress.
    public var running: Int
    /// Of the last five to ten minutes.
    public var recent: TaskTimes
    /// Of before that: of a thousand tasks or so, older ones count less.
    public var usual: TaskTimes
    /// Of the tasks in progress, those that have taken ``slowFactor`` times the usual median already, with what they have
    /// taken and waited so far.
    public var overdue = TaskTimes.Sums()

    /// So many times its usual time is slow.
    public static let slowFactor = 3.0
    /// Tasks without which nothing is known of what is usual, and of what is now.
    public static let leastUsual: Int64 = 10
    public static let leastRecent: Int64 = 3

    public init(
        tenant: TenantID, kind: String?, pool: PoolID, running: Int = 0, recent: TaskTimes = TaskTimes(),
        usual: TaskTimes = TaskTimes()
    ) {
        self.tenant = tenant
        self.kind = kind
        self.pool = pool
        self.running = running
        self.recent = recent
        self.usual = usual
    }

    /// `nil`: too few tasks have ended.
    public var usualSeconds: Double? {
        usual.sums.tasks >= Self.leastUsual ? usual.seconds(atMost: 0.5) : nil
    }

    /// Most of its recent tasks take `factor` times their usual time, and at least half of what they take is waiting.
    public func isSlow(by factor: Double = slowFactor) -> Bool {
        guard let usualSeconds else { return false }
        let ended = recent.sums
        let count = ended.tasks + overdue.tasks
        let slow = recent.count(from: factor * usualSeconds) + overdue.tasks
        guard count >= Self.leastRecent, 2 * slow > count else { return false }
        return ended.waitedSeconds + overdue.waitedSeconds >= 0.5 * (ended.seconds + overdue.seconds)
    }

    /// The median of what ended lately, or what those that are overdue have taken so far where that is longer.
    public var recentSeconds: Double? {
        let running = overdue.tasks > 0 ? overdue.seconds / Double(overdue.tasks) : nil
        return [recent.seconds(atMost: 0.5), running].compactMap { $0 }.max()
    }

    /// The part of that time which they waited; `nil` where nothing is known.
    public var waitedShare: Double? {
        let seconds = recent.sums.seconds + overdue.seconds
        return seconds > 0 ? min(1, (recent.sums.waitedSeconds + overdue.waitedSeconds) / seconds) : nil
    }
}
