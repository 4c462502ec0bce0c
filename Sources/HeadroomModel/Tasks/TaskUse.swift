/// What is counted of an agent task, and may be limited. The raw value is the lane of ``TaskUse`` and ``TaskLimits``.
public enum TaskMeasure: Int, CaseIterable, Sendable {
    /// Calls to models that were served, by the task and by those that it has started.
    case calls
    /// Rounds of the task's own loop: its calls that are no tool work. Those of other tasks are not among them.
    case iterations
    /// Tokens of prompts and answers, as the provider counts them.
    case tokens
    /// Money, in millionths of the currency's unit.
    case micros
    /// Tasks that the task itself has started.
    case fanOut
    /// From its first call to its last.
    case seconds

    public var name: String {
        switch self {
        case .calls: "calls"
        case .iterations: "iterations"
        case .tokens: "tokens"
        case .micros: "micros"
        case .fanOut: "fan_out"
        case .seconds: "seconds"
        }
    }

    /// Of a limit, in the words of an error message.
    public var unit: String {
        switch self {
        case .calls: "calls of the task and of those below it"
        case .iterations: "rounds of the task's own loop"
        case .tokens: "tokens of the task and of those below it"
        case .micros: "millionths of the currency's unit"
        case .fanOut: "tasks that the task itself starts"
        case .seconds: "seconds"
        }
    }

    /// What a limit may be.
    public var limits: ClosedRange<Int64> {
        switch self {
        case .calls, .iterations: 1...1_000_000_000
        case .tokens, .micros: 1...1_000_000_000_000
        case .fanOut: 0...1_000_000
        case .seconds: 1...31_536_000
        }
    }
}

/// What an agent task has used.
public struct TaskUse: Equatable, Sendable {
    fileprivate var amounts = SIMD8<Double>.zero

    public init() {}

    public init(calls: Double = 0, iterations: Double = 0, tokens: Double = 0, micros: Double = 0) {
        self[.calls] = calls
        self[.iterations] = iterations
        self[.tokens] = tokens
        self[.micros] = micros
    }

    public subscript(measure: TaskMeasure) -> Double {
        get { amounts[measure.rawValue] }
        set { amounts[measure.rawValue] = newValue }
    }

    /// Where a task was forgotten meanwhile, what is given back was never taken.
    var notNegative: TaskUse {
        var use = self
        use.amounts.replace(with: 0, where: use.amounts .< 0)
        return use
    }

    public static func + (left: TaskUse, right: TaskUse) -> TaskUse {
        var sum = left
        sum.amounts += right.amounts
        return sum
    }

    public static func - (left: TaskUse, right: TaskUse) -> TaskUse {
        var difference = left
        difference.amounts -= right.amounts
        return difference
    }
}

/// What an agent task may use, together with the tasks that it has started. What is not named has no limit.
public struct TaskLimits: Hashable, Sendable {
    private var most = SIMD8<Double>(repeating: .infinity)

    public init() {}

    public init(
        calls: Int64? = nil, iterations: Int64? = nil, tokens: Int64? = nil, micros: Int64? = nil,
        fanOut: Int64? = nil, seconds: Int64? = nil
    ) {
        self[.calls] = calls
        self[.iterations] = iterations
        self[.tokens] = tokens
        self[.micros] = micros
        self[.fanOut] = fanOut
        self[.seconds] = seconds
    }

    /// A value outside of ``TaskMeasure/limits`` is moved to its nearest end.
    public subscript(measure: TaskMeasure) -> Int64? {
        get { most[measure.rawValue].isFinite ? Int64(most[measure.rawValue]) : nil }
        set {
            let range = measure.limits
            most[measure.rawValue] =
                newValue.map { Double(min(max($0, range.lowerBound), range.upperBound)) } ?? .infinity
        }
    }

    public var isEmpty: Bool { self == TaskLimits() }

    /// The largest part of a limit on the task together with those below it that `use` is, and of which: 1 is all of it.
    public func share(of use: TaskUse) -> (share: Double, measure: TaskMeasure) {
        var largest = (share: 0.0, measure: TaskMeasure.calls)
        for measure in TaskMeasure.allCases where measure != .fanOut && measure != .iterations {
            let share = use.amounts[measure.rawValue] / most[measure.rawValue]
            if share > largest.share { largest = (share, measure) }
        }
        return largest
    }

    /// The part of the rounds of its own loop: the tasks below it do not stop with that.
    public func ownShare(of use: TaskUse) -> Double {
        use.amounts[TaskMeasure.iterations.rawValue] / most[TaskMeasure.iterations.rawValue]
    }

    /// The task has started all the tasks that it may start itself.
    public func isFull(with use: TaskUse) -> Bool {
        use.amounts[TaskMeasure.fanOut.rawValue] >= most[TaskMeasure.fanOut.rawValue]
    }
}

/// How far a task that nears the end of its budget is held back, so that it can finish with what it has.
public enum TaskHold: Int, CaseIterable, Comparable, Sendable {
    case nothing
    /// Calls for its tools.
    case tools
    /// New tasks as well.
    case branches
    /// All but the step with which it ends.
    case steps
    /// Everything.
    case all

    public var name: String {
        switch self {
        case .nothing: "nothing"
        case .tools: "tools"
        case .branches: "branches"
        case .steps: "steps"
        case .all: "all"
        }
    }

    /// From these parts of its budget on.
    private static let toolShare = 0.8
    private static let branchShare = 0.9
    private static let stepShare = 0.95

    /// - Parameter share: of its budget that would be used after its next call.
    public init(atShare share: Double) {
        self =
            if share > 1 { .all } else if share > Self.stepShare { .steps } else if share > Self.branchShare {
                .branches
            } else if share > Self.toolShare { .tools } else { .nothing }
    }

    public static func < (left: TaskHold, right: TaskHold) -> Bool { left.rawValue < right.rawValue }
}
