/// max(assured rate, floor, what the fill would give at nominal capacity): the measure of starvation.
public struct Entitlement: TenantRow, Sendable {
    public var tenant: TenantID
    public var rates: Rates

    public init(tenant: TenantID, rates: Rates) {
        self.tenant = tenant
        self.rates = rates
    }
}
