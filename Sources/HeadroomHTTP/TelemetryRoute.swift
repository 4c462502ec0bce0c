import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// What `POST /v1/telemetry` needs.
package struct TelemetryIntake: Sendable {
    let board: SnapshotBoard
    let sink: any TelemetrySink
    let classify: @Sendable (ProviderResponse) -> ProviderSignal
    let counters = TelemetryCounters()

    /// `classify` reads a provider's headers and body.
    package init(
        board: SnapshotBoard, sink: any TelemetrySink,
        classify: @escaping @Sendable (ProviderResponse) -> ProviderSignal
    ) {
        self.board = board
        self.sink = sink
        self.classify = classify
    }

    /// WIRE §1.
    static let mostBytes = 8 << 20
}

extension Route {
    static func telemetry(_ intake: TelemetryIntake) -> Route {
        Route(
            method: .post, pattern: "/v1/telemetry", access: .roles([.gateway]), bodyLimit: TelemetryIntake.mostBytes,
            contentTypes: ["application/x-ndjson", "application/json"]
        ) { _, grant in
            HTTPHandler(answer: { exchange throws(HTTPError) in
                let batch = try intake.read(exchange, grant)
                return .later { await intake.store(batch) }
            })
        }
    }
}

extension TelemetryIntake {
    fileprivate func read(_ exchange: HTTPExchange, _ grant: Grant) throws(HTTPError) -> TelemetryBatch {
        TelemetryBatch(received: board.time.now(), lines: [])
    }
    fileprivate func store(_ batch: TelemetryBatch) async -> HTTPResponse {
        HTTPResponse(status: 200, type: "application/json", body: [])
    }
}
