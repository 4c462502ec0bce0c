/// A question is asked anew while it waits, and a person decides on what they have read: each change of what is asked for has a
/// number, and says what it changed.
extension Proposal {
    public struct Revision: Equatable, Sendable {
        public var number: Int64
        public var at: Timestamp
        /// At most ``Proposal/maxNotes``.
        public var notes: [Note]
        /// Changes beyond those.
        public var unnamedCount: Int

        public init(number: Int64, at: Timestamp, notes: [Note], unnamedCount: Int = 0) {
            self.number = number
            self.at = at
            self.notes = notes
            self.unnamedCount = unnamedCount
        }
    }

    /// One change, in words for people who may see the tenant.
    public struct Note: Equatable, Sendable {
        /// ``Proposal/allTenants`` for what is about no one tenant.
        public var tenant: TenantID
        public var sentence: String

        public init(_ tenant: TenantID, _ sentence: String) {
            self.tenant = tenant
            self.sentence = sentence
        }
    }

    /// Revisions that are remembered; who has read an older one reads again.
    public static let maxRevisions = 8
    public static let maxNotes = 100

    /// The same question as the next revision of `old`; with the same number where it asks for the same.
    public func inPlace(of old: Proposal, at now: Timestamp) -> Proposal {
        var new = self
        (new.revision, new.revisions) = (old.revision, old.revisions)
        let notes = notes(since: old)
        guard !notes.isEmpty else { return new }
        new.revision += 1
        new.revisions.append(
            Revision(
                number: new.revision, at: now, notes: Array(notes.prefix(Self.maxNotes)),
                unnamedCount: max(0, notes.count - Self.maxNotes)))
        new.revisions.removeFirst(max(0, new.revisions.count - Self.maxRevisions))
        return new
    }

    private func notes(since old: Proposal) -> [Note] {
        func rates(_ change: Change) -> String {
            "from \(RateText.sentence(change.from)) to \(RateText.sentence(change.to))"
        }
        let known = Dictionary(old.changes.map { ($0.tenant, $0) }, uniquingKeysWith: { first, _ in first })
        var notes = changes.compactMap { change in
            switch known[change.tenant] {
            case change?: nil as Note?
            case let before?: Note(change.tenant, "\(change.tenant) \(rates(change)), where it was \(rates(before))")
            case nil: Note(change.tenant, "\(change.tenant) \(rates(change)), which was not asked for")
            }
        }
        let left = Set(changes.map(\.tenant))
        notes += old.changes.filter { !left.contains($0.tenant) }.map {
            Note($0.tenant, "\($0.tenant) is no longer asked for")
        }
        if let override, let before = old.override {
            let (now, then) = (Self.words(override), Self.words(before))
            if now != then { notes.append(Note(tenant, "\(now), where it was \(then)")) }
            if authorship.author != old.authorship.author {
                notes.append(Note(tenant, "\(authorship.author) asks, where it was \(old.authorship.author)"))
            }
        }
        if kind == .contracts, evidence != old.evidence {
            notes.append(Note(tenant, "other contracts: \(evidence.joined(separator: "; "))"))
        }
        return notes
    }

    private static func words(_ override: Override) -> String {
        let length = override.authorship.until.seconds(since: override.authorship.at)
        return [
            override.tier.map { "tier \($0)" }, override.weight.map { "weight \(GroupedNumber.plain($0))" },
            "for \(GroupedNumber.duration(seconds: length))",
        ].compactMap(\.self).joined(separator: " ")
    }

    /// Why a decision on `tenants` by a person who has read `revision` does not hold; `nil` when nothing of that has changed
    /// since.
    ///
    /// - Parameters:
    ///   - tenants: `nil`: all of the question.
    ///   - isVisible: the tenants that the person may see: others are not named.
    public func refusal(
        readAt revision: Int64, for tenants: Set<TenantID>?, naming isVisible: (TenantID) -> Bool = { _ in true }
    ) -> SteeringError? {
        guard revision <= self.revision else {
            return SteeringError(.conflict, "\(id) has no revision \(revision): it is at \(self.revision)")
        }
        let missed = revisions.filter { $0.number > revision }
        let isKept = Int64(missed.count) == self.revision - revision
        let notes = missed.flatMap(\.notes).filter { note in
            tenants.map { $0.contains(note.tenant) || note.tenant == Self.allTenants } ?? true
        }
        let unnamed = missed.reduce(0) { $0 + $1.unnamedCount }
        guard !isKept || !notes.isEmpty || unnamed > 0 else { return nil }
        let shown = notes.filter { $0.tenant == Self.allTenants || isVisible($0.tenant) }
        let more = notes.count - shown.prefix(Self.maxTold).count + unnamed
        var told = shown.prefix(Self.maxTold).map(\.sentence)
        if more > 0 { told.append("\(more) more") }
        if !isKept { told.append("and what changed before that is no longer kept") }
        return SteeringError(
            .conflict,
            "\(id) has changed since its revision \(revision), and is at \(self.revision): "
                + "\(told.joined(separator: "; ")). Nothing was decided: read it again")
    }

    /// Changes that a refusal tells; more are read with the question.
    private static let maxTold = 20
}
