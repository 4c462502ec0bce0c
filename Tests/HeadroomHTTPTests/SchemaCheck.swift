import HeadroomHTTP
import HeadroomJSON

/// As much of JSON Schema as the service's OpenAPI document uses, and one rule more: a member that the document does not
/// name is a fault.
struct SchemaCheck: Sendable {
    let document: JSONNode

    static let openAPI = SchemaCheck(document: (try? JSONNode.parse(OpenAPIDocument.bytes)) ?? JSONNode(.null))

    func schema(_ name: String) -> JSONNode { document["components"]?["schemas"]?[name] ?? JSONNode(.null) }

    // MARK: Answers

    /// Each as `place: what is wrong`.
    func faults(in reply: RawClient.Reply, to method: String, _ target: String) -> [String] {
        let path = String(target.prefix { $0 != "?" })
        guard let operation = operation(method.lowercased(), path) else { return [] }
        let responses = operation["responses"]
        guard var response = responses?["\(reply.status)"] ?? responses?["default"] else {
            return ["the status \(reply.status) is not described"]
        }
        if let reference = response["$ref"]?.string { response = resolve(reference) }
        let content = response["content"]?.members ?? []
        guard let schema = content.first?.value["schema"] else {
            return reply.body.isEmpty ? [] : ["there is a body, and none is described"]
        }
        guard content[0].key.hasSuffix("json") else { return [] }
        return faults(of: reply.json, against: schema, at: "")
    }

    /// `nil` for a path or a method that is not described.
    private func operation(_ method: String, _ path: String) -> JSONNode? {
        let given = path.split(separator: "/", omittingEmptySubsequences: false)
        let found = (document["paths"]?.members ?? []).filter { described in
            let wanted = described.key.split(separator: "/", omittingEmptySubsequences: false)
            return wanted.count == given.count && zip(wanted, given).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        // `/v1/tenants/import` before `/v1/tenants/{id}`.
        return (found.first { !$0.key.contains("{") } ?? found.first)?.value[method]
    }

    private func resolve(_ reference: String) -> JSONNode {
        reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? JSONNode(.null) }
    }

    // MARK: Values

    func faults(of value: JSONNode, against schema: JSONNode, at place: String) -> [String] {
        let parts = parts(of: schema)
        var faults: [String] = []
        for part in parts {
            if let type = part["type"] {
                let names = type.array?.compactMap(\.string) ?? [type.string ?? ""]
                if !names.contains(where: { Self.isType($0, value) }) {
                    // What is of another type needs no further look.
                    return ["\(place): is no \(names.joined(separator: " or "))"]
                }
            }
            if let allowed = part["enum"]?.array, !allowed.contains(where: { Self.isSame($0, value) }) {
                faults.append("\(place): is none of the listed values")
            }
            if let constant = part["const"], !Self.isSame(constant, value) {
                faults.append("\(place): is not \(constant.string ?? "the constant")")
            }
            if let least = part["minimum"]?.number, let number = value.number, number < least {
                faults.append("\(place): is below \(least)")
            }
            if let most = part["maximum"]?.number, let number = value.number, number > most {
                faults.append("\(place): is above \(most)")
            }
            for name in part["required"]?.array?.compactMap(\.string) ?? []
            where value.members != nil && value[name] == nil {
                faults.append("\(place): has no \(name)")
            }
            if let forbidden = part["not"], self.faults(of: value, against: forbidden, at: place).isEmpty {
                faults.append("\(place): is what it must not be")
            }
            if let choices = part["oneOf"]?.array {
                let results = choices.map { self.faults(of: value, against: $0, at: place) }
                let count = results.count(where: \.isEmpty)
                if count != 1 {
                    faults.append("\(place): \(count) of the choices fit: \(results.joined().joined(separator: "; "))")
                }
            }
            for (index, element) in (value.array ?? []).enumerated() {
                guard let items = part["items"] else { continue }
                faults += self.faults(of: element, against: items, at: "\(place).\(index)")
            }
        }
        return faults + memberFaults(of: value, parts, at: place)
    }

    /// All that holds of a value at once: the schema itself, what it refers to, and what it is made of.
    private func parts(of schema: JSONNode) -> [JSONNode] {
        let referred = schema["$ref"]?.string.map { parts(of: resolve($0)) } ?? []
        return [schema] + referred + (schema["allOf"]?.array ?? []).flatMap(parts)
    }

    private func memberFaults(of value: JSONNode, _ parts: [JSONNode], at place: String) -> [String] {
        // A schema that describes no members says nothing of them.
        let describesMembers = parts.contains { $0["properties"] != nil || $0["additionalProperties"] != nil }
        guard describesMembers else { return [] }
        return (value.members ?? []).flatMap { member in
            let place = "\(place).\(member.key)"
            let named = parts.compactMap { $0["properties"]?[member.key] }
            let rest = parts.compactMap { $0["additionalProperties"] }.filter { $0.bool != false }
            let schemas = named.isEmpty ? rest : named
            if schemas.isEmpty { return ["\(place): is not described"] }
            return schemas.flatMap { faults(of: member.value, against: $0, at: place) }
        }
    }

    private static func isType(_ name: String, _ value: JSONNode) -> Bool {
        switch name {
        case "object": value.members != nil
        case "array": value.array != nil
        case "string": value.string != nil
        case "integer": value.number.map { $0 == $0.rounded() } ?? false
        case "number": value.number != nil
        case "boolean": value.bool != nil
        case "null": value.isNull
        default: false
        }
    }

    private static func isSame(_ left: JSONNode, _ right: JSONNode) -> Bool { left.encoded() == right.encoded() }
}
