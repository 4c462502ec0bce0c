/// The scoreboard as a page: for each scenario who fell how short, and the whole table.
package struct ScoreboardReport {
    private let board: Scoreboard
    private let plan: Scoreboard.Plan

    package init(_ board: Scoreboard, plan: Scoreboard.Plan) {
        self.board = board
        self.plan = plan
    }

    package var html: String {
        var page = HTMLPage(title: "Headroom's scoreboard")
        page.paragraph(
            "\(plan.strategies.count) strategies, \(plan.scenarios.count) scenarios, traces "
                + plan.traces.map(\.name).joined(separator: ", ")
                + "; \(plan.seeds.count) seeds, \(PlotAxis.figure(plan.seconds / 60)) minutes each. Means over traces and "
                + "seeds, ± the standard deviation over seeds; what lies within the spread of the best is a tie and marked."
        )
        if plan.scenarios.count > 1 { add(nil, to: &page) }
        for scenario in plan.scenarios { add(scenario, to: &page) }
        page.heading("What the columns mean")
        page.paragraph(
            "Shortfall is how far each tenant's service in each minute lies below what it should have had, over all that "
                + "was due: 0 is best. Inversions, 429s and the rest are defined in Metrics.swift.")
        return page.html
    }

    private func add(_ scenario: Scenario?, to page: inout HTMLPage) {
        page.heading(scenario?.name ?? "All scenarios")
        if let intent = scenario?.intent { page.paragraph(intent) }
        let names = plan.strategies.map(\.name)
        let bars = names.compactMap { name in
            board.summary(.shortfall, strategy: name, scenario: scenario?.name).map { value in
                BarPlot.Bar(
                    name: name, value: value.mean, spread: value.spread,
                    stands: name.hasPrefix("headroom") || name == "oracle")
            }
        }
        page.raw("<figure>\(BarPlot(title: "Shortfall", bars: bars.sorted { $0.value < $1.value }).svg)</figure>")

        let columns = Metric.allCases.filter { metric in
            names.contains { board.summary(metric, strategy: $0, scenario: scenario?.name) != nil }
        }
        let best = columns.map { board.best($0, of: names, scenario: scenario?.name) }
        page.table(
            ["strategy"] + columns.map(\.rawValue),
            names.map { name in
                [name]
                    + columns.map { metric in
                        guard let value = board.summary(metric, strategy: name, scenario: scenario?.name) else {
                            return "–"
                        }
                        let spread = value.spread > 0 ? " ±\(PlotAxis.thousandths(value.spread))" : ""
                        return PlotAxis.thousandths(value.mean) + spread
                    }
            },
            marked: names.map { name in [false] + best.map { $0.contains(name) } })
    }
}
