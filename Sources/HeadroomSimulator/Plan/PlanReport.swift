import HeadroomJSON
import HeadroomModel

/// A plan as a page for people: who gains, who loses, and each tenant's rates over time.
package struct PlanReport {
    private let outcome: PlanOutcome
    private let title: String

    /// - Parameter title: names the candidate and what it is compared with.
    package init(_ outcome: PlanOutcome, title: String) {
        self.outcome = outcome
        self.title = title
    }

    /// Plots on one page; the tenants that change most come first.
    private static let maxPlots = 60

    package var html: String {
        var page = HTMLPage(title: title)
        page.paragraph(outcome.provenance)
        page.heading("Who gains, who loses")
        page.paragraph(
            "Means over the replay, in tokens a minute where the pool limits them, else in requests. Service is modelled "
                + "alike for both sides.")
        page.table(PlanOutcome.tierHeader, outcome.tierRows)
        page.heading("Tenant by tenant")
        page.table(PlanOutcome.header, outcome.rows)
        page.heading("What it would have asked")
        if outcome.questions.isEmpty {
            page.paragraph("Nothing would have left the guardrails.")
        } else {
            page.table(
                ["first asked", "pool", "kind", "tenant", "from", "to"],
                outcome.questions.flatMap { question in
                    let resource = outcome.resource(of: question.pool ?? "")
                    return question.changes.map { change in
                        [
                            RFC3339.format(milliseconds: question.authorship.at.milliseconds),
                            question.pool?.text ?? "all", question.kind.name, change.tenant.text,
                            PlotAxis.short(change.from[resource] ?? 0), PlotAxis.short(change.to[resource] ?? 0),
                        ]
                    }
                })
        }
        page.heading("Assured rates over time")
        page.raw(
            "<p class=\"key\"><i class=\"demand\"></i>asked for<i class=\"truth\"></i>assured before"
                + "<i class=\"allocation\"></i>assured by the candidate; a minute</p>")
        page.grid(outcome.byChange.prefix(Self.maxPlots).map { plot(of: $0).svg })
        return page.html
    }

    private func plot(of tenant: PlanOutcome.Tenant) -> LinePlot {
        let minutesPerStep = outcome.stepSeconds / 60
        func points(_ value: (PlanOutcome.Point) -> Double) -> [(x: Double, y: Double)] {
            tenant.series.enumerated().map { (Double($0) * minutesPerStep, value($1)) }
        }
        return LinePlot(
            title: tenant.tenant.text, unit: "\(tenant.tier), \(tenant.pool.text)",
            series: [
                LinePlot.Series(style: .demand, points: points(\.asked), isStepped: true),
                LinePlot.Series(style: .truth, points: points(\.before), isStepped: true),
                LinePlot.Series(style: .allocation, points: points(\.after), isStepped: true),
            ], minutes: outcome.seconds / 60)
    }
}

extension PlanOutcome {
    package static let header = [
        "tenant", "pool", "tier", "unit", "asked for", "assured before", "assured after", "served before",
        "served after",
        "change",
    ]

    package static let tierHeader = [
        "pool", "tier", "gain", "lose", "unit", "asked for", "served before", "served after", "change",
    ]

    /// How many of a tier gain or lose more than a hundredth, and what that comes to; the policy's tiers in order.
    package var tierRows: [[String]] {
        let pools = Set(tenants.map(\.pool)).sorted()
        return pools.flatMap { pool in
            tierNames.compactMap { tier in
                let members = tenants.filter { $0.pool == pool && $0.tier == tier }
                guard !members.isEmpty else { return nil }
                let resource = resource(of: pool)
                func sum(_ work: (Tenant) -> Work) -> Double { members.reduce(0) { $0 + work($1)[resource] } }
                let (before, after) = (sum(\.before.served), sum(\.after.served))
                return [
                    pool.text, tier, "\(members.count { $0.change(in: resource) > 0.01 })",
                    "\(members.count { $0.change(in: resource) < -0.01 })", resource.rateName,
                    PlotAxis.short(sum(\.asked)),
                    PlotAxis.short(before), PlotAxis.short(after),
                    PlanOutcome.percent(before > 0 ? after / before - 1 : 0),
                ]
            }
        }
    }

    private static func percent(_ change: Double) -> String {
        let percent = (change * 1000).rounded() / 10
        return "\(percent > 0 ? "+" : "")\(PlotAxis.figure(percent)) %"
    }

    /// Largest gain or loss first.
    package var byChange: [Tenant] {
        tenants.sorted { left, right in
            let first = weight(of: left)
            let second = weight(of: right)
            return first != second ? first > second : (left.pool, left.tenant) < (right.pool, right.tenant)
        }
    }

    package var rows: [[String]] {
        byChange.map { tenant in
            let resource = resource(of: tenant.pool)
            return [
                tenant.tenant.text, tenant.pool.text, tenant.tier, resource.rateName,
                PlotAxis.short(tenant.asked[resource]),
                PlotAxis.short(tenant.before.assured[resource]), PlotAxis.short(tenant.after.assured[resource]),
                PlotAxis.short(tenant.before.served[resource]), PlotAxis.short(tenant.after.served[resource]),
                PlanOutcome.percent(tenant.change(in: resource)),
            ]
        }
    }

    /// Which part of the past was known how.
    package var provenance: String {
        let left = leftOut.keys.sorted().map { "\(leftOut[$0] ?? 0) lines of \($0)" }
        return stretches.map { stretch in
            let hours = PlotAxis.figure(stretch.to.seconds(since: stretch.from) / 3600)
            return stretch.isByMinute
                ? "\(hours) hours from sums by minute (bursts within a minute are not in them)"
                : "\(hours) hours line by line"
        }.joined(separator: ", then ")
            + ". Overrides and freezes of that time are left out; nobody sends more or less because of the candidate."
            + (left.isEmpty
                ? "" : " The candidate does not name every pool: \(left.joined(separator: ", ")) are left out.")
    }

    private func weight(of tenant: Tenant) -> Double {
        let resource = resource(of: tenant.pool)
        let nominal = policyRate(of: tenant.pool, resource)
        return abs(tenant.after.served[resource] - tenant.before.served[resource]) / max(1, nominal)
    }
}
