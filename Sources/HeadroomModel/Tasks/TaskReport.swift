/// How one agent task stands: what it and the tasks below it have used, and how far it is held back.
public struct TaskReport: Equatable, Sendable {
    public struct Child: Equatable, Sendable {
        public var task: String
        public var use: TaskUse

        public init(task: String, use: TaskUse) {
            self.task = task
            self.use = use
        }
    }

    public var name: TaskName
    /// `nil`: it began the tree.
    public var parent: String?
    /// That began the tree; itself where it did.
    public var root: String
    public var kind: String?
    public var begunAt: Timestamp
    public var seenAt: Timestamp
    public var use: TaskUse
    public var limits: TaskLimits
    /// Levels of tasks below it.
    public var depth: Int
    /// Ascending.
    public var gateways: [GatewayID]
    /// Those that it has started and that used most, the largest first.
    public var children: [Child]
    public var hold: TaskHold
    /// Which of its limits holds it; `nil` where none does.
    public var measure: TaskMeasure?
    /// It has started all the tasks that it may start itself.
    public var isFull: Bool
    public var isOver: Bool
    /// A person's word on it that holds just now.
    public var ruling: TaskRuling?

    /// Of ``children``.
    public static let maxChildren = 5

    public init(
        name: TaskName, parent: String? = nil, root: String, kind: String? = nil, begunAt: Timestamp,
        seenAt: Timestamp, use: TaskUse = TaskUse(), limits: TaskLimits = TaskLimits(), depth: Int = 0,
        gateways: [GatewayID] = [], children: [Child] = [], hold: TaskHold = .nothing, measure: TaskMeasure? = nil,
        isFull: Bool = false, isOver: Bool = false, ruling: TaskRuling? = nil
    ) {
        self.name = name
        self.parent = parent
        self.root = root
        self.kind = kind
        self.begunAt = begunAt
        self.seenAt = seenAt
        self.use = use
        self.limits = limits
        self.depth = depth
        self.gateways = gateways
        self.children = children
        self.hold = hold
        self.measure = measure
        self.isFull = isFull
        self.isOver = isOver
        self.ruling = ruling
    }
}

extension TaskReport {
    /// In one word.
    public var state: String {
        if hold == .all { return "stopped" }
        if ruling != nil { return "lifted" }
        if isOver { return "ended" }
        return hold > .nothing ? "held" : "running"
    }

    /// For a person: what it has used, and may.
    public var sentence: String {
        var text = "The task \(name.task) of \(name.tenant)"
        if let kind { text += " (\(kind))" }
        text += " has used " + Self.text(of: use, beside: limits)
        if parent != nil { text += "; it belongs to the tree of \(root)" }
        if use[.fanOut] > 0 {
            text += "; it has started \(GroupedNumber.whole(use[.fanOut])) tasks in \(depth) "
            text += depth == 1 ? "level" : "levels"
            if !children.isEmpty {
                text += ", the largest "
                text += children.map { "\($0.task) with \(Self.amount(of: $0.use, .calls))" }.joined(separator: ", ")
            }
        }
        return text + "."
    }

    private static func text(of use: TaskUse, beside limits: TaskLimits) -> String {
        let parts = TaskMeasure.allCases.compactMap { measure -> String? in
            let limit = limits[measure]
            guard use[measure] > 0 || limit != nil, measure != .fanOut || limit != nil else { return nil }
            let used = amount(of: use, measure)
            guard let limit else { return used }
            return "\(used) of \(number(Double(limit), measure))"
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }

    private static func amount(of use: TaskUse, _ measure: TaskMeasure) -> String {
        let number = number(use[measure], measure)
        return switch measure {
        case .calls: "\(number) calls"
        case .iterations: "\(number) iterations"
        case .tokens: "\(number) tokens"
        case .micros: "\(number) of money"
        case .fanOut: "\(number) started tasks"
        case .seconds: "\(number) seconds"
        }
    }

    private static func number(_ amount: Double, _ measure: TaskMeasure) -> String {
        measure == .micros ? CostBreak.money(amount) : GroupedNumber.whole(max(0, amount))
    }
}

/// The tasks that a tick knows of.
public struct TaskReports: Equatable, Sendable {
    /// Of all tenants.
    public struct KindTimes: Equatable, Sendable {
        public var kind: String
        public var times: TaskTimes

        public init(kind: String, times: TaskTimes) {
            self.kind = kind
            self.times = times
        }
    }

    /// Those that are held back or that a person has ruled on first, then those that began a tree, the last used first.
    public var tasks: [TaskReport] = []
    /// That there was no room for.
    public var leftOut = 0
    /// What gateways hear of them; ascending by name.
    public var held: [TaskTerms.Held] = []
    /// That are followed.
    public var followed = 0
    /// That were held back wholly by their budgets, since the start.
    public var stops = 0
    /// How kinds of tasks fare: those that are slow first, then those that are in progress or ended lately.
    public var paces: [TaskPace] = []
    /// How long those took that ended since the start, by kind; those of no kind are under the empty name.
    public var ended: [KindTimes] = []

    public static let maxPaces = 1_000
    public static let maxTasks = 1_000
    public static let maxOfOneTenant = 200

    public init() {}

    /// Their number by how far they are held back.
    public func count(_ hold: TaskHold) -> Int { tasks.count { $0.hold == hold } }
}
