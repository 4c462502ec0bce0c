import HeadroomDecision
import HeadroomModel

extension SplitMix64 {
    mutating func uniform(_ low: Double = 0, _ high: Double = 1) -> Double {
        low + (high - low) * Double(next() >> 11) * 0x1p-53
    }

    /// Even over orders of magnitude.
    mutating func logarithmic(_ low: Double, _ high: Double) -> Double {
        let steps = Int(next() >> 54)
        var value = low
        let ratio = high / low
        // ratio^(steps/1024) by square roots: the standard library has no pow.
        var root = ratio
        for bit in (0..<10).reversed() {
            root = root.squareRoot()
            if steps >> bit & 1 == 1 { value *= root }
        }
        return value
    }

    mutating func chance(_ probability: Double) -> Bool { uniform() < probability }
}

extension FillProblem {
    /// A problem that has every corner now and then: one to four resources, shapes from 1:50 to 1:60,000 or none or
    /// with a zero, weights over eight orders of magnitude, idle tenants, floors that do not fit, ceilings below floors.
    static func draw(_ seed: UInt64, tenants fixed: Int? = nil, criticalities: Bool = true) -> FillProblem {
        var random = SplitMix64(seed: seed)
        let count = fixed ?? Int(random.logarithmic(1, random.chance(0.1) ? 301 : 24))
        let sets: [ResourceSet] = [
            [.requests, .tokens], [.requests, .tokens], [.tokens], [.requests],
            [.requests, .inputTokens, .outputTokens], [.requests, .tokens, .inputTokens, .outputTokens],
        ].map { $0.reduce(into: ResourceSet()) { $0.insert(ResourceSet($1)) } }
        let resources = sets[Int(random.next() % 6)]
        let extremeWeights = random.chance(0.3)
        let byCriticality = criticalities && random.chance(0.4)
        let floorFactor = random.chance(0.2) ? 4.0 : 0.5

        var tenants: [FillTenant] = []
        var wanted = SIMD4<Double>.zero
        for index in 0..<count {
            let tokens = random.logarithmic(50, 60_000)
            let input = random.uniform(0.05, 0.95)
            var unit = SIMD4(1, tokens, tokens * input, tokens * (1 - input))
            let requests = random.chance(0.15) ? 0 : random.logarithmic(0.1, 10_000)
            func box(_ factor: Double, _ some: Bool) -> Rates {
                let box = Rates(perMinute: unit * (requests * factor), resources: resources)
                let named = Array(box.resources.members)
                return some && named.count > 1 ? box.limited(to: ResourceSet(named[Int(random.next() & 1)])) : box
            }
            var demand = PerCriticality(repeating: Rates.none)
            if byCriticality {
                for criticality in Criticality.allCases where random.chance(0.7) {
                    demand[criticality] = box(random.uniform(), false)
                }
            } else if random.chance(0.95) {
                demand.interactive = box(random.uniform(0.5, 1.5), random.chance(0.1))
            }
            let floor = random.chance(0.5) ? box(random.uniform() * floorFactor, random.chance(0.3)) : .none
            let ceiling = random.chance(0.4) ? box(random.uniform(0, 3), random.chance(0.3)) : .none
            wanted += unit * requests
            if random.chance(0.03) { unit[Int(random.next() & 3)] = 0 }
            tenants.append(
                FillTenant(
                    id: TenantID(unchecked: "t\(index)"), tier: ["critical", "standard"][Int(random.next() & 1)],
                    weight: extremeWeights ? random.logarithmic(1e-4, 1e4) : Double(1 + random.next() % 9),
                    demand: demand, floor: floor, ceiling: ceiling,
                    shape: random.chance(0.7) ? Rates(perMinute: unit, resources: resources) : .none,
                    start: random.chance(0.1) ? random.uniform(0, 10) : 0,
                    burst: random.chance(0.1) ? requests * 1.2 : 0,
                    interval: random.chance(0.1)
                        ? FillInterval(least: requests * 0.1, most: requests * random.uniform(0.5, 2))
                        : FillInterval()))
        }
        let plenty = random.chance(0.2) ? 4.0 : 1.0
        var capacity = Rates.none
        for resource in resources.members {
            capacity[resource] = max(wanted[resource.rawValue], 1) * random.uniform(0.2, 1.2) * plenty
        }
        return FillProblem(capacity: capacity, bands: drawBands(&random, byCriticality), tenants: tenants)
    }

    private static func drawBands(_ random: inout SplitMix64, _ byCriticality: Bool) -> [FillBand] {
        let demand =
            byCriticality ? Criticality.allCases.map { FillBand(.demand, criticality: $0) } : [FillBand(.demand)]
        switch random.next() % 4 {
        case 0: return [FillBand(.floor)] + demand + [FillBand(.ceiling)]
        case 1: return [FillBand(.floorInDemand, tiers: ["critical"]), FillBand(.floorInDemand)] + demand
        case 2:
            return [FillBand(.least), FillBand(.floor), FillBand(.start)] + demand + [
                FillBand(.burst), FillBand(.ceiling),
            ]
        default:
            return [FillBand(.floor, tiers: ["critical"]), FillBand(.floor)] + demand + [
                FillBand(.ceiling, tiers: ["standard"])
            ]
        }
    }

    /// As `headroom allocate` reads it; `start`, `burst` and `interval`, which it does not know, are left out.
    var json: String {
        func rates(_ rates: Rates) -> String {
            "{" + rates.resources.members.map { "\"\($0.rateName)\":\(rates[$0]!)" }.joined(separator: ",") + "}"
        }
        let names: [FillBand.Bound: String] = [
            .floor: "floor", .floorInDemand: "floor_in_demand", .demand: "demand", .ceiling: "ceiling",
        ]
        let bands = bands.compactMap { band -> String? in
            guard let name = names[band.bound] else { return nil }
            return "{\"fill\":\"\(name)\"" + (band.criticality.map { ",\"criticality\":\"\($0.name)\"" } ?? "")
                + (band.tiers.map { ",\"tiers\":[\($0.map { "\"\($0)\"" }.joined(separator: ","))]" } ?? "") + "}"
        }
        let tenants = tenants.map { tenant in
            let demand = Criticality.allCases.map { "\"\($0.name)\":\(rates(tenant.demand[$0]))" }
            return "{\"id\":\"\(tenant.id)\",\"tier\":\"\(tenant.tier)\",\"weight\":\(tenant.weight),"
                + "\"demand\":{\(demand.joined(separator: ","))},\"floor\":\(rates(tenant.floor)),"
                + "\"ceiling\":\(rates(tenant.ceiling))"
                + (tenant.shape.isEmpty ? "" : ",\"shape\":\(rates(tenant.shape))") + "}"
        }
        return "{\"capacity\":\(rates(capacity)),\"bands\":[\(bands.joined(separator: ","))],"
            + "\"tenants\":[\(tenants.joined(separator: ","))]}"
    }
}
