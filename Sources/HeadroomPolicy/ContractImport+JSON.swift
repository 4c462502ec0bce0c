import HeadroomJSON
import HeadroomModel

extension ContractImport {
    static func parseJSON(
        _ bytes: [UInt8], from start: Int, checking check: ([Contract]) -> [ContractFault]
    ) -> ([Contract], [ContractImportError.Fault]) {
        let file = CheckedFile(path: "", bytes: bytes, notesPlaces: false)
        var contracts: [Contract] = []
        var offsets: [TenantID: Int] = [:]
        var reader = TolerantReader(bytes, from: start, dialect: .rfc8259)
        var firstPlaces: [TenantID: String] = [:]
        var rowCount = 0
        if reader.beginArray() {
            // One contract at a time: a million of them as one tree would take a gigabyte.
            while rowCount <= maxRowCount, reader.hasElement("") {
                let key = "[\(contracts.count)]"
                let node = reader.value(key)
                file.take(&reader)
                let contract = Contract(node, key: key, file: file)
                contracts.append(contract)
                offsets[contract.tenant] = node.offset
                rowCount += max(1, contract.terms.count)
                if rowCount > maxRowCount {
                    file.report(
                        .outOfRange, key: key, offset: node.offset,
                        "too many: at most \(maxRowCount) of tenant × pool")
                }
                if let first = firstPlaces.updateValue(key, forKey: contract.tenant), !contract.tenant.text.isEmpty {
                    file.report(
                        .duplicateName, key: "\(key).tenant", offset: node.offset,
                        "tenant \(contract.tenant) stands at \(first) already")
                }
            }
            if rowCount <= maxRowCount { reader.endDocument() }
        }
        file.take(&reader)
        let readable = contracts.filter { !$0.tenant.text.isEmpty }.sorted { $0.tenant < $1.tenant }
        for fault in check(readable) {
            file.report(.conflict, key: "", offset: (fault.tenant ?? fault.largest).flatMap { offsets[$0] }, "\(fault)")
        }
        let faults = file.located().map { fault in
            ContractImportError.Fault(
                line: fault.line, fault.key.isEmpty ? fault.message : "\(fault.key): \(fault.message)")
        }
        return (contracts, faults)
    }
}

extension Contract {
    /// A member that cannot be read is reported, and stays empty.
    fileprivate init(_ node: JSONNode, key: String, file: CheckedFile) {
        self.init(tenant: TenantID(unchecked: ""))
        guard var object = CheckedObject(node, key: key, file: file) else { return }
        object.require("tenant", "the tenant's name, as telemetry states it")
        if let tenant = object.word("tenant") { self.tenant = TenantID(unchecked: tenant) }
        tier = object.word("tier", orNull: true)
        isStrategic = object.bool("strategic") ?? false
        var firstPlaces: [PoolID: String] = [:]
        for (node, key) in object.list("pools", count: 0...ContractImport.maxRowCount, of: "pools") ?? [] {
            guard let terms = Terms(node, key: key, file: file) else { continue }
            if let first = firstPlaces.updateValue(key, forKey: terms.pool) {
                file.report(
                    .duplicateName, key: "\(key).pool", offset: node.offset,
                    "pool \(terms.pool) stands at \(first) already")
            }
            if let fault = ContractImport.fault(in: terms) {
                file.report(.conflict, key: key, offset: node.offset, fault)
            }
            self.terms.append(terms)
        }
        terms.sort { $0.pool < $1.pool }
        cost = object.object("cost", orNull: true).flatMap { CostTerms($0) }
        for (node, key) in object.list("task_budgets", count: 0...TaskBudgetPolicy.maxOfContract, of: "budgets") ?? [] {
            if let budget = TaskBudget(node, key: key, file: file, namesTenant: false) { taskBudgets.append(budget) }
        }
        object.end()
    }
}

extension Contract.Terms {
    fileprivate init?(_ node: JSONNode, key: String, file: CheckedFile) {
        guard var object = CheckedObject(node, key: key, file: file) else { return nil }
        object.require("pool", "the pool's name, as its policy file states it")
        let pool = object.word("pool")
        let floor = object.object("floor").map { Contract.Terms.rates($0) }
        let ceiling = object.object("ceiling").map { Contract.Terms.rates($0) }
        object.end()
        guard let pool else { return nil }
        self.init(pool: PoolID(unchecked: pool), floor: floor ?? .none, ceiling: ceiling ?? .none)
    }

    private static func rates(_ object: CheckedObject) -> Rates {
        var object = object
        var rates = Rates()
        for resource in Resource.allCases {
            rates[resource] = object.number(
                resource.rateName, in: ContractImport.rateRange, unit: "\(resource.name) per minute")
        }
        object.end()
        return rates
    }
}
