import HeadroomHTTP
import HeadroomJSON
import Testing

@Suite struct OpenAPITests {
    private static let methods: Set<String> = ["get", "put", "post", "delete"]

    private func withDocument(_ body: @Sendable (JSONNode, ServiceFixture) throws -> Void) async throws {
        try await ServiceFixture.run { fixture in
            let reply = try await fixture.client().get("/openapi.json")
            try body(try JSONNode.parse(reply.body), fixture)
        }
    }

    @Test func `every call is described, and nothing else is`() async throws {
        try await withDocument { document, fixture in
            let described = (document["paths"]?.members ?? []).flatMap { path in
                (path.value.members ?? []).map(\.key).filter(Self.methods.contains)
                    .map { "\($0.uppercased()) \(path.key)" }
            }
            #expect(described.sorted() == fixture.service.calls.sorted())
        }
    }

    @Test func `every reference leads somewhere, and every schema is used`() async throws {
        try await withDocument { document, _ in
            var used: Set<String> = []
            func visit(_ node: JSONNode) {
                if let reference = node["$ref"]?.string {
                    used.insert(reference)
                    var target: JSONNode? = document
                    for part in reference.split(separator: "/").dropFirst() { target = target?[String(part)] }
                    #expect(target != nil, "\(reference)")
                }
                for member in node.members ?? [] { visit(member.value) }
                for element in node.array ?? [] { visit(element) }
            }
            visit(document)
            for kind in ["schemas", "parameters", "responses"] {
                for member in document["components"]?[kind]?.members ?? [] {
                    #expect(used.contains("#/components/\(kind)/\(member.key)"), "\(member.key) is not used")
                }
            }
        }
    }

    @Test func `every call of people says what it takes, what it answers and that it may fail`() async throws {
        try await withDocument { document, _ in
            for path in document["paths"]?.members ?? [] where path.key.hasPrefix("/v1/") {
                for operation in (path.value.members ?? []) where Self.methods.contains(operation.key) {
                    let name = "\(operation.key) \(path.key)"
                    #expect(operation.value["summary"]?.string?.contains("role") == true, "\(name)")
                    let takesBody = operation.key == "put" || operation.key == "post"
                    #expect((operation.value["requestBody"] != nil) == takesBody, "\(name)")
                    let answers = operation.value["responses"]?.members ?? []
                    #expect(answers.contains { $0.key.hasPrefix("2") }, "\(name)")
                    // Each error by its status: a reader wants to know which there are.
                    #expect(answers.allSatisfy { Int($0.key) != nil }, "\(name): \(answers.map(\.key))")
                    #expect(answers.contains { $0.key.hasPrefix("4") }, "\(name)")
                    #expect(Set(answers.map(\.key)).isSuperset(of: ["401", "403", "503"]), "\(name)")
                    let hasPlace = path.key.contains("{id}")
                    let parameters =
                        (operation.value["parameters"]?.array ?? []) + (path.value["parameters"]?.array ?? [])
                    let named = parameters.contains {
                        $0["in"]?.string == "path" || $0["$ref"]?.string == "#/components/parameters/Id"
                    }
                    #expect(hasPlace == named, "\(name)")
                }
            }
        }
    }
}
