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

    @Test func `the secret is nowhere in the files`() async throws {
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
