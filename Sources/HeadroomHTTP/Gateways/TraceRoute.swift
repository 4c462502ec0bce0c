import HeadroomModel
import HeadroomWire

extension Route {
    /// `POST /v1/traces` (WireFormat §1.1): OTLP/HTTP. Answers, failures of the body included, are in the request's own
    /// encoding, as the specification asks.
    static func traces(_ intake: TelemetryIntake, _ board: SnapshotBoard) -> Route {
        Route(
            method: .post, pattern: "/v1/traces", access: .roles([.gateway]), reach: .scope,
            bodyLimit: TelemetryIntake.maxBytes, contentTypes: ["application/x-protobuf", "application/json"]
        ) { _, grant in
            HTTPHandler(answer: { exchange throws(HTTPError) in
                let decoder = try TraceDecoder(exchange)
                let format = decoder.format
                let batch: TelemetryBatch
                do throws(HTTPError) {
                    batch = try intake.read(.traces(decoder), exchange, grant, board)
                } catch {
                    return .response(HTTPResponse(error, as: format))
                }
                // Traces hold spans of all kinds; that none is a call of a model is nothing wrong.
                guard !batch.lines.isEmpty else { return .response(.traces(batch.faults, format)) }
                return .later {
                    do throws(HTTPError) {
                        return .traces(try await intake.store(batch, board).rejected, format)
                    } catch {
                        return HTTPResponse(error, as: format)
                    }
                }
            })
        }
    }
}

extension TraceDecoder {
    /// The settings of one sender, which it gives as headers (`OTEL_EXPORTER_OTLP_HEADERS`).
    fileprivate init(_ exchange: HTTPExchange) throws(HTTPError) {
        func name<Kind>(_ header: StaticString) throws(HTTPError) -> Identifier<Kind>? {
            guard let text = exchange.header(header) else { return nil }
            guard let name = Identifier<Kind>(text) else {
                throw HTTPError(.badRequest, "\(header): \(text) is no name; one is \(Identifier<Kind>.rule)")
            }
            return name
        }
        self.init(
            format: exchange.isJSON ? .json : .protobuf, tenantAttribute: exchange.header("Headroom-Tenant-Attribute"),
            pool: try name("Headroom-Pool"), gateway: try name("Headroom-Gateway"))
    }

    fileprivate static func contentType(_ format: Format) -> String {
        switch format {
        case .protobuf: "application/x-protobuf"
        case .json: "application/json"
        }
    }
}

extension HTTPResponse {
    fileprivate static func traces(_ faults: [TelemetryReceipt.Fault], _ format: TraceDecoder.Format) -> HTTPResponse {
        HTTPResponse(
            type: TraceDecoder.contentType(format), body: TraceAnswer(faults: faults).encoded(as: format))
    }

    /// `google.rpc.Status`. Senders repeat what was answered with 429, 502, 503 or 504, and nothing else.
    fileprivate init(_ error: HTTPError, as format: TraceDecoder.Format) {
        // INVALID_ARGUMENT and UNAVAILABLE; the others cannot come from a body or the storage.
        let code = error.code.status == 503 ? 14 : 3
        let retry = error.retryAfterSeconds.map { [(name: "Retry-After", value: "\($0)")] } ?? []
        self.init(
            status: error.code.status, type: TraceDecoder.contentType(format), headers: retry,
            body: TraceFailure(code: code, message: error.message).encoded(as: format))
    }
}
