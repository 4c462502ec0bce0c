import HeadroomModel
import HeadroomWire

/// The tenants that Headroom knows: those with a contract, and those that the loop saw at its last tick.
struct KnownTenants {
    private let contracts: [TenantID: Contract]
    private let report: LoopReport?

    init(_ rules: Rules, _ board: SnapshotBoard) {
        contracts = rules.contracts
        report = board.newestReport
    }

    func contains(_ tenant: TenantID) -> Bool {
        contracts[tenant] != nil
            || (report?.pools ?? []).contains { pool in pool.tenants.contains { $0.tenant == tenant } }
    }

    /// `; did you mean "acme"?` for a name that is near one in the caller's scope; else nothing.
    func question(_ tenant: TenantID, seenBy isVisible: (TenantID) -> Bool) -> String {
        let seen = (report?.pools ?? []).flatMap { $0.tenants.map(\.tenant) }
        // In any order: of names as near, NearestName takes the first.
        let names = (seen + contracts.keys).filter(isVisible).map(\.text)
        return NearestName.question(tenant.text, among: names)
    }
}
