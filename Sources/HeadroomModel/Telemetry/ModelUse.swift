/// What was served: requests and tokens, as prices apply to them.
public struct UseSums: Equatable, Sendable {
    public var requests: Int64 = 0
    public var inputTokens: Int64 = 0
    /// Among ``inputTokens``.
    public var cachedInputTokens: Int64 = 0
    public var outputTokens: Int64 = 0

    public init() {}

    public init(requests: Int64, inputTokens: Int64 = 0, cachedInputTokens: Int64 = 0, outputTokens: Int64 = 0) {
        self.requests = requests
        self.inputTokens = inputTokens
        self.cachedInputTokens = cachedInputTokens
        self.outputTokens = outputTokens
    }

    public mutating func add(_ other: UseSums) {
        requests.addSaturating(other.requests)
        inputTokens.addSaturating(other.inputTokens)
        cachedInputTokens.addSaturating(other.cachedInputTokens)
        outputTokens.addSaturating(other.outputTokens)
    }

    /// What is left of it without `part`; never below 0.
    public func without(_ part: UseSums) -> UseSums {
        UseSums(
            requests: max(0, requests - part.requests), inputTokens: max(0, inputTokens - part.inputTokens),
            cachedInputTokens: max(0, cachedInputTokens - part.cachedInputTokens),
            outputTokens: max(0, outputTokens - part.outputTokens))
    }

    public var isEmpty: Bool { self == UseSums() }
}

/// One tenant's use of one model of a pool, for one kind of task, in an hour or longer. Two of the same hour add up.
public struct ModelUse: Equatable, Sendable {
    /// The start of the hour, or of the time that was asked for.
    public var start: Timestamp
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    /// `nil`: it was not reported.
    public var model: String?
    public var taskKind: String?
    public var sums: UseSums
    /// What a gateway's own cache answered in place of a call; not among ``sums``.
    public var saved: UseSums
    /// Of calls that name their kind of task.
    public var asked: AskedWork

    public init(
        start: Timestamp, tenant: TenantID, pool: PoolID, criticality: Criticality, model: String? = nil,
        taskKind: String? = nil, sums: UseSums, saved: UseSums = UseSums(),
        asked: AskedWork = AskedWork()
    ) {
        self.start = start
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.model = model
        self.taskKind = taskKind
        self.sums = sums
        self.saved = saved
        self.asked = asked
    }
}

extension UseSums {
    /// Of a call that was served, or answered from a cache.
    public init(_ call: CallRecord) {
        self.init(
            requests: 1, inputTokens: call.inputTokens ?? 0,
            cachedInputTokens: min(call.cachedInputTokens ?? 0, call.inputTokens ?? 0),
            outputTokens: call.outputTokens ?? 0)
    }
}
