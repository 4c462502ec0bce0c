/// Where people steer: what they set is durable and in the audit log before a call returns, and in force at the next
/// tick. SQLite stands behind it; the HTTP edge and the commands call it.
public protocol SteeringDesk: Sendable {
    /// All that holds or is pending.
    func steering() async throws(SteeringError) -> Steering
    /// Sets it; or asks for a second person, who may decide until `deadline`, where there is one.
    func set(_ override: Override, askingUntil deadline: Timestamp?) async throws(SteeringError) -> OverrideOutcome
    /// - Parameter mayEndOthers: false lets one end one's own only.
    func endOverride(_ id: Int64, by author: String, mayEndOthers: Bool, at now: Timestamp) async throws(SteeringError)
    /// Newest first; `nil` is every state.
    func proposals(_ kinds: [Proposal.Kind], in state: Proposal.State?) async throws(SteeringError) -> [Proposal]
    /// `nil`: there is none, or none any more.
    func proposal(_ id: Int64) async throws(SteeringError) -> Proposal?
    /// Approves or denies a pending one; an override's is set in the same transaction.
    /// - Parameter tenants: of a question with several changes, those that are decided on: they become a decided proposal of
    ///   their own, and the others stay pending. `nil`: all.
    /// - Parameter revision: what the person has read; `nil` decides on whatever is asked for.
    /// - Returns: what was decided.
    /// - Throws: `.conflict` once decided, or when what is decided on has changed since `revision`; `.forbidden` for one's own,
    ///   `.invalid` for a tenant that it does not name.
    func decide(
        _ id: Int64, _ state: Proposal.State, for tenants: Set<TenantID>?, readAt revision: Int64?,
        as decision: Authorship
    ) async throws(SteeringError) -> Proposal
    /// In place of an earlier one of the same pool.
    func pin(_ pin: CapacityPin) async throws(SteeringError)
    func unpin(_ pool: PoolID, by author: String, at now: Timestamp) async throws(SteeringError)
    /// With ``Freeze/generation``, a roll-back: the numbers are read from the ledger.
    func freeze(_ freeze: Freeze) async throws(SteeringError) -> Freeze
    func endFreeze(_ id: Int64, by author: String, at now: Timestamp) async throws(SteeringError)
    /// In place of an earlier one of the same subject.
    func lift(_ lift: CostLift) async throws(SteeringError) -> CostLift
    func endLift(_ id: Int64, by author: String, at now: Timestamp) async throws(SteeringError)
    /// In place of an earlier one of the same task.
    func rule(_ ruling: TaskRuling) async throws(SteeringError) -> TaskRuling
    /// A person is about to say that a gateway is gone: the audit log has it.
    func noteRelease(of gateway: GatewayID, by author: String, at now: Timestamp) async throws(SteeringError)
    /// Ascending by sequence, those after `sequence`.
    func audit(after sequence: Int64, limit: Int) async throws(SteeringError) -> [AuditEntry]
}

public enum OverrideOutcome: Equatable, Sendable {
    case set(Override)
    case awaitsApproval(Proposal)
}

public struct SteeringError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        case notFound, conflict, forbidden, invalid, unavailable
    }

    public var code: Code
    /// For people.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// One row of the audit log. Each row's hash covers its content and the hash of the row before it, so that no row can
/// be changed or taken out unseen.
public struct AuditEntry: Equatable, Sendable {
    public var sequence: Int64
    public var at: Timestamp
    public var author: String
    /// `override.set`, `approval.approve`, `contracts.import`, `token.create`, …
    public var action: String
    /// The subject, as a JSON object.
    public var detail: String
    /// SHA-256, in hexadecimal.
    public var hash: String

    /// Ends the actions of rows that are a part of another one: of a decision on several tenants, the one tenant's.
    public static let tenantSuffix = "_tenant"

    public var isPart: Bool { action.hasSuffix(AuditEntry.tenantSuffix) }

    public init(sequence: Int64, at: Timestamp, author: String, action: String, detail: String, hash: String) {
        self.sequence = sequence
        self.at = at
        self.author = author
        self.action = action
        self.detail = detail
        self.hash = hash
    }
}

/// The result of a walk along the whole audit log.
public struct AuditVerification: Equatable, Sendable {
    /// Where the log is not as it was written.
    public struct Fault: Equatable, Sendable {
        /// The first row that is wrong, missing or too many.
        public var sequence: Int64
        /// The expected and the found value there.
        public var detail: String

        public init(sequence: Int64, detail: String) {
            self.sequence = sequence
            self.detail = detail
        }
    }

    public var at: Timestamp
    /// The last row up to which all is as it was written; 0 is none.
    public var sequence: Int64
    /// Its SHA-256, in hexadecimal: a person who has it in writing can check whether the log was written anew.
    public var hash: String
    public var fault: Fault?

    public init(at: Timestamp, sequence: Int64, hash: String, fault: Fault?) {
        self.at = at
        self.sequence = sequence
        self.hash = hash
        self.fault = fault
    }
}

/// Reads back decisions and the past.
public protocol RecordReading: Sendable {
    /// The chain of the number in force in `generation`, which may be of an earlier one that set it; `nil` for the
    /// newest. `nil` when it is not known, or no longer.
    func explanation(of tenant: TenantID, in pool: PoolID, generation: Int64?) async throws(StorageError)
        -> Explanation?
    /// By minute where they are still kept, else by hour; ascending by start, at most `limit`. `nil` tenant: all.
    func rollups(pool: PoolID, tenant: TenantID?, from: Timestamp, to: Timestamp, limit: Int) async throws(StorageError)
        -> [Rollup]
    /// The past of a pool or a tenant for a plot: by day or hour where the step is made of these, else by minute where they
    /// are still kept.
    func history(_ query: HistoryQuery) async throws(StorageError) -> HistoryRecords
    /// Served use of each tenant, pool, criticality, model and kind of task in whole hours, in rows that begin at `from`.
    func usage(from: Timestamp, to: Timestamp) async throws(StorageError) -> [ModelUse]
    /// How long agent tasks took that ended in whole minutes where these are kept, before that in whole hours: one row of each
    /// tenant and kind, that begins at `from`; ascending by tenant, then kind. `nil` tenant: all.
    func taskTimes(from: Timestamp, to: Timestamp, tenant: TenantID?) async throws(StorageError) -> [TaskTimeRollup]
    /// Tenants that were starved, the longest first: by minutes where they are kept, before that by hours.
    ///
    /// - Parameter ongoing: spells that go on, of which roll-ups lack the last minute; at most one of a tenant in a pool.
    func starvation(
        from: Timestamp, to: Timestamp, ongoing: [OngoingStarvation]
    ) async throws(StorageError) -> [StarvedTenant]
    /// How tenants fared, and Headroom itself, in whole minutes, hours and days up to `now`: the one that runs counts as
    /// far as it has come.
    func levels(at now: Timestamp) async throws(StorageError) -> LevelRecords
    /// Those issued in the range that are still kept, the newest first, at most `limit`.
    func generations(from: Timestamp, to: Timestamp, limit: Int) async throws(StorageError) -> [GenerationSummary]
    /// `nil`: it was not published, or is no longer kept.
    func snapshot(generation: Int64) async throws(StorageError) -> Snapshot?
}
