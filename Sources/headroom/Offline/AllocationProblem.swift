import HeadroomDecision
import HeadroomJSON
import HeadroomModel

/// An allocation problem as people write it (WireFormat §4.1), checked.
struct AllocationProblem {
    /// Tenants ascending by id: the same problem has the same answer to the last bit, however it is ordered.
    let fill: FillProblem
    /// Where the tenants of the document are in `fill`.
    let order: [Int]
    /// Rates that a tenant names and the capacity does not.
    let ignored: ResourceSet

    /// Everything that is wrong with a problem, each with its path: `tenants[3].weight: must be …`.
    struct Faults: Error {
        let list: [String]
    }

    static func read(_ bytes: [UInt8]) -> Result<AllocationProblem, Faults> {
        let document: JSONNode
        do throws(JSONError) {
            document = try JSONNode.parse(bytes)
        } catch {
            return .failure(Faults(list: ["\(JSONPosition(of: error.offset, in: bytes)): \(error.message)"]))
        }
        var reader = AllocationReader()
        let problem = reader.problem(document)
        guard reader.faults.isEmpty, let problem else { return .failure(Faults(list: reader.faults)) }
        return .success(problem)
    }
}

/// Reads a document to its end, whatever is wrong with it.
private struct AllocationReader {
    private(set) var faults: [String] = []

    mutating func problem(_ document: JSONNode) -> AllocationProblem? {
        let members = members(document, at: "", known: ["capacity", "bands", "tenants"])
        var capacity = Rates.none
        if let node = members["capacity"] {
            capacity = rates(node, at: "capacity")
            if node.members?.isEmpty == true { fault("capacity", "must name at least one of rpm, tpm, itpm, otpm") }
        } else {
            fault("capacity", "is required: {\"rpm\":…,\"tpm\":…}")
        }
        var tenants: [FillTenant] = []
        var criticalities: Set<Criticality> = []
        if let list = members["tenants"].flatMap({ array($0, at: "tenants") }) {
            for (index, node) in list.enumerated() {
                tenants.append(tenant(node, at: "tenants[\(index)]", &criticalities))
            }
        } else if members["tenants"] == nil {
            fault("tenants", "is required: a list, may be empty")
        }
        reportDuplicates(tenants)
        let bands = members["bands"].map { self.bands($0) } ?? AllocationReader.usualBands(criticalities)
        guard faults.isEmpty, !capacity.isEmpty else { return nil }
        return AllocationProblem(capacity: capacity, bands: bands, tenants: tenants)
    }

    /// Floor, one demand band for each criticality that somebody gives demand for (else one for all), ceiling.
    private static func usualBands(_ criticalities: Set<Criticality>) -> [FillBand] {
        let demand = Criticality.allCases.filter(criticalities.contains).map { FillBand(.demand, criticality: $0) }
        return [FillBand(.floor)] + (demand.isEmpty ? [FillBand(.demand)] : demand) + [FillBand(.ceiling)]
    }

    // MARK: Bands

    private mutating func bands(_ node: JSONNode) -> [FillBand] {
        guard let list = array(node, at: "bands") else { return [] }
        return list.enumerated().compactMap { index, node in band(node, at: "bands[\(index)]") }
    }

    private mutating func band(_ node: JSONNode, at path: String) -> FillBand? {
        let kinds = "floor, floor_in_demand, demand or ceiling"
        let members = members(node, at: path, known: ["fill", "criticality", "tiers"])
        guard node.members != nil else { return nil }
        let bound: FillBand.Bound? =
            switch members["fill"]?.string {
            case "floor": .floor
            case "floor_in_demand": .floorInDemand
            case "demand": .demand
            case "ceiling": .ceiling
            default: nil
            }
        if members["fill"] == nil {
            fault("\(path).fill", "is required: \(kinds)")
        } else if bound == nil {
            fault("\(path).fill", "must be \(kinds)")
        }
        var criticality: Criticality?
        if let node = members["criticality"] {
            criticality = node.string.flatMap(Criticality.init(name:))
            if criticality == nil {
                fault("\(path).criticality", "must be interactive, near_real_time or batch")
            } else if bound == .floor || bound == .ceiling {
                fault("\(path).criticality", "only demand has a criticality: leave it out")
            }
        }
        var tiers: [String]?
        if let node = members["tiers"] {
            tiers = []
            for (index, tier) in (array(node, at: "\(path).tiers") ?? []).enumerated() {
                if let name = tier.string {
                    tiers?.append(name)
                } else {
                    fault("\(path).tiers[\(index)]", "must be a string")
                }
            }
        }
        return bound.map { FillBand($0, criticality: criticality, tiers: tiers) }
    }

    // MARK: Tenants

    private mutating func tenant(
        _ node: JSONNode, at path: String, _ criticalities: inout Set<Criticality>
    ) -> FillTenant {
        let known = ["id", "tier", "weight", "demand", "floor", "ceiling", "shape"]
        let members = members(node, at: path, known: known)
        var tenant = FillTenant(id: TenantID(unchecked: ""))
        guard node.members != nil else { return tenant }
        if let id = members["id"]?.string.flatMap(TenantID.init) {
            tenant.id = id
        } else {
            fault("\(path).id", members["id"] == nil ? "is required" : "must be \(TenantID.rule)")
        }
        if let node = members["tier"] {
            if let tier = node.string { tenant.tier = tier } else { fault("\(path).tier", "must be a string") }
        }
        if let node = members["weight"] {
            tenant.weight = number(node, at: "\(path).weight", from: "above 0", isValid: { $0 > 0 }) ?? 1
        }
        if let node = members["demand"] { tenant.demand = demand(node, at: "\(path).demand", &criticalities) }
        if let node = members["floor"] { tenant.floor = rates(node, at: "\(path).floor") }
        if let node = members["ceiling"] { tenant.ceiling = rates(node, at: "\(path).ceiling") }
        if let node = members["shape"] { tenant.shape = rates(node, at: "\(path).shape") }
        return tenant
    }

    /// Rates, or rates by criticality.
    private mutating func demand(
        _ node: JSONNode, at path: String, _ criticalities: inout Set<Criticality>
    ) -> PerCriticality<Rates> {
        var demand = PerCriticality(repeating: Rates.none)
        let keys = node.members?.map(\.key) ?? []
        guard keys.contains(where: { Criticality(name: $0) != nil }) else {
            demand.interactive = rates(node, at: path)
            return demand
        }
        if keys.contains(where: { Resource(rateName: $0) != nil }) {
            fault(path, "must be either rates or rates by criticality, not both")
            return demand
        }
        for (key, node) in members(node, at: path, known: Criticality.allCases.map(\.name)) {
            guard let criticality = Criticality(name: key) else { continue }
            criticalities.insert(criticality)
            demand[criticality] = rates(node, at: "\(path).\(key)")
        }
        return demand
    }

    private mutating func reportDuplicates(_ tenants: [FillTenant]) {
        var first: [TenantID: Int] = [:]
        for (index, tenant) in tenants.enumerated() where !tenant.id.text.isEmpty {
            if let earlier = first[tenant.id] {
                fault("tenants[\(index)].id", "\"\(tenant.id)\" is tenants[\(earlier)] already: ids must be unique")
            } else {
                first[tenant.id] = index
            }
        }
    }

    // MARK: Values

    private mutating func rates(_ node: JSONNode, at path: String) -> Rates {
        var rates = Rates.none
        guard let list = object(node, at: path) else { return rates }
        for member in list {
            guard let resource = Resource(rateName: member.key) else {
                unknown(member.key, at: path, known: Resource.allCases.map(\.rateName))
                continue
            }
            let value = number(member.value, at: "\(path).\(member.key)", from: "of at least 0", isValid: { $0 >= 0 })
            // A sum turns -0 into 0.
            rates[resource] = (value ?? 0) + 0
        }
        return rates
    }

    /// Numbers beyond 1e30, or so small that they mean nothing, would overflow where two of them are divided.
    private mutating func number(
        _ node: JSONNode, at path: String, from rule: String, isValid: (Double) -> Bool
    ) -> Double? {
        guard let number = node.number, isValid(number) else {
            fault(path, "must be a number \(rule)")
            return nil
        }
        guard number == 0 || (1e-30...1e30).contains(number) else {
            fault(path, "must be a number \(rule), and if not 0 from 1e-30 to 1e30")
            return nil
        }
        return number
    }

    private mutating func array(_ node: JSONNode, at path: String) -> [JSONNode]? {
        if node.array == nil { fault(path, "must be a list") }
        return node.array
    }

    private mutating func object(_ node: JSONNode, at path: String) -> [JSONMember]? {
        if node.members == nil { fault(path, "must be an object") }
        return node.members
    }

    /// The members of an object by key; unknown ones are faults.
    private mutating func members(_ node: JSONNode, at path: String, known: [String]) -> [String: JSONNode] {
        var found: [String: JSONNode] = [:]
        for member in object(node, at: path) ?? [] {
            if known.contains(member.key) {
                found[member.key] = member.value
            } else {
                unknown(member.key, at: path, known: known)
            }
        }
        return found
    }

    private mutating func unknown(_ key: String, at path: String, known: [String]) {
        fault(path.isEmpty ? key : "\(path).\(key)", "unknown; known are \(known.joined(separator: ", "))")
    }

    private mutating func fault(_ path: String, _ message: String) {
        faults.append("\(path.isEmpty ? "the problem" : path): \(message)")
    }
}

extension AllocationProblem {
    fileprivate init(capacity: Rates, bands: [FillBand], tenants: [FillTenant]) {
        let ascending = tenants.indices.sorted { tenants[$0].id < tenants[$1].id }
        var order = Array(repeating: 0, count: tenants.count)
        for (place, index) in ascending.enumerated() { order[index] = place }
        self.order = order
        fill = FillProblem(capacity: capacity, bands: bands, tenants: ascending.map { tenants[$0] })

        var named: ResourceSet = []
        for tenant in tenants {
            for rates in [tenant.floor, tenant.ceiling, tenant.shape] { named.formUnion(rates.resources) }
            for criticality in Criticality.allCases { named.formUnion(tenant.demand[criticality].resources) }
        }
        ignored = named.subtracting(capacity.resources)
    }
}
