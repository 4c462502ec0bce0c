import HeadroomJSON
import HeadroomModel

/// One object of a file that people wrote: hands out its values by key and reports what is wrong with them.
///
/// Each function returns `nil` where the key is absent, or where its value is refused and a fault is reported.
struct CheckedObject {
    let file: CheckedFile
    /// The path to the object; empty for the document.
    let key: String
    let offset: Int
    private let members: [JSONMember]
    /// Keys that were asked for, in that order.
    private var knownKeys: [String] = []

    /// `nil`, and a fault, when `node` is no object.
    init?(_ node: JSONNode, key: String, file: CheckedFile) {
        file.note(key: key, offset: node.offset)
        guard let members = node.members else {
            file.report(.wrongType, key: key, offset: node.offset, "must be an object, found \(node.kind.article)")
            return nil
        }
        self.file = file
        self.key = key
        offset = node.offset
        self.members = members
    }

    /// The value of `name`, whatever it is. From now on the key is a known one.
    mutating func value(_ name: String) -> (node: JSONNode, key: String)? {
        knownKeys.append(name)
        guard let node = members.first(where: { $0.key == name })?.value else { return nil }
        let path = KeyPathText.join(key, name)
        file.note(key: path, offset: node.offset)
        return (node, path)
    }

    mutating func number(_ name: String, in range: ClosedRange<Double>, unit: String, isWhole: Bool = false) -> Double?
    {
        guard let (node, key) = value(name) else { return nil }
        return number(node, key: key, in: range, unit: unit, isWhole: isWhole)
    }

    /// As ``number(_:in:unit:isWhole:)``; outer `nil` where nothing is to be changed, inner `nil` for an explicit null.
    mutating func optionalNumber(_ name: String, in range: ClosedRange<Double>, unit: String) -> Double?? {
        guard let (node, key) = value(name) else { return nil }
        if node.isNull { return .some(nil) }
        return number(node, key: key, in: range, unit: unit, isWhole: false).map { .some($0) }
    }

    private func number(
        _ node: JSONNode, key: String, in range: ClosedRange<Double>, unit: String, isWhole: Bool
    ) -> Double? {
        let least = CheckedObject.text(range.lowerBound)
        let most = CheckedObject.text(range.upperBound)
        let right = "must be a \(isWhole ? "whole number" : "number") from \(least) to \(most) (\(unit))"
        if let refusal = file.refusal(ofNumberAt: node.offset) {
            file.report(.outOfRange, key: key, offset: node.offset, "\(right): \(refusal)")
            return nil
        }
        guard let number = node.number else {
            file.report(.wrongType, key: key, offset: node.offset, "\(right), found \(node.kind.article)")
            return nil
        }
        guard range.contains(number), !isWhole || number == number.rounded() else {
            file.report(.outOfRange, key: key, offset: node.offset, "\(right), found \(CheckedObject.text(number))")
            return nil
        }
        return number
    }

    mutating func bool(_ name: String) -> Bool? {
        guard let (node, key) = value(name) else { return nil }
        guard let bool = node.bool else {
            file.report(.wrongType, key: key, offset: node.offset, "must be true or false, found \(node.kind.article)")
            return nil
        }
        return bool
    }

    /// A word that Headroom will print and compare: it has the alphabet of an ``Identifier``.
    mutating func word(_ name: String, orNull: Bool = false) -> String? {
        guard let (node, key) = value(name), !(orNull && node.isNull) else { return nil }
        return word(node, key: key)
    }

    func word(_ node: JSONNode, key: String) -> String? {
        guard let text = string(node, key: key) else { return nil }
        guard let identifier = PoolID(text) else {
            file.report(
                .outOfRange, key: key, offset: node.offset,
                "must have \(PoolID.rule), found \(KeyPathText.excerpt(of: text))")
            return nil
        }
        return identifier.text
    }

    /// Any text of at most 2,000 characters that `right` says is right.
    mutating func text(_ name: String, _ right: String, isRight: (String) -> Bool) -> String? {
        guard let (node, key) = value(name) else { return nil }
        return text(node, key: key, right, isRight: isRight)
    }

    func text(_ node: JSONNode, key: String, _ right: String, isRight: (String) -> Bool) -> String? {
        guard let text = string(node, key: key) else { return nil }
        guard text.count <= 2_000, isRight(text) else {
            file.report(
                .outOfRange, key: key, offset: node.offset, "must be \(right), found \(KeyPathText.excerpt(of: text))")
            return nil
        }
        return text
    }

    /// RFC 3339 at a full hour: use is kept by hours.
    mutating func instant(_ name: String) -> Timestamp? {
        guard let (node, key) = value(name), !node.isNull, let text = string(node, key: key) else { return nil }
        guard let milliseconds = RFC3339.parse(text), milliseconds >= 0, milliseconds % 3_600_000 == 0 else {
            file.report(
                .outOfRange, key: key, offset: node.offset,
                "must be a full hour in RFC 3339, as 2026-11-01T00:00:00Z, found \(KeyPathText.excerpt(of: text))")
            return nil
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// One of `values`, by its name.
    mutating func choice<Value>(_ name: String, of values: [Value], named valueName: (Value) -> String) -> Value? {
        guard let (node, key) = value(name) else { return nil }
        return choice(node, key: key, of: values, named: valueName)
    }

    func choice<Value>(_ node: JSONNode, key: String, of values: [Value], named valueName: (Value) -> String) -> Value?
    {
        guard let text = string(node, key: key) else { return nil }
        if let value = values.first(where: { valueName($0) == text }) { return value }
        let names = values.map(valueName).joined(separator: ", ")
        file.report(
            .unknownName, key: key, offset: node.offset,
            "must be one of \(names), found \(KeyPathText.excerpt(of: text))"
                + NearestName.question(text, among: values.map(valueName)))
        return nil
    }

    mutating func object(_ name: String, orNull: Bool = false) -> CheckedObject? {
        guard let (node, key) = value(name), !(orNull && node.isNull) else { return nil }
        return CheckedObject(node, key: key, file: file)
    }

    mutating func list(_ name: String, count: ClosedRange<Int>, of what: String) -> [(node: JSONNode, key: String)]? {
        guard let (node, key) = value(name) else { return nil }
        guard let elements = node.array else {
            file.report(
                .wrongType, key: key, offset: node.offset, "must be a list of \(what), found \(node.kind.article)")
            return nil
        }
        guard count.contains(elements.count) || file.isIncomplete(key) else {
            file.report(
                .outOfRange, key: key, offset: node.offset,
                "must list \(count.lowerBound) to \(count.upperBound) \(what), found \(elements.count)")
            return nil
        }
        return elements.enumerated().map { index, element in
            let path = "\(key)[\(index)]"
            file.note(key: path, offset: element.offset)
            return (element, path)
        }
    }

    /// A fault where `name` must be stated and is not.
    func require(_ name: String, _ what: String) {
        guard !members.contains(where: { $0.key == name }), !file.isIncomplete(key) else { return }
        let path = KeyPathText.join(key, name)
        file.report(.missing, key: path, offset: offset, "missing: \(what)")
    }

    /// Call it last: whatever was not asked for is an unknown key.
    func end() {
        for member in members where !knownKeys.contains(member.key) {
            file.report(
                .unknownKey, key: KeyPathText.join(key, member.key), offset: member.keyOffset,
                "unknown key: known here are \(knownKeys.joined(separator: ", "))"
                    + NearestName.question(member.key, among: knownKeys))
        }
    }

    private func string(_ node: JSONNode, key: String) -> String? {
        guard let string = node.string else {
            file.report(.wrongType, key: key, offset: node.offset, "must be a string, found \(node.kind.article)")
            return nil
        }
        return string
    }

    /// Whole numbers without a fraction, as people write them.
    static func text(_ number: Double) -> String {
        let text = number.magnitude < 1e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
        return text
    }
}
