import Foundation
import Glibc
import HeadroomHTTP
import HeadroomModel
import HeadroomPolicy
import HeadroomStorage

/// Keeps contracts as a file says, or all files of a directory together: read again every so often, taken whole or not at
/// all. While anything is wrong with them the contracts before stay, and a condition of the service, which is an alert,
/// says what. Beyond the policy's share it asks a person and goes on once that person has agreed.
actor ContractSync {
    struct Source: Sendable {
        /// A `.csv` or `.json` file, or a directory of such files.
        var path: String
        var everySeconds: Double
    }

    /// As the audit log and approvals name it. A token's name has no spaces, so nobody else is called so.
    static let author = "contract sync"
    private static let maxFiles = 1_000

    private let source: Source
    private let database: Database
    private let rules: RuleBook
    private let conditions: ServiceConditions
    private let time: TimeSource
    private let log: @Sendable (LogLevel, String) -> Void
    /// The last thing that was said, which is not said again.
    private var lastWord: String?
    private var isAsking = false

    init(
        _ source: Source, database: Database, rules: RuleBook, conditions: ServiceConditions, time: TimeSource,
        log: @escaping @Sendable (LogLevel, String) -> Void
    ) {
        self.source = source
        self.database = database
        self.rules = rules
        self.conditions = conditions
        self.time = time
        self.log = log
    }

    /// A person's word on a question is looked for so often at least, so that it is heard before it ends.
    private static let askedSeconds = 10.0

    /// Until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            await sync()
            let seconds = isAsking ? min(Self.askedSeconds, source.everySeconds) : source.everySeconds
            // Throws when the service stops.
            guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
        }
    }

    private func sync() async {
        isAsking = false
        do {
            let policy = await rules.policy
            let old = try await database.contracts.all()
            let contracts = try read(policy, after: old)
            let difference = ContractDifference(from: old, to: contracts)
            guard !difference.isEmpty else { return say(nil) }
            var limit = ContractLimit(policy.contracts)
            // Files say again and again what holds: many small changes a day are their purpose.
            limit.windowSeconds = 0
            // An export that lost most of its rows is never taken unasked: nobody is there to confirm it.
            if difference.removesMost { limit.share = min(limit.share, 0.5) }
            switch try await database.contracts.replaceAll(
                with: contracts, by: Self.author, at: time.now(), within: limit)
            {
            case .replaced(let difference):
                say(nil)
                log(
                    .info,
                    "contracts of \(source.path): \(difference.added.count) added, \(difference.changed.count) changed, "
                        + "\(difference.removed.count) removed")
            case .awaitsApproval(let question):
                isAsking = true
                say(
                    "approval \(question.id) is needed before the contracts of \(source.path) are taken: "
                        + "\(question.evidence.first ?? "")")
            }
        } catch {
            say("the contracts of \(source.path) are not taken, and those before stay: \(Self.words(error))")
        }
    }

    /// As a condition for as long as it holds, and once in the log.
    private func say(_ word: String?) {
        conditions.set(.contractSync, word)
        if let word, word != lastWord { log(.warning, word) }
        if word == nil, lastWord != nil { log(.info, "the contracts of \(source.path) are taken again") }
        lastWord = word
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as ContractSyncError: error.message
        case let error as SteeringError: error.message
        case let error as StorageError: error.message
        default: "\(error)"
        }
    }

    /// Every file in the order of the names; what they say together is checked as one import.
    /// - Parameter old: the contracts so far.
    private func read(_ policy: Policy, after old: [Contract]) throws(ContractSyncError) -> [Contract] {
        let paths = try Self.files(at: source.path)
        var contracts: [Contract] = []
        var faults: [String] = []
        var places: [TenantID: String] = [:]
        var size = 0
        for path in paths {
            let bytes: [UInt8]
            do throws(CommandError) { bytes = try Terminal.read(path) } catch {
                throw ContractSyncError(message: error.message)
            }
            size += bytes.count
            guard size <= ContractImport.maxSize else {
                throw ContractSyncError(message: "has more than \(ContractImport.maxSize) bytes in all")
            }
            do throws(ContractImportError) {
                let format = path.lowercased().hasSuffix(".json") ? ContractImport.Format.json : .csv
                // What a file says by itself; a floor that does not fit beside those of other files is found below.
                let read = try ContractImport.parse(
                    bytes, format: format, mapping: policy.contracts,
                    checking: paths.count == 1 ? policy.faults : { _ in [] })
                for contract in read {
                    if let first = places.updateValue(path, forKey: contract.tenant) {
                        faults.append("\(path): tenant \(contract.tenant) stands in \(first) already")
                    }
                }
                contracts += ContractImport.completed(read, from: format, after: old)
            } catch {
                faults += error.faults.map { "\(path): \($0)" }
            }
        }
        if paths.count > 1 { faults += policy.faults(in: contracts).map { "\($0)" } }
        guard faults.isEmpty else {
            let more = faults.count > 3 ? "; and \(faults.count - 3) more faults" : ""
            throw ContractSyncError(message: faults.prefix(3).joined(separator: "; ") + more)
        }
        return contracts.sorted { $0.tenant < $1.tenant }
    }

    /// Ascending by name; never empty.
    private static func files(at path: String) throws(ContractSyncError) -> [String] {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            throw ContractSyncError(message: "cannot be read: \(unsafe String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return [path] }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let wanted = names.filter { name in
            !name.hasPrefix(".") && (name.lowercased().hasSuffix(".csv") || name.lowercased().hasSuffix(".json"))
        }.sorted()
        guard (1...maxFiles).contains(wanted.count) else {
            throw ContractSyncError(
                message: wanted.isEmpty
                    ? "has no .csv and no .json file" : "has \(wanted.count) files: at most \(maxFiles)")
        }
        return wanted.map { "\(path)/\($0)" }
    }
}

/// Why contracts were not read.
private struct ContractSyncError: Error {
    let message: String
}
