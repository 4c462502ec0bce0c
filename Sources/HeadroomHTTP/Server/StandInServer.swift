import HeadroomModel

/// A server with one call that is none of Headroom's: what a demo lets play a model provider.
package final class StandInServer: Sendable {
    private let server: MicroHTTPDServer

    /// `answer` gets the body of each `POST` to `path`, on a task of its own.
    package init(
        settings: ServerSettings, path: String, bodyLimit: Int, time: TimeSource,
        answer: @escaping @Sendable ([UInt8]) async -> HTTPResponse
    ) {
        let route = Route(
            method: .post, pattern: path, access: .anyone, bodyLimit: bodyLimit, contentTypes: ["application/json"]
        ) { _, _ in
            HTTPHandler(answer: { exchange in
                let body = exchange.takeBody()
                return .later { await answer(body) }
            })
        }
        // Without tokens everyone may call, so nothing is ever hashed.
        let access = AccessControl(tokens: [], time: time) { $0 }
        server = MicroHTTPDServer(settings: settings, router: Router(routes: [route], access: access))
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
