import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct ReportTests {
    private let trace = SyntheticWorkload.trace(requests: 300, seed: 3)

    private func page() -> (html: String, tenants: [TenantID]) {
        let scenario = ScenarioLibrary.named("silent-drop")!
        let strategy = Strategy.named("headroom")!
        let workload = Workload(trace: trace, scenario: scenario, seconds: 120, seed: 3)
        let (metrics, record) = Scoreboard.judge(
            strategy, trace: trace, workload: workload, reference: Reference(workload: workload, scenario: scenario),
            scenario: scenario, seconds: 120, seed: 3)
        let report = RunReport(
            scenario: scenario, strategy: strategy, seed: 3, workload: workload, metrics: metrics, record: record)
        return (report.html, workload.roster.entries.map(\.tenant))
    }

    @Test func `a run's page has a plot for capacity and for every tenant, and every metric that has a value`() {
        let (html, tenants) = page()
        #expect(html.components(of: "<svg ") == 1 + tenants.count)
        for tenant in tenants { #expect(html.contains(">\(tenant.text)</text>")) }
        #expect(html.contains("<td class=\"text\">shortfall</td>"))
    }

    @Test func `a page stands alone and has no number that is none`() {
        let html = page().html
        for forbidden in ["http:", "https:", "src=", "<script", " nan", ">nan", " inf", ">inf"] {
            #expect(!html.contains(forbidden), "\(forbidden)")
        }
        for tag in ["svg", "table", "figure", "tr", "td"] {
            #expect(html.components(of: "<\(tag)") == html.components(of: "</\(tag)>"), "\(tag)")
        }
    }

    @Test func `the scoreboard's page names every strategy and scenario`() async {
        let plan = Scoreboard.Plan(
            traces: [("<drawn> & sorted", trace)],
            scenarios: [ScenarioLibrary.named("steady-shortage")!, ScenarioLibrary.named("silent-drop")!],
            strategies: [Strategy.named("fcfs")!, Strategy.named("static-equal")!], seeds: [1, 2], seconds: 60)
        let board = await Scoreboard.run(plan, width: 2) { _ in }
        let html = ScoreboardReport(board, plan: plan).html
        for name in ["steady-shortage", "silent-drop", "All scenarios"] { #expect(html.contains("<h2>\(name)</h2>")) }
        #expect(html.components(of: "<td class=\"text\">fcfs</td>") == 3)
        #expect(html.contains("&lt;drawn&gt; &amp; sorted"))
    }
}

extension String {
    fileprivate func components(of part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let found = rest.firstRange(of: part) {
            count += 1
            rest = rest[found.upperBound...]
        }
        return count
    }
}
