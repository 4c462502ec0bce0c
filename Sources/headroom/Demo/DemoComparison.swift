import HeadroomJSON
import HeadroomModel
import HeadroomSimulator
import Synchronization

/// The same minutes with Headroom and without, side by side: for the dashboard while they pass, and for the summary.
final class DemoComparison: Sendable {
    private struct State {
        /// When the run began; `nil` before.
        var start: Timestamp?
        var seconds = 0.0
        /// What the tenant with the pipeline is told.
        var told: [String] = []
    }

    let record: DemoRecord
    private let plan: DemoPlan
    private let without: RunRecord
    private let state = Mutex(State())

    init(plan: DemoPlan) {
        self.plan = plan
        record = DemoRecord(plan)
        without = plan.simulate(DemoPlan.rival)
    }

    func begin(at start: Timestamp) { state.withLock { $0.start = start } }

    /// The run has come so far.
    func advance(to second: Double) { state.withLock { $0.seconds = second } }

    func tell(_ sentences: [String]) { state.withLock { $0.told = sentences } }

    /// As far as the run has come.
    var result: DemoResult {
        let (seconds, told) = state.withLock { ($0.seconds, $0.told) }
        return DemoResult(
            plan: plan, with: RunFigures(record.record, plan: plan.shares, at: seconds),
            without: RunFigures(without, plan: plan.shares, at: seconds), told: told)
    }

    // MARK: For the dashboard

    /// Figures so far, and service over time in the scarce resource, by steps of ten seconds over the whole run.
    func encoded() -> [UInt8] {
        let (start, seconds) = state.withLock { ($0.start, $0.seconds) }
        let result = result
        var writer = JSONWriter(capacity: 8192)
        writer.beginObject()
        writer.field("pool", DemoPlan.pool.text)
        writer.field("seconds", finite: seconds)
        writer.field("planned_seconds", finite: plan.seconds)
        writer.field("resource", plan.shares.scarce.name)
        writer.field("loud", plan.loud?.tenant.text)
        result.write(to: &writer)
        if let start {
            writer.field("from_ms", start.milliseconds)
            writer.field("to_ms", start.adding(seconds: plan.seconds).milliseconds)
            writeCourse(from: start, to: Int(seconds / RunRecord.stepSeconds), &writer)
            writer.key("events")
            writer.array(plan.events.filter { $0.second <= seconds }) { writer, event in
                writer.beginObject()
                writer.field("at_ms", start.adding(seconds: event.second).milliseconds)
                writer.field("kind", "capacity")
                writer.field("text", event.text)
                writer.endObject()
            }
        }
        writer.endObject()
        return writer.bytes
    }

    private func writeCourse(from start: Timestamp, to steps: Int, _ writer: inout JSONWriter) {
        let own = record.record
        let steps = min(steps, own.stepCount)
        let quiet = plan.shares.isQuiet.indices.filter { plan.shares.isQuiet[$0] }
        writer.key("at")
        writer.array(0..<steps) { writer, step in
            writer.integer(start.adding(seconds: (Double(step) + 0.5) * RunRecord.stepSeconds).milliseconds)
        }
        for (name, run, members) in [
            ("quiet_with", own, quiet), ("quiet_without", without, quiet), ("loud_with", own, plan.workload.loud),
            ("loud_without", without, plan.workload.loud),
        ] {
            writer.key(name)
            writer.array(0..<steps) { writer, step in
                let served = members.reduce(Work.zero) { $0 + run.served[step * run.tenantCount + $1] }
                writer.number(served[plan.shares.scarce] * 60 / RunRecord.stepSeconds)
            }
        }
    }
}

/// Both sides of a run, up to some second, and what they come to.
struct DemoResult: Sendable {
    let plan: DemoPlan
    let with: RunFigures
    let without: RunFigures
    /// What the tenant with the pipeline was told.
    let told: [String]

    /// The product in one line.
    var headline: String {
        guard let own = with.quiet.tasks, let other = without.quiet.tasks else {
            return "The same minutes with Headroom, and without"
        }
        return "An agent's task takes \(DemoText.time(own.median, isOpen: own.isMedianOpen)) with Headroom, "
            + "\(DemoText.time(other.median, isOpen: other.isMedianOpen)) without"
    }

    /// A line for each figure: name, with, without, and whether Headroom is better.
    var figures: [(name: String, with: String, without: String, isBetter: Bool)] {
        var figures: [(name: String, with: String, without: String, isBetter: Bool)] = []
        func add(_ name: String, _ own: Double, _ other: Double, isLowBetter: Bool, _ text: (Double) -> String) {
            figures.append((name, text(own), text(other), isLowBetter ? own < other : own > other))
        }
        func whole(_ value: Double) -> String { GroupedNumber.whole(value) }
        add("Critical work served", with.criticalShare, without.criticalShare, isLowBetter: false, DemoText.percent)
        add(
            "Quiet tenants' work served", with.quiet.servedShare, without.quiet.servedShare, isLowBetter: false,
            DemoText.percent)
        let loud = Set(plan.workload.loud)
        add(
            "Quiet tenants starved", Double(with.starved.count { !loud.contains($0) }),
            Double(without.starved.count { !loud.contains($0) }), isLowBetter: true, whole)
        add("429s from provider or limiter", Double(with.refusals), Double(without.refusals), isLowBetter: true, whole)
        add(
            "Calls that quiet tenants gave up", Double(with.quiet.gaveUp), Double(without.quiet.gaveUp),
            isLowBetter: true, whole)
        add("Tokens served, all tenants", with.tokensServed, without.tokensServed, isLowBetter: false, whole)
        return figures
    }

    var note: String {
        let who = plan.loud.map { "\($0.tenant.text), whose pipeline overruns, is not" } ?? "All are"
        return
            "Quiet tenants ask for no more than their fair share of what the provider grants; \(who). A task that has not "
            + "ended counts with its time so far. Starved: under 70 % of the fair share for "
            + "\(Int(RunFigures.starvedSeconds)) s. Without Headroom: a shared bucket at the contract's rates, and clients that "
            + "retry as OpenAI's library does, computed on virtual time with the same tasks."
    }

    var json: String {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.field("seconds", finite: plan.seconds)
        write(to: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    func write(to writer: inout JSONWriter) {
        writer.field("headline", headline)
        writer.key("figures")
        writer.array(figures) { writer, figure in
            writer.beginObject()
            writer.field("name", figure.name)
            writer.field("with", figure.with)
            writer.field("without", figure.without)
            writer.field("better", figure.isBetter)
            writer.endObject()
        }
        writer.key("with")
        writer.write(with)
        writer.key("without")
        writer.write(without)
        writer.field("told", told)
        writer.field("note", note)
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ figures: RunFigures) {
        beginObject()
        key("tiers")
        array(figures.tiers) { $0.write($1) }
        key("quiet")
        write(figures.quiet)
        key("everyone")
        write(figures.everyone)
        field("critical_share", finite: figures.criticalShare)
        field("starved", figures.starved.count)
        field("refusals", figures.refusals)
        field("tokens", finite: figures.tokensServed)
        endObject()
    }

    private mutating func write(_ group: RunFigures.Group) {
        beginObject()
        field("name", group.name)
        field("served_share", finite: group.servedShare)
        field("gave_up", group.gaveUp)
        key("tasks")
        if let tasks = group.tasks {
            beginObject()
            field("count", tasks.count)
            field("ended", tasks.ended)
            field("median_seconds", finite: tasks.median)
            field("median_open", tasks.isMedianOpen)
            field("p95_seconds", finite: tasks.p95)
            field("p95_open", tasks.isP95Open)
            field("undisturbed_median_seconds", finite: tasks.undisturbedMedian)
            field("undisturbed_p95_seconds", finite: tasks.undisturbedP95)
            field("median", DemoText.time(tasks.median, isOpen: tasks.isMedianOpen))
            field("p95", DemoText.time(tasks.p95, isOpen: tasks.isP95Open))
            field("undisturbed", DemoText.time(tasks.undisturbedMedian, isOpen: false))
            endObject()
        } else {
            null()
        }
        endObject()
    }
}
