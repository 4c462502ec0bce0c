/// One line of telemetry (WireFormat §1) on Headroom's own timeline: `at` is the moment of arrival less the line's age on
/// its sender's clock.
public enum TelemetryRecord: Equatable, Sendable {
    case call(CallRecord)
    case window(WindowRecord)
    case queue(QueueRecord)
    case response(ResponseRecord)
    case task(TaskRecord)
    case model(ModelRecord)
}

/// The result of a call.
public enum Outcome: Int, CaseIterable, Sendable, Hashable {
    case ok, cached, denied, quota, overload, ramp, billing, auth, client, server, error

    public var name: String {
        switch self {
        case .ok: "ok"
        case .cached: "cached"
        case .denied: "denied"
        case .quota: "quota"
        case .overload: "overload"
        case .ramp: "ramp"
        case .billing: "billing"
        case .auth: "auth"
        case .client: "client"
        case .server: "server"
        case .error: "error"
        }
    }

    public init?(name: String) {
        guard let found = Outcome.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The upstream refused for want of our quota: the one kind of failure that bounds capacity.
    public var isQuotaRefusal: Bool { self == .quota }
}

/// One attempt at one piece of work.
public struct CallRecord: Equatable, Sendable {
    /// Unique per gateway; the call counts once within the horizon.
    public var id: String?
    /// The same for all attempts at one piece of work.
    public var request: String?
    /// The end of the call.
    public var at: Timestamp
    public var gateway: GatewayID
    public var tenant: TenantID
    public var pool: PoolID
    public var model: String?
    public var endpoint: String?
    public var criticality: Criticality
    public var task: String?
    public var parent: String?
    /// The kind of agent task that it was made for, as `code-review`: costs are shown by it.
    public var taskKind: String?
    /// It was made for a tool of the task, and is no round of the task's own loop.
    public var isToolWork = false
    /// 1 for the first attempt.
    public var attempt: Int
    public var outcome: Outcome
    public var status: Int?
    public var latencyMilliseconds: Double?
    public var queuedMilliseconds: Double?
    public var inputTokens: Int64?
    public var outputTokens: Int64?
    public var cachedInputTokens: Int64?
    public var maxTokens: Int64?
    /// The tokens that the provider charged to the quota, where known.
    public var countedTokens: Int64?

    public init(
        id: String? = nil, request: String? = nil, at: Timestamp, gateway: GatewayID, tenant: TenantID, pool: PoolID,
        model: String? = nil, endpoint: String? = nil, criticality: Criticality = .interactive, task: String? = nil,
        parent: String? = nil, attempt: Int = 1, outcome: Outcome, status: Int? = nil,
        latencyMilliseconds: Double? = nil, queuedMilliseconds: Double? = nil, inputTokens: Int64? = nil,
        outputTokens: Int64? = nil, cachedInputTokens: Int64? = nil, maxTokens: Int64? = nil,
        countedTokens: Int64? = nil, taskKind: String? = nil
    ) {
        self.id = id
        self.request = request
        self.at = at
        self.gateway = gateway
        self.tenant = tenant
        self.pool = pool
        self.model = model
        self.endpoint = endpoint
        self.criticality = criticality
        self.task = task
        self.parent = parent
        self.attempt = attempt
        self.outcome = outcome
        self.status = status
        self.latencyMilliseconds = latencyMilliseconds
        self.queuedMilliseconds = queuedMilliseconds
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.cachedInputTokens = cachedInputTokens
        self.maxTokens = maxTokens
        self.countedTokens = countedTokens
        self.taskKind = taskKind
    }

    /// When the upstream took the call, and charged it: `at` less the latency.
    public var startedAt: Timestamp { at.adding(seconds: -(latencyMilliseconds ?? 0) / 1000) }

    /// The call in counted tokens: what the provider charged, else input + output. Where that is less, the provider did not
    /// count a part of the input, as it came out of a cache.
    public var work: Work {
        let output = Double(outputTokens ?? 0)
        let whole = Double(inputTokens ?? 0)
        let input = countedTokens.map { min(whole, max(0, Double($0) - output)) } ?? whole
        return Work(
            requests: 1, tokens: countedTokens.map(Double.init) ?? input + output, inputTokens: input,
            outputTokens: output)
    }
}

/// The calls of a tenant × pool × criticality at one gateway over some seconds.
public struct WindowRecord: Equatable, Sendable {
    public struct Latency: Equatable, Sendable {
        public var count: Int64
        public var p50Milliseconds: Double
        public var p95Milliseconds: Double
        public var p99Milliseconds: Double

        public init(count: Int64, p50Milliseconds: Double, p95Milliseconds: Double, p99Milliseconds: Double) {
            self.count = count
            self.p50Milliseconds = p50Milliseconds
            self.p95Milliseconds = p95Milliseconds
            self.p99Milliseconds = p99Milliseconds
        }
    }

    public var id: String?
    public var start: Timestamp
    public var seconds: Double
    public var gateway: GatewayID
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    /// ok + quota + overload + error; retries are among them, denied work is not.
    public var requests: Int64
    public var ok: Int64
    public var quota: Int64
    public var overload: Int64
    public var error: Int64
    public var retries: Int64
    /// Unique work that the gateway refused for want of allocation.
    public var denied: Int64
    public var deniedTokens: Int64
    public var inputTokens: Int64
    public var outputTokens: Int64
    public var latency: Latency?

    public init(
        id: String? = nil, start: Timestamp, seconds: Double, gateway: GatewayID, tenant: TenantID, pool: PoolID,
        criticality: Criticality = .interactive, requests: Int64, ok: Int64, quota: Int64 = 0, overload: Int64 = 0,
        error: Int64 = 0, retries: Int64 = 0, denied: Int64 = 0, deniedTokens: Int64 = 0, inputTokens: Int64 = 0,
        outputTokens: Int64 = 0, latency: Latency? = nil
    ) {
        self.id = id
        self.start = start
        self.seconds = seconds
        self.gateway = gateway
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.requests = requests
        self.ok = ok
        self.quota = quota
        self.overload = overload
        self.error = error
        self.retries = retries
        self.denied = denied
        self.deniedTokens = deniedTokens
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.latency = latency
    }

    public var end: Timestamp { start.adding(seconds: seconds) }
}

/// Work that waits at a gateway, as it was at one instant.
public struct QueueRecord: Equatable, Sendable {
    public var at: Timestamp
    public var gateway: GatewayID
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    public var depth: Int64
    public var tokens: Int64
    public var oldestAgeMilliseconds: Double

    public init(
        at: Timestamp, gateway: GatewayID, tenant: TenantID, pool: PoolID, criticality: Criticality = .interactive,
        depth: Int64, tokens: Int64, oldestAgeMilliseconds: Double = 0
    ) {
        self.at = at
        self.gateway = gateway
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.depth = depth
        self.tokens = tokens
        self.oldestAgeMilliseconds = oldestAgeMilliseconds
    }
}

/// A provider answer's statement on the limits. Never counts as a call.
public struct ResponseRecord: Equatable, Sendable {
    public var at: Timestamp
    public var request: String?
    public var gateway: GatewayID
    public var pool: PoolID
    public var model: String?
    public var endpoint: String?
    public var provider: String?
    public var status: Int
    /// Headers and body as they were read on arrival; neither is stored.
    public var signal: ProviderSignal

    public init(
        at: Timestamp, request: String? = nil, gateway: GatewayID, pool: PoolID, model: String? = nil,
        endpoint: String? = nil, provider: String? = nil, status: Int, signal: ProviderSignal
    ) {
        self.at = at
        self.request = request
        self.gateway = gateway
        self.pool = pool
        self.model = model
        self.endpoint = endpoint
        self.provider = provider
        self.status = status
        self.signal = signal
    }
}

/// How far an agent's task has come.
public struct TaskRecord: Equatable, Sendable {
    public enum State: Int, CaseIterable, Sendable, Hashable {
        case started, progress, completed, failed

        public var name: String {
            switch self {
            case .started: "started"
            case .progress: "progress"
            case .completed: "completed"
            case .failed: "failed"
            }
        }
    }

    public var at: Timestamp
    public var gateway: GatewayID
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    public var task: String
    public var parent: String?
    public var state: State
    /// 0 to 1.
    public var progress: Double?
    public var remainingRequests: Int64?
    public var remainingTokens: Int64?

    public init(
        at: Timestamp, gateway: GatewayID, tenant: TenantID, pool: PoolID, criticality: Criticality = .interactive,
        task: String, parent: String? = nil, state: State, progress: Double? = nil, remainingRequests: Int64? = nil,
        remainingTokens: Int64? = nil
    ) {
        self.at = at
        self.gateway = gateway
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.task = task
        self.parent = parent
        self.state = state
        self.progress = progress
        self.remainingRequests = remainingRequests
        self.remainingTokens = remainingTokens
    }
}

/// A model behind a pool has a new version.
public struct ModelRecord: Equatable, Sendable {
    public var at: Timestamp
    public var gateway: GatewayID?
    public var pool: PoolID
    public var model: String
    public var version: String

    public init(at: Timestamp, gateway: GatewayID? = nil, pool: PoolID, model: String, version: String) {
        self.at = at
        self.gateway = gateway
        self.pool = pool
        self.model = model
        self.version = version
    }
}

extension TelemetryRecord {
    /// The instant from which the line's age counts: the end of what it tells.
    public var at: Timestamp {
        get {
            switch self {
            case .call(let record): record.at
            case .window(let record): record.end
            case .queue(let record): record.at
            case .response(let record): record.at
            case .task(let record): record.at
            case .model(let record): record.at
            }
        }
        set {
            switch self {
            case .call(var record):
                record.at = newValue
                self = .call(record)
            case .window(var record):
                record.start = newValue.adding(seconds: -record.seconds)
                self = .window(record)
            case .queue(var record):
                record.at = newValue
                self = .queue(record)
            case .response(var record):
                record.at = newValue
                self = .response(record)
            case .task(var record):
                record.at = newValue
                self = .task(record)
            case .model(var record):
                record.at = newValue
                self = .model(record)
            }
        }
    }

    public var gateway: GatewayID? {
        switch self {
        case .call(let record): record.gateway
        case .window(let record): record.gateway
        case .queue(let record): record.gateway
        case .response(let record): record.gateway
        case .task(let record): record.gateway
        case .model(let record): record.gateway
        }
    }

    public var pool: PoolID {
        switch self {
        case .call(let record): record.pool
        case .window(let record): record.pool
        case .queue(let record): record.pool
        case .response(let record): record.pool
        case .task(let record): record.pool
        case .model(let record): record.pool
        }
    }

    public var tenant: TenantID? {
        switch self {
        case .call(let record): record.tenant
        case .window(let record): record.tenant
        case .queue(let record): record.tenant
        case .task(let record): record.tenant
        case .response, .model: nil
        }
    }

    /// The wire's `type`.
    public var kind: TelemetryKind {
        switch self {
        case .call: .call
        case .window: .window
        case .queue: .queue
        case .response: .response
        case .task: .task
        case .model: .model
        }
    }
}

public enum TelemetryKind: String, CaseIterable, Sendable, Hashable {
    case call, window, queue, response, task, model
}

extension WindowRecord {
    /// The work that was served in it.
    public var served: Work {
        let input = Double(inputTokens)
        let output = Double(outputTokens)
        return Work(requests: Double(ok), tokens: input + output, inputTokens: input, outputTokens: output)
    }

    /// The seconds that it spans, over which its work is spread evenly: at most the last minute.
    public var spannedSeconds: ClosedRange<Int64> {
        let last = end.adding(seconds: -0.001).second
        return (last - max(1, min(60, Int64(seconds.rounded(.up)))) + 1)...last
    }
}
