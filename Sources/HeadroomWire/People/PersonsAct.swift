import HeadroomJSON
import HeadroomModel

/// An act of a person, with the subject that the audit log's detail names.
package struct PersonsAct: Equatable, Sendable {
    package let entry: AuditEntry
    /// `nil`: not about one tenant.
    package let tenant: TenantID?
    /// `nil`: of all pools, or not about any.
    package let pool: PoolID?
    package let reason: String?
    /// A decision on several tenants is a row without a tenant, and one more for each tenant.
    private let isOfSeveral: Bool

    package init(_ entry: AuditEntry) {
        self.entry = entry
        let detail = try? JSONNode.parse(Array(entry.detail.utf8))
        tenant = detail?["tenant"]?.string.flatMap { TenantID($0) }
        pool = detail?["pool"]?.string.flatMap { PoolID($0) }
        reason = detail?["reason"]?.string
        isOfSeveral = detail?["tenants"] != nil
    }

    /// Whether it may explain numbers of `pool`, and of `tenant` where one is named.
    package func concerns(_ pool: PoolID, _ tenant: TenantID?) -> Bool {
        guard self.pool == nil || self.pool == pool else { return false }
        guard let tenant else { return !entry.isPart }
        return self.tenant == nil ? !isOfSeveral : self.tenant == tenant
    }
}
