import HeadroomModel
import HeadroomPolicy

/// `headroom policy check`: every fault in a directory of policies, with its place.
enum PolicyCheckCommand {
    static let help = """
        usage: headroom policy check DIR [--json]

        Reads DIR/rules.json5 and DIR/pools/*.json5 as the service would, and names every fault as
          FILE:LINE:COLUMN: KEY: what would be right
        Exit code 0 when there is none, 1 when there is.

          --json   {"valid":true,"policy":"NAME@DIGEST","pools":["…"],"faults":[]}; a fault has code, file, line,
                   column, key and message
        """

    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], maxPositionals: 1)
        guard let path = arguments.positionals.first else {
            throw UsageError("DIR is missing: the directory with rules.json5 and pools/")
        }
        let directory = PolicyDirectory(path: path)
        let report = PolicyCheckReport { () throws(PolicyError) in try directory.load() }
        if arguments.has("--json") {
            Terminal.print(bytes: report.encoded() + [UInt8(ascii: "\n")])
        } else if let policy = report.policy {
            Terminal.print(summary(of: policy, at: path))
        } else {
            Terminal.error(report.faults.map(\.description).joined(separator: "\n"))
            let count = report.faults.count == 1 ? "1 fault" : "\(report.faults.count) faults"
            Terminal.error(TerminalColor.paint(count, .bad, on: .error))
        }
        return report.policy == nil ? 1 : 0
    }

    private static func summary(of policy: Policy, at path: String) -> String {
        let pools = policy.pools.map(\.pool.text).joined(separator: ", ")
        return
            "\(path): \(policy.label), \(policy.tiers.count) tiers, "
            + "\(policy.pools.count == 1 ? "1 pool" : "\(policy.pools.count) pools"): \(pools)"
    }
}
