import HeadroomJSON
import HeadroomModel
import HeadroomSimulator

/// The result of one simulated run, for people and for programs.
struct SimulationResult {
    let scenario: Scenario
    let strategy: Strategy
    let seed: UInt64
    let workload: Workload
    let metrics: RunMetrics
    let record: RunRecord

    var text: String {
        var lines = [
            "Scenario \(scenario.name): \(scenario.intent)",
            "\(workload.jobs.count) requests of \(workload.roster.entries.count) tenants in "
                + "\(DemoText.decimal(workload.seconds / 60)) min; contract \(RateText.cell(workload.nominal)); "
                + "strategy \(strategy.name); seed \(seed).",
        ]
        if workload.hasSyntheticTenants { lines.append("Its tenants are synthetic: the trace names none.") }
        lines.append("Tiers, urgency and floors are invented, by seed \(seed).")
        var table = TextTable(["metric", "value"])
        for metric in Metric.allCases {
            if let value = metrics[metric] { table.add([metric.rawValue, Self.figure(value)]) }
        }
        table.add(["attempts", TextTable.number(Double(record.attempts))])
        table.add(["drawn attempts", TextTable.number(Double(record.drawnAttempts))])
        table.add(["served calls", TextTable.number(Double(record.servedCalls))])
        table.add(["lost calls", TextTable.number(Double(record.lost))])
        table.add(["digest", String(record.digest, radix: 16)])
        return (lines + ["", table.text]).joined(separator: "\n")
    }

    /// Three digits behind the point, fewer for large numbers.
    static func figure(_ value: Double) -> String {
        if value.magnitude >= 100 { return TextTable.number(value) }
        let digits = value.magnitude >= 10 ? 10.0 : 1000.0
        let thousandths = Int64((value.magnitude * digits).rounded())
        let fraction = String(thousandths % Int64(digits) + Int64(digits)).dropFirst()
        return "\(value < 0 && thousandths > 0 ? "-" : "")\(thousandths / Int64(digits)).\(fraction)"
    }

    var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("scenario", scenario.name)
        writer.field("strategy", strategy.name)
        writer.field("seed", seed)
        writer.field("seconds", workload.seconds)
        writer.field("requests", workload.jobs.count)
        writer.field("tenants", workload.roster.entries.count)
        writer.field("synthetic_tenants", workload.hasSyntheticTenants)
        writer.field("digest", String(record.digest, radix: 16))
        writer.field("attempts", record.attempts)
        writer.field("drawn_attempts", record.drawnAttempts)
        writer.key("metrics")
        Self.write(metrics, to: &writer)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Only those that have a value.
    static func write(_ metrics: RunMetrics, to writer: inout JSONWriter) {
        writer.beginObject()
        for metric in Metric.allCases {
            guard let value = metrics[metric] else { continue }
            writer.key(metric.rawValue)
            writer.number(value)
        }
        writer.endObject()
    }
}
