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
    private let sessions = Sessions()
    private let changes = Atomic(0)
    /// SHA-256.
    let digest: @Sendable ([UInt8]) -> [UInt8]
    /// Browsers reach the service by TLS only.
    let hasSecureCookies: Bool
    private let time: TimeSource

    /// `digest` is SHA-256.
    ///
    /// - Parameter wasClosed: there has been a token before, whatever became of it.
    package init(
        tokens: [AccessToken], wasClosed: Bool = false, hasSecureCookies: Bool = false, time: TimeSource,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.hasSecureCookies = hasSecureCookies
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

    func grant(_ credentials: Credentials) throws(HTTPError) -> AccessGrant {
        if isOpen { return .everything }
        let wanted = "send the header \"Authorization: Bearer TOKEN\""
        guard let authorization = credentials.authorization else {
            if let user = credentials.user { return try grant(user: user) }
            let secrets = secrets(credentials)
            if !secrets.isEmpty { return try grant(sessions: secrets) }
            throw HTTPError(.unauthenticated, "this call takes a token; \(wanted)")
        }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw HTTPError(.unauthenticated, "the header Authorization holds no bearer token; \(wanted)")
        }
        return try grant(tokenDigest: digest(Array(parts[1].utf8)))
    }

    private func grant(tokenDigest key: [UInt8]) throws(HTTPError) -> AccessGrant {
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

    // MARK: Browsers

    /// What the token of that name may do, without its secret: a trusted proxy has signed its holder in.
    private func grant(user: String) throws(HTTPError) -> AccessGrant {
        let token = state.withLock { state in
            let token = state.tokens.values.first { $0.name == user }
            if let token { state.used.insert(token.name) }
            return token
        }
        guard let token else {
            throw HTTPError(
                .forbidden,
                "the proxy has signed in \"\(user)\", and no token has this name; make one with \"headroom "
                    + "token create --name \(user) --role ROLE\"")
        }
        guard token.role != .gateway else {
            throw HTTPError(.forbidden, "the token \"\(user)\" is a gateway's; people sign in as one of another role")
        }
        var grant = AccessGrant(token)
        if isExpired(grant.expiresAt) { throw HTTPError(.forbidden, "the token \"\(user)\" has ended") }
        // The browser sends the proxy's own session with a request of any page.
        grant.isSession = true
        return grant
    }

    /// The secret of a new session, in hexadecimal, and what it may do.
    func signIn(token: String) throws(HTTPError) -> (secret: String, grant: AccessGrant) {
        let key = digest(Array(token.utf8))
        let grant = isOpen ? .everything : try grant(tokenDigest: key)
        guard grant.role != .gateway else {
            throw HTTPError(
                .forbidden, "the token \"\(grant.name)\" is a gateway's; people sign in with one of another role")
        }
        var generator = SystemRandomNumberGenerator()
        let secret = (0..<4).map { _ in generator.next() as UInt64 }
            .map { String(repeating: "0", count: $0.leadingZeroBitCount / 4) + String($0, radix: 16) }.joined()
        sessions.begin(digest(Array(secret.utf8)), token: key, at: time.now())
        return (secret, grant)
    }

    /// Ends the session, also on connections that have used it. Does nothing where there is none.
    func signOut(_ credentials: Credentials) {
        let secrets = secrets(credentials)
        if secrets.isEmpty { return }
        for secret in secrets { sessions.end(digest(Array(secret.utf8))) }
        changes.add(1, ordering: .releasing)
    }

    private func secrets(_ credentials: Credentials) -> [String] {
        credentials.cookies.map { Sessions.secrets(inCookies: $0, isSecure: hasSecureCookies) } ?? []
    }

    /// By the first of them that stands for a session.
    private func grant(sessions secrets: [String]) throws(HTTPError) -> AccessGrant {
        let now = time.now()
        guard let session = secrets.lazy.compactMap({ self.sessions.find(self.digest(Array($0.utf8)), at: now) }).first
        else {
            throw HTTPError(.unauthenticated, "the session has ended; sign in again")
        }
        var grant = try grant(tokenDigest: session.token)
        grant.expiresAt = grant.expiresAt.map { min($0, session.until) } ?? session.until
        grant.isSession = true
        return grant
    }
}

/// Who a request says that it comes from.
struct Credentials: Equatable, Sendable {
    /// The header of that name.
    var authorization: String?
    /// The user whom a trusted proxy has signed in.
    var user: String?
    /// The header `Cookie`.
    var cookies: String?
}

extension Credentials {
    init(_ exchange: HTTPExchange) {
        authorization = exchange.header("Authorization")
        // A token goes before a cookie: programs that keep cookies mean their token.
        user = authorization == nil ? exchange.proxyUser : nil
        cookies = authorization == nil ? exchange.header("Cookie") : nil
    }
}
