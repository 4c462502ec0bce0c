import HeadroomDecision
import HeadroomModel

/// How quiet tenants fared.
///
/// A tenant is *quiet* in a minute when, over the five minutes that end with it, it asked for no more than its weighted
/// max-min share of what the pool really granted: floors first, ceilings kept, criticality left aside. A quiet tenant
/// that is not served pays for somebody else's demand.
struct QuietService: Sendable {
    /// Of the work that arrived in quiet minutes, the part that was served sooner or later; by tier, `nil` without any.
    private(set) var servedByTier: [String: Double] = [:]
    /// The least part of a tenant over all its quiet minutes, among those that are quiet in at least half of the minutes in
    /// which they ask, and whose quiet work is at least a thousandth of all that was asked for.
    private(set) var worstTenant: Double?
    /// The least part of a tier in one minute, of tiers that ask for at least a hundredth of the minute's capacity.
    private(set) var worstMinute: Double?

    private static let windowMinutes = 5
    /// What came in the last minutes may still be waiting when the run ends.
    private static let openMinutes = 2

    init(_ run: RunRecord, workload: Workload, reference: Reference) {
        let entries = workload.roster.entries
        let isQuiet = QuietService.quietMinutes(run, workload, reference)
        func amount(_ work: Work) -> Double { work.seconds(of: workload.nominal) }
        let minutes = max(0, run.minuteCount - QuietService.openMinutes)
        let all = run.wanted.reduce(0) { $0 + amount($1) }
        var tiers: [String: Service] = [:]
        var ofMinute: [String: Service] = [:]
        for minute in 0..<minutes {
            ofMinute.removeAll(keepingCapacity: true)
            for tenant in entries.indices where isQuiet[minute * run.tenantCount + tenant] {
                let index = minute * run.tenantCount + tenant
                ofMinute[entries[tenant].tier, default: Service()].add(
                    amount(run.wanted[index]), amount(run.got[index]))
            }
            for (tier, service) in ofMinute {
                tiers[tier, default: Service()].add(service.asked, service.served)
                if service.asked >= 0.6, let part = service.part { worstMinute = min(worstMinute ?? 1, part) }
            }
        }
        servedByTier = tiers.compactMapValues(\.part)
        for tenant in entries.indices {
            var service = Service()
            var (asking, quiet) = (0, 0)
            for minute in 0..<minutes {
                let index = minute * run.tenantCount + tenant
                guard run.wanted[index] != .zero else { continue }
                asking += 1
                guard isQuiet[index] else { continue }
                quiet += 1
                service.add(amount(run.wanted[index]), amount(run.got[index]))
            }
            guard 2 * quiet >= asking, service.asked > 0.001 * all, let part = service.part else { continue }
            worstTenant = min(worstTenant ?? 1, part)
        }
    }

    /// By minute, then tenant.
    private static func quietMinutes(_ run: RunRecord, _ workload: Workload, _ reference: Reference) -> [Bool] {
        let entries = workload.roster.entries
        let rules = Rules(
            policy: Policy(), contracts: Dictionary(uniqueKeysWithValues: workload.contracts.map { ($0.tenant, $0) }))
        let stepsPerMinute = Int(60 / RunRecord.stepSeconds)
        var fair = FairFill(workload.roster, rules, ceilings: workload.nominal)
        var isQuiet = Array(repeating: false, count: run.wanted.count)
        for minute in 0..<run.minuteCount {
            let first = max(0, minute - QuietService.windowMinutes + 1)
            let span = Double(minute - first + 1)
            let steps = (first * stepsPerMinute)..<min(reference.stepCount, (minute + 1) * stepsPerMinute)
            guard !steps.isEmpty else { continue }
            let capacity = steps.reduce(Rates.none) { sum, step in
                let here = reference.capacity[step]
                return sum.isEmpty ? here : sum.map { $1 + (here[$0] ?? 0) }
            }.map { $1 / Double(steps.count) }
            let asked = entries.indices.map { tenant in
                (first...minute).reduce(Work.zero) { $0 + run.wanted[$1 * run.tenantCount + tenant] }
                    .rates(overSeconds: 60 * span, of: capacity.resources)
            }
            let shares = fair.shares(of: capacity, asking: asked)
            for tenant in entries.indices {
                isQuiet[minute * run.tenantCount + tenant] = FairFill.isQuiet(asking: asked[tenant], of: shares[tenant])
            }
        }
        return isQuiet
    }

    private struct Service {
        var asked = 0.0
        var served = 0.0

        mutating func add(_ asked: Double, _ served: Double) {
            self.asked += asked
            self.served += served
        }

        var part: Double? { asked > 0 ? served / asked : nil }
    }
}
