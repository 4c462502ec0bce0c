import HeadroomModel

/// Policy files → one checked ``Policy``.
///
/// `rules.json5` holds the rules, each file in a folder `pools` one pool. Every key has a default except a pool's name
/// and its nominal capacity, so `{}` is a whole rule file; but the file itself must be there: while a directory is
/// being replaced, an absent file must not pass for "all defaults".
package enum PolicyLoader {
    /// In bytes.
    package static let maxFileSize = 1 << 20
    package static let maxFileCount = 1000

    /// - Parameter files: `path` is shown in faults; its last part, and the folder before it, say what the file is.
    package static func load(files: [(path: String, bytes: [UInt8])]) throws(PolicyError) -> Policy {
        guard files.count <= maxFileCount else {
            let message = "has \(files.count) policy files: at most \(maxFileCount)"
            throw PolicyError([PolicyFault(.outOfRange, file: folder(of: files.map(\.path)), message)])
        }
        let files = files.sorted { $0.path < $1.path }.map { CheckedFile(path: $0.path, bytes: $0.bytes) }
        var loading = Loading()
        for file in files { loading.read(file) }
        loading.finish(folder: folder(of: files.map(\.path)))
        let faults = loading.strayFaults + files.flatMap { $0.located() }
        guard faults.isEmpty else { throw PolicyError(faults) }
        loading.policy.digest = digest(of: files)
        return loading.policy
    }

    /// A ``Fingerprint`` of the files' names and bytes.
    private static func digest(of files: [CheckedFile]) -> String {
        var fingerprint = Fingerprint()
        // File names without their folder: the same files give the same digest wherever they lie.
        let named = files.map { (name: $0.path.split(separator: "/").last ?? "", bytes: $0.bytes) }
        for file in named.sorted(by: { $0.name < $1.name }) {
            fingerprint.add(file.name.utf8)
            fingerprint.add(UInt8(0))
            fingerprint.add(file.bytes)
            fingerprint.add(UInt8(0))
        }
        let digits = String(fingerprint.value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Where the files lie, for faults that are in none of them.
    private static func folder(of paths: [String]) -> String {
        for path in paths {
            var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            if parts.last == "pools" { parts.removeLast() }
            if !parts.isEmpty { return parts.joined(separator: "/") }
        }
        return "policies"
    }
}

/// The role of a file, by its name.
private enum Role {
    case rules, pool

    /// `nil` for a name that means nothing here.
    init?(path: String) {
        let parts = path.split(separator: "/")
        let isPool = parts.count >= 2 && parts[parts.count - 2] == "pools" && parts[parts.count - 1].hasSuffix(".json5")
        if parts.last == "rules.json5" {
            self = .rules
        } else if isPool {
            self = .pool
        } else {
            return nil
        }
    }
}

/// The result of reading a set of files.
private struct Loading {
    var policy = Policy()
    /// Faults that lie in no file.
    var strayFaults: [PolicyFault] = []
    private var rules: CheckedFile?
    private var poolFiles: [PoolID: CheckedFile] = [:]
    /// A pool whose name could not be read may be the one that another file names.
    private var hasUnreadPool = false

    mutating func read(_ file: CheckedFile) {
        guard let role = Role(path: file.path) else {
            file.report(
                .unknownName, key: "", offset: nil,
                "not a policy file: the rules are in rules.json5, each pool is in a file of its own, pools/NAME.json5")
            return
        }
        switch role {
        case .rules: readRules(file)
        case .pool: readPool(file)
        }
    }

    private mutating func readRules(_ file: CheckedFile) {
        if let first = rules {
            file.report(.duplicateName, key: "", offset: nil, "a second file of rules: \(first.path) has them already")
            return
        }
        rules = file
        if let root = parse(file) { policy.read(rules: root) }
    }

    private mutating func readPool(_ file: CheckedFile) {
        guard let root = parse(file), let pool = PoolPolicy(root) else {
            hasUnreadPool = true
            return
        }
        if let first = poolFiles[pool.pool] {
            file.report(
                .duplicateName, key: "pool", atFirstOf: ["pool"],
                "the pool \(pool.pool) stands in \(first.path) already")
            return
        }
        poolFiles[pool.pool] = file
        policy.pools.append(pool)
    }

    private func parse(_ file: CheckedFile) -> CheckedObject? {
        guard file.bytes.count <= PolicyLoader.maxFileSize else {
            file.report(
                .outOfRange, key: "", offset: nil,
                "is too large: a policy file has at most \(PolicyLoader.maxFileSize) bytes")
            return nil
        }
        return file.parse()
    }

    mutating func finish(folder: String) {
        policy.pools.sort { $0.pool < $1.pool }
        if rules == nil {
            strayFaults.append(
                PolicyFault(
                    .missing, file: folder, "has no rules.json5: add it, with {} in it where the defaults will do"))
        }
        if policy.pools.isEmpty, !hasUnreadPool {
            strayFaults.append(
                PolicyFault(.missing, file: folder, "has no pool: add pools/NAME.json5 with its name and nominal rates")
            )
        }
        report(policy.conflicts)
    }

    private func report(_ conflicts: [PolicyConflict]) {
        let placed = conflicts.compactMap { conflict -> (PolicyConflict, CheckedFile)? in
            if hasUnreadPool, conflict.code == .unknownName, conflict.pool != nil { return nil }
            guard let file = conflict.pool.map({ poolFiles[$0] }) ?? rules else { return nil }
            // A fault that follows from another fault would only mislead.
            return conflict.keys.contains(where: file.hasFault) ? nil : (conflict, file)
        }
        for (conflict, file) in placed {
            file.report(conflict.code, key: conflict.keys[0], atFirstOf: conflict.keys, conflict.message)
        }
    }
}
