import HeadroomModel

/// A term of a contract that the policy does not allow.
package struct ContractFault: Equatable, Sendable, CustomStringConvertible {
    /// `nil`: it lies in all contracts of the pool together.
    package let tenant: TenantID?
    package let pool: PoolID?
    package let message: String
    /// Where ``tenant`` is `nil`: whose contract has the largest part in it.
    package var largest: TenantID?

    package var description: String {
        let subject = [tenant.map { "tenant \($0)" }, pool.map { "pool \($0)" }].compactMap { $0 }
        return "\(subject.joined(separator: ", ")): \(message)"
    }
}

extension Policy {
    /// Checks all contracts that are to be in force together: tiers and pools exist, floors lie below ceilings, and a
    /// pool's floors do not exceed its nominal capacity.
    package func faults(in contracts: [Contract]) -> [ContractFault] {
        var faults: [ContractFault] = []
        var floors: [PoolID: [(tenant: TenantID, floor: Rates)]] = [:]
        let poolsByID = Dictionary(pools.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        for contract in contracts {
            let tier = tier(named: contract.tier ?? defaultTier)
            if tier == nil {
                faults.append(
                    ContractFault(
                        tenant: contract.tenant, pool: nil,
                        message: "the tier must be one of \(tiers.map(\.name).joined(separator: ", ")), "
                            + "found \"\(contract.tier ?? defaultTier)\""
                            + NearestName.question(contract.tier ?? defaultTier, among: tiers.map(\.name))))
            }
            for terms in contract.terms {
                func report(_ message: String) {
                    faults.append(ContractFault(tenant: contract.tenant, pool: terms.pool, message: message))
                }
                guard let pool = poolsByID[terms.pool] else {
                    report(
                        "the policy has no such pool: add pools/NAME.json5 or correct the name"
                            + NearestName.question(terms.pool.text, among: pools.map(\.pool.text)))
                    continue
                }
                for fault in Policy.faults(of: terms, tier: tier, in: pool) { report(fault) }
                floors[terms.pool, default: []].append((contract.tenant, terms.floor))
            }
            for pool in contract.cost?.prices.compactMap(\.pool) ?? [] where poolsByID[pool] == nil {
                faults.append(
                    ContractFault(
                        tenant: contract.tenant, pool: pool,
                        message: "has a price, and the policy has no such pool: correct the name"))
            }
        }
        return faults + pools.flatMap { Policy.faults(ofFloors: floors[$0.pool] ?? [], in: $0) }
    }

    private static func faults(of terms: Contract.Terms, tier: TierPolicy?, in pool: PoolPolicy) -> [String] {
        var faults: [String] = []
        let limited = pool.nominal.resources
        let strange = terms.floor.resources.union(terms.ceiling.resources).subtracting(limited)
        if !strange.isEmpty {
            faults.append(
                "has a floor or a ceiling in \(names(strange)), which the pool does not limit: "
                    + "it limits \(names(limited))"
            )
        }
        for resource in limited.members {
            guard let floor = terms.floor[resource] else { continue }
            let tierCeiling = tier?.ceilingShare.map { $0 * (pool.nominal[resource] ?? 0) }
            guard let ceiling = terms.ceiling[resource] ?? tierCeiling, floor > ceiling else { continue }
            let whose = terms.ceiling[resource] == nil ? " of the tier \(tier?.name ?? "")" : ""
            faults.append(
                "the floor of \(text(floor)) \(resource.rateName) is over the ceiling\(whose), \(text(ceiling))")
        }
        return faults
    }

    private static func faults(
        ofFloors floors: [(tenant: TenantID, floor: Rates)], in pool: PoolPolicy
    ) -> [ContractFault] {
        pool.nominal.resources.members.compactMap { resource in
            let stated = floors.compactMap { floor in floor.floor[resource].map { (tenant: floor.tenant, rate: $0) } }
            let sum = stated.reduce(0) { $0 + $1.rate }
            let nominal = pool.nominal[resource] ?? 0
            guard sum > nominal else { return nil }
            let ordered = stated.sorted { ($1.rate, $0.tenant) < ($0.rate, $1.tenant) }
            let largest = ordered.prefix(3).map { "\($0.tenant) \(text($0.rate))" }.joined(separator: ", ")
            return ContractFault(
                tenant: nil, pool: pool.pool,
                message:
                    "the floors of \(stated.count) tenants sum to \(text(sum)) \(resource.rateName), over the nominal "
                    + "\(text(nominal)); the largest are \(largest)", largest: ordered.first?.tenant)
        }
    }

    private static func names(_ resources: ResourceSet) -> String {
        resources.members.map(\.rateName).joined(separator: ", ")
    }

    private static func text(_ number: Double) -> String { CheckedObject.text(number) }
}
