import Foundation
import HeadroomJSON
import Testing

@Suite struct ExportTests {
    /// The file that one export writes, with two tenants of 60 rpm each.
    private func export(_ format: String, file: String) async throws -> String {
        let house = try House()
        return try await RunningService.run(house) { service in
            let contracts = try house.directory.write(
                "tenant,pool,floor_rpm,floor_tpm\nacme,\(House.pool),60,60000\nbeta,\(House.pool),60,60000\n",
                to: "contracts.csv")
            let url = "http://127.0.0.1:\(service.client.port)"
            let imported = try await HeadroomProgram.run("tenants", "import", contracts, "--url", url, "--yes")
            #expect(imported.code == 0, "\(imported.errors)")
            _ = try await service.client.poll("/v1/allocations") { $0.text.contains("beta") }
            let outcome = try await HeadroomProgram.run(
                "export", "--format", format, "--out", house.directory.file(""), "--url", url)
            #expect(outcome.code == 0 && outcome.errors == "", "\(outcome.errors)")
            return try String(contentsOfFile: house.directory.file(file), encoding: .utf8)
        }
    }

    @Test func `a map for HAProxy has each tenant's number and the pool's, and no tenant can be called budget`()
        async throws
    {
        let lines = try await export("haproxy-map", file: "headroom.map").split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("\(House.pool)/rpm/t/acme ") })
        #expect(lines.contains { $0.hasPrefix("\(House.pool)/tpm/p/budget ") })
        #expect(lines.allSatisfy { $0.split(separator: " ").count == 2 && Int($0.split(separator: " ")[1]) != nil })
    }

    @Test func `tenants without a contract share what is assured to nobody`() async throws {
        let lines = try await export("haproxy-map", file: "headroom.map").split(separator: "\n")
        func number(_ name: String) throws -> Int {
            let line = try #require(lines.first { $0.hasPrefix("\(House.pool)/rpm/\(name) ") })
            return try #require(Int(line.split(separator: " ")[1]))
        }
        // The snapshot alone gives them a hundredth.
        #expect(try number("p/unlisted") > number("p/budget") / 50)
    }

    @Test func `a route table for Envoy has a route for each tenant and one for the others`() async throws {
        let file = try JSONNode.parse(Array(try await export("envoy-rds", file: "headroom-rds.json").utf8))
        let routes = file["resources"]?.array?.first?["virtual_hosts"]?.array?.first?["routes"]?.array ?? []
        let tenants = routes.map { $0["match"]?["headers"]?.array?.first?["string_match"]?["exact"]?.string }
        #expect(tenants == ["acme", "beta", nil])
    }

    @Test func `rate limits for envoyproxy's service are per second from sixty a minute on`() async throws {
        let text = try await export("envoy-ratelimit", file: "headroom.yaml")
        #expect(text.hasPrefix("domain: headroom\n") && text.contains("    value: \"acme\"\n"))
        #expect(text.contains("unit: second"))
    }

    @Test func `a format that there is not is answered with those that there are`() async throws {
        let outcome = try await HeadroomProgram.run("export", "--format", "kong", "--out", ".")
        #expect(outcome.code == 2 && outcome.errors.contains("haproxy-map, envoy-rds, envoy-ratelimit"))
    }
}
