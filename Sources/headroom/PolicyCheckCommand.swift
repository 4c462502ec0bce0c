import HeadroomJSON
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
        let isJSON = arguments.has("--json")
        do throws(PolicyError) {
            let policy = try PolicyDirectory(path: path).load()
            if isJSON { printJSON(policy: policy, faults: []) } else { Terminal.print(summary(of: policy, at: path)) }
            return 0
        } catch {
            if isJSON {
                printJSON(policy: nil, faults: error.faults)
            } else {
                Terminal.error(error.description)
                Terminal.error(error.faults.count == 1 ? "1 fault" : "\(error.faults.count) faults")
            }
            return 1
        }
    }

    private static func summary(of policy: Policy, at path: String) -> String {
        let pools = policy.pools.map(\.pool.text).joined(separator: ", ")
        return
            "\(path): \(policy.name)@\(policy.digest), \(policy.tiers.count) tiers, "
            + "\(policy.pools.count == 1 ? "1 pool" : "\(policy.pools.count) pools"): \(pools)"
    }

    private static func printJSON(policy: Policy?, faults: [PolicyFault]) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("valid")
        writer.bool(policy != nil)
        if let policy {
            writer.key("policy")
            writer.string("\(policy.name)@\(policy.digest)")
            writer.key("pools")
            writer.beginArray()
            for pool in policy.pools { writer.string(pool.pool.text) }
            writer.endArray()
        }
        writer.key("faults")
        writer.beginArray()
        for fault in faults {
            writer.beginObject()
            writer.key("code")
            writer.string(fault.code.rawValue)
            writer.key("file")
            writer.string(fault.file)
            for (key, place) in [("line", fault.line), ("column", fault.column)] {
                writer.key(key)
                if let place { writer.integer(place) } else { writer.null() }
            }
            writer.key("key")
            writer.string(fault.key)
            writer.key("message")
            writer.string(fault.message)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.newline()
        Terminal.print(bytes: writer.bytes)
    }
}
