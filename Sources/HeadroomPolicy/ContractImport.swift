import HeadroomJSON
import HeadroomModel

/// A file of contracts, as a CRM exports it → contracts. All of it or nothing.
package enum ContractImport {
    package enum Format: String, CaseIterable, Sendable {
        /// A header, then one row for each tenant × pool; see ``columns``.
        case csv
        /// `[{"tenant":"acme","tier":"premium","strategic":true,"pools":[{"pool":"p","floor":{"tpm":1}}]}]`, each with a
        /// `cost` where its use is priced: see ``CostTerms``.
        case json
    }

    /// In bytes.
    package static let maxSize = 100_000_000
    /// Of tenant × pool, and of tenants without a pool.
    package static let maxRowCount = 1_000_000

    /// - Parameters:
    ///   - mapping: the names that a CSV export has for columns and tiers.
    ///   - check: what the policy does not allow of the contracts; reported in the same round as other faults, each with
    ///     its line.
    /// - Returns: ascending by tenant, each tenant once.
    package static func parse(
        _ bytes: [UInt8], format: Format, mapping: ContractPolicy = ContractPolicy(),
        checking check: ([Contract]) -> [ContractFault] = { _ in [] }
    ) throws(ContractImportError) -> [Contract] {
        guard bytes.count <= maxSize else {
            throw ContractImportError([
                ContractImportError.Fault(line: nil, "has \(bytes.count) bytes: at most \(maxSize)")
            ])
        }
        // Spreadsheets put a byte order mark in front.
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let (contracts, faults) =
            switch format {
            case .csv: parseCSV(bytes, from: start, mapping, checking: check)
            case .json: parseJSON(bytes, from: start, checking: check)
            }
        guard faults.isEmpty else { throw ContractImportError(faults) }
        return contracts.sorted { $0.tenant < $1.tenant }
    }

    /// What the contracts come to. A table has no columns for what agent tasks may use, so it says nothing of it: that stays
    /// as it was. JSON says all.
    /// - Parameter old: the contracts so far.
    package static func completed(_ imported: [Contract], from format: Format, after old: [Contract]) -> [Contract] {
        guard format == .csv else { return imported }
        let budgets = Dictionary(old.map { ($0.tenant, $0.taskBudgets) }, uniquingKeysWith: { first, _ in first })
        return imported.map { contract in
            var contract = contract
            contract.taskBudgets = budgets[contract.tenant] ?? []
            return contract
        }
    }

    /// Within a contract already checked pool by pool; a fault's text, `nil` when all is well.
    static func fault(in terms: Contract.Terms) -> String? {
        for resource in Resource.allCases {
            guard let floor = terms.floor[resource], let ceiling = terms.ceiling[resource], floor > ceiling else {
                continue
            }
            let name = resource.rateName
            return "floor_\(name) \(CheckedObject.text(floor)) is over ceiling_\(name) \(CheckedObject.text(ceiling))"
        }
        return nil
    }

    /// Requests or tokens per minute: from 0 to far above any provider's limit.
    static let rateRange = 0...1e12
}

/// Why a file of contracts was not taken: every fault in it, not only the first.
package struct ContractImportError: Error, Equatable, Sendable, CustomStringConvertible {
    package struct Fault: Equatable, Sendable, CustomStringConvertible {
        /// From 1; `nil` for the file as a whole.
        package let line: Int?
        /// The fault, where in the line it is, and what would be right.
        package let message: String

        package init(line: Int?, _ message: String) {
            self.line = line
            self.message = message
        }

        package var description: String { line.map { "line \($0): \(message)" } ?? message }
    }

    /// Never empty; ascending by line.
    package let faults: [Fault]

    package init(_ faults: [Fault]) {
        precondition(!faults.isEmpty)
        self.faults = faults
    }

    /// One fault a line.
    package var description: String { faults.map(\.description).joined(separator: "\n") }
}
