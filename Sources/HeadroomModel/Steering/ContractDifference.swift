/// The changes that replacing all contracts by others would make.
public struct ContractDifference: Equatable, Sendable {
    /// Ascending, as the other two.
    public private(set) var added: [TenantID] = []
    public private(set) var changed: [TenantID] = []
    public private(set) var removed: [TenantID] = []
    public private(set) var unchangedCount = 0

    /// - Parameters:
    ///   - old: ascending by tenant, each tenant once, as `new`.
    public init(from old: [Contract], to new: [Contract]) {
        let oldByTenant = Dictionary(old.map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first })
        for contract in new {
            guard let before = oldByTenant[contract.tenant] else {
                added.append(contract.tenant)
                continue
            }
            if before == contract { unchangedCount += 1 } else { changed.append(contract.tenant) }
        }
        let kept = Set(new.map(\.tenant))
        removed = old.map(\.tenant).filter { !kept.contains($0) }
    }

    public var isEmpty: Bool { added.isEmpty && changed.isEmpty && removed.isEmpty }

    /// More than half of the old contracts are not among the new ones: more often an export that failed than a decision.
    public var removesMost: Bool { removed.count > changed.count + unchangedCount }
}
