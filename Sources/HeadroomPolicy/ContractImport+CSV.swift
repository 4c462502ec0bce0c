import HeadroomModel

extension ContractImport {
    /// Of the header, in any order; only `tenant` must be there.
    package static let columns =
        ["tenant", "tier", "strategic", "pool"] + Resource.allCases.map { "floor_\($0.rateName)" }
        + Resource.allCases.map { "ceiling_\($0.rateName)" }

    static func parseCSV(_ bytes: [UInt8], from start: Int) -> ([Contract], [ContractImportError.Fault]) {
        var reader = CSVReader(bytes, from: start)
        guard let header = reader.next() else {
            return ([], [.init(line: nil, "is empty: the first line names the columns, \(list(columns))")])
        }
        var table = ContractTable(header: header)
        // Without its columns no row can be understood.
        guard table.faults.isEmpty else { return ([], table.faults) }
        var rowCount = 0
        while let row = reader.next() {
            rowCount += 1
            if rowCount > greatestRowCount {
                table.report(row.line, "too many rows: at most \(greatestRowCount)")
                break
            }
            table.add(row)
        }
        return (table.contracts, table.faults)
    }

    static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

/// Contracts as their rows come in.
private struct ContractTable {
    private(set) var faults: [ContractImportError.Fault] = []
    private var columnNames: [String] = []
    private var tenants: [TenantID: Tenant] = [:]

    /// One tenant's rows so far; what a row leaves empty, another may state.
    private struct Tenant {
        var tier: (name: String, line: Int)?
        var isStrategic: (value: Bool, line: Int)?
        var terms: [PoolID: (terms: Contract.Terms, line: Int)] = [:]
    }

    init(header: CSVReader.Row) {
        if let fault = header.fault { report(header.line, fault) }
        for name in header.fields {
            if !ContractImport.columns.contains(name) {
                report(
                    header.line,
                    "unknown column \(KeyPathText.excerpt(of: name)): known are "
                        + ContractImport.list(ContractImport.columns))
            } else if columnNames.contains(name) {
                report(header.line, "the column \(name) stands twice: remove one")
            }
            columnNames.append(name)
        }
        if !columnNames.contains("tenant") { report(header.line, "the column tenant is missing") }
    }

    mutating func report(_ line: Int, _ message: String) {
        faults.append(.init(line: line, message))
    }

    /// In no particular order.
    var contracts: [Contract] {
        tenants.map { tenant, rows in
            Contract(
                tenant: tenant, tier: rows.tier?.name, isStrategic: rows.isStrategic?.value ?? false,
                terms: rows.terms.values.map(\.terms).sorted { $0.pool < $1.pool })
        }
    }

    mutating func add(_ row: CSVReader.Row) {
        if let fault = row.fault { return report(row.line, fault) }
        guard row.fields.count == columnNames.count else {
            return report(row.line, "has \(row.fields.count) fields: the header has \(columnNames.count)")
        }
        let faultsBefore = faults.count
        var tenant: TenantID?
        var pool: PoolID?
        var tier: String?
        var isStrategic: Bool?
        var floor = Rates()
        var ceiling = Rates()
        for (column, field) in zip(columnNames, row.fields) {
            switch column {
            case "tenant": tenant = identifier(field, column, row.line)
            case _ where field.isEmpty: break
            case "pool": pool = identifier(field, column, row.line)
            case "tier": tier = (identifier(field, column, row.line) as PoolID?)?.text
            case "strategic": isStrategic = flag(field, row.line)
            default:
                // `floor_tpm`, `ceiling_rpm` and the like: nothing else is a known column.
                let isFloor = column.hasPrefix("floor_")
                guard let resource = Resource(rateName: String(column.split(separator: "_")[1])) else { continue }
                let rate = rate(field, column, row.line)
                if isFloor { floor[resource] = rate } else { ceiling[resource] = rate }
            }
        }
        if pool == nil, !(floor.isEmpty && ceiling.isEmpty) {
            report(row.line, "has a floor or a ceiling but no pool: name it in the column pool")
        }
        guard faults.count == faultsBefore, let tenant else { return }
        enter(tenant, tier: tier, isStrategic: isStrategic, line: row.line)
        if let pool { enter(tenant, Contract.Terms(pool: pool, floor: floor, ceiling: ceiling), line: row.line) }
    }

    private mutating func enter(_ tenant: TenantID, tier: String?, isStrategic: Bool?, line: Int) {
        var rows = tenants[tenant] ?? Tenant()
        if let tier {
            if let first = rows.tier, first.name != tier {
                report(line, "tenant \(tenant) has the tier \(tier) here and \(first.name) on line \(first.line)")
            }
            rows.tier = rows.tier ?? (tier, line)
        }
        if let isStrategic {
            if let first = rows.isStrategic, first.value != isStrategic {
                report(
                    line, "tenant \(tenant) is strategic \(isStrategic) here and \(first.value) on line \(first.line)")
            }
            rows.isStrategic = rows.isStrategic ?? (isStrategic, line)
        }
        tenants[tenant] = rows
    }

    private mutating func enter(_ tenant: TenantID, _ terms: Contract.Terms, line: Int) {
        if let fault = ContractImport.fault(in: terms) { report(line, fault) }
        if let first = tenants[tenant]?.terms[terms.pool] {
            report(line, "tenant \(tenant) and pool \(terms.pool) stand on line \(first.line) already")
        } else {
            tenants[tenant]?.terms[terms.pool] = (terms, line)
        }
    }

    private mutating func identifier<Kind>(_ field: String, _ column: String, _ line: Int) -> Identifier<Kind>? {
        if let identifier = Identifier<Kind>(field) { return identifier }
        report(
            line, "\(column) must have \(Identifier<Kind>.rule), found \(KeyPathText.excerpt(of: field))")
        return nil
    }

    private mutating func flag(_ field: String, _ line: Int) -> Bool? {
        switch field.lowercased() {
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default:
            report(line, "strategic must be true or false, found \(KeyPathText.excerpt(of: field))")
            return nil
        }
    }

    private mutating func rate(_ field: String, _ column: String, _ line: Int) -> Double? {
        // The standard library would take "0x10", "inf" and "nan" too.
        let isDecimal = field.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                || byte | 0x20 == UInt8(ascii: "e") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        }
        guard isDecimal, let rate = Double(field), ContractImport.rateRange.contains(rate) else {
            report(
                line,
                "\(column) must be a number per minute from 0 to 1000000000000, without separators, "
                    + "found \(KeyPathText.excerpt(of: field))")
            return nil
        }
        return rate
    }
}
