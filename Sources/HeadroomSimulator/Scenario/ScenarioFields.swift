import HeadroomJSON

/// One object of a scenario file: hands out its values by key, and at the end names a key that nobody asked for.
struct ScenarioFields {
    private let members: [JSONMember]
    /// The path to the object, with a dot behind it; empty for the document.
    private let path: String
    private var known: [String] = []

    init(_ node: JSONNode, at path: String) throws(ScenarioError) {
        guard let members = node.members else {
            throw ScenarioError(message: "\(path.isEmpty ? "the scenario" : path): must be an object")
        }
        self.members = members
        self.path = path.isEmpty ? "" : path + "."
    }

    private mutating func value(_ key: String) -> JSONNode? {
        known.append(key)
        return members.first { $0.key == key }?.value
    }

    mutating func number(_ key: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double? {
        guard let node = value(key) else { return nil }
        guard let number = node.number, range.contains(number) else {
            throw ScenarioError(
                message: "\(path)\(key): must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func required(_ key: String, in range: ClosedRange<Double>) throws(ScenarioError) -> Double {
        guard let number = try number(key, in: range) else {
            throw ScenarioError(
                message: "\(path)\(key): missing: a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func whole(_ key: String, in range: ClosedRange<Int>) throws(ScenarioError) -> Int? {
        guard let node = value(key) else { return nil }
        guard let number = node.number, let whole = Int(exactly: number), range.contains(whole) else {
            throw ScenarioError(
                message: "\(path)\(key): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    mutating func flag(_ key: String) throws(ScenarioError) -> Bool? {
        guard let node = value(key) else { return nil }
        guard let flag = node.bool else { throw ScenarioError(message: "\(path)\(key): must be true or false") }
        return flag
    }

    mutating func text(_ key: String) throws(ScenarioError) -> String {
        guard let text = value(key)?.string, !text.isEmpty else {
            throw ScenarioError(message: "\(path)\(key): must be a text that is not empty")
        }
        return text
    }

    mutating func choice(_ key: String, of words: [String]) throws(ScenarioError) -> String? {
        guard let node = value(key) else { return nil }
        guard let word = node.string, words.contains(word) else {
            throw ScenarioError(message: "\(path)\(key): must be one of \(words.joined(separator: ", "))")
        }
        return word
    }

    mutating func requiredChoice(_ key: String, of words: [String]) throws(ScenarioError) -> String {
        guard let word = try choice(key, of: words) else {
            throw ScenarioError(message: "\(path)\(key): missing: one of \(words.joined(separator: ", "))")
        }
        return word
    }

    mutating func object(_ key: String) throws(ScenarioError) -> ScenarioFields? {
        guard let node = value(key) else { return nil }
        return try ScenarioFields(node, at: path + key)
    }

    /// Empty where the key is absent.
    mutating func list(_ key: String) throws(ScenarioError) -> [ScenarioFields] {
        guard let node = value(key) else { return [] }
        guard let elements = node.array else { throw ScenarioError(message: "\(path)\(key): must be a list") }
        var fields: [ScenarioFields] = []
        for (index, element) in elements.enumerated() {
            fields.append(try ScenarioFields(element, at: "\(path)\(key)[\(index)]"))
        }
        return fields
    }

    /// Call it last.
    func end() throws(ScenarioError) {
        guard let unknown = members.first(where: { !known.contains($0.key) }) else { return }
        throw ScenarioError(
            message: "\(path)\(unknown.key): unknown key: known here are \(known.joined(separator: ", "))")
    }
}
