/// Where people keep what tenants have bought. As with ``SteeringDesk``, a change is durable and in the audit log before
/// a call returns, and in force at the next tick. Whoever calls has checked the contracts against the policy.
package protocol ContractDesk: Sendable {
    /// Ascending by tenant.
    func contracts() async throws(SteeringError) -> [Contract]
    /// In place of the tenant's earlier one.
    func put(_ contract: Contract, by author: String, at now: Timestamp) async throws(SteeringError)
    /// All of them, or none when it throws. Ascending by tenant, each tenant once.
    func replaceAll(with contracts: [Contract], by author: String, at now: Timestamp) async throws(SteeringError)
    /// Removes the contract and all that is stored of the tenant: telemetry, roll-ups, credit, chains. What the audit log
    /// says of it stays, since the log is chained.
    /// - Throws: `.notFound` when nothing is stored of it.
    func erase(_ tenant: TenantID, by author: String, at now: Timestamp) async throws(SteeringError)
}
