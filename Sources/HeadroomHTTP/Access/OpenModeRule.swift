/// The requests that are refused while there are no tokens, when everybody on this machine may do everything.
///
/// A browser on this machine also runs other people's pages. Such a page reaches a loopback address under a name of its
/// own (DNS rebinding), or sends a form across origins. A proxy on this machine lets other machines in. So without
/// tokens a request has to be addressed to a loopback name, must not come from another origin, and must not have passed
/// a proxy.
enum OpenModeRule {
    /// Written by proxies. One that writes none of them cannot be distinguished from a client.
    private static let proxyHeaders: [StaticString] = [
        "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Real-IP", "Via",
    ]

    static func check(_ exchange: HTTPExchange) throws(HTTPError) {
        guard let reason = objection(to: exchange) else { return }
        throw HTTPError(
            .forbidden,
            "there are no tokens yet, so only programs on this machine are served, and \(reason). Make a token with "
                + "\"headroom token create\" and send it, or call http://127.0.0.1 directly")
    }

    /// Why the request may not come from a caller of this kind; `nil` when nothing speaks for that.
    static func objection(to exchange: HTTPExchange, by callers: LocalServer.Callers) -> String? {
        switch callers {
        case .programs: return objection(to: exchange)
        case .clientsOfProxies: return nil
        case .proxies:
            // A page reaches this address under any name (DNS rebinding), and then has that name's origin; so only an
            // origin on this machine is one of its own programs. No browser sends a POST without an origin.
            if let origin = exchange.header("Origin"),
                !isLoopback(authority: String(origin.drop { $0 != "/" }.drop { $0 == "/" }))
            {
                return "the request comes from a page, \"\(origin)\""
            }
            return objection(bySite: exchange)
        }
    }

    private static func objection(bySite exchange: HTTPExchange) -> String? {
        guard let site = exchange.header("Sec-Fetch-Site"), site != "same-origin", site != "none" else { return nil }
        return "the request comes from a page of another site (Sec-Fetch-Site: \(site))"
    }

    /// Why the request may come from elsewhere than a program on this machine; `nil` when nothing speaks for that.
    static func objection(to exchange: HTTPExchange) -> String? {
        let host = exchange.header("Host")
        // No browser leaves Host out; only clients of HTTP/1.0 do.
        if let host, !isLoopback(authority: host) {
            return "the request is addressed to \"\(host)\", which is no loopback name"
        }
        if let origin = exchange.header("Origin"), !isOwn(origin: origin, scheme: exchange.scheme, host: host) {
            return "the request comes from a page of another origin, \"\(origin)\""
        }
        if let reason = objection(bySite: exchange) { return reason }
        for name in proxyHeaders where exchange.hasHeader(name) {
            return "the request has come through a proxy (it has the header \(name))"
        }
        return nil
    }

    /// The origin that the service itself has: its scheme, and the name and port to which the request is addressed.
    private static func isOwn(origin: String, scheme: String, host: String?) -> Bool {
        guard let host else { return false }
        return origin.lowercased() == "\(scheme)://" + host.lowercased()
    }

    /// `localhost`, a name below it (RFC 6761 §6.3), 127.0.0.0/8 or `[::1]`, with or without a port.
    static func isLoopback(authority: String) -> Bool {
        var name = authority.lowercased()[...]
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { return false }
            return name[...end] == "[::1]" && isPort(name[name.index(after: end)...])
        }
        if let colon = name.firstIndex(of: ":") {
            guard isPort(name[colon...]) else { return false }
            name = name[..<colon]
        }
        if name.hasSuffix(".") { name.removeLast() }
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && UInt8(part) != nil
            }
    }

    /// Empty, or a colon and digits.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || (text.first == ":" && text.dropFirst().allSatisfy(\.isNumber))
    }
}
