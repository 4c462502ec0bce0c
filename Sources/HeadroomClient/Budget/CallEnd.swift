import HeadroomModel

/// How a call ended: what it cost, or why it failed.
public struct CallEnd: Sendable {
    enum What: Sendable {
        case answer(status: Int, headers: [(name: String, value: String)], body: String?)
        case outcome(ResponseKind)
        case fault(Fault)
        /// Nobody has said.
        case unknown
    }

    var what: What
    /// What the provider counted, in its own sense; `nil`: what the body says, or the estimate stands.
    public var inputTokens: Int?
    public var outputTokens: Int?
    /// Read from a cache. Of OpenAI, Gemini and most others a part of the input, of Anthropic and Bedrock beside it.
    public var cachedInputTokens: Int?
    /// Written to a cache, beside the input (Anthropic, Bedrock).
    public var cacheCreationInputTokens: Int?
    /// From sending the call to the end of its answer. `nil`: the time since the call had its turn.
    public var latency: Duration?

    static let unknown = CallEnd(what: .unknown)

    /// Why there was no answer.
    public enum Fault: String, CaseIterable, Sendable {
        /// The call was sent, and its caller gave up: the provider may have worked for it, so it costs what was estimated.
        case timeout
        /// The call did not reach the provider, or the connection broke: it costs nothing.
        case connection
    }

    /// There was no answer. For the circuit breaker, and in telemetry, it is a failure as an answer of 5xx is.
    public static func fault(_ fault: Fault, latency: Duration? = nil) -> CallEnd {
        CallEnd(what: .fault(fault), latency: latency)
    }

    /// Somebody has said how it ended.
    var isKnown: Bool {
        if case .unknown = what { false } else { true }
    }

    /// Of a call that failed.
    var mayHaveCost: Bool {
        if case .fault(.timeout) = what { true } else { false }
    }

    /// The provider answered. Status, headers and, of a failure, the body tell what kind of answer it is, and which limits
    /// the provider states.
    /// - Parameters:
    ///   - headers: names in any case, in the order received.
    ///   - body: of a success that does not give its counts, the usage is read from it; a stream's last events are enough.
    public static func answer(
        status: Int, headers: [(name: String, value: String)] = [], body: String? = nil, inputTokens: Int? = nil,
        outputTokens: Int? = nil, cachedInputTokens: Int? = nil, cacheCreationInputTokens: Int? = nil,
        latency: Duration? = nil
    ) -> CallEnd {
        CallEnd(
            what: .answer(status: status, headers: headers, body: body), inputTokens: inputTokens,
            outputTokens: outputTokens, cachedInputTokens: cachedInputTokens,
            cacheCreationInputTokens: cacheCreationInputTokens, latency: latency)
    }

    /// The caller has read the answer itself.
    public static func outcome(
        _ kind: ResponseKind, inputTokens: Int? = nil, outputTokens: Int? = nil, cachedInputTokens: Int? = nil,
        cacheCreationInputTokens: Int? = nil, latency: Duration? = nil
    ) -> CallEnd {
        CallEnd(
            what: .outcome(kind), inputTokens: inputTokens, outputTokens: outputTokens,
            cachedInputTokens: cachedInputTokens, cacheCreationInputTokens: cacheCreationInputTokens, latency: latency)
    }
}

/// What a caller should make of how its call ended.
public struct Advice: Equatable, Sendable {
    public enum Retry: Equatable, Sendable {
        /// Another attempt would fail as well, or the caller's patience ends before it.
        case never
        /// The call keeps its place at the head of its queue: ``Slot/again()`` waits for its next turn, which is not
        /// before that.
        case after(Duration)
    }

    public var kind: ResponseKind
    public var retry: Retry

    public init(kind: ResponseKind, retry: Retry) {
        self.kind = kind
        self.retry = retry
    }
}
