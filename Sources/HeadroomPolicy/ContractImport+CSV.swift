import HeadroomModel

extension ContractImport {
    /// Of the header, in any order; only `tenant` must be there.
    package static let columns =
        ["tenant", "tier", "strategic", "pool"] + Resource.allCases.map { "floor_\($0.rateName)" }
        + Resource.allCases.map { "ceiling_\($0.rateName)" } + costColumns + priceColumns
    /// Of the tenant.
    static let costColumns = ["currency", "period", "most_micros"]
    /// Of the pool, or of every other pool where the row names none.
    static let priceColumns = [
        "input_micros_per_million", "cached_input_micros_per_million", "output_micros_per_million",
        "request_micros",
    ]

    static func parseCSV(
        _ bytes: [UInt8], from start: Int, _ mapping: ContractPolicy, checking check: ([Contract]) -> [ContractFault]
    ) -> ([Contract], [ContractImportError.Fault]) {
        var reader = CSVReader(bytes, from: start)
        guard let header = reader.next() else {
            return ([], [.init(line: nil, "is empty: the first line names the columns, \(list(columns))")])
        }
        var table = ContractTable(header: header, separator: reader.separator, mapping)
        // Without names no row can be understood.
        guard header.fault == nil, table.namesTenants else { return ([], table.faults) }
        var rowCount = 0
        while let row = reader.next() {
            rowCount += 1
            if rowCount > maxRowCount {
                table.report(row.line, "too many rows: at most \(maxRowCount)")
                break
            }
            table.add(row)
        }
        let contracts = table.contracts()
        for fault in check(contracts) { table.report(fault) }
        return (contracts, table.faults.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
    }

    static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

    /// `Floor TPM` is `floor_tpm`.
    static func plainHeader(_ header: String) -> String {
        String(header.lowercased().map { $0 == " " || $0 == "-" ? "_" : $0 })
    }
}

/// Contracts as their rows come in.
private struct ContractTable {
    private(set) var faults: [ContractImportError.Fault] = []
    /// In the order of the file; `nil` is a column that is not read.
    private var columnNames: [String?] = []
    private let numbers: NumberText
    /// By the export's word for it in lower case.
    private let tierNames: [String: String]
    private var tenants: [TenantID: Tenant] = [:]

    /// One tenant's rows so far; what a row leaves empty, another may state.
    private struct Tenant {
        /// Of its first row.
        var line: Int
        var tier: (name: String, line: Int)?
        var isStrategic: (value: Bool, line: Int)?
        var terms: [PoolID: (terms: Contract.Terms, line: Int)] = [:]
        /// By column.
        var cost: [String: (text: String, line: Int)] = [:]
        var prices: [PoolID?: (price: CostTerms.Price, line: Int)] = [:]
    }

    init(header: CSVReader.Row, separator: UInt8, _ mapping: ContractPolicy) {
        numbers = NumberText(separator: separator)
        tierNames = Dictionary(
            mapping.tiers.map { ($0.word.lowercased(), $0.tier) }, uniquingKeysWith: { first, _ in first })
        if let fault = header.fault { report(header.line, fault) }
        var known = Dictionary(
            ContractImport.columns.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
        for column in mapping.columns { known[ContractImport.plainHeader(column.header)] = column.name }
        for field in header.fields {
            let name = known[ContractImport.plainHeader(field)]
            if name == nil, !mapping.ignoresOtherColumns {
                report(
                    header.line,
                    "unknown column \(KeyPathText.excerpt(of: field)): known are "
                        + ContractImport.list(ContractImport.columns + mapping.columns.map(\.header))
                        + NearestName.question(ContractImport.plainHeader(field), among: known.keys.sorted())
                        + "; contracts.columns and contracts.ignore_other_columns of the policy say how an export is read"
                )
            } else if let name, columnNames.contains(name) {
                report(header.line, "the column \(name) stands twice: remove one")
                columnNames.append(nil)
                continue
            }
            columnNames.append(name)
        }
        if !namesTenants {
            let alias = mapping.columns.first { $0.name == "tenant" }?.header
            report(
                header.line,
                "the column tenant is missing"
                    + (alias.map { ": the policy has it as \(KeyPathText.excerpt(of: $0))" } ?? ""))
        }
    }

    var namesTenants: Bool { columnNames.contains("tenant") }

    mutating func report(_ line: Int, _ message: String) {
        faults.append(.init(line: line, message))
    }

    /// At the row that states it; at the largest part where it lies in all contracts of a pool together.
    mutating func report(_ fault: ContractFault) {
        let rows = (fault.tenant ?? fault.largest).flatMap { tenants[$0] }
        let line = fault.pool.flatMap { rows?.terms[$0]?.line } ?? rows?.tier?.line ?? rows?.line
        faults.append(.init(line: line, "\(fault)"))
    }

    /// Ascending by tenant. What a tenant's rows say together is checked here.
    mutating func contracts() -> [Contract] {
        let tenants = tenants.sorted { $0.key < $1.key }
        return tenants.map { tenant, rows in
            Contract(
                tenant: tenant, tier: rows.tier?.name, isStrategic: rows.isStrategic?.value ?? false,
                terms: rows.terms.values.map(\.terms).sorted { $0.pool < $1.pool }, cost: cost(of: tenant, rows))
        }
    }

    private mutating func cost(of tenant: TenantID, _ rows: Tenant) -> CostTerms? {
        let lines = rows.cost.values.map(\.line) + rows.prices.values.map(\.line)
        guard let line = lines.min() else { return nil }
        let missing = ContractImport.costColumns.filter { rows.cost[$0] == nil }
        guard missing.isEmpty, !rows.prices.isEmpty else {
            let what = missing + (rows.prices.isEmpty ? ["a price"] : [])
            report(line, "tenant \(tenant) lacks \(ContractImport.list(what)): a cost has all of it")
            return nil
        }
        let currency = rows.cost["currency"]?.text ?? ""
        let period = CostTerms.Period.allCases.first { $0.name == rows.cost["period"]?.text }
        let most = rows.cost["most_micros"].map { money($0.text, "most_micros", $0.line) }
        if let fault = ContractImport.fault(inCurrency: currency) { report(line, "currency \(fault)") }
        if period == nil { report(line, "period must be day or month") }
        guard let period, let most else { return nil }
        return CostTerms(currency: currency, period: period, most: most, prices: rows.prices.values.map(\.price))
    }

    mutating func add(_ row: CSVReader.Row) {
        if let fault = row.fault { return report(row.line, fault) }
        guard row.fields.count == columnNames.count else {
            return report(row.line, "has \(row.fields.count) fields: the header has \(columnNames.count)")
        }
        var tenant: TenantID?
        var pool: PoolID?
        var hasPool = false
        var tier: String?
        var isStrategic: Bool?
        var floor = Rates()
        var ceiling = Rates()
        var cost: [(column: String, text: String)] = []
        var price: CostTerms.Price?
        var cachedInput: Int64?
        for (column, field) in zip(columnNames, row.fields) {
            guard let column else { continue }
            switch column {
            case "tenant":
                // Whatever it is called, the rest of its row is looked at too.
                tenant = identifier(field, column, row.line) ?? Self.unreadable(field)
            case _ where field.isEmpty: break
            case "pool":
                pool = identifier(field, column, row.line)
                hasPool = true
            case "tier":
                tier =
                    tierNames[field.lowercased()] ?? (identifier(field, column, row.line) as PoolID?)?.text
            case "strategic": isStrategic = flag(field, row.line)
            case _ where ContractImport.costColumns.contains(column): cost.append((column, field))
            case "input_micros_per_million": price.orFree.perMillionInputTokens = money(field, column, row.line)
            case "cached_input_micros_per_million": cachedInput = money(field, column, row.line)
            case "output_micros_per_million": price.orFree.perMillionOutputTokens = money(field, column, row.line)
            case "request_micros": price.orFree.perRequest = money(field, column, row.line)
            default:
                // `floor_tpm`, `ceiling_rpm` and the like: nothing else is a known column.
                let isFloor = column.hasPrefix("floor_")
                guard let resource = Resource(rateName: String(column.split(separator: "_")[1])) else { continue }
                let rate = rate(field, column, row.line)
                if isFloor { floor[resource] = rate } else { ceiling[resource] = rate }
            }
        }
        if !hasPool, !(floor.isEmpty && ceiling.isEmpty) {
            report(row.line, "has a floor or a ceiling but no pool: name it in the column pool")
        }
        guard let tenant else { return }
        enter(tenant, tier: tier, isStrategic: isStrategic, line: row.line)
        for (column, text) in cost { enter(tenant, column, text, line: row.line) }
        // The price of a pool whose name cannot be read is not the price of every other pool.
        if cachedInput != nil { price = price ?? CostTerms.Price() }
        if var price, pool != nil || !hasPool {
            price.pool = pool
            price.perMillionCachedInputTokens = cachedInput ?? price.perMillionInputTokens
            enter(tenant, price, line: row.line)
        }
        if let pool { enter(tenant, Contract.Terms(pool: pool, floor: floor, ceiling: ceiling), line: row.line) }
    }

    private mutating func enter(_ tenant: TenantID, tier: String?, isStrategic: Bool?, line: Int) {
        var rows = tenants[tenant] ?? Tenant(line: line)
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

    private mutating func enter(_ tenant: TenantID, _ column: String, _ text: String, line: Int) {
        if let first = tenants[tenant]?.cost[column], first.text != text {
            report(line, "tenant \(tenant) has the \(column) \(text) here and \(first.text) on line \(first.line)")
        }
        if tenants[tenant]?.cost[column] == nil { tenants[tenant]?.cost[column] = (text, line) }
    }

    private mutating func enter(_ tenant: TenantID, _ price: CostTerms.Price, line: Int) {
        if let first = tenants[tenant]?.prices[price.pool] {
            let what = price.pool.map { "in pool \($0)" } ?? "of every other pool"
            report(line, "tenant \(tenant) has a price \(what) on line \(first.line) already")
        }
        tenants[tenant]?.prices[price.pool] = (price, line)
    }

    private mutating func enter(_ tenant: TenantID, _ terms: Contract.Terms, line: Int) {
        if let fault = ContractImport.fault(in: terms) { report(line, fault) }
        if let first = tenants[tenant]?.terms[terms.pool] {
            report(line, "tenant \(tenant) and pool \(terms.pool) stand on line \(first.line) already")
        } else {
            tenants[tenant]?.terms[terms.pool] = (terms, line)
        }
    }

    /// A tenant whose name is a fault, so that what else is wrong in its rows is found; `nil` for what nobody can read.
    private static func unreadable(_ field: String) -> TenantID? {
        let isText = field.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isText && !field.isEmpty && field.utf8.count <= 128 ? TenantID(unchecked: field) : nil
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

    /// 0 after a fault, which is reported.
    private mutating func money(_ field: String, _ column: String, _ line: Int) -> Int64 {
        let plain = numbers.plain(field)
        let isWhole = !plain.isEmpty && plain.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        guard isWhole, let money = Int64(plain), ContractImport.moneyRange.contains(Double(money)) else {
            report(
                line,
                "\(column) must be a whole number from 0 to \(CheckedObject.text(CostTerms.largest)) "
                    + "(\(ContractImport.moneyUnit)), found \(KeyPathText.excerpt(of: field))")
            return 0
        }
        return money
    }

    private mutating func rate(_ field: String, _ column: String, _ line: Int) -> Double? {
        // The standard library would take "0x10", "inf" and "nan" too.
        let plain = numbers.plain(field)
        let isDecimal = plain.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                || byte | 0x20 == UInt8(ascii: "e") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
        }
        guard isDecimal, let rate = Double(plain), ContractImport.rateRange.contains(rate) else {
            report(
                line,
                "\(column) must be a number per minute from 0 to 1000000000000, as \(numbers.example), "
                    + "found \(KeyPathText.excerpt(of: field))")
            return nil
        }
        return rate
    }
}

extension CostTerms.Price? {
    /// One that costs nothing, where there is none yet.
    fileprivate var orFree: CostTerms.Price {
        get { self ?? CostTerms.Price() }
        set { self = newValue }
    }
}
