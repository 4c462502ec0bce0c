import HeadroomJSON
import HeadroomModel

extension TelemetryLineReader {
    private enum ResponseField: String, CaseIterable {
        case type, id, at, request, gateway, pool, model, endpoint, provider, status, headers, body
    }

    private static let responseFields = WireFields(ResponseField.self)

    /// A provider's answer has some dozens of headers; these bounds keep out what is none.
    private static let maxHeaders = 128
    private static let maxHeaderBytes = 16384
    private static let maxBodyBytes = 4096

    mutating func response() throws -> TelemetryBatch.Line {
        var id: String?
        var at: Int64?
        var gateway: GatewayID?
        var pool: PoolID?
        var status: Int?
        var response = ProviderResponse(status: 0)
        var request: String?
        var model: String?
        var endpoint: String?
        let fields = TelemetryLineReader.responseFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: id = try text()
            case .at: at = try instant()
            case .request: request = try text()
            case .gateway: gateway = try identifier()
            case .pool: pool = try identifier()
            case .model: model = try label()
            case .endpoint: endpoint = try label()
            case .provider: response.provider = try label()
            case .status: status = Int(try integer(100...599))
            case .headers: response.headers = try headers()
            case .body: response.body = try body()
            }
        }
        guard let status else { throw missing("status", "the HTTP status, from 100 to 599") }
        let time = try lineTime(at)
        response.status = status
        response.receivedAt = time.at
        let record = ResponseRecord(
            at: time.at, request: request, gateway: try self.gateway(gateway), pool: try required(pool),
            model: model, endpoint: endpoint, provider: response.provider, status: status, signal: classify(response))
        return TelemetryBatch.Line(number: lineNumber, id: id, record: .response(record), isLate: time.isLate)
    }

    /// A value that is neither a string nor a number (a repeated header as a list, say) is passed over: limits come as
    /// single values.
    private mutating func headers() throws -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        var bytes = 0
        try reader.beginObject()
        while let name = try reader.nextKey() {
            let kind = try reader.peek()
            let start = reader.offset
            try reader.skipValue()
            guard kind == .string || kind == .number else { continue }
            bytes += name.count + reader.offset - start
            guard headers.count < TelemetryLineReader.maxHeaders, bytes <= TelemetryLineReader.maxHeaderBytes else {
                throw fault(
                    "too many: at most \(TelemetryLineReader.maxHeaders) headers of together "
                        + "\(TelemetryLineReader.maxHeaderBytes) bytes")
            }
            headers.append((reader.string(of: name), try reader.scalarText(in: start..<reader.offset)))
        }
        return headers
    }

    private mutating func body() throws -> String {
        let body = try reader.readString()
        guard body.utf8.count <= TelemetryLineReader.maxBodyBytes else {
            throw fault("too long: at most \(TelemetryLineReader.maxBodyBytes) bytes; cut it off there")
        }
        return body
    }
}
