/// How contracts come from the CRM: the names that its CSV export has for columns and tiers, and how much one import may
/// change.
public struct ContractPolicy: Equatable, Sendable {
    public struct Column: Equatable, Sendable {
        /// One of the import's own, as `floor_tpm`.
        public var name: String
        /// In the header of the export; in any case, `-` and spaces as `_`.
        public var header: String

        public init(name: String, header: String) {
            self.name = name
            self.header = header
        }
    }

    public struct Tier: Equatable, Sendable {
        /// In the column of the tier, in any case.
        public var word: String
        /// One of the policy's.
        public var tier: String

        public init(word: String, tier: String) {
            self.word = word
            self.tier = tier
        }
    }

    /// Besides the import's own names, which are always known. Each column and each header once.
    public var columns: [Column]
    /// Columns that neither the import nor ``columns`` knows are left out, and are no fault.
    public var ignoresOtherColumns: Bool
    /// Besides the tiers' own names. Each word once.
    public var tiers: [Tier]

    /// Part of all contracts that one import may change or remove before a second person has to agree; 1 asks nobody.
    public var approvalShare: Double
    /// For how long that question waits.
    public var pendingHours: Double

    public init(
        columns: [Column] = [], ignoresOtherColumns: Bool = false, tiers: [Tier] = [], approvalShare: Double = 0.5,
        pendingHours: Double = 24
    ) {
        self.columns = columns
        self.ignoresOtherColumns = ignoresOtherColumns
        self.tiers = tiers
        self.approvalShare = approvalShare
        self.pendingHours = pendingHours
    }
}
