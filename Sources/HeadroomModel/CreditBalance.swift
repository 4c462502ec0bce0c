/// A tenant's burst credit in one pool, in whole tokens since the account was opened:
/// balance = accrued − spent − expired − aboveCap.
package struct CreditBalance: Equatable, Sendable {
    package var tenant: TenantID
    package var pool: PoolID
    package var accrued: Int64
    package var spent: Int64
    package var expired: Int64
    /// Earned above the cap, and lost.
    package var aboveCap: Int64

    package var balance: Int64 { accrued - spent - expired - aboveCap }

    package init(
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
