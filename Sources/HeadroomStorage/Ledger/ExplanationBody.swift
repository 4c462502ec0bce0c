import HeadroomModel

/// The chains of one pool in one generation as bytes: a version, the pool's facts, the names of the tiers, then the
/// tenants'. Whose they are and what pool it is stand in the row's other columns.
enum ExplanationBody {
    private static let version: UInt8 = 6
    /// Earlier ones: without what was asked for; without least shares; without the cost breaker and flags too; without costs too.
    private static let withLeastShares: UInt8 = 5
    private static let withBreakers: UInt8 = 4
    private static let withCosts: UInt8 = 3
    private static let versionWithoutCosts: UInt8 = 2
    /// Eight rates of a byte each at least, eleven numbers, three constraints, a tier, no override.
    private static let leastTenantBytes = 8 + 11 * 8 + 3 + 2 + 1

    static func encode(
        _ pool: Explanation.PoolFacts, _ tenants: some Collection<Explanation.TenantFacts>
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        write(pool, to: &writer)
        let tiers = Array(Set(tenants.lazy.map(\.tier))).sorted()
        writer.write(tiers) { $0.write($1) }
        let places = Dictionary(uniqueKeysWithValues: zip(tiers, 0...))
        writer.write(count: tenants.count)
        for tenant in tenants { write(tenant, tier: places[tenant.tier] ?? 0, to: &writer) }
        return writer.bytes
    }

    /// - Parameter tenants: who they are, in the order in which they were written.
    static func decode(
        _ bytes: [UInt8], pool: PoolID, tenants: [TenantID]
    ) throws(ByteCodingError) -> (pool: Explanation.PoolFacts, tenants: [Explanation.TenantFacts]) {
        var reader = ByteReader(bytes)
        let written = try reader.read(UInt8.self)
        guard (versionWithoutCosts...version).contains(written) else { throw .otherVersion }
        let facts = try readPool(pool, from: &reader)
        let tiers = try reader.readArray { try $0.readString() }
        let count = try reader.readCount(leastBytes: leastTenantBytes)
        guard count == tenants.count else { throw .outOfRange }
        var chains: [Explanation.TenantFacts] = []
        chains.reserveCapacity(count)
        for tenant in tenants {
            var chain = try readTenant(tenant, tiers: tiers, from: &reader)
            if written >= withCosts {
                chain.cost = try reader.readOptional { reader in try readCost(from: &reader) }
            }
            if written >= withBreakers {
                chain.breaker = try reader.readOptional { reader in try readBreaker(of: tenant, from: &reader) }
                chain.flags = try reader.readArray(leastBytes: 12) { reader in
                    guard let kind = GamingFlag.Kind(rawValue: try reader.readString()) else {
                        throw ByteCodingError.outOfRange
                    }
                    return GamingFlag(
                        kind: kind, since: try reader.readTimestamp(), evidence: try reader.readString())
                }
            }
            if written >= withLeastShares {
                chain.leastShare = try reader.readAmount()
                chain.isQuiet = try reader.readBool()
                chain.hasSoftCeiling = try reader.readBool()
            }
            if written == version {
                chain.asked = try reader.readOptional { try $0.readRates() }
                chain.waiting = try reader.readWork()
                chain.waitingSeconds = try reader.readAmount()
            }
            chains.append(chain)
        }
        return (facts, chains)
    }

    /// The same without the tenant at `place` of `count`.
    static func removing(_ place: Int, of count: Int, from bytes: [UInt8]) throws(StorageError) -> [UInt8] {
        // Neither the pool nor the tenants are in the bytes.
        let anyone = TenantID(unchecked: "")
        do {
            var (pool, tenants) = try decode(
                bytes, pool: PoolID(unchecked: ""), tenants: Array(repeating: anyone, count: count))
            tenants.remove(at: place)
            return encode(pool, tenants)
        } catch {
            throw StorageError(code: .corrupt, message: "an explanation cannot be read: \(error)")
        }
    }

    private static let frozen: UInt8 = 1
    private static let billingFailure: UInt8 = 2

    private static func write(_ pool: Explanation.PoolFacts, to writer: inout ByteWriter) {
        writer.write(UInt8(pool.mode.rawValue))
        writer.write(UInt8(pool.state.rawValue))
        writer.write(pool.nominal)
        writer.write(pool.capacity)
        writer.write(UInt8(pool.capacityReason.rawValue))
        writer.write(pool.capacityChangedAt) { $0.write($1) }
        writer.write(pool.capacityBefore) { $0.write($1) }
        writer.write(Int64(pool.recentAttempts))
        writer.write(Int64(pool.recentRefusals))
        writer.write(pool.shared)
        writer.write(pool.slack)
        writer.write(pool.bands) { write($1, to: &$0) }
        writer.write(pool.exhausted) { write($1, to: &$0) }
        writer.write(UInt8(pool.isFrozen ? frozen : 0) | (pool.hasBillingFailure ? billingFailure : 0))
    }

    private static func readPool(
        _ pool: PoolID, from reader: inout ByteReader
    ) throws(ByteCodingError) -> Explanation.PoolFacts {
        var facts = Explanation.PoolFacts(
            pool: pool, mode: try reader.readCase(PoolMode.init(rawValue:)),
            state: try reader.readCase(PoolState.init(rawValue:)), nominal: try reader.readRates(),
            capacity: try reader.readRates(), capacityReason: try reader.readCase(CapacityReason.init(rawValue:)),
            capacityChangedAt: try reader.readOptional { try $0.readTimestamp() },
            capacityBefore: try reader.readOptional { try $0.readRates() },
            recentAttempts: Int(try reader.read(Int64.self)), recentRefusals: Int(try reader.read(Int64.self)),
            shared: try reader.readRates(), slack: try reader.readRates(),
            bands: try reader.readArray { reader in try readBand(from: &reader) },
            exhausted: try reader.readOptional { reader in try readBand(from: &reader) })
        let flags = try reader.read(UInt8.self)
        guard flags & ~(frozen | billingFailure) == 0 else { throw .outOfRange }
        facts.isFrozen = flags & frozen != 0
        facts.hasBillingFailure = flags & billingFailure != 0
        return facts
    }

    private static func write(_ band: Explanation.PoolFacts.Band, to writer: inout ByteWriter) {
        writer.write(band.name)
        writer.write(band.level)
        writer.write(band.saturated.map { UInt8($0.rawValue) }) { $0.write($1) }
    }

    private static func readBand(
        from reader: inout ByteReader
    ) throws(ByteCodingError) -> Explanation.PoolFacts.Band {
        Explanation.PoolFacts.Band(
            name: try reader.readString(), level: try reader.readDouble(),
            saturated: try reader.readOptional { reader in
                try reader.readCase(Resource.init(rawValue:))
            })
    }

    private static func write(_ tenant: Explanation.TenantFacts, tier: Int, to writer: inout ByteWriter) {
        writer.write(UInt16(clamping: tier))
        writer.write(tenant.weight)
        writer.write(tenant.override) { $0.write($1) }
        writer.write(tenant.demand)
        for criticality in Criticality.allCases { writer.write(tenant.credibleDemand[criticality]) }
        writer.write(tenant.start)
        writer.write(tenant.confidence)
        writer.write(tenant.floor)
        writer.write(tenant.ceiling)
        writer.write(tenant.direction)
        writer.write(tenant.target)
        writer.write(tenant.mean)
        writer.write(tenant.before)
        writer.write(tenant.least)
        writer.write(UInt8(tenant.leastConstraint.rawValue))
        writer.write(tenant.most)
        writer.write(UInt8(tenant.mostConstraint.rawValue))
        writer.write(tenant.fill)
        writer.write(tenant.assured)
        writer.write(UInt8(tenant.constraint.rawValue))
        writer.write(tenant.burst)
        writer.write(tenant.excessShare)
        writer.write(tenant.cost) { writer, cost in
            writer.write(cost.currency)
            writer.write(UInt8(cost.period.rawValue))
            writer.write(cost.most)
            writer.write(cost.spent)
            writer.write(cost.until)
            writer.write(cost.minutesLeft)
            writer.write(cost.perRequest)
        }
        writer.write(tenant.breaker) { writer, stands in
            writer.write(UInt8(stands.state.rawValue))
            writer.write(stands.since)
            writer.write(stands.due) { $0.write($1) }
            writer.write(stands.currency)
            for amount in [
                stands.ceiling, stands.spent, stands.perMinute, stands.projected, stands.projectedLeast,
                stands.projectedMost,
            ] { writer.write(amount) }
            writer.write(stands.until)
            writer.write(stands.limits) { writer, limit in
                writer.write(limit.pool.text)
                writer.write(limit.requestsPerMinute)
            }
        }
        writer.write(tenant.flags) { writer, flag in
            writer.write(flag.kind.rawValue)
            writer.write(flag.since)
            writer.write(flag.evidence)
        }
        writer.write(tenant.leastShare)
        writer.write(tenant.isQuiet)
        writer.write(tenant.hasSoftCeiling)
        writer.write(tenant.asked) { $0.write($1) }
        writer.write(tenant.waiting)
        writer.write(tenant.waitingSeconds)
    }

    private static func readBreaker(
        of tenant: TenantID, from reader: inout ByteReader
    ) throws(ByteCodingError) -> CostBreak {
        let state = try reader.readCase(CostBreak.State.init(rawValue:))
        let since = try reader.readTimestamp()
        let due = try reader.readOptional { try $0.readTimestamp() }
        let currency = try reader.readString()
        let (ceiling, spent, perMinute) = (
            try reader.readAmount(), try reader.readAmount(), try reader.readAmount()
        )
        let (projected, least, most) = (
            try reader.readAmount(), try reader.readAmount(), try reader.readAmount()
        )
        return CostBreak(
            subject: .tenant(tenant), state: state, since: since, due: due, currency: currency, ceiling: ceiling,
            spent: spent, perMinute: perMinute, projected: projected, projectedLeast: least, projectedMost: most,
            until: try reader.readTimestamp(),
            limits: try reader.readArray(leastBytes: 10) { reader in
                CostBreak.Limit(
                    pool: try reader.readIdentifier(), requestsPerMinute: try reader.readAmount())
            })
    }

    private static func readCost(from reader: inout ByteReader) throws(ByteCodingError) -> Explanation.CostFacts {
        Explanation.CostFacts(
            currency: try reader.readString(), period: try reader.readCase(CostTerms.Period.init(rawValue:)),
            most: try reader.readAmount(), spent: try reader.readAmount(), until: try reader.readTimestamp(),
            minutesLeft: try reader.readAmount(), perRequest: try reader.readAmount())
    }

    private static func readTenant(
        _ tenant: TenantID, tiers: [String], from reader: inout ByteReader
    ) throws(ByteCodingError) -> Explanation.TenantFacts {
        let tier = Int(try reader.read(UInt16.self))
        guard tiers.indices.contains(tier) else { throw .outOfRange }
        let weight = try reader.readDouble()
        let override = try reader.readOptional { try $0.read(Int64.self) }
        let demand = try reader.readRates()
        var credibleDemand = PerCriticality<Rates>(repeating: .none)
        for criticality in Criticality.allCases { credibleDemand[criticality] = try reader.readRates() }
        let start = try reader.readDouble()
        let confidence = try reader.readDouble()
        let floor = try reader.readRates()
        let ceiling = try reader.readRates()
        return Explanation.TenantFacts(
            tenant: tenant, tier: tiers[tier], weight: weight, override: override, demand: demand,
            credibleDemand: credibleDemand, start: start, confidence: confidence, floor: floor, ceiling: ceiling,
            direction: try reader.readRates(), target: try reader.readDouble(), mean: try reader.readDouble(),
            before: try reader.readDouble(), least: try reader.readDouble(),
            leastConstraint: try reader.readCase(Constraint.init(rawValue:)), most: try reader.readDouble(),
            mostConstraint: try reader.readCase(Constraint.init(rawValue:)), fill: try reader.readDouble(),
            assured: try reader.readRates(), constraint: try reader.readCase(Constraint.init(rawValue:)),
            burst: try reader.readDouble(), excessShare: try reader.readDouble())
    }
}

extension ByteReader {
    fileprivate mutating func readCase<Case>(_ make: (Int) -> Case?) throws(ByteCodingError) -> Case {
        guard let value = make(Int(try read(UInt8.self))) else { throw .outOfRange }
        return value
    }
}
