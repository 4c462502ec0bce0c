import HeadroomJSON
import HeadroomModel

// How contracts come from the CRM: read from files and written as files would state it.

extension ContractPolicy {
    mutating func read(_ root: CheckedObject) {
        var section = root
        if let words = section.words("columns", "the column's header in the export") {
            columns = words.compactMap { word in
                guard ContractImport.columns.contains(word.name) else {
                    section.file.report(
                        .unknownName, key: word.key, offset: word.keyOffset,
                        "unknown column: known here are \(ContractImport.list(ContractImport.columns))"
                            + NearestName.question(word.name, among: ContractImport.columns))
                    return nil
                }
                return Column(name: word.name, header: word.text)
            }
            for (index, column) in columns.enumerated() {
                let plain = ContractImport.plainHeader(column.header)
                guard let first = columns[..<index].first(where: { ContractImport.plainHeader($0.header) == plain })
                else { continue }
                section.file.report(
                    .duplicateName, key: "\(section.key).columns.\(column.name)",
                    atFirstOf: ["\(section.key).columns.\(column.name)"],
                    "the header \(KeyPathText.excerpt(of: column.header)) stands at \(first.name) already")
            }
        }
        if let ignores = section.bool("ignore_other_columns") { ignoresOtherColumns = ignores }
        if let words = section.words("tiers", "a tier's name") {
            tiers = words.map { Tier(word: $0.name, tier: $0.text) }
            for (index, word) in words.enumerated() {
                let first = words[..<index].first { $0.name.lowercased() == word.name.lowercased() }
                guard let first else { continue }
                section.file.report(
                    .duplicateName, key: word.key, offset: word.keyOffset,
                    "is read in any case, and stands as \(KeyPathText.excerpt(of: first.name)) already")
            }
        }
        section.read(ContractPolicy.fields, into: &self)
    }

    static let fields: [PolicyField<ContractPolicy>] = [
        PolicyField("approval_share", \.approvalShare, 0...1, "part of all contracts"),
        PolicyField("pending_hours", \.pendingHours, 0.1...720, "hours"),
    ]
}

extension CheckedObject {
    /// An object with any keys, at most 100, and a text at each.
    fileprivate mutating func words(
        _ name: String, _ right: String
    ) -> [(name: String, keyOffset: Int, key: String, text: String)]? {
        guard let (node, key) = value(name) else { return nil }
        guard let members = node.members else {
            file.report(.wrongType, key: key, offset: node.offset, "must be an object, found \(node.kind.article)")
            return nil
        }
        guard members.count <= 100 else {
            file.report(
                .outOfRange, key: key, offset: node.offset, "must have at most 100 keys, found \(members.count)")
            return nil
        }
        return members.compactMap { member in
            let path = KeyPathText.join(key, member.key)
            file.note(key: path, offset: member.value.offset)
            return text(member.value, key: path, right, isRight: { !$0.isEmpty }).map {
                (member.key, member.keyOffset, path, $0)
            }
        }
    }
}

extension JSONWriter {
    mutating func contracts(_ policy: ContractPolicy) {
        key("contracts")
        beginObject()
        key("columns")
        words(policy.columns.map { ($0.name, $0.header) })
        field("ignore_other_columns", policy.ignoresOtherColumns)
        key("tiers")
        words(policy.tiers.map { ($0.word, $0.tier) })
        for field in ContractPolicy.fields {
            key(field.key)
            number(field.get(policy))
        }
        endObject()
    }

    private mutating func words(_ words: [(name: String, text: String)]) {
        beginObject()
        for word in words {
            key(word.name)
            string(word.text)
        }
        endObject()
    }
}
