/// Something that happened at one moment and explains what the numbers did after it. What people did is in the audit log.
public struct PoolEvent: Equatable, Sendable {
    /// The raw value is stored.
    public enum Kind: Int, CaseIterable, Sendable, Hashable {
        /// The service started; `after` is the epoch.
        case start = 0
        /// Other policies came into force; `before` and `after` name them.
        case policy = 1
        /// The estimate moved by a tenth of the contract or more; `subject` is the rate's name.
        case capacity = 2
        /// The pool's state changed.
        case state = 3
        /// `subject` is the model, `after` its version, where that is known.
        case model = 4
        /// The provider began to refuse the account for want of money (`after` is `refused`), or stopped.
        case billing = 5

        public var name: String {
            switch self {
            case .start: "start"
            case .policy: "policy"
            case .capacity: "capacity"
            case .state: "state"
            case .model: "model"
            case .billing: "billing"
            }
        }
    }

    public var at: Timestamp
    /// `nil`: all pools.
    public var pool: PoolID?
    public var kind: Kind
    public var subject: String?
    public var before: String?
    public var after: String?

    public init(
        at: Timestamp, pool: PoolID? = nil, kind: Kind, subject: String? = nil, before: String? = nil,
        after: String? = nil
    ) {
        self.at = at
        self.pool = pool
        self.kind = kind
        self.subject = subject
        self.before = before
        self.after = after
    }
}
