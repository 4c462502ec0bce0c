import Foundation
import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct TokenStoreTests {
    @Test func `a token comes back with its scope and its secret's digest, and is valid until it ends or is revoked`()
        async throws
    {
        let store = TokenStore(connection: try TemporaryDatabase().writer)
        let first = try await store.create(
            name: "edge", role: .gateway, secret: "abc", gateways: ["gw-2", "gw-1"], pools: ["openai:gpt-4o"],
            tenants: ["acme"], expires: start.adding(seconds: 60), at: start)
        let second = try await store.create(name: "ops", role: .sre, secret: "other", at: start)
        #expect(try await store.all() == [first, second])
        #expect(first.gateways == ["gw-1", "gw-2"])
        #expect(first.secretDigest == SHA256.digest(of: Array("abc".utf8)))
        #expect(first.isValid(at: start.adding(seconds: 59)))
        #expect(!first.isValid(at: start.adding(seconds: 60)))

        #expect(second.isValid(at: start.adding(seconds: 1e9)))
        #expect(try await store.revoke(name: "ops", at: start.adding(seconds: 5)))
        #expect(try await !store.revoke(name: "ops", at: start.adding(seconds: 6)))
        #expect(try await !store.revoke(name: "nobody", at: start))
        let revoked = try await store.all()[1]
        #expect(revoked.revoked == start.adding(seconds: 5))
        #expect(!revoked.isValid(at: start.adding(seconds: 7)))
    }

    @Test func `a share link ends with its maker's token, and one person has a bounded number of them`() async throws {
        let store = TokenStore(connection: try TemporaryDatabase().writer)
        _ = try await store.create(
            name: "ann", role: .success, secret: "a", expires: start.adding(seconds: 100), at: start)
        _ = try await store.create(name: "bob", role: .success, secret: "b", at: start)
        func link(_ number: Int, _ maker: String, seconds: Double = 500, at now: Timestamp = start) async throws
            -> AccessToken
        {
            try await store.createLink(
                name: "share-\(maker)-\(number)", secret: "\(maker)\(number)", tenant: "acme", pools: ["p"],
                until: now.adding(seconds: seconds), by: maker, at: now)
        }
        let first = try await link(0, "ann")
        #expect(first.expires == start.adding(seconds: 100), "it ends no later than her own")
        #expect(first.role == .viewer && first.tenants == ["acme"] && first.pools == ["p"] && first.maker == "ann")
        #expect(try await link(1, "ann", seconds: 50).expires == start.adding(seconds: 50))
        let own = try await link(0, "bob")
        #expect(own.expires == start.adding(seconds: 500))

        for number in 1..<Int(TokenStore.maxLinksOfOne) { _ = try await link(number, "bob") }
        let many = await #expect(throws: SteeringError.self) { try await link(999, "bob") }
        #expect(many?.code == .conflict && many?.message.contains("100 links of one person") == true)
        _ = try await link(2, "ann")
        // Those that have ended make room.
        let later = start.adding(seconds: 500)
        _ = try await link(1000, "bob", at: later)

        let late = await #expect(throws: SteeringError.self) { try await link(3, "ann", at: later) }
        #expect(late?.message == "the token ann has ended, and its links with it")
        #expect(try await store.revoke(name: "bob", at: later))
        let bobs = try await store.all().filter { $0.maker == "bob" }
        #expect(bobs.count == 101 && bobs.allSatisfy { $0.revoked == later && !$0.isValid(at: later) })
        let none = await #expect(throws: SteeringError.self) { try await link(2000, "bob", at: later) }
        #expect(none?.code == .conflict)
        #expect(try await store.all().first { $0.name == "share-ann-0" }?.revoked == nil)
    }

    @Test func `a name is used once, so that a revoked token's use stays told apart`() async throws {
        let store = TokenStore(connection: try TemporaryDatabase().writer)
        _ = try await store.create(name: "edge", role: .viewer, secret: "1", at: start)
        _ = try await store.revoke(name: "edge", at: start)
        let error = await #expect(throws: StorageError.self) {
            try await store.create(name: "edge", role: .viewer, secret: "2", at: start)
        }
        #expect(error?.code == .constraint)
        #expect(error?.message.contains("choose another name") == true)
        #expect(try await store.all().count == 1)
    }

    @Test(.enabled(if: TestEngine.isSQLite)) func `the secret is nowhere in the files`() async throws {
        let database = try TemporaryDatabase()
        let secret = "hr_5f4dcc3b5aa765d61d8327deb882cf99"
        _ = try await TokenStore(connection: database.writer)
            .create(name: "edge", role: .gateway, secret: secret, gateways: ["gw-1"], at: start)
        for suffix in ["", "-wal"] {
            let bytes = try Data(contentsOf: URL(filePath: database.path + suffix))
            #expect(bytes.range(of: Data(secret.utf8)) == nil)
        }
    }

    @Test func `making, using and revoking a token is in the audit log, its use once an hour`() async throws {
        let database = try TemporaryDatabase()
        let store = TokenStore(connection: database.writer)
        _ = try await store.create(name: "edge", role: .viewer, secret: "s", by: "root", at: start)
        for second in stride(from: 0.0, through: 7_200, by: 600) {
            try await store.noteUse(of: ["edge", "edge", "nobody"], at: start.adding(seconds: second))
        }
        // After a start the row still knows.
        try await TokenStore(connection: database.writer).noteUse(of: ["edge"], at: start.adding(seconds: 9_000))
        _ = try await store.revoke(name: "edge", at: start.adding(seconds: 9_100))
        let entries = try await database.auditReader().entries(after: 0, limit: 100)
        #expect(
            entries.map(\.action) == ["token.create", "token.use", "token.use", "token.use", "token.revoke"])
        #expect(entries.map(\.author) == ["root", "edge", "edge", "edge", "command line"])
        #expect(try await store.all()[0].used == start.adding(seconds: 7_200))
        #expect(!entries.map(\.detail).joined().contains("secret"))
    }
}
