/// Why an upstream answered as it did. A status code is not enough: the same 429 is quota, overload, ramp or billing
/// depending on the body.
package enum ResponseKind: Int, CaseIterable, Sendable, Hashable {
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

    package var name: String {
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

/// What one provider response says of one limit. `nil` where it does not say.
package struct QuotaWindow: Equatable, Sendable {
    package var resource: Resource
    package var limit: Double?
    package var remaining: Double?
    package var resetMilliseconds: Double?
    /// 60 for a limit per minute, 86,400 for one per day.
    package var windowSeconds: Double?

    package init(
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
package struct ProviderSignal: Equatable, Sendable {
    package var kind: ResponseKind
    /// Ordered by resource, then by window length, unknown lengths first; a provider may report several windows of one
    /// resource.
    package var windows: [QuotaWindow]
    package var retryAfterMilliseconds: Double?
    /// The resources that the response says are used up; empty when it does not say.
    package var exhausted: ResourceSet

    package init(
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
package struct ProviderResponse: Sendable {
    /// `openai`, `azure`, `anthropic`, …; `nil` or an unknown name falls back to the generic rules.
    package var provider: String?
    package var status: Int
    /// Names in any case, in the order received.
    package var headers: [(name: String, value: String)]
    package var body: String?
    /// Absolute resets count from the response's own `Date`, else from here, else they are unknown.
    package var receivedAt: Timestamp?

    package init(
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
