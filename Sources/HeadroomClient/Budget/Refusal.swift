import HeadroomModel

/// Why a call may not go, and what its caller should do.
public struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Decision: String, Sendable {
        /// Ask again after ``Refusal/retryAfter``.
        case wait
        /// The tokens are what is short, and this call wants many: send less, or in parts.
        case shrink
        /// Do what ``Call/fallback`` says: the wait would be longer than the caller can bear.
        case fallback
        /// Nothing helps.
        case fail
    }

    /// What is used up.
    public enum Exhausted: String, Sendable {
        case requests, tokens
        case taskBudget = "task_budget"
        case cost
    }

    public var decision: Decision
    /// When a call would have its turn, as far as can be foreseen; `nil` when no time brings it.
    public var retryAfter: Duration?
    public var exhausted: Exhausted?
    /// For people: what is wrong, and what would be right.
    public var description: String

    package init(_ decision: Decision, retryAfter: Duration? = nil, exhausted: Exhausted? = nil, _ description: String)
    {
        self.decision = decision
        self.retryAfter = retryAfter
        self.exhausted = exhausted
        self.description = description
    }
}

extension Refusal.Exhausted {
    init(_ resource: Resource) { self = resource == .requests ? .requests : .tokens }
}
