import HeadroomJSON
import HeadroomModel

/// Why a person's body was not taken: every fault in it, not only the first.
package struct BodyError: Error, Equatable, Sendable {
    /// Never empty; in the order in which the fields are read, unknown ones last.
    package let faults: [ProblemDocument.Fault]
}

/// An object that a person sent, read strictly: every fault is gathered with its path, and a field that nobody asked
/// for is one, so that `"teir"` does not pass for no tier.
///
/// Each function returns `nil` where the field is absent or null, or where its value is refused and noted as a fault.
struct StrictObject {
    private let members: [JSONMember]
    /// To this object, from the document's root; empty for the document.
    private let path: String
    private let faults: FaultList
    private var known: [String] = []

    /// All objects of one document note their faults here.
    private final class FaultList {
        var all: [ProblemDocument.Fault] = []
    }

    /// The whole of `bytes` as one object.
    init(document bytes: [UInt8]) throws(BodyError) {
        let document: JSONNode
        do { document = try JSONNode.parse(bytes) } catch {
            throw BodyError(faults: [
                .init(.line(JSONPosition(of: error.offset, in: bytes).line), "not valid JSON: \(error.message)")
            ])
        }
        guard let members = document.members else {
            throw BodyError(faults: [.init(.path(""), "must be an object, found \(document.kind.article)")])
        }
        self.init(members: members, path: "", faults: FaultList())
    }

    private init(members: [JSONMember], path: String, faults: FaultList) {
        self.members = members
        self.path = path
        self.faults = faults
    }

    /// Whether the field is there and not null.
    func has(_ name: String) -> Bool { members.contains { $0.key == name && !$0.value.isNull } }

    /// Notes a fault of the field `name`.
    func report(_ name: String, _ detail: String) {
        faults.all.append(.init(.path(place(name)), detail))
    }

    /// Call it last: whatever was not asked for is an unknown field.
    func end() {
        for member in members where !known.contains(member.key) {
            report(
                String(member.key.unicodeScalars.prefix(64)),
                "unknown field; known are \(known.joined(separator: ", "))")
        }
    }

    /// Throws when anything was wrong, in this object or in those inside it.
    func check() throws(BodyError) {
        guard faults.all.isEmpty else { throw BodyError(faults: faults.all) }
    }

    // MARK: Fields

    mutating func identifier<Kind>(_ name: String, isRequired: Bool = false) -> Identifier<Kind>? {
        let rule = "must be a name: \(Identifier<Kind>.rule)"
        guard let node = value(name, isRequired ? rule : nil) else { return nil }
        guard let identifier = node.string.flatMap(Identifier<Kind>.init) else {
            report(name, rule)
            return nil
        }
        return identifier
    }

    /// A list of 1 to `most` names; `nil` when it is absent.
    mutating func identifiers<Kind>(_ name: String, most: Int) -> [Identifier<Kind>]? {
        guard let node = value(name, nil) else { return nil }
        let found = node.array?.map { $0.string.flatMap(Identifier<Kind>.init) } ?? []
        let identifiers = found.compactMap(\.self)
        guard (1...most).contains(found.count), identifiers.count == found.count else {
            report(name, "must be a list of 1 to \(most) names: \(Identifier<Kind>.rule)")
            return nil
        }
        return identifiers
    }

    /// Not blank, and without control characters.
    mutating func text(_ name: String, most: Int, isRequired: Bool = false) -> String? {
        let rule = "must be a text of 1 to \(most) characters without line breaks"
        guard let node = value(name, isRequired ? rule : nil) else { return nil }
        guard let text = node.string, text.unicodeScalars.count <= most,
            text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            report(name, rule)
            return nil
        }
        return text
    }

    mutating func number(
        _ name: String, in range: ClosedRange<Double>, _ unit: String, isRequired: Bool = false, isWhole: Bool = false
    ) -> Double? {
        let least = GroupedNumber.plain(range.lowerBound)
        let most = GroupedNumber.plain(range.upperBound)
        let rule = "must be a \(isWhole ? "whole number" : "number") from \(least) to \(most) (\(unit))"
        guard let node = value(name, isRequired ? rule : nil) else { return nil }
        guard let number = node.number, range.contains(number), !isWhole || number == number.rounded() else {
            report(name, rule)
            return nil
        }
        return number
    }

    mutating func bool(_ name: String) -> Bool? {
        guard let node = value(name, nil) else { return nil }
        if node.bool == nil { report(name, "must be true or false") }
        return node.bool
    }

    /// Rates of some resources, as `{"rpm":600,"tpm":90000}`.
    mutating func rates(_ name: String, isRequired: Bool = false) -> Rates? {
        let names = Resource.allCases.map(\.rateName).joined(separator: ", ")
        let rule = "must be an object with rates per minute: some of \(names)"
        guard let node = value(name, isRequired ? rule : nil) else { return nil }
        guard let members = node.members else {
            report(name, rule)
            return nil
        }
        var object = StrictObject(members: members, path: place(name), faults: faults)
        var rates = Rates()
        for resource in Resource.allCases {
            // From 0 to far above any provider's limit, as in imported contracts.
            rates[resource] = object.number(resource.rateName, in: 0...1e12, "\(resource.name) per minute")
        }
        object.end()
        return rates
    }

    /// In millionths of a currency's unit.
    mutating func money(_ name: String, isRequired: Bool = false) -> Int64? {
        number(
            name, in: 0...CostTerms.largest, "millionths of the currency's unit", isRequired: isRequired, isWhole: true
        ).map { Int64($0) }
    }

    mutating func object(_ name: String) -> StrictObject? {
        guard let node = value(name, nil) else { return nil }
        guard let members = node.members else {
            report(name, "must be an object, found \(node.kind.article)")
            return nil
        }
        return StrictObject(members: members, path: place(name), faults: faults)
    }

    /// A list of at most `most` objects; absent is empty.
    mutating func objects(_ name: String, most: Int) -> [StrictObject] {
        guard let node = value(name, nil) else { return [] }
        guard let elements = node.array, elements.count <= most else {
            report(name, "must be a list of at most \(most) objects")
            return []
        }
        var objects: [StrictObject] = []
        for (index, element) in elements.enumerated() {
            let place = "\(place(name)).\(index)"
            guard let members = element.members else {
                faults.all.append(.init(.path(place), "must be an object, found \(element.kind.article)"))
                continue
            }
            objects.append(StrictObject(members: members, path: place, faults: faults))
        }
        return objects
    }

    /// A member of `name` that is not null; from now on the name is a known one. `rule` is part of the fault when a required member is missing.
    private mutating func value(_ name: String, _ rule: String?) -> JSONNode? {
        known.append(name)
        if let node = members.first(where: { $0.key == name })?.value, !node.isNull { return node }
        if let rule { report(name, "is missing: \(rule)") }
        return nil
    }

    private func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
