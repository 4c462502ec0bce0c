import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `/v1/session`: signing a browser in with a token, and out.
struct SessionRoutes: Sendable {
    let access: AccessControl
    /// The service is a demo, which has `/v1/demo`.
    let isDemo: Bool

    private static let path = "/v1/session"

    var all: [Route] {
        [
            route(.get) { exchange throws(HTTPError) in show(exchange) },
            route(.post, bodyLimit: 4096) { exchange throws(HTTPError) in try signIn(exchange) },
            route(.delete) { exchange throws(HTTPError) in try signOut(exchange) },
        ]
    }

    private func route(
        _ method: HTTPMethod, bodyLimit: Int = 0,
        _ answer: @escaping @Sendable (HTTPExchange) throws(HTTPError) -> HTTPResponse
    ) -> Route {
        Route(
            method: method, pattern: Self.path, access: .anyone, reach: .nothing, bodyLimit: bodyLimit,
            contentTypes: bodyLimit > 0 ? ["application/json"] : []
        ) { _, _ in
            HTTPHandler(answer: { exchange throws(HTTPError) in .response(try answer(exchange)) })
        }
    }

    /// Who the caller is. Not being signed in is an answer and no error: the page asks before it shows anything.
    private func show(_ exchange: HTTPExchange) -> HTTPResponse {
        let credentials = Credentials(exchange)
        let grant = try? access.grant(credentials)
        return .json { $0.session(grant, isDemo: isDemo) }
    }

    /// `{"token":"…"}`.
    private func signIn(_ exchange: HTTPExchange) throws(HTTPError) -> HTTPResponse {
        // No other site may sign this browser in as somebody else.
        try SessionRule.check(exchange)
        guard let token = (try? JSONNode.parse(exchange.takeBody()))?["token"]?.string, !token.isEmpty else {
            throw HTTPError(.badRequest, "send {\"token\":\"…\"}, as \"headroom token create\" printed it")
        }
        let (secret, grant) = try access.signIn(token: token)
        return response(status: 201, cookie: "\(secret); Max-Age=\(Int(Sessions.seconds))") {
            $0.session(grant, isDemo: isDemo)
        }
    }

    private func signOut(_ exchange: HTTPExchange) throws(HTTPError) -> HTTPResponse {
        try SessionRule.check(exchange)
        access.signOut(Credentials(exchange))
        return response(status: 200, cookie: "; Max-Age=0") { $0.session(nil, isDemo: isDemo) }
    }

    private func response(status: Int, cookie: String, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        write(&writer)
        let isSecure = access.hasSecureCookies
        let flags = "; Path=/; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
        return HTTPResponse(
            status: status, type: "application/json",
            headers: [(name: "Set-Cookie", value: "\(Sessions.cookie(isSecure: isSecure))=\(cookie)\(flags)")],
            body: writer.bytes)
    }
}

extension JSONWriter {
    fileprivate mutating func session(_ grant: AccessGrant?, isDemo: Bool) {
        beginObject()
        field("signed_in", grant != nil)
        field("name", grant?.author)
        field("role", grant?.role.rawValue)
        // Without tokens everybody on this machine may do everything.
        field("open", grant?.isOpen ?? false)
        field("until", grant?.expiresAt)
        key("pools")
        names(grant?.scope.pools.map { $0.map(\.text) })
        key("tenants")
        names(grant?.scope.tenants.map { $0.map(\.text) })
        field("demo", isDemo)
        endObject()
    }

    /// Null: all.
    private mutating func names(_ names: [String]?) {
        guard let names else { return null() }
        array(names.sorted()) { $0.string($1) }
    }
}
