import HeadroomDecision
import HeadroomModel

/// How the tenants of a run fared up to some second, for people: the same figures of a run of the simulator and of one over
/// real HTTP.
///
/// A tenant's *fair share* is its weighted max-min share of what the pool really grants, floors first, criticality and
/// ceilings left aside. A tenant is *quiet* when it asks over the whole run for no more than that.
package struct RunFigures: Sendable {
    /// Some tenants together.
    package struct Group: Sendable {
        package var name: String
        /// Of the work that they asked for, the part that was served.
        package var servedShare: Double
        package var gaveUp: Int
        /// `nil` when no task has begun long enough ago.
        package var tasks: Tasks?
    }

    /// Agents' tasks that began early enough to be judged: half as long again as undisturbed ago, or earlier.
    package struct Tasks: Sendable {
        package var count: Int
        /// Those that have ended.
        package var ended: Int
        /// In seconds; a task that has not ended counts with its time so far.
        package var median: Double
        package var p95: Double
        /// The median and the tail are of tasks that have not ended: they take longer than that.
        package var isMedianOpen: Bool
        package var isP95Open: Bool
        package var undisturbedMedian: Double
        package var undisturbedP95: Double
    }

    /// One for each tier with quiet tenants, highest weight first; only those tenants.
    package let tiers: [Group]
    /// All quiet tenants.
    package let quiet: Group
    package let everyone: Group
    /// Of the critical tier, all of it.
    package let criticalShare: Double
    /// Tenants that got less than ``starvedShare`` of their fair share for ``starvedSeconds`` in a row.
    package let starved: [Int]
    /// Attempts that were answered with 429.
    package let refusals: Int
    package let tokensServed: Double

    package static let starvedShare = 0.7
    package static let starvedSeconds = 30.0

    /// - Parameter second: counts to the last step that had ended by then.
    package init(_ run: RunRecord, plan: FairShares, at second: Double) {
        let steps = min(run.stepCount, Int(second / RunRecord.stepSeconds))
        let workload = plan.workload
        let entries = workload.roster.entries
        let all = Array(entries.indices)
        let quiet = all.filter { plan.isQuiet[$0] }
        func group(_ name: String, _ members: [Int]) -> Group {
            var (asked, served, gaveUp) = (0.0, 0.0, 0.0)
            for step in 0..<steps {
                for tenant in members {
                    let index = step * run.tenantCount + tenant
                    asked += run.asked[index][plan.scarce]
                    served += run.served[index][plan.scarce]
                    gaveUp += run.lostWork[index][.requests]
                }
            }
            return Group(
                name: name, servedShare: asked > 0 ? min(1, served / asked) : 1, gaveUp: Int(gaveUp),
                tasks: RunFigures.tasks(run, of: Set(members), at: second))
        }
        tiers = Roster.tiers.compactMap { tier in
            let members = quiet.filter { entries[$0].tier == tier }
            return members.isEmpty ? nil : group(tier, members)
        }
        self.quiet = group("quiet tenants", quiet)
        everyone = group("everyone", all)
        criticalShare = group("critical", all.filter { entries[$0].tier == Roster.tiers[0] }).servedShare
        starved = plan.starved(in: run, steps: steps)
        refusals = run.refusedEachSecond.prefix(Int(second)).reduce(0, +)
        tokensServed = run.delivered.prefix(steps).reduce(0) { $0 + $1[.tokens] }
    }

    private static func tasks(_ run: RunRecord, of tenants: Set<Int>, at second: Double) -> Tasks? {
        let judged = run.tasks.filter {
            tenants.contains($0.tenant) && $0.begunAt + 1.5 * $0.undisturbedSeconds <= second
        }
        guard !judged.isEmpty else { return nil }
        let times = judged.map { task -> (seconds: Double, isOpen: Bool) in
            guard let took = task.seconds, task.begunAt + took <= second else { return (second - task.begunAt, true) }
            return (took, false)
        }.sorted { $0.seconds < $1.seconds }
        let undisturbed = judged.map(\.undisturbedSeconds).sorted()
        let (middle, tail) = (times.count / 2, min(times.count - 1, times.count * 95 / 100))
        return Tasks(
            count: times.count, ended: times.count { !$0.isOpen }, median: times[middle].seconds,
            p95: times[tail].seconds, isMedianOpen: times[middle].isOpen, isP95Open: times[tail].isOpen,
            undisturbedMedian: undisturbed[middle], undisturbedP95: undisturbed[tail])
    }
}

/// What each tenant of a workload may claim of what the pool really grants.
package struct FairShares: Sendable {
    package let workload: Workload
    /// By tenant.
    package let isQuiet: [Bool]
    /// What the workload as a whole asks for most of, by its contract.
    package let scarce: Resource

    private var fair: FairFill
    /// By step, per minute.
    private let granted: [Rates]

    package init(workload: Workload, reference: Reference) {
        self.workload = workload
        granted = reference.capacity
        let rules = Rules(
            policy: Policy(), contracts: Dictionary(uniqueKeysWithValues: workload.contracts.map { ($0.tenant, $0) }))
        fair = FairFill(workload.roster, rules, ceilings: nil)
        var asked = Array(repeating: Work.zero, count: workload.roster.entries.count)
        for job in workload.jobs where job.isGenuine && job.seconds < workload.seconds { asked[job.tenant] += job.cost }
        let total = asked.reduce(.zero, +)
        scarce =
            workload.nominal.resources.members.max { left, right in
                total[left] / (workload.nominal[left] ?? 1) < total[right] / (workload.nominal[right] ?? 1)
            } ?? .tokens
        let mean = granted.reduce(granted[0] * 0) { sum, step in sum.map { $1 + (step[$0] ?? 0) } }
            .map { [count = Double(granted.count)] in $1 / count }
        let rates = asked.map { $0.rates(overSeconds: workload.seconds, of: mean.resources) }
        let shares = fair.shares(of: mean, asking: rates)
        isQuiet = rates.indices.map { FairFill.isQuiet(asking: rates[$0], of: shares[$0]) }
    }

    /// What waits from earlier steps counts as asked for.
    fileprivate func starved(in run: RunRecord, steps: Int) -> [Int] {
        var fair = fair
        let count = run.tenantCount
        var waiting = Array(repeating: Work.zero, count: count)
        var spells = Array(repeating: 0.0, count: count)
        var starved: Set<Int> = []
        for step in 0..<min(steps, granted.count) {
            for tenant in 0..<count { waiting[tenant] += run.asked[step * count + tenant] }
            let shares = fair.shares(
                of: granted[step],
                asking: waiting.map { $0.rates(overSeconds: RunRecord.stepSeconds, of: granted[step].resources) })
            for tenant in 0..<count {
                let due = shares[tenant].work(overSeconds: RunRecord.stepSeconds).seconds(of: granted[step])
                let served = run.served[step * count + tenant]
                let isShort = due > 0 && served.seconds(of: granted[step]) < RunFigures.starvedShare * due
                spells[tenant] = isShort ? spells[tenant] + RunRecord.stepSeconds : 0
                if spells[tenant] >= RunFigures.starvedSeconds { starved.insert(tenant) }
                let gone = served + run.lostWork[step * count + tenant]
                waiting[tenant].amounts = pointwiseMax((waiting[tenant] - gone).amounts, .zero)
            }
        }
        return starved.sorted()
    }
}
