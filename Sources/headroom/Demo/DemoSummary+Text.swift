import HeadroomModel
import HeadroomSimulator

/// The summary for a person.
extension DemoSummary {
    var text: String {
        (["", "Summary of \(DemoText.decimal(seconds)) s", ""] + served + telemetryLines + generationLines
            + capacityLines + refusalLines + [""] + comparisonLines + [""] + tenantLines
            + failures.map { "The loop failed: \($0)" })
            .joined(separator: "\n")
    }

    private var served: [String] {
        let share = totals.offered[.tokens] > 0 ? totals.served[.tokens] / totals.offered[.tokens] : 1
        let failed = totals.failed > 0 ? ", \(totals.failed) failed" : ""
        return [
            entry(
                "Work",
                "\(Int(totals.served[.requests])) of \(Int(totals.offered[.requests])) requests served, "
                    + "\(DemoText.percent(share)) of the tokens; \(totals.denied) denied (patience ended), "
                    + "\(totals.waiting) waiting at the end\(failed)")
        ]
    }

    private var telemetryLines: [String] {
        let kinds = telemetry.kinds.filter { $0.sent > 0 || $0.stored > 0 }
        let parts = kinds.map { "\($0.kind.rawValue) \($0.sent)/\($0.stored)" }.joined(separator: ", ")
        let verdict = telemetry.isComplete ? "nothing lost" : "NOT ALL STORED"
        var lines = [
            entry("Telemetry", "\(telemetry.sent) lines sent, \(telemetry.stored) stored: \(verdict) (\(parts))")
        ]
        for fault in telemetry.rejected.prefix(5) { lines.append(entry("", "refused: \(fault.detail)")) }
        return lines
    }

    private var generationLines: [String] {
        let verdict =
            generations.excessive.isEmpty
            ? "in none did budgets exceed the estimate"
            : "BUDGETS EXCEEDED THE ESTIMATE in \(generations.excessive.map(\.description).joined(separator: ", "))"
        return [entry("Generations", "\(generations.published) published; \(verdict)")]
    }

    private var capacityLines: [String] {
        guard let refusal = drop.firstRefusalSeconds, let resource = drop.firstRefusalResource else {
            return [entry("Capacity", "no call was refused after the drop, so nothing was to be learnt")]
        }
        var lines = [
            entry(
                "Capacity",
                "dropped to half at second \(DemoText.decimal(plan.dropSeconds)); first refusal "
                    + "\(DemoText.decimal(refusal - plan.dropSeconds)) s later, for want of \(resource.name)")
        ]
        if let sample = drop.sample {
            lines.append(
                entry(
                    "",
                    "15 s after it: true \(RateText.cell(sample.granted)), "
                        + "estimated \(RateText.cell(sample.estimated)) (\(sample.reason.name))"))
        }
        for capacity in capacity {
            let facts = [
                capacity.errorAfterDrop.map { "\(DemoText.percent($0)) off then" },
                capacity.secondsToNear.map { "within 10 % \(DemoText.decimal($0)) s after the refusal" },
                capacity.errorAfterRecovery.map { "\(DemoText.percent($0)) off 15 s after the recovery" },
                capacity.errorLongAfterRecovery.map { "\(DemoText.percent($0)) after 60 s" },
                capacity.secondsToRecover.map { "within 10 % \(DemoText.decimal($0)) s after it" },
                "mean error \(DemoText.percent(capacity.meanError))",
                "\(capacity.refusalsInDrop) refusals in the drop",
            ]
            lines.append(
                entry("", "\(capacity.resource.name): " + facts.compactMap { $0 }.joined(separator: ", ")))
        }
        return lines
    }

    private var refusalLines: [String] {
        [
            entry(
                "429s",
                "\(DemoText.percent(refusals.before)) of the attempts before the drop, "
                    + "\(DemoText.percent(refusals.during)) in it, \(DemoText.percent(refusals.after)) after it; "
                    + "\(DemoText.percent(refusals.all)) in all")
        ]
    }

    /// The product in a line and two tables: the same tasks, the same provider.
    private var comparisonLines: [String] { result.lines.map { "  \($0)" } }

    private var tenantLines: [String] {
        var table = TextTable([
            "tenant", "tier", "work", "asked rpm/tpm", "allocation rpm/tpm", "service rpm/tpm", "served", "denied",
            "starved",
        ])
        for tenant in tenants {
            let share =
                (tenant.demand[.tokens] ?? 0) > 0 ? (tenant.service[.tokens] ?? 0) / (tenant.demand[.tokens] ?? 1) : 1
            let reason = tenant.starvation.map { " (\($0.rawValue))" } ?? ""
            table.add([
                tenant.tenant.text, tenant.tier, tenant.criticality.name, pair(tenant.demand), pair(tenant.assured),
                pair(tenant.service), DemoText.percent(share), String(tenant.denied),
                tenant.starvedSeconds > 0 ? "\(Int(tenant.starvedSeconds.rounded())) s\(reason)" : "no",
            ])
        }
        return [table.text]
    }

    private func pair(_ rates: Rates) -> String {
        rates.resources.members.map { GroupedNumber.whole(rates[$0] ?? 0) }.joined(separator: " / ")
    }

    private func entry(_ name: String, _ text: String) -> String { "  " + DemoText.left(name, 13) + text }
}

extension DemoResult {
    /// For a terminal.
    var lines: [String] {
        var tasks = TextTable([
            "an agent's task, quiet tenants", "undisturbed", "with Headroom", "without", "slowest 5 %: with", "without",
            "served: with", "without",
        ])
        for (own, other) in zip(with.tiers + [with.quiet], without.tiers + [without.quiet]) {
            func cell(_ tasks: RunFigures.Tasks?, _ text: (RunFigures.Tasks) -> String) -> String {
                tasks.map(text) ?? "-"
            }
            func median(_ tasks: RunFigures.Tasks) -> String {
                DemoText.time(tasks.median, isOpen: tasks.isMedianOpen)
            }
            func tail(_ tasks: RunFigures.Tasks) -> String { DemoText.time(tasks.p95, isOpen: tasks.isP95Open) }
            tasks.add([
                own.name, cell(own.tasks) { DemoText.time($0.undisturbedMedian, isOpen: false) },
                cell(own.tasks, median), cell(other.tasks, median), cell(own.tasks, tail), cell(other.tasks, tail),
                DemoText.percent(own.servedShare), DemoText.percent(other.servedShare),
            ])
        }
        var table = TextTable(["the same minutes", "with Headroom", "without"])
        for figure in figures { table.add([figure.name, figure.with, figure.without]) }
        let told = told.isEmpty ? [] : ["", "\(plan.loud?.tenant.text ?? "") is told:"] + told
        return [headline, ""] + tasks.text.split(separator: "\n").map(String.init) + [""]
            + table.text.split(separator: "\n").map(String.init) + told
    }
}
