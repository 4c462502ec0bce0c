import HeadroomJSON
import HeadroomModel

/// A contract as people send it to `PUT /v1/tenants/{id}` and as the list of tenants shows it; the members are those of
/// an imported file.
package enum ContractBody {
    /// More than any policy has pools.
    private static let maxPools = 1000

    /// - Parameter tenant: from the path; a body that names another one is refused.
    package static func decode(_ bytes: [UInt8], tenant: TenantID) throws(BodyError) -> Contract {
        var body = try StrictObject(document: bytes)
        let named: TenantID? = body.identifier("tenant")
        if let named, named != tenant { body.report("tenant", "must be \(tenant), as in the path, or be left out") }
        let tier = body.text("tier", most: 128)
        let isStrategic = body.bool("strategic") ?? false
        var terms: [Contract.Terms] = []
        for object in body.objects("pools", most: maxPools) {
            guard let term = read(object) else { continue }
            if terms.contains(where: { $0.pool == term.pool }) {
                object.report("pool", "\(term.pool) stands here twice: remove one")
            }
            terms.append(term)
        }
        let cost = body.object("cost").flatMap(read(cost:))
        let budgets = body.objects("task_budgets", most: TaskBudgetPolicy.maxOfContract).map(read(budget:))
        body.end()
        try body.check()
        return Contract(
            tenant: tenant, tier: tier, isStrategic: isStrategic, terms: terms.sorted { $0.pool < $1.pool },
            cost: cost, taskBudgets: budgets)
    }

    private static func read(budget object: StrictObject) -> TaskBudget {
        var object = object
        var budget = TaskBudget(taskKind: object.text("task_kind", most: TaskBudget.maxKindCharacters))
        for measure in TaskMeasure.allCases {
            let (least, most) = (Double(measure.limits.lowerBound), Double(measure.limits.upperBound))
            budget.limits[measure] = object.number(measure.name, in: least...most, measure.unit, isWhole: true)
                .map { Int64($0) }
        }
        if budget.limits.isEmpty {
            object.report("calls", TaskBudget.needsLimit)
        }
        object.end()
        return budget
    }

    /// Faults are noted in `object`; with a fault the returned value is not used.
    private static func read(cost object: StrictObject) -> CostTerms? {
        var object = object
        let currency = object.text("currency", most: 3, isRequired: true)
        if let currency, !CostTerms.currencies.contains(currency) {
            object.report("currency", "must be a currency of ISO 4217 in capitals, such as EUR")
        }
        let name = object.text("period", most: 8, isRequired: true)
        let period = CostTerms.Period.allCases.first { $0.name == name }
        if name != nil, period == nil { object.report("period", "must be day or month") }
        let most = object.money("most_micros", isRequired: true)
        var prices: [CostTerms.Price] = []
        for var object in object.objects("prices", most: maxPools) {
            let pool: PoolID? = object.identifier("pool")
            let price = CostTerms.Price(
                pool: pool, perMillionInputTokens: object.money("input_micros_per_million") ?? 0,
                perMillionCachedInputTokens: object.money("cached_input_micros_per_million"),
                perMillionOutputTokens: object.money("output_micros_per_million") ?? 0,
                perRequest: object.money("request_micros") ?? 0)
            if prices.contains(where: { $0.pool == pool }) {
                object.report("pool", "\(pool?.text ?? "the price of every other pool") stands here twice: remove one")
            }
            object.end()
            prices.append(price)
        }
        if prices.isEmpty { object.report("prices", "must list what use costs: without prices nothing is bounded") }
        object.end()
        guard let currency, let period, let most else { return nil }
        return CostTerms(currency: currency, period: period, most: most, prices: prices)
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
        writer.field("tenant", contract.tenant.text)
        writer.contractMembers(contract)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// All but the tenant.
    package mutating func contractMembers(_ contract: Contract) {
        field("tier", contract.tier)
        field("strategic", contract.isStrategic)
        key("pools")
        beginArray()
        for terms in contract.terms {
            beginObject()
            field("pool", terms.pool.text)
            field("floor", terms.floor)
            field("ceiling", terms.ceiling)
            endObject()
        }
        endArray()
        key("cost")
        if let cost = contract.cost { self.cost(cost) } else { null() }
        guard !contract.taskBudgets.isEmpty else { return }
        field("task_budgets", each: contract.taskBudgets) { writer, budget in
            writer.beginObject()
            writer.taskBudget(budget)
            writer.endObject()
        }
    }

    private mutating func cost(_ cost: CostTerms) {
        beginObject()
        field("currency", cost.currency)
        field("period", cost.period.name)
        field("most_micros", cost.most)
        key("prices")
        beginArray()
        for price in cost.prices {
            beginObject()
            field("pool", price.pool?.text)
            field("input_micros_per_million", price.perMillionInputTokens)
            field("cached_input_micros_per_million", price.perMillionCachedInputTokens)
            field("output_micros_per_million", price.perMillionOutputTokens)
            field("request_micros", price.perRequest)
            endObject()
        }
        endArray()
        endObject()
    }
}
