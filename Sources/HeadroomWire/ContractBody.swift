import HeadroomJSON
import HeadroomModel

/// A contract as people send it to `PUT /v1/tenants/{id}` and as the list of tenants shows it; the members are those of
/// an imported file.
package enum ContractBody {
    /// More than any policy has pools.
    private static let mostPools = 1000

    /// - Parameter tenant: from the path; a body that names another one is refused.
    package static func decode(_ bytes: [UInt8], tenant: TenantID) throws(BodyError) -> Contract {
        var body = try StrictObject(document: bytes)
        let named: TenantID? = body.identifier("tenant")
        if let named, named != tenant { body.report("tenant", "must be \(tenant), as in the path, or be left out") }
        let tier = body.text("tier", most: 128)
        let isStrategic = body.bool("strategic") ?? false
        var terms: [Contract.Terms] = []
        for object in body.objects("pools", most: mostPools) {
            guard let term = read(object) else { continue }
            if terms.contains(where: { $0.pool == term.pool }) {
                object.report("pool", "\(term.pool) stands here twice: remove one")
            }
            terms.append(term)
        }
        body.end()
        try body.check()
        return Contract(
            tenant: tenant, tier: tier, isStrategic: isStrategic, terms: terms.sorted { $0.pool < $1.pool })
    }

    private static func read(_ object: StrictObject) -> Contract.Terms? {
        var object = object
        let pool: PoolID? = object.identifier("pool", isRequired: true)
        let floor = object.rates("floor") ?? .none
        let ceiling = object.rates("ceiling") ?? .none
        for resource in Resource.allCases {
            guard let least = floor[resource], let most = ceiling[resource], least > most else { continue }
            object.report(
                "floor",
                "\(GroupedNumber.plain(least)) \(resource.rateName) is over the ceiling of "
                    + GroupedNumber.plain(most))
        }
        object.end()
        return pool.map { Contract.Terms(pool: $0, floor: floor, ceiling: ceiling) }
    }

    package static func encode(_ contract: Contract) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("tenant")
        writer.string(contract.tenant.text)
        writer.contractMembers(contract)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// All but the tenant.
    package mutating func contractMembers(_ contract: Contract) {
        key("tier")
        text(contract.tier)
        key("strategic")
        bool(contract.isStrategic)
        key("pools")
        beginArray()
        for terms in contract.terms {
            beginObject()
            key("pool")
            string(terms.pool.text)
            key("floor")
            rates(terms.floor)
            key("ceiling")
            rates(terms.ceiling)
            endObject()
        }
        endArray()
    }
}
