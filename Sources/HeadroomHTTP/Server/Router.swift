import HeadroomModel

/// One call: a method and a path, who may make it, how it stands to their limits, and what it takes.
struct Route: Sendable {
    let method: HTTPMethod
    /// Segments between slashes; `{name}` stands for any one segment.
    let pattern: String
    let access: AccessRule
    let reach: AccessReach
    /// 0 for calls without a body.
    var bodyLimit = 0
    /// Of the body; empty for calls without one.
    var contentTypes: [String] = []
    /// Reads the target's parameters once for all requests of a connection that bear the same ones.
    let bind: @Sendable (RequestTarget, AccessGrant) throws(HTTPError) -> HTTPHandler

    var changesSomething: Bool { method != .get && method != .head }

    var hasParameter: Bool { pattern.contains("{") }

    func check(contentType exchange: HTTPExchange) throws(HTTPError) {
        if contentTypes.isEmpty { return }
        let wanted = contentTypes.joined(separator: " or ")
        guard let header = exchange.header("Content-Type") else {
            throw HTTPError(.unsupportedMediaType, "the request has no Content-Type; this call takes \(wanted)")
        }
        let type = header.prefix { $0 != ";" && $0 != " " }.lowercased()
        guard contentTypes.contains(type) else {
            throw HTTPError(.unsupportedMediaType, "\"\(type)\" is not taken here; this call takes \(wanted)")
        }
    }
}

/// A handler, and what it was bound to.
struct HTTPBinding {
    let route: Route
    let method: HTTPMethod
    let handler: HTTPHandler
    fileprivate let accessVersion: Int
    fileprivate let expiresAt: Timestamp?
    /// It was made while there were no tokens.
    let isOpen: Bool
    /// A cookie gave the access: what changes something is checked at each request.
    let isSession: Bool
}

/// Finds the call that a request makes.
struct Router: Sendable {
    let routes: [Route]
    let access: AccessControl
    /// Without tokens, requests are checked by ``OpenModeRule``.
    let isGuarded: Bool
    /// Those without parameters, by path: each poll of a gateway has another target, and is routed anew.
    private let literal: [String: [Route]]
    /// The others by the number of segments of their patterns, in the order of ``routes``.
    private let templates: [Int: [Template]]

    private struct Template {
        let route: Route
        /// `nil` for any segment that is not empty.
        let segments: [ArraySlice<UInt8>?]

        func matches(_ given: [ArraySlice<UInt8>]) -> Bool {
            for index in given.indices {
                if let wanted = segments[index] {
                    if given[index] != wanted { return false }
                } else if given[index].isEmpty {
                    return false
                }
            }
            return true
        }
    }

    init(routes: [Route], access: AccessControl, isGuarded: Bool = true) {
        self.routes = routes
        self.access = access
        self.isGuarded = isGuarded
        literal = Dictionary(grouping: routes.filter { !$0.hasParameter }, by: \.pattern)
        let templates = routes.filter(\.hasParameter).map { route in
            Template(
                route: route,
                segments: Self.segments(of: route.pattern).map { $0.first == UInt8(ascii: "{") ? nil : $0 })
        }
        self.templates = Dictionary(grouping: templates, by: \.segments.count)
    }

    private static func segments(of path: String) -> [ArraySlice<UInt8>] {
        Array(path.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    }

    /// False once tokens have changed or the one behind the binding has ended.
    func isCurrent(_ binding: HTTPBinding) -> Bool {
        binding.accessVersion == access.version && !access.isExpired(binding.expiresAt)
    }

    func bind(_ method: HTTPMethod, _ rawTarget: [UInt8], _ credentials: Credentials) throws(HTTPError) -> HTTPBinding {
        guard let target = RequestTarget(rawTarget) else {
            throw HTTPError(
                .badRequest, "the target is not a path with an optional query, percent-encoded UTF-8 without zero bytes"
            )
        }
        let route = try route(method, target.path)
        // Before the grant: a token that is revoked in between leaves a binding that is out of date at once.
        let version = access.version
        let isOpen = access.isOpen
        var grant = AccessGrant.everything
        if case .roles = route.access {
            grant = try access.grant(credentials)
            try route.access.check(grant)
            try route.reach.check(grant)
        }
        return HTTPBinding(
            route: route, method: method, handler: try route.bind(target, grant), accessVersion: version,
            expiresAt: grant.expiresAt, isOpen: isOpen,
            isSession: grant.isSession)
    }

    private func route(_ method: HTTPMethod, _ path: String) throws(HTTPError) -> Route {
        // `/v1/overrides/preview` is no override's id.
        let candidates = literal[path] ?? template(path)
        guard !candidates.isEmpty else {
            throw HTTPError(.notFound, "\(path) is no path of this service; /openapi.json lists them")
        }
        // The library leaves the body out of an answer to HEAD.
        if let route = candidates.first(where: { $0.method == (method == .head ? .get : method) }) { return route }
        var allowed = candidates.map(\.method)
        if allowed.contains(.get) { allowed.append(.head) }
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        throw HTTPError(.methodNotAllowed, "\(path) takes \(list)", allowedMethods: allowed)
    }

    private func template(_ path: String) -> [Route] {
        let segments = Self.segments(of: path)
        return (templates[segments.count] ?? []).filter { $0.matches(segments) }.map(\.route)
    }
}
