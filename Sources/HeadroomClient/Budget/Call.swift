import HeadroomModel

/// A call to a model that asks for its turn: whose it is, what it will cost, and what its caller can bear.
public struct Call: Sendable {
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    /// Tokens of the prompt; ``PromptEstimate`` counts a text.
    public var inputTokens: Int
    /// The bound on the answer that the call sets (`max_tokens`). `nil`: the tenant's mean answer is expected.
    ///
    /// Callers ask for many times what they get, so only the part of it that the tenant's answers used so far counts.
    public var maxOutputTokens: Int?
    /// The longest time that the caller waits for its turn; 0: it must go at once.
    public var maxWait: Duration
    /// What the caller makes of a refusal.
    public var fallback: Fallback
    /// The same for all attempts at one piece of work: demand counts it once.
    public var request: String?
    /// How long the chain of calls that this one belongs to has been going on. Of a tenant's equally urgent calls the one
    /// that began first goes first.
    public var age: Duration
    /// The agent task that the call belongs to, and the task that started that one.
    public var task: String?
    public var parent: String?
    /// The kind of that task, as `code-review`: costs are shown by it, and may have a ceiling.
    public var taskKind: String?
    /// A task that nears the end of its budget has its tool work held back first.
    public var work: WorkKind
    /// The step with which a task ends: it goes when nothing else of the task may.
    public var isFinishing: Bool
    /// For telemetry only.
    public var model: String?
    public var endpoint: String?
    /// Whose rules the answers are read by, as `openai`. `nil`: the pool's name tells.
    public var provider: String?

    /// What an agent calls a model for.
    public enum WorkKind: String, Sendable {
        case model, tool
    }

    /// What a caller does when its call cannot go in time.
    public enum Fallback: Equatable, Sendable {
        /// Nothing but fail.
        case fail
        /// It asks a smaller model, whose pool may have room.
        case smallerModel
        /// It uses an answer that it has kept.
        case cached
        /// It goes on without this call's answer.
        case degrade
    }

    public init(
        tenant: TenantID, pool: PoolID, criticality: Criticality = .interactive, inputTokens: Int,
        maxOutputTokens: Int? = nil, maxWait: Duration = .seconds(30), fallback: Fallback = .fail,
        request: String? = nil, age: Duration = .zero, task: String? = nil, parent: String? = nil,
        work: WorkKind = .model, isFinishing: Bool = false, model: String? = nil, endpoint: String? = nil,
        provider: String? = nil, taskKind: String? = nil
    ) {
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.inputTokens = inputTokens
        self.maxOutputTokens = maxOutputTokens
        self.maxWait = maxWait
        self.fallback = fallback
        self.request = request
        self.age = age
        self.task = task
        self.parent = parent
        self.taskKind = taskKind
        self.work = work
        self.isFinishing = isFinishing
        self.model = model
        self.endpoint = endpoint
        self.provider = provider
    }
}

extension Duration {
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
