import HeadroomModel
import Synchronization

/// A server of calls that are none of the control plane's, for programs on this machine: the gate, and the provider that
/// a demo plays.
package final class LocalServer: Sendable {
    /// One call, as ``Route`` for Headroom's own.
    package struct Call: Sendable {
        package let method: HTTPMethod
        package let pattern: String
        package let bodyLimit: Int
        /// Those that a body may have, and any if it is empty.
        package let contentTypes: [String]
        package let callers: Callers
        package let answer: @Sendable (Request) throws(HTTPError) -> Answer

        package init(
            _ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 0, contentTypes: [String] = [],
            callers: Callers = .programs,
            answer: @escaping @Sendable (Request) throws(HTTPError) -> Answer
        ) {
            self.method = method
            self.pattern = pattern
            self.bodyLimit = bodyLimit
            self.contentTypes = contentTypes
            self.callers = callers
            self.answer = answer
        }
    }

    /// Who makes a call, and so what can be said against it.
    package enum Callers: Sendable {
        /// Programs on this machine, by a loopback name and through no proxy.
        case programs
        /// Proxies too: they call their upstreams by names of their own. A browser's page of another origin does not.
        case proxies
        /// Proxies that pass on the headers of their own clients, browsers among them: nothing can be said against those.
        case clientsOfProxies
    }

    /// A request in the hands of ``Call/answer``, and no longer.
    package struct Request {
        package let target: RequestTarget
        private let origin: Origin

        private enum Origin {
            case exchange(HTTPExchange)
            case written(headers: [(name: String, value: String)], body: [UInt8])
        }

        fileprivate init(target: RequestTarget, exchange: HTTPExchange) {
            self.target = target
            origin = .exchange(exchange)
        }

        /// One that has come over no connection.
        /// - Parameter headers: names in lower case.
        package init(target: RequestTarget, headers: [(name: String, value: String)], body: [UInt8]) {
            self.target = target
            origin = .written(headers: headers, body: body)
        }

        package func header(_ name: StaticString) -> String? {
            switch origin {
            case .exchange(let exchange): exchange.header(name)
            case .written(let headers, _):
                headers.first { $0.name == name.withUTF8Buffer { unsafe String(decoding: $0, as: UTF8.self) } }?.value
            }
        }

        /// The headers whose names begin so, in lower case without that; in the order received.
        package func headers(after prefix: String) -> [(name: String, value: String)] {
            switch origin {
            case .exchange(let exchange): exchange.headers(after: prefix)
            case .written(let headers, _):
                headers.filter { $0.name.hasPrefix(prefix) }
                    .map { (name: String($0.name.dropFirst(prefix.count)), value: $0.value) }
            }
        }

        package func takeBody() -> [UInt8] {
            switch origin {
            case .exchange(let exchange): exchange.takeBody()
            case .written(_, let body): body
            }
        }

        /// A parameter of the query that may be given once.
        package func parameter(_ name: String) throws(HTTPError) -> String? { try target.value(name) }
        /// The `index`th segment of the path.
        package func segment(_ index: Int) -> String {
            let segments = target.path.split(separator: "/")
            return index < segments.count ? String(segments[index]) : ""
        }
    }

    package struct Reply: Sendable {
        package var response: HTTPResponse
        /// Takes back what the answer gives, if the client has gone before it was there.
        package var undo: (@Sendable () -> Void)?

        package init(_ response: HTTPResponse, undo: (@Sendable () -> Void)? = nil) {
            self.response = response
            self.undo = undo
        }
    }

    package enum Answer: Sendable {
        case now(Reply)
        /// - Parameter left: asked when the client has gone meanwhile, so that the work may end early.
        case later(left: (@Sendable () -> Void)? = nil, @Sendable () async -> Reply)
    }

    private let server: MicroHTTPDServer

    package init(settings: ServerSettings, calls: [Call], time: TimeSource) {
        let routes = calls.map { call in
            Route(
                method: call.method, pattern: call.pattern, access: .anyone, reach: .nothing, bodyLimit: call.bodyLimit,
                contentTypes: call.contentTypes
            ) { target, _ in
                let pending = PendingUndo()
                let leaving = PendingUndo()
                return HTTPHandler(
                    answer: { exchange throws(HTTPError) in
                        if let reason = OpenModeRule.objection(to: exchange, by: call.callers) {
                            throw HTTPError(
                                .forbidden, "only programs on this machine are served here, and \(reason)")
                        }
                        switch try call.answer(Request(target: target, exchange: exchange)) {
                        case .now(let reply):
                            pending.set(reply.undo)
                            return .response(reply.response)
                        case .later(let left, let work):
                            leaving.set(left)
                            return .later {
                                let reply = await work()
                                leaving.set(nil)
                                pending.set(reply.undo)
                                return reply.response
                            }
                        }
                    },
                    delivered: { _ = pending.take() },
                    lost: { pending.take()?() },
                    left: { leaving.take()?() })
            }
        }
        // Without tokens everyone may call, so nothing is ever hashed.
        let access = AccessControl(tokens: [], time: time) { $0 }
        server = MicroHTTPDServer(
            settings: settings, router: Router(routes: routes, access: access, isGuarded: false))
    }

    /// Listens, and says where: port 0 has become a real one.
    package func start() throws(HTTPError) -> ListenAddress { try server.start {} }

    /// Works on the calls until the server is stopped. One task runs this.
    package func run() async { await server.calls.run() }

    package func stop() async {
        server.beginStopping()
        server.calls.close()
        await OwnThread.run { self.server.finish() }
    }
}

/// The step that takes something back if an answer does not arrive.
private final class PendingUndo: Sendable {
    private let undo = Mutex<(@Sendable () -> Void)?>(nil)

    func set(_ next: (@Sendable () -> Void)?) { undo.withLock { $0 = next } }

    func take() -> (@Sendable () -> Void)? {
        undo.withLock { undo in
            defer { undo = nil }
            return undo
        }
    }
}
