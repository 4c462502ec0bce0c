import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomSimulator
import HeadroomStorage
import HeadroomWire
import Synchronization

/// `headroom plan`: what a candidate policy would have done with recorded telemetry.
enum PlanCommand {
    static let help = """
        usage: headroom plan --policies DIR [--against DIR] [--database FILE] [--hours N] [--html FILE] [--json]

        Replays recorded telemetry through the four actors under the policy in DIR, and says who would have gained, who
        would have lost, by how much, and what the policy would have asked people to approve. Lines are replayed as far
        back as they are kept; before that, sums by minute stand in for them, and the report says so.

          --policies DIR   the candidate
          --against DIR    compare with this policy, replayed the same way, and not with what was really published
          --database FILE  the database of the service (headroom.sqlite); it may run meanwhile
          --hours N        back from now; 0.1 to 9600 (24)
          --html FILE      a page with plots besides
          --json           as JSON
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json"],
            options: [
                "--policies": "DIR", "--against": "DIR", "--database": "FILE", "--hours": "N", "--html": "FILE",
            ])
        guard let directory = arguments["--policies"] else {
            throw UsageError("--policies DIR is needed: the directory of the candidate")
        }
        let hours = try arguments.number("--hours", in: 0.1...9600) ?? 24
        let policy = try policy(directory)
        let database = try CommandDatabase.open(arguments, mustExist: true, coding: .wire)
        let contracts = Dictionary(
            try await database.contracts.all().map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first })
        let rules = Rules(policy: policy, contracts: contracts)

        let end = CommandDatabase.now()
        let past = RecordedPast(
            telemetry: database.telemetryReader, records: database.records, pools: policy.pools.map(\.pool))
        let parts = try await past.parts(from: end.adding(seconds: -hours * 3600), to: end)
        guard !parts.isEmpty else {
            throw CommandError("\(database.path): holds no telemetry of the last \(DemoText.decimal(hours)) hours")
        }
        let baseline: PlanReplay.Baseline
        if let against = arguments["--against"] {
            baseline = .rules(Rules(policy: try self.policy(against), contracts: contracts))
        } else {
            baseline = .published(
                try await database.snapshots.recent(since: parts[0].from, limit: .max)
                    .map { (at: $0.issuedAt, pools: $0.pools) })
        }
        let replay = PlanReplay(parts, candidate: rules, baseline: baseline)
        let progress = PlanProgress()
        let outcome = try await replay.run { progress.note($0) }
        guard !outcome.tenants.isEmpty else {
            let recorded = outcome.leftOut.keys.sorted().map(\.text).joined(separator: ", ")
            throw CommandError(
                "nothing was recorded for the pools of \(directory), "
                    + policy.pools.map(\.pool.text).joined(separator: ", ")
                    + (recorded.isEmpty ? "" : "; there is telemetry of \(recorded)"))
        }
        let title = "\(directory) against \(arguments["--against"] ?? "what was published")"
        if let path = arguments["--html"] {
            try Terminal.write(PlanReport(outcome, title: title).html, to: path)
        }
        Terminal.print(
            arguments.has("--json") ? String(decoding: outcome.encoded(), as: UTF8.self) : text(outcome, title: title))
        return 0
    }

    private static func policy(_ directory: String) throws -> Policy {
        try PolicyWatcher(directory: PolicyDirectory(path: directory)).policy
    }

    /// Of one question, in the text.
    private static let maxListedChanges = 10

    private static func text(_ outcome: PlanOutcome, title: String) -> String {
        var table = TextTable(PlanOutcome.header)
        for row in outcome.rows { table.add(row) }
        var tiers = TextTable(PlanOutcome.tierHeader)
        for row in outcome.tierRows { tiers.add(row) }
        var lines = [title, outcome.provenance, "", tiers.text, "", table.text, ""]
        if outcome.questions.isEmpty {
            lines.append("Nothing would have left the guardrails.")
        } else {
            lines.append("It would have asked people:")
            for question in outcome.questions {
                let resource = outcome.resource(of: question.pool ?? "")
                let count = question.changes.count
                lines.append(
                    "  \(RFC3339.format(milliseconds: question.authorship.at.milliseconds)) \(question.kind.name) in "
                        + "\(question.pool?.text ?? "all pools"), \(count) \(count == 1 ? "tenant" : "tenants"):")
                for change in question.changes.prefix(maxListedChanges) {
                    lines.append(
                        "    \(change.tenant): \(TextTable.number(change.from[resource] ?? 0)) to "
                            + "\(TextTable.number(change.to[resource] ?? 0)) \(resource.rateName)")
                }
                if count > maxListedChanges {
                    lines.append("    and \(count - maxListedChanges) more: --json lists all")
                }
            }
        }
        return lines.joined(separator: "\n")
    }
}

/// Says on standard error how far a replay is, every few seconds.
private final class PlanProgress: Sendable {
    private static let everySeconds = 5.0

    private let begun = ContinuousClock.now
    private let lastReport = Mutex(ContinuousClock.now)

    func note(_ part: Double) {
        let now = ContinuousClock.now
        let isDue = lastReport.withLock { lastReport in
            guard (now - lastReport) / .seconds(1) >= Self.everySeconds else { return false }
            lastReport = now
            return true
        }
        guard isDue, part > 0 else { return }
        let took = (now - begun) / .seconds(1)
        Terminal.error("\(Int(part * 100)) % replayed, about \(Int((took / part - took).rounded(.up))) s left")
    }
}
