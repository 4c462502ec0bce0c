import HeadroomModel
import Synchronization

/// Signed-in browsers: a random secret in a cookie stands for a token, so that no script of a page ever holds one.
///
/// Kept in memory: after a restart people sign in again. A session ends with its token.
final class Sessions: Sendable {
    /// - Parameter isSecure: browsers come by TLS only. `__Host-` lets no other host set the cookie, and takes TLS
    ///   (RFC 6265bis §4.1.3.2).
    static func cookie(isSecure: Bool) -> String { (isSecure ? "__Host-" : "") + "headroom_session" }
    /// Of a secret, in hexadecimal.
    static let secretCharacters = 64
    static let seconds = 12.0 * 3600
    /// Of one token; the oldest goes.
    static let maxOfOneToken = 64
    static let maxCount = 4096

    private struct Session {
        let token: [UInt8]
        let until: Timestamp
        /// In the order of beginning.
        let number: Int
    }

    private struct State {
        /// By the digest of the secret.
        var sessions: [[UInt8]: Session] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - key: the digest of a new secret.
    ///   - token: the digest of the token's secret.
    func begin(_ key: [UInt8], token: [UInt8], at now: Timestamp) {
        state.withLock { state in
            state.sessions = state.sessions.filter { now < $0.value.until }
            let own = state.sessions.filter { $0.value.token == token }
            let crowded = own.count >= Self.maxOfOneToken ? own : state.sessions
            if own.count >= Self.maxOfOneToken || state.sessions.count >= Self.maxCount,
                let oldest = crowded.min(by: { $0.value.number < $1.value.number })
            {
                state.sessions[oldest.key] = nil
            }
            state.sessions[key] = Session(token: token, until: now.adding(seconds: Self.seconds), number: state.next)
            state.next += 1
        }
    }

    func end(_ key: [UInt8]) { state.withLock { $0.sessions[key] = nil } }

    /// The digest of the token that the session stands for, and when the session ends; `nil` when there is none.
    func find(_ key: [UInt8], at now: Timestamp) -> (token: [UInt8], until: Timestamp)? {
        state.withLock { $0.sessions[key] }.flatMap { now < $0.until ? ($0.token, $0.until) : nil }
    }

    /// The secrets in the header `Cookie` (RFC 6265 §4.2.1), in its order. There may be several: without TLS, a page of
    /// another host of the same domain can add a cookie of our name, which must lock nobody out. A head has room for some
    /// hundred.
    static func secrets(inCookies header: String, isSecure: Bool) -> [String] {
        let start = cookie(isSecure: isSecure) + "="
        var secrets: [String] = []
        for part in header.split(separator: ";") {
            let pair = part.drop { $0 == " " }
            guard pair.hasPrefix(start) else { continue }
            let secret = pair.dropFirst(start.count)
            if secret.utf8.count == secretCharacters { secrets.append(String(secret)) }
        }
        return secrets
    }
}

/// A browser sends a cookie with a request of any page, so a change needs more than a cookie.
///
/// The dashboard's scripts send a header that no other site's page can send without asking first, and Headroom answers
/// no such question (CORS). `SameSite=Strict` keeps the cookie from other sites' requests to begin with.
enum SessionRule {
    static func check(_ exchange: HTTPExchange) throws(HTTPError) {
        guard exchange.header("Headroom-Request") == "dashboard" else {
            throw HTTPError(
                .forbidden,
                "a change by a signed-in browser bears the header \"Headroom-Request: dashboard\"; programs send a token"
            )
        }
        // Sent by browsers only, and no page can change it (Fetch Metadata).
        if let site = exchange.header("Sec-Fetch-Site"), site != "same-origin" {
            throw HTTPError(.forbidden, "the request comes from another site (Sec-Fetch-Site: \(site))")
        }
    }
}
