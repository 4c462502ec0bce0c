/// What was asked for: the work that arrived, each piece of it once, however often it was tried or sent again.
///
/// It is the only number that people read as "asked for". What decisions go by is planned demand
/// (``TenantDemand/demand``), which is larger while work waits. Over any time and for each tenant, pool and criticality:
///
///     asked for = served + given up or refused for good + waiting at the end − waiting at the beginning
///
/// A piece counts in the minute in which its first attempt began, or in which its gateway gave it up; work that waits counts
/// as gateways report their queues. So a minute's number may be below 0 where a gateway's report is a few seconds behind; the
/// sum over several is right. Two kinds of work are counted late or twice for a while: a call under way is known at its end,
/// and a piece that was refused and waits in a queue for its next attempt counts in both, until it ends.
///
/// Requests are exact. Tokens are as the provider charged them where work was served, and else as they were estimated:
/// input and the part of `max_tokens` that answers use.
public struct AskedWork: Equatable, Sendable {
    public var requests: Int64 = 0
    /// Counted as the pool's provider counts them.
    public var tokens: Int64 = 0
    public var inputTokens: Int64 = 0
    public var outputTokens: Int64 = 0

    public init() {}

    public init(requests: Int64 = 0, tokens: Int64 = 0, inputTokens: Int64 = 0, outputTokens: Int64 = 0) {
        self.requests = requests
        self.tokens = tokens
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
    }

    /// In whole numbers.
    public init(_ work: Work) {
        func whole(_ resource: Resource) -> Int64 { Int64(saturating: work[resource]) }
        self.init(
            requests: whole(.requests), tokens: whole(.tokens), inputTokens: whole(.inputTokens),
            outputTokens: whole(.outputTokens))
    }

    public mutating func add(_ other: AskedWork) {
        combine(other) { $0.addingReportingOverflow($1) }
    }

    /// What has to be added to `other` so that it becomes this.
    public func difference(from other: AskedWork) -> AskedWork {
        var difference = self
        difference.combine(other) { $0.subtractingReportingOverflow($1) }
        return difference
    }

    /// Numbers from outside may be of any size: one that does not fit stays as it was.
    private mutating func combine(_ other: AskedWork, _ combine: (Int64, Int64) -> (Int64, Bool)) {
        func combined(_ left: Int64, _ right: Int64) -> Int64 {
            let (value, overflow) = combine(left, right)
            return overflow ? left : value
        }
        requests = combined(requests, other.requests)
        tokens = combined(tokens, other.tokens)
        inputTokens = combined(inputTokens, other.inputTokens)
        outputTokens = combined(outputTokens, other.outputTokens)
    }

    public var isNothing: Bool { self == AskedWork() }
}
