/// Where people keep what tenants have bought. As with ``SteeringDesk``, a change is durable and in the audit log before
/// a call returns, and in force at the next tick.
public protocol ContractDesk: Sendable {
    /// Ascending by tenant.
    func contracts() async throws(SteeringError) -> [Contract]
    /// In place of the tenant's earlier one, unless `check` finds a fault in all contracts, ascending by tenant, as they
    /// would be then. Check and change are one: of two that fit each alone and not together, the later is refused.
    /// Beyond `limit` it asks a second person, or has been approved by one.
    /// - Throws: `.conflict` when that person has said no to it.
    func put<Fault: Sendable>(
        _ contract: Contract, by author: String, at now: Timestamp, within limit: ContractLimit,
        checking check: @Sendable ([Contract]) -> [Fault]
    ) async throws(SteeringError) -> ContractPut<Fault>
    /// All of them, or none when it throws. Ascending by tenant, each tenant once; the caller has checked them against
    /// the policy.
    func replaceAll(with contracts: [Contract], by author: String, at now: Timestamp) async throws(SteeringError)
    /// The same, unless it would change more than `limit` allows: then it asks a second person, or has been approved by one.
    /// - Throws: `.conflict` when that person has said no to these contracts.
    func replaceAll(
        with contracts: [Contract], by author: String, at now: Timestamp, within limit: ContractLimit
    ) async throws(SteeringError) -> ContractOutcome
    /// Removes the contract and all that is stored of the tenant: telemetry, roll-ups, credit, chains. What the audit log
    /// says of it stays, since the log is chained.
    /// - Returns: the question to a second person, beyond `limit`; `nil` when the tenant is erased.
    /// - Throws: `.notFound` when nothing is stored of it.
    func erase(
        _ tenant: TenantID, by author: String, at now: Timestamp, within limit: ContractLimit
    ) async throws(SteeringError) -> Proposal?
}
