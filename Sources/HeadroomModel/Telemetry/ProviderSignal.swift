/// Why an upstream answered as it did. A status code is not enough: the same 429 is quota, overload, ramp or billing
/// depending on the body.
public enum ResponseKind: Int, CaseIterable, Sendable, Hashable {
    case ok
    /// Our own limit is used up: wait for the reset.
    case quota
    /// The provider lacks capacity: breaker, failover. Says nothing about the quota.
    case overload
    /// We grow too fast: slow the slew.
    case ramp
    /// Money: never retry.
    case billing
    case auth
    /// Other 4xx.
    case client
    /// Other 5xx.
    case server

    public var name: String {
        switch self {
        case .ok: "ok"
        case .quota: "quota"
        case .overload: "overload"
        case .ramp: "ramp"
        case .billing: "billing"
        case .auth: "auth"
        case .client: "client"
        case .server: "server"
        }
    }
}

/// One provider response's statement on one limit. `nil` where it does not say.
public struct QuotaWindow: Equatable, Sendable {
    public var resource: Resource
    public var limit: Double?
    public var remaining: Double?
    public var resetMilliseconds: Double?
    /// 60 for a limit per minute, 86,400 for one per day.
    public var windowSeconds: Double?

    public init(
        resource: Resource, limit: Double? = nil, remaining: Double? = nil, resetMilliseconds: Double? = nil,
        windowSeconds: Double? = nil
    ) {
        self.resource = resource
        self.limit = limit
        self.remaining = remaining
        self.resetMilliseconds = resetMilliseconds
        self.windowSeconds = windowSeconds
    }
}

/// A provider response, typed.
public struct ProviderSignal: Equatable, Sendable {
    public var kind: ResponseKind
    /// Ordered by resource, then by window length, unknown lengths first; a provider may report several windows of one
    /// resource.
    public var windows: [QuotaWindow]
    public var retryAfterMilliseconds: Double?
    /// The resources that the response says are used up; empty when it does not say.
    public var exhausted: ResourceSet

    public init(
        kind: ResponseKind, windows: [QuotaWindow] = [], retryAfterMilliseconds: Double? = nil,
        exhausted: ResourceSet = []
    ) {
        self.kind = kind
        self.windows = windows
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.exhausted = exhausted
    }
}

/// A provider response as it came: the input of the classification.
public struct ProviderResponse: Sendable {
    /// `openai`, `azure`, `anthropic`, …; `nil` or an unknown name falls back to the generic rules.
    public var provider: String?
    public var status: Int
    /// Names in any case, in the order received.
    public var headers: [(name: String, value: String)]
    public var body: String?
    /// Absolute resets count from the response's own `Date`, else from here, else they are unknown.
    public var receivedAt: Timestamp?

    public init(
        provider: String? = nil, status: Int, headers: [(name: String, value: String)] = [], body: String? = nil,
        receivedAt: Timestamp? = nil
    ) {
        self.provider = provider
        self.status = status
        self.headers = headers
        self.body = body
        self.receivedAt = receivedAt
    }
}
