import HeadroomDashboard

/// `/` and what it loads. Open to everyone: there is nothing in it; every number comes from calls that ask for a token.
struct DashboardRoutes: Sendable {
    /// Scripts and styles of our own files only, nothing inline, nobody else's; and no text becomes markup (Trusted Types),
    /// so that a tenant called `<img onerror=…>` stays a name.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        + "trusted-types 'none'"

    /// - Parameter digest: of a file, for its tag.
    init(digest: ([UInt8]) -> [UInt8]) {
        files = DashboardFile.all.map { (file: $0, body: Self.body($0, digest)) }
    }

    private let files: [(file: DashboardFile, body: EncodedBody)]

    var all: [Route] {
        files.map { file, body in
            Route(method: .get, pattern: file.path, access: .anyone, reach: .nothing) { _, _ in
                HTTPHandler(answer: { exchange in .response(Self.answer(exchange, body)) })
            }
        }
    }

    private static func body(_ file: DashboardFile, _ digest: ([UInt8]) -> [UInt8]) -> EncodedBody {
        let tag = digest(file.bytes).prefix(12).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        return EncodedBody(
            tag: "\"\(tag.joined())\"",
            headers: [
                (name: "Content-Security-Policy", value: policy),
                (name: "X-Content-Type-Options", value: "nosniff"),
                (name: "Referrer-Policy", value: "no-referrer"),
                (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
                (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            ], body: file.bytes, type: file.type,
            // Asked for again each time, which costs a 304: a new version of the service is seen at once.
            caching: "no-cache")
    }

    private static func answer(_ exchange: HTTPExchange, _ body: EncodedBody) -> HTTPResponse {
        let isCompressed = body.isCompressible && exchange.takesGzip
        if let known = exchange.header("If-None-Match"), known == body.tag(isCompressed: isCompressed) {
            return HTTPResponse(status: 304, prepared: body.unchangedResponse(isCompressed: isCompressed))
        }
        guard isCompressed, case .ready(let response) = body.compression() else {
            return HTTPResponse(status: 200, prepared: body.plain)
        }
        return HTTPResponse(status: 200, prepared: response)
    }
}
