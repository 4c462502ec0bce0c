/// A status and what is sent with it.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let prepared: PreparedResponse

    package init(status: Int, prepared: PreparedResponse) {
        self.status = status
        self.prepared = prepared
    }

    /// Nothing that Headroom answers may come out of a cache.
    package init(
        status: Int = 200, type: String, headers: [(name: String, value: String)] = [], body: [UInt8]
    ) {
        let standard = [(name: "Content-Type", value: type), (name: "Cache-Control", value: "no-store")]
        self.init(status: status, prepared: PreparedResponse(headers: standard + headers, body: body))
    }
}

/// A handler's answer to a request.
enum HTTPAnswer {
    case response(HTTPResponse)
    /// The exchange was parked: the handler is asked again once it has been resumed.
    case parked
    /// The request is parked while the work runs on a task. When too many run, `instead` is sent; without it, a 503.
    case later(instead: HTTPResponse? = nil, @Sendable () async -> HTTPResponse)
}

/// Answers the requests of one connection for one target.
struct HTTPHandler {
    /// Runs on the server's own thread: it may not wait for anything.
    let answer: (HTTPExchange) throws(HTTPError) -> HTTPAnswer
    /// Runs when the last byte of an answer has been handed over.
    var delivered: (() -> Void)?
    /// Runs when the client has gone without an answer, or before its answer was ready.
    var lost: (() -> Void)?
    /// Runs on another thread when the client of a request that waits for its answer has gone; maybe more than once.
    var left: (@Sendable () -> Void)?
}
