import HeadroomJSON

// Which errors a call may answer follows from what it takes: they are added to those that its text lists, in place of
// `default`.
extension OpenAPIDocument {
    /// The document with the errors of each call by their status.
    static func listingErrors(in text: [UInt8]) -> [UInt8] {
        guard let document = try? JSONNode.parse(text) else { preconditionFailure("the document is no JSON") }
        return document.replacing("paths") { paths in
            paths.mapMembers { path, calls in
                calls.mapMembers { method, call in
                    guard let responses = call["responses"] else { return call }
                    return call.replacing("responses") { _ in
                        list(errors(of: call, method, at: path), in: responses)
                    }
                }
            }
        }.encoded()
    }

    private static func list(_ statuses: Set<Int>, in responses: JSONNode) -> JSONNode {
        var members = (responses.members ?? []).filter { $0.key != "default" }
        let problem = JSONNode(
            .object([JSONMember(key: "$ref", value: JSONNode(.string("#/components/responses/Problem")))]))
        for status in statuses where responses["\(status)"] == nil {
            members.append(JSONMember(key: "\(status)", value: problem))
        }
        return JSONNode(.object(members.sorted { $0.key < $1.key }))
    }

    private static func errors(of call: JSONNode, _ method: String, at path: String) -> Set<Int> {
        // A request that cannot be read, that another site's page makes, or with a body that nobody asked for; what
        // nobody foresaw; a service that starts, ends, or cannot reach its disk.
        var statuses: Set = [400, 403, 413, 500, 503]
        // Signing in is open to everybody, and a wrong token is refused; after many of them for a while.
        if path.hasPrefix("/v1/") || call["security"] == nil { statuses.formUnion([401, 429]) }
        // Names in the path or in the query.
        if path.hasPrefix("/v1/") { statuses.insert(404) }
        if method != "get" { statuses.insert(409) }
        if call["requestBody"] != nil { statuses.insert(415) }
        return statuses
    }
}

extension JSONNode {
    fileprivate func replacing(_ key: String, _ change: (JSONNode) -> JSONNode) -> JSONNode {
        mapMembers { $0 == key ? change($1) : $1 }
    }

    /// Itself where it is no object.
    fileprivate func mapMembers(_ change: (String, JSONNode) -> JSONNode) -> JSONNode {
        guard let members else { return self }
        return JSONNode(.object(members.map { JSONMember(key: $0.key, value: change($0.key, $0.value)) }))
    }
}
