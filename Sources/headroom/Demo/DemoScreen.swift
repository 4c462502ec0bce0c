import Glibc
import HeadroomModel
import HeadroomSimulator

/// The display while a demo runs: redrawn in place on a terminal, else a block of lines every five seconds.
struct DemoScreen {
    private static let plainPeriodSeconds = 5.0
    private static let tenantWidth = 22

    private let plan: DemoPlan
    /// Standard output belongs to the summary when that is JSON.
    private let isOnError: Bool
    private let redraws: Bool
    /// Largest demand first, and the same order in every frame.
    private let order: [Int]
    private var drawnLines = 0
    private var lastPlainSecond = -Double.infinity

    init(plan: DemoPlan, isJSON: Bool) {
        self.plan = plan
        isOnError = isJSON
        redraws = !isJSON && isatty(STDOUT_FILENO) == 1
        let entries = plan.roster.entries
        let dues = entries.map { $0.demand.work(overSeconds: 60).seconds(of: plan.capacity) }
        order = entries.indices.sorted { (-dues[$0], entries[$0].tenant) < (-dues[$1], entries[$1].tenant) }
    }

    func say(_ text: String) { write(text) }

    mutating func draw(_ report: LoopReport, granted: Rates, log: DemoProvider.Log, atSecond second: Double) {
        guard redraws || second - lastPlainSecond >= DemoScreen.plainPeriodSeconds else { return }
        guard let pool = report.pools.first(where: { $0.pool == DemoPlan.pool }) else { return }
        lastPlainSecond = second
        let size = terminalSize()
        let rows = min(order.count, redraws ? max(3, size.rows - 8) : 20)
        var lines = heading(report, pool, granted: granted, log: log, atSecond: second)
        lines += order.prefix(rows).map { line(plan.roster.entries[$0], pool) }
        if rows < order.count { lines.append("… and \(order.count - rows) more") }
        guard redraws else { return write(lines.joined(separator: "\n") + "\n") }
        // Up to where the last frame began; each line to its end, the rest of the old frame away.
        let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A" : ""
        write(up + lines.map { $0.prefix(size.columns) + "\u{1B}[K" }.joined(separator: "\n") + "\u{1B}[J")
        drawnLines = lines.count
    }

    private func heading(
        _ report: LoopReport, _ pool: PoolReport, granted: Rates, log: DemoProvider.Log, atSecond second: Double
    ) -> [String] {
        let recent = log.sum(from: second - 10, to: second)
        let share = recent.attempts > 0 ? Double(recent.refusals) / Double(recent.attempts) : 0
        let phase =
            second < plan.dropSeconds
            ? "full capacity"
            : second < plan.recoverySeconds ? "the provider grants half and says nothing" : "full capacity again"
        let generation = report.version.map { String($0.generation) } ?? "none"
        return [
            "",
            "\(Int(max(0, plan.seconds - second).rounded())) s left · generation \(generation) · "
                + "429s in the last 10 s: \(DemoText.percent(share)) · \(phase)",
            "capacity: true \(RateText.cell(granted)) · estimated \(RateText.cell(pool.estimated)) "
                + "(\(pool.capacityReason.name))",
            row("tokens a minute:", "asked for", "allocation", "service", "state", "tier", "work"),
        ]
    }

    private func line(_ entry: Roster.Entry, _ pool: PoolReport) -> String {
        let known = pool.tenants.first { $0.tenant == entry.tenant }
        func tokens(_ rates: Rates?) -> String { rates?[.tokens].map(GroupedNumber.whole) ?? "-" }
        return row(
            entry.tenant.text, tokens(known?.asked), tokens(known?.assured), tokens(known?.consumed), state(known),
            entry.tier, entry.criticality.name)
    }

    /// The least important column is last: a narrow terminal cuts it off.
    private func row(
        _ tenant: String, _ demand: String, _ allocation: String, _ service: String, _ state: String, _ tier: String,
        _ work: String
    ) -> String {
        DemoText.left(tenant, DemoScreen.tenantWidth) + DemoText.right(demand, 11) + DemoText.right(allocation, 12)
            + DemoText.right(service, 11) + "  " + DemoText.left(state, 28) + DemoText.left(tier, 10) + work
    }

    private func state(_ tenant: TenantReport?) -> String {
        guard let tenant else { return "quiet" }
        if let reason = tenant.starvation {
            return "STARVED for \(Int(tenant.underservedSeconds)) s (\(reason.rawValue))"
        }
        if tenant.underservedSeconds >= 1 { return "short for \(Int(tenant.underservedSeconds)) s" }
        return (tenant.demand[.requests] ?? 0) < 0.5 ? "idle" : "ok"
    }

    private func write(_ text: String) {
        if isOnError { Terminal.error(text) } else { Terminal.print(text) }
    }

    private func terminalSize() -> (rows: Int, columns: Int) {
        var size = winsize()
        // The kernel writes no more than the structure.
        let isKnown = unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0
        return isKnown ? (Int(size.ws_row), Int(size.ws_col)) : (40, 200)
    }
}
