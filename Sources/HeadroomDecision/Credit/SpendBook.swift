import HeadroomModel

/// The use of tenants whose use is priced, by day: the link between their roll-ups and their cost ceilings.
///
/// It follows what is saved and not what is seen, so that a start finds the same sums: it is a checkpoint's period
/// behind. A late line counts in the day where it belongs; a price that changes holds for the whole period. Use is as
/// reported, and cached input at its own price where the contract states one: a bound on the invoice and no copy of it.
public struct SpendBook: Sendable {
    private struct Sum: Sendable {
        var requests: Int64 = 0
        var inputTokens: Int64 = 0
        var cachedInputTokens: Int64 = 0
        var outputTokens: Int64 = 0
    }

    /// By day.
    private var uses: [TenantID: [PoolID: [Int64: Sum]]] = [:]
    /// As of the minute, for the contracts that were then.
    private var allowances: [TenantID: CostAllowance] = [:]
    private var contracts: [TenantID: Contract] = [:]
    private var minute = Int64.min

    public init(_ uses: [TenantUse] = []) {
        add(uses)
    }

    public mutating func add(_ more: [TenantUse]) {
        for use in more {
            var sum = uses[use.tenant]?[use.pool]?[use.day] ?? Sum()
            sum.requests.addSaturating(use.requests)
            sum.inputTokens.addSaturating(use.inputTokens)
            sum.cachedInputTokens.addSaturating(use.cachedInputTokens)
            sum.outputTokens.addSaturating(use.outputTokens)
            uses[use.tenant, default: [:]][use.pool, default: [:]][use.day] = sum
        }
    }

    public mutating func forget(_ fingerprints: Set<UInt64>) {
        uses = uses.filter { !fingerprints.contains($0.key.text.fingerprint) }
        minute = .min
    }

    /// The money that each may still spend: the same for a minute, so that ceilings stand still within it.
    public mutating func allowances(
        under contracts: [TenantID: Contract], at now: Timestamp
    ) -> [TenantID: CostAllowance] {
        guard now.minute != minute || contracts != self.contracts else { return allowances }
        minute = now.minute
        self.contracts = contracts
        let oldest = CostTerms.Period.month.days(around: now).lowerBound
        uses = uses.filter { contracts[$0.key]?.cost != nil }
            .mapValues { pools in pools.mapValues { days in days.filter { $0.key >= oldest } } }
        allowances = contracts.compactMapValues { contract in
            contract.cost.map { allowance(of: contract.tenant, $0, at: now) }
        }
        return allowances
    }

    private func allowance(of tenant: TenantID, _ terms: CostTerms, at now: Timestamp) -> CostAllowance {
        let days = terms.period.days(around: now)
        let spent = (uses[tenant] ?? [:]).sorted { $0.key < $1.key }.reduce(0.0) { spent, entry in
            guard let price = terms.price(in: entry.key) else { return spent }
            let here = entry.value.filter { days.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
            return here.reduce(spent) {
                $0
                    + price.cost(
                        requests: Double($1.requests), inputTokens: Double($1.inputTokens),
                        cachedInputTokens: Double($1.cachedInputTokens), outputTokens: Double($1.outputTokens))
            }
        }
        let until = Timestamp(day: days.upperBound)
        return CostAllowance(
            terms: terms, spent: spent, until: until, minutesLeft: max(1, until.seconds(since: now) / 60),
            cachedShares: (uses[tenant] ?? [:]).compactMapValues(cachedShare))
    }

    /// Over all days that are kept, at most a month: a period that has just begun knows nothing yet. `nil`: nothing was
    /// cached.
    private func cachedShare(_ days: [Int64: Sum]) -> Double? {
        var all = Sum()
        for sum in days.values {
            all.inputTokens.addSaturating(sum.inputTokens)
            all.cachedInputTokens.addSaturating(sum.cachedInputTokens)
        }
        guard all.inputTokens > 0, all.cachedInputTokens > 0 else { return nil }
        return min(1, Double(all.cachedInputTokens) / Double(all.inputTokens))
    }
}
