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
    private static let mostPlots = 60

    package var html: String {
        var page = HTMLPage(title: title)
        page.paragraph(outcome.provenance)
        page.heading("Who gains, who loses")
        page.paragraph("Means over the replay, per minute. Service is modelled alike for both sides.")
        page.table(PlanOutcome.header, outcome.rows)
        page.heading("What it would have asked")
        if outcome.questions.isEmpty {
            page.paragraph("Nothing would have left the guardrails.")
        } else {
            page.table(
                ["tenant", "pool", "kind", "from", "to"],
                outcome.questions.map { question in
                    let resource = outcome.resource(of: question.pool ?? "")
                    return [
                        question.tenant.text, question.pool?.text ?? "all", question.kind.name,
                        PlotAxis.short(question.from[resource] ?? 0), PlotAxis.short(question.to[resource] ?? 0),
                    ]
                })
        }
        page.heading("Assured rates over time")
        page.raw(
            "<p class=\"key\"><i class=\"demand\"></i>wanted<i class=\"truth\"></i>assured before"
                + "<i class=\"allocation\"></i>assured by the candidate; a minute</p>")
        page.grid(outcome.byChange.prefix(Self.mostPlots).map { plot(of: $0).svg })
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
                LinePlot.Series(style: .demand, points: points(\.demand), isStepped: true),
                LinePlot.Series(style: .truth, points: points(\.before), isStepped: true),
                LinePlot.Series(style: .allocation, points: points(\.after), isStepped: true),
            ], minutes: outcome.seconds / 60)
    }
}

extension PlanOutcome {
    package static let header = [
        "tenant", "pool", "tier", "demand", "assured before", "assured after", "served before", "served after",
        "change",
    ]

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
            let percent = (tenant.change(in: resource) * 1000).rounded() / 10
            return [
                tenant.tenant.text, tenant.pool.text, tenant.tier, PlotAxis.short(tenant.demand[resource]),
                PlotAxis.short(tenant.before.assured[resource]), PlotAxis.short(tenant.after.assured[resource]),
                PlotAxis.short(tenant.before.served[resource]), PlotAxis.short(tenant.after.served[resource]),
                "\(percent > 0 ? "+" : "")\(PlotAxis.figure(percent)) %",
            ]
        }
    }

    /// Which part of the past was known how.
    package var provenance: String {
        stretches.map { stretch in
            let hours = PlotAxis.figure(stretch.to.seconds(since: stretch.from) / 3600)
            return stretch.isByMinute
                ? "\(hours) hours from sums by minute (bursts within a minute are not in them)"
                : "\(hours) hours line by line"
        }.joined(separator: ", then ")
            + ". Overrides and freezes of that time are left out; nobody sends more or less because of the candidate."
    }

    private func weight(of tenant: Tenant) -> Double {
        let resource = resource(of: tenant.pool)
        let nominal = policyRate(of: tenant.pool, resource)
        return abs(tenant.after.served[resource] - tenant.before.served[resource]) / max(1, nominal)
    }
}
