/// A tenant's burst credit in one pool, in whole tokens since the account was opened:
/// balance = accrued − spent − expired − aboveCap.
public struct CreditBalance: TenantRow, Equatable, Sendable {
    public var tenant: TenantID
    public var pool: PoolID
    public var accrued: Int64
    public var spent: Int64
    public var expired: Int64
    /// Earned above the cap, and lost.
    public var aboveCap: Int64

    public var balance: Int64 { accrued - spent - expired - aboveCap }

    public init(
        tenant: TenantID, pool: PoolID, accrued: Int64 = 0, spent: Int64 = 0, expired: Int64 = 0, aboveCap: Int64 = 0
    ) {
        self.tenant = tenant
        self.pool = pool
        self.accrued = accrued
        self.spent = spent
        self.expired = expired
        self.aboveCap = aboveCap
    }
}
