import HeadroomModel

/// One run as a page for people: what was granted and what was believed, and for each tenant what it wanted, what it was
/// sure of and what it got.
package struct RunReport {
    private let scenario: Scenario
    private let strategy: Strategy
    private let seed: UInt64
    private let workload: Workload
    private let metrics: RunMetrics
    private let record: RunRecord

    package init(
        scenario: Scenario, strategy: Strategy, seed: UInt64, workload: Workload, metrics: RunMetrics, record: RunRecord
    ) {
        self.scenario = scenario
        self.strategy = strategy
        self.seed = seed
        self.workload = workload
        self.metrics = metrics
        self.record = record
    }

    /// Points of a line; more would not be seen.
    private static let maxPoints = 600

    package var html: String {
        var page = HTMLPage(title: "\(scenario.name) under \(strategy.name)")
        page.paragraph(scenario.intent)
        page.paragraph(
            "\(workload.jobs.count) requests of \(workload.roster.entries.count) tenants in "
                + "\(PlotAxis.figure(workload.seconds / 60)) minutes; seed \(seed). "
                + (workload.hasSyntheticTenants ? "The trace names no tenants: these are synthetic. " : "")
                + "Tiers, urgency and floors are invented by seed.")
        page.heading("Capacity")
        page.raw(
            "<p class=\"key\"><i class=\"truth\"></i>granted<i class=\"estimate\"></i>estimated, "
                + "as parts of the contract</p>")
        page.raw("<figure>\(capacity.svg)</figure>")
        page.heading("Tenants")
        page.raw(
            "<p class=\"key\"><i class=\"demand\"></i>wanted<i class=\"allocation\"></i>assured"
                + "<i class=\"service\"></i>served; \(unitName) a minute, largest demand first</p>")
        page.grid(tenantsByDemand.map { tenant in plot(of: tenant).svg })
        page.heading("Metrics")
        page.table(
            ["metric", "value"],
            Metric.allCases.compactMap { metric in
                metrics[metric].map { [metric.rawValue, PlotAxis.thousandths($0)] }
            })
        return page.html
    }

    private var minutes: Double { workload.seconds / 60 }

    /// The resource in which rates are drawn: tokens where the pool limits them.
    private var resource: Resource { workload.nominal[.tokens] != nil ? .tokens : .requests }

    private var unitName: String { resource == .tokens ? "tokens" : "requests" }

    private var capacity: LinePlot {
        func thinned(_ values: [Double]) -> [(x: Double, y: Double)] {
            let step = max(1, values.count / Self.maxPoints)
            return stride(from: 0, to: values.count, by: step).map { (Double($0) / 60, values[$0]) }
        }
        return LinePlot(
            title: "Capacity", unit: "part of the contract",
            series: [
                LinePlot.Series(style: .truth, points: thinned(record.granted), isStepped: true),
                LinePlot.Series(style: .estimate, points: thinned(record.estimated)),
            ], minutes: minutes, width: 1120, height: 220)
    }

    private var tenantsByDemand: [Int] {
        let entries = workload.roster.entries
        let sums = entries.indices.map { tenant in
            stride(from: tenant, to: record.wanted.count, by: entries.count).reduce(0) {
                $0 + amount(record.wanted[$1])
            }
        }
        return entries.indices.sorted { (-sums[$0], $0) < (-sums[$1], $1) }
    }

    private func amount(_ work: Work) -> Double { work[resource] }

    private func plot(of tenant: Int) -> LinePlot {
        let entry = workload.roster.entries[tenant]
        let count = record.tenantCount
        // A minute's service is shown in its six steps, so that a lump of ten seconds does not look like a burst.
        let wanted = (0..<record.minuteCount).map { (x: Double($0), y: amount(record.wanted[$0 * count + tenant])) }
        let steps = Int(60 / RunRecord.stepSeconds)
        let served = (0..<record.minuteCount).map { minute -> (x: Double, y: Double) in
            let first = minute * steps
            let own = (first..<min(record.stepCount, first + steps)).map { amount(record.served[$0 * count + tenant]) }
            return (Double(minute), own.reduce(0, +))
        }
        let step = max(1, record.limits.count / Self.maxPoints)
        let limits = stride(from: 0, to: record.limits.count, by: step).map { index in
            (x: record.limits[index].second / 60, y: record.limits[index].tokens[tenant])
        }
        return LinePlot(
            title: entry.tenant.text, unit: "\(entry.tier), \(entry.criticality.name)",
            series: [
                LinePlot.Series(style: .demand, points: wanted, isStepped: true),
                LinePlot.Series(style: .allocation, points: resource == .tokens ? limits : [], isStepped: true),
                LinePlot.Series(style: .service, points: served, isStepped: true),
            ], minutes: minutes)
    }
}
