import HeadroomJSON
import HeadroomModel
import HeadroomProviders

extension Policy {
    /// The rules of `root` over what `self` has.
    mutating func read(rules root: CheckedObject) {
        var root = root
        if let name = root.word("name") { self.name = name }
        if let tiers = root.list("tiers", count: 1...32, of: "tiers") {
            self.tiers = tiers.map { TierPolicy($0.node, key: $0.key, file: root.file) }
        }
        if let tier = root.word("default_tier") { defaultTier = tier }
        if let factor = root.number("strategic_factor", in: 1...10, unit: "factor") { strategicFactor = factor }
        if let bands = root.list("bands", count: 1...32, of: "bands") {
            self.bands = bands.map { Band($0.node, key: $0.key, file: root.file) }
        }
        if var section = root.object("start") { section.read(StartPolicy.fields, into: &start) }
        if var section = root.object("loop") { section.read(LoopPolicy.fields, into: &loop) }
        if var section = root.object("demand") { section.read(DemandPolicy.fields, into: &demand) }
        if var section = root.object("capacity") { section.read(CapacityPolicy.fields, into: &capacity) }
        if var section = root.object("starvation") { section.read(StarvationPolicy.fields, into: &starvation) }
        if var section = root.object("telemetry") { section.read(TelemetryPolicy.fields, into: &telemetry) }
        if var section = root.object("dampening") { section.read(DampeningPolicy.fields, into: &dampening) }
        if var section = root.object("guardrails") { section.read(GuardrailPolicy.fields, into: &guardrails) }
        if var section = root.object("override_limits") { section.read(OverrideLimits.fields, into: &overrideLimits) }
        if var section = root.object("credit") { section.read(CreditPolicy.fields, into: &credit) }
        if var section = root.object("breaker") { section.read(BreakerPolicy.fields, into: &breaker) }
        if var section = root.object("trust") { section.read(TrustPolicy.fields, into: &trust) }
        if let section = root.object("alerts") { alerts.read(section) }
        if var section = root.object("service_levels") {
            section.read(ServiceLevelPolicy.fields, into: &serviceLevels)
        }
        if let section = root.object("contracts") { contracts.read(section) }
        if let section = root.object("cost_breaker") { costBreaker.read(section) }
        if let section = root.object("task_budgets") { taskBudgets.read(section) }
        root.end()
    }
}

// A value that cannot be read leaves its place in a list taken, so that the checks that follow name the right places.

extension TierPolicy {
    fileprivate init(_ node: JSONNode, key: String, file: CheckedFile) {
        self.init(name: "", weight: 1)
        guard var section = CheckedObject(node, key: key, file: file) else { return }
        section.require("name", "the tier's name, as contracts state it")
        section.require("weight", "the tier's weight, a number above 0")
        if let name = section.word("name") { self.name = name }
        if let weight = section.number("weight", in: SteeringLimits.weights, unit: "weight") { self.weight = weight }
        let share = section.optionalNumber("ceiling_share", in: 0.0001...1, unit: "part of nominal capacity, or null")
        if let share { ceilingShare = share }
        if let wait = section.number("longest_wait_seconds", in: 0.1...86_400, unit: "seconds") {
            longestWaitSeconds = wait
        }
        if let share = section.number("satisfied_share", in: 0.01...0.9999, unit: "part of the time") {
            satisfiedShare = share
        }
        let seconds = section.optionalNumber("task_seconds", in: 0.1...2_592_000, unit: "seconds, or null")
        if let seconds { taskSeconds = seconds }
        section.end()
    }
}

extension Band {
    fileprivate init(_ node: JSONNode, key: String, file: CheckedFile) {
        self.init(.floor)
        guard var section = CheckedObject(node, key: key, file: file) else { return }
        section.require("fill", "one of " + Band.Bound.allCases.map(\.name).joined(separator: ", "))
        if let bound = section.choice("fill", of: Band.Bound.allCases, named: \.name) { self.bound = bound }
        criticality = section.choice("criticality", of: Criticality.allCases, named: \.name)
        tiers = section.list("tiers", count: 1...32, of: "tiers")?.map { section.word($0.node, key: $0.key) ?? "" }
        section.end()
    }
}

extension PoolPrice {
    fileprivate init?(_ node: JSONNode, key: String, file: CheckedFile) {
        guard var section = CheckedObject(node, key: key, file: file) else { return nil }
        section.require("currency", "what the money is in, as USD")
        let model = section.text(
            "model", "a model's name, or how names begin with * behind it, as gpt-4o*",
            isRight: { !$0.isEmpty && $0.utf8.count <= 200 && !$0.dropLast().contains("*") })
        let currency = section.currency("currency")
        let input = section.money("input_micros_per_million")
        let cached = section.money("cached_input_micros_per_million")
        let output = section.money("output_micros_per_million")
        let request = section.money("request_micros")
        let from = section.instant("from")
        let until = section.instant("until")
        section.end()
        if let from, let until, from >= until {
            file.report(.outOfRange, key: key, offset: node.offset, "from must lie before until")
            return nil
        }
        guard let currency else { return nil }
        self.init(
            model: model, from: from, until: until, currency: currency, perMillionInputTokens: input ?? 0,
            // Where the provider has no price of its own for cached input, it costs what input costs.
            perMillionCachedInputTokens: cached ?? input ?? 0, perMillionOutputTokens: output ?? 0,
            perRequest: request ?? 0)
    }
}

extension PoolPolicy {
    /// A pool's file. `nil`, and a fault, when its name cannot be read.
    init?(_ root: CheckedObject) {
        var section = root
        section.require("pool", "the pool's name, as telemetry states it")
        section.require("nominal", "what the contract grants, as {rpm: 500, tpm: 30000}")
        let pool = section.word("pool").flatMap { PoolID($0) }
        let provider = section.word("provider", orNull: true)
        if let provider, !KnownProviders.contains(provider) {
            section.file.report(
                .unknownName, key: KeyPathText.join(section.key, "provider"),
                atFirstOf: [KeyPathText.join(section.key, "provider")],
                "must be one of \(KnownProviders.names.joined(separator: ", ")), or null for one that is read by the "
                    + "general rules, found \"\(provider)\""
                    + NearestName.question(provider, among: KnownProviders.names))
        }
        let nominal = section.object("nominal").map(PoolPolicy.nominal)
        let mode = section.choice("mode", of: PoolMode.allCases, named: \.name)
        let providerBurst = section.number("provider_burst_seconds", in: 0.1...3600, unit: "seconds")
        let burst = section.number("burst_seconds", in: 0.1...3600, unit: "seconds")
        let failover = section.list("failover", count: 0...16, of: "pools")?
            .map { PoolID(unchecked: section.word($0.node, key: $0.key) ?? "") }
        let countsRefused = section.bool("counts_refused")
        let acceptAboveContract = section.bool("accept_above_contract")
        let closedAfter = section.optionalNumber("closed_after_seconds", in: 0...86400, unit: "seconds")
        let prices = PoolPolicy.prices(&section)
        let requiresTask = section.bool("require_task")
        section.end()
        guard let pool else { return nil }
        self.init(pool: pool, provider: provider, nominal: nominal ?? .none)
        if let mode { self.mode = mode }
        if let providerBurst { providerBurstSeconds = providerBurst }
        if let burst { burstSeconds = burst }
        if let failover { self.failover = failover }
        if let countsRefused { self.countsRefused = countsRefused }
        if let acceptAboveContract { self.acceptAboveContract = acceptAboveContract }
        if let closedAfter { closedAfterSeconds = closedAfter }
        self.prices = prices
        self.requiresTask = requiresTask
    }

    private static func prices(_ section: inout CheckedObject) -> [PoolPrice] {
        var prices: [PoolPrice] = []
        for (node, key) in section.list("prices", count: 0...100, of: "prices") ?? [] {
            guard let price = PoolPrice(node, key: key, file: section.file) else { continue }
            if prices.contains(where: price.overlaps) {
                section.file.report(
                    .outOfRange, key: key, offset: node.offset,
                    "holds at the same time as a price before it of the same model: end one with until or begin one with from"
                )
            }
            prices.append(price)
        }
        return prices
    }

    private static func nominal(_ section: CheckedObject) -> Rates {
        var section = section
        var rates = Rates()
        for resource in Resource.allCases {
            // From 1: a pool that grants nothing is no pool; to 10^12, far above any provider's limit.
            rates[resource] = section.number(resource.rateName, in: 1...1e12, unit: "\(resource.name) per minute")
        }
        section.end()
        if rates.isEmpty, !section.file.hasFault(in: section.key), !section.file.isIncomplete(section.key) {
            let names = Resource.allCases.map(\.rateName).joined(separator: ", ")
            section.file.report(
                .missing, key: section.key, offset: section.offset, "must state at least one of \(names)")
        }
        return rates
    }
}
