import HeadroomJSON
import HeadroomModel

extension TelemetryLineReader {
    private enum WindowField: String, CaseIterable {
        case type, id, start, seconds, gateway, tenant, pool, criticality
        case requests, ok, quota, overload, error, retries, denied
        case deniedTokens = "denied_tokens"
        case inputTokens = "input_tokens"
        case outputTokens = "output_tokens"
        case latency = "latency_ms"
    }

    private static let windowFields = WireFields(WindowField.self)

    mutating func window() throws -> TelemetryBatch.Line {
        var start: Int64?
        var seconds: Double?
        var requests: Int64?
        var gateway: GatewayID?
        var tenant: TenantID?
        var pool: PoolID?
        // Required fields replace these stand-ins.
        var window = WindowRecord(
            start: arrival.received, seconds: 1, gateway: GatewayID(unchecked: ""), tenant: TenantID(unchecked: ""),
            pool: PoolID(unchecked: ""), requests: 0, ok: 0)
        let fields = TelemetryLineReader.windowFields
        while let field = try nextField(of: fields) {
            switch field {
            case .type: try reader.skipValue()
            case .id: window.id = try text()
            case .start: start = try instant()
            case .seconds: seconds = try windowSeconds()
            case .gateway: gateway = try identifier()
            case .tenant: tenant = try identifier()
            case .pool: pool = try identifier()
            case .criticality: window.criticality = try criticality()
            case .requests: requests = try count()
            case .ok: window.ok = try count()
            case .quota: window.quota = try count()
            case .overload: window.overload = try count()
            case .error: window.error = try count()
            case .retries: window.retries = try count()
            case .denied: window.denied = try count()
            case .deniedTokens: window.deniedTokens = try count()
            case .inputTokens: window.inputTokens = try count()
            case .outputTokens: window.outputTokens = try count()
            case .latency: window.latency = try latency()
            }
        }
        guard let start else { throw missing("start", "when the window began") }
        guard let seconds else { throw missing("seconds", "how long the window was, above 0 and at most 3600") }
        guard let requests else { throw missing("requests", "ok + quota + overload + error") }
        window.gateway = try self.gateway(gateway)
        window.tenant = try required(tenant)
        window.pool = try required(pool)
        window.requests = requests
        window.seconds = seconds
        try checkSums(window)
        try check(
            Claim(
                requests: requests, tokens: window.inputTokens + window.outputTokens, inputTokens: window.inputTokens,
                outputTokens: window.outputTokens, seconds: seconds), in: window.pool)
        let end = try lineTime(start + Int64((seconds * 1000).rounded()))
        window.start = end.at.adding(seconds: -seconds)
        return TelemetryBatch.Line(number: lineNumber, id: window.id, record: .window(window), isLate: end.isLate)
    }

    private mutating func windowSeconds() throws -> Double {
        let seconds = try reader.readDouble()
        guard seconds > 0, seconds <= 3600 else {
            throw fault("expected a number above 0 and at most 3600, found \(plain(seconds))")
        }
        return seconds
    }

    private func checkSums(_ window: WindowRecord) throws {
        let sum = window.ok + window.quota + window.overload + window.error
        guard window.requests == sum else {
            throw Fault(
                detail: "requests: expected ok + quota + overload + error = \(sum), found \(window.requests)")
        }
        guard window.retries <= window.requests else {
            throw Fault(
                detail: "retries: they are among the requests, so at most \(window.requests), found \(window.retries)")
        }
    }

    private enum LatencyField: String, CaseIterable {
        case count, p50, p95, p99
    }

    private static let latencyFields = JSONFields(LatencyField.allCases.map(\.rawValue))

    private mutating func latency() throws -> WindowRecord.Latency {
        var count: Int64?
        var quantiles: [Double?] = [nil, nil, nil]
        var seen: JSONFields.Seen = 0
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch try reader.field(key, of: TelemetryLineReader.latencyFields, seen: &seen) {
            case 0: count = try self.count()
            case .some(let place): quantiles[place - 1] = try milliseconds()
            case nil: try reader.skipValue()
            }
        }
        guard let count, let p50 = quantiles[0], let p95 = quantiles[1], let p99 = quantiles[2] else {
            throw fault("expected an object with count, p50, p95 and p99")
        }
        guard p50 <= p95, p95 <= p99 else {
            throw fault("expected p50 ≤ p95 ≤ p99, found \(plain(p50)), \(plain(p95)), \(plain(p99))")
        }
        return WindowRecord.Latency(
            count: count, p50Milliseconds: p50, p95Milliseconds: p95, p99Milliseconds: p99)
    }
}
