import HeadroomDashboard
import HeadroomHTTP
import HeadroomModel
import Testing

@Suite struct DashboardTests {
    @Test func `each file is served to anybody, under a policy that lets in nothing else`() async throws {
        try await ServiceFixture.run(tokens: [.sample("viewer", .viewer)]) { fixture in
            let client = try fixture.client()
            for file in DashboardFile.all {
                let reply = try await client.get(file.path)
                #expect(reply.status == 200 && reply.body == file.bytes, "\(file.path)")
                #expect(reply.headers["content-type"] == file.type && reply.headers["cache-control"] == "no-cache")
                let policy = reply.headers["content-security-policy"] ?? ""
                #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"), "\(policy)")
                let tag = try #require(reply.headers["etag"])
                let again = try await client.get(file.path, headers: ["If-None-Match: \(tag)"])
                #expect(again.status == 304 && again.body.isEmpty)
                let packed = try await client.get(file.path, headers: ["Accept-Encoding: gzip"])
                #expect(packed.headers["content-encoding"] == (file.bytes.count >= 1024 ? "gzip" : nil), "\(file.path)")
            }
        }
    }

    @Test func `the page names nobody else, has nothing inline, and no text becomes markup`() {
        let forbidden = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        for file in DashboardFile.all {
            let text = String(decoding: file.bytes, as: UTF8.self)
                .replacing("http://www.w3.org/2000/svg", with: "")
            for word in forbidden + ["http://", "https://", "style=\"", "<style", "onclick=\""] {
                #expect(!text.contains(word), "\(file.path): \(word)")
            }
        }
    }

    @Test func `each module that a file loads is there, and each file is loaded`() {
        let texts = DashboardFile.all.map { (path: $0.path, text: String(decoding: $0.bytes, as: UTF8.self)) }
        var named: Set<String> = ["/"]
        for (_, text) in texts {
            for piece in text.split(separator: "\"") where piece.hasPrefix("/dashboard/") {
                named.insert(String(piece))
            }
        }
        #expect(named == Set(texts.map(\.path)))
    }

    /// With the answers of the first view it stays below 300 KB, which `.ci/dashboard --scale` measures.
    @Test func `all of it is below 220 KB`() {
        #expect(DashboardFile.all.reduce(0) { $0 + $1.bytes.count } < 220_000)
    }
}
