import HeadroomJSON
import HeadroomModel

// Options that several commands share: names, reasons, and how long something is to hold.
extension Arguments {
    static let reasonAndEnd = ["--reason": "TEXT", "--expires-in": "2h"]

    /// The help for ``reasonAndEnd``.
    static let reasonHelp = """
          --reason TEXT       why, for the audit log and for people who ask
          --expires-in D      when it ends by itself, as 90s, 15m, 12h, 30d, 8w; at most 90d
        """

    func reason() throws(UsageError) -> String {
        guard let reason = self["--reason"] else {
            throw UsageError("--reason is missing: say why, as --reason \"renewal call\"")
        }
        return reason
    }

    func end() throws(UsageError) -> Double {
        guard let seconds = try duration("--expires-in") else {
            throw UsageError("--expires-in is missing: when it ends by itself, as 90s, 15m, 12h, 30d or 8w")
        }
        return seconds
    }

    /// As ``RateText/parse(_:)`` reads it.
    func rate(_ option: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = self[option] else { return nil }
        guard let rate = RateText.parse(text), range.contains(rate) else {
            throw UsageError(
                "\(option) \"\(text)\": must be a number a minute from \(GroupedNumber.whole(range.lowerBound)) to "
                    + "\(GroupedNumber.whole(range.upperBound)), as 900000, 900,000, 900k or 0.9M")
        }
        return rate
    }

    /// A whole number and its unit, in seconds.
    func duration(_ option: String) throws(UsageError) -> Double? {
        guard let text = self[option] else { return nil }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let last = text.last, let unit = units[last], let count = UInt32(text.dropLast()),
            (1...3650 * 86_400).contains(Double(count) * unit)
        else { throw UsageError("\(option) \"\(text)\": must be a time from 1s to 3650d, as 90s, 15m, 12h, 30d or 8w") }
        return Double(count) * unit
    }

    func identifier<Kind>(_ option: String) throws(UsageError) -> Identifier<Kind>? {
        guard let text = self[option] else { return nil }
        return try Arguments.identifier(text, called: option)
    }

    /// The word behind the command at `index`, which must be there.
    func identifier<Kind>(at index: Int, called name: String) throws(UsageError) -> Identifier<Kind> {
        guard positionals.count > index else { throw UsageError("\(name) is missing") }
        return try Arguments.identifier(positionals[index], called: name)
    }

    private static func identifier<Kind>(_ text: String, called name: String) throws(UsageError) -> Identifier<Kind> {
        guard let identifier = Identifier<Kind>(text) else {
            throw UsageError("\(name) \"\(text)\": a name must have \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    /// A number that Headroom gave, as the first word behind the command.
    func id(shownBy list: String) throws(UsageError) -> Int64 {
        guard let text = positionals.first else { throw UsageError("ID is missing: \(list) shows them") }
        guard let id = Int64(text), id > 0 else {
            throw UsageError("\"\(text)\": must be the number that \(list) shows")
        }
        return id
    }
}

/// Parts of answers as people read them.
enum AnswerText {
    /// `tpm 240,000 rpm 300`; `-` for none.
    static func rates(_ node: JSONNode?) -> String {
        var rates = Rates()
        for member in node?.members ?? [] {
            guard let resource = Resource(rateName: member.key), let rate = member.value.number else { continue }
            rates[resource] = rate
        }
        return RateText.cell(rates)
    }

    static func string(_ node: JSONNode?, or other: String = "-") -> String { node?.string ?? other }

    static func number(_ node: JSONNode?) -> String { node?.number.map(TextTable.number) ?? "-" }

    /// Without separators, since it is typed again.
    static func id(_ node: JSONNode?) -> String { node?.number.flatMap { Int64(exactly: $0) }.map(String.init) ?? "-" }

    /// To the second: `2026-11-21T10:00:00Z`.
    static func instant(_ node: JSONNode?) -> String {
        guard let text = node?.string else { return "-" }
        return text.hasSuffix("Z") ? text.prefix(19) + "Z" : text
    }
}
