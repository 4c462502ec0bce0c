import HeadroomModel
import HeadroomPolicy

extension FuzzTarget {
    /// A folder of policies: the rules, then each pool behind a line that starts with `=`.
    static let policies = FuzzTarget(name: "policies") { bytes in
        let parts = bytes.parts
        let files = parts.enumerated().map { index, part in
            (path: index == 0 ? "p/rules.json5" : "p/pools/\(index).json5", bytes: part)
        }
        do throws(PolicyError) {
            let policy = try PolicyLoader.load(files: files)
            require(policy.conflicts.isEmpty, "taken with conflicts: \(policy.conflicts)")
            checkWriting(policy)
        } catch {
            require(!error.faults.isEmpty, "refused without a fault")
            for fault in error.faults {
                guard let line = fault.line, let file = files.first(where: { $0.path == fault.file }) else { continue }
                let lines = file.bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
                require((1...lines).contains(line), "a fault outside of its file: \(fault)")
            }
        }
    }

    private static func checkWriting(_ policy: Policy) {
        let files =
            [(path: "p/rules.json5", bytes: policy.encodedRules())]
            + policy.pools.enumerated().map { (path: "p/pools/\($0).json5", bytes: $1.encoded()) }
        do throws(PolicyError) {
            var again = try PolicyLoader.load(files: files)
            again.digest = policy.digest
            require(again == policy, "reads back as another policy: \(files.map(\.bytes.text))")
        } catch {
            fatalError("written, and cannot be read: \(error)")
        }
    }
}

extension [UInt8] {
    fileprivate var parts: [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        for line in split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.first == UInt8(ascii: "="), parts.count < 8 {
                parts.append([])
            } else {
                parts[parts.count - 1] += line + [UInt8(ascii: "\n")]
            }
        }
        return parts
    }
}
