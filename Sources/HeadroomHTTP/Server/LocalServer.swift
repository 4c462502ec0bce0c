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
        /// Asked by a proxy with the headers of its own client, so that nothing can be said against where it comes from.
        package let isForProxies: Bool
        package let answer: @Sendable (Request) throws(HTTPError) -> Answer

        package init(
            _ method: HTTPMethod, _ pattern: String, bodyLimit: Int = 0, contentTypes: [String] = [],
            isForProxies: Bool = false,
            answer: @escaping @Sendable (Request) throws(HTTPError) -> Answer
        ) {
            self.method = method
            self.pattern = pattern
            self.bodyLimit = bodyLimit
            self.contentTypes = contentTypes
            self.isForProxies = isForProxies
            self.answer = answer
        }
    }

    /// A request in the hands of ``Call/answer``, and no longer.
    package struct Request {
        package let target: RequestTarget
        private let exchange: HTTPExchange

        fileprivate init(target: RequestTarget, exchange: HTTPExchange) {
            self.target = target
            self.exchange = exchange
        }

        package func header(_ name: StaticString) -> String? { exchange.header(name) }
        package func takeBody() -> [UInt8] { exchange.takeBody() }
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
        case later(@Sendable () async -> Reply)
    }

    private let server: MicroHTTPDServer

    package init(settings: ServerSettings, calls: [Call], time: TimeSource) {
        let routes = calls.map { call in
            Route(
                method: call.method, pattern: call.pattern, access: .anyone, bodyLimit: call.bodyLimit,
                contentTypes: call.contentTypes
            ) { target, _ in
                let pending = PendingUndo()
                return HTTPHandler(
                    answer: { exchange throws(HTTPError) in
                        if !call.isForProxies, let reason = OpenModeRule.objection(to: exchange) {
                            throw HTTPError(
                                .forbidden, "only programs on this machine are served here, and \(reason)")
                        }
                        switch try call.answer(Request(target: target, exchange: exchange)) {
                        case .now(let reply):
                            pending.set(reply.undo)
                            return .response(reply.response)
                        case .later(let work):
                            return .later {
                                let reply = await work()
                                pending.set(reply.undo)
                                return reply.response
                            }
                        }
                    },
                    delivered: { _ = pending.take() },
                    lost: { pending.take()?() })
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

/// The step that takes an answer back if it does not arrive.
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
