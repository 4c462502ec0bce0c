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
}
