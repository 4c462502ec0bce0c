import HeadroomModel
import Synchronization

/// Turns a request's credentials into what it may do.
///
/// Tokens are looked up by their SHA-256, so how long a look-up takes tells nothing of a token.
package final class AccessControl: Sendable {
    private struct State {
        /// By the digest of the secret.
        var tokens: [[UInt8]: AccessToken] = [:]
        var isOpen = true
        /// Names of those that have been used since somebody asked.
        var used: Set<String> = []
    }

    private let state = Mutex(State())
    private let changes = Atomic(0)
    private let digest: @Sendable ([UInt8]) -> [UInt8]
    private let time: TimeSource

    /// `digest` is SHA-256.
    ///
    /// - Parameter wasClosed: there has been a token before, whatever became of it.
    package init(
        tokens: [AccessToken], wasClosed: Bool = false, time: TimeSource,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.time = time
        self.digest = digest
        if wasClosed { state.withLock { $0.isOpen = false } }
        replace(tokens)
    }

    /// Replaces all known tokens. When they differ, requests on open connections are checked anew, also parked ones.
    ///
    /// Once there has been a token, no token means no access: the service must not open when the last one is revoked.
    package func replace(_ tokens: [AccessToken]) {
        let isChanged = state.withLock { state in
            let known = state.tokens
            // When a token was last used decides nothing.
            state.tokens = Dictionary(
                tokens.map { token in
                    var token = token
                    token.used = nil
                    return (token.secretDigest, token)
                }, uniquingKeysWith: { first, _ in first })
            if !tokens.isEmpty { state.isOpen = false }
            return state.tokens != known
        }
        if isChanged { changes.add(1, ordering: .releasing) }
    }

    /// True while there has been no token: everybody may do everything, so only this machine may be served.
    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// The tokens that opened a connection or made another call on one since this was asked last; ascending by name.
    package func takeUsedNames() -> [String] {
        state.withLock { state in
            defer { state.used = [] }
            return state.used.sorted()
        }
    }

    /// Differs from what it was before when tokens have changed since.
    var version: Int { changes.load(ordering: .acquiring) }

    func isExpired(_ instant: Timestamp?) -> Bool {
        instant.map { $0 <= time.now() } ?? false
    }

    /// `authorization` is the header's value.
    func grant(authorization: String?) throws(HTTPError) -> AccessGrant {
        if isOpen { return .everything }
        let wanted = "send the header \"Authorization: Bearer TOKEN\""
        guard let authorization else { throw HTTPError(.unauthenticated, "this call takes a token; \(wanted)") }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw HTTPError(.unauthenticated, "the header Authorization holds no bearer token; \(wanted)")
        }
        let key = digest(Array(parts[1].utf8))
        let known = state.withLock { state in
            let token = state.tokens[key]
            if let token { state.used.insert(token.name) }
            return token.map { AccessGrant($0) }
        }
        guard let grant = known else {
            throw HTTPError(.unauthenticated, "the token is not known; it may have been revoked")
        }
        if isExpired(grant.expiresAt) { throw HTTPError(.unauthenticated, "the token \"\(grant.name)\" has ended") }
        return grant
    }
}
