import HeadroomModel
import HeadroomProviders
import HeadroomWire

private let decoder = TelemetryDecoder { ProviderClassifier.classify($0) }
private let received = Timestamp(milliseconds: 1_793_000_000_000)
private let arrival = TelemetryDecoder.Arrival(received: received, gateway: "gw-1", isNumberedBatch: true)

extension FuzzTarget {
    /// The body of `POST /v1/telemetry`, as lines and as one document.
    static let telemetry = FuzzTarget(name: "telemetry") { bytes in
        for format in [TelemetryDecoder.Format.lines, .document] {
            guard let result = try? decoder.decode(bytes, as: format, arrival: arrival) else { continue }
            check(result, mostLines: bytes.count)
        }
    }

    /// The body of `POST /v1/traces` in protobuf.
    static let protobufTraces = FuzzTarget(name: "protobuf-traces") { checkTraces($0, .protobuf) }
    static let jsonTraces = FuzzTarget(name: "json-traces") { checkTraces($0, .json) }

    private static func checkTraces(_ bytes: [UInt8], _ format: TraceDecoder.Format) {
        let traces = TraceDecoder(format: format, tenantAttribute: "app.tenant", pool: "openai:mock")
        guard let result = try? traces.decode(bytes, with: decoder, arrival: arrival) else { return }
        check(result, mostLines: bytes.count)
    }

    private static func check(_ result: TelemetryDecoder.Result, mostLines: Int) {
        let numbers = (result.lines.map(\.number) + result.faults.map(\.line)).sorted()
        require(numbers.allSatisfy { (1...mostLines).contains($0) }, "a line that is none: \(numbers)")
        require(Set(numbers).count == numbers.count, "a line is taken and refused, or twice: \(numbers)")
        require(result.refusals.values.reduce(0, +) == result.faults.count, "faults without a reason")
        for line in result.lines {
            checkBounds(line.record)
            checkWriting(line.record)
        }
    }

    /// What the article WireFormat states.
    private static func checkBounds(_ record: TelemetryRecord) {
        let counts: [Int64?]
        var milliseconds: [Double?] = []
        switch record {
        case .call(let call):
            counts = [
                call.inputTokens, call.outputTokens, call.cachedInputTokens, call.maxTokens, call.countedTokens,
            ]
            milliseconds = [call.latencyMilliseconds, call.queuedMilliseconds]
            require((1...10_000).contains(call.attempt), "attempt \(call.attempt)")
        case .window(let window):
            counts = [
                window.requests, window.ok, window.quota, window.overload, window.error, window.retries, window.denied,
                window.deniedTokens, window.inputTokens, window.outputTokens,
            ]
            require(window.seconds > 0 && window.end <= received.adding(seconds: 1), "a window that ends later")
        case .queue(let queue):
            counts = [queue.depth, queue.tokens]
            milliseconds = [queue.oldestAgeMilliseconds]
        case .task(let task):
            counts = [task.remainingRequests, task.remainingTokens]
            require((0...1).contains(task.progress ?? 0), "progress \(task.progress ?? 0)")
        case .response(let response):
            counts = []
            check(response.signal)
        case .model: counts = []
        }
        require(counts.allSatisfy { (0...1_000_000_000_000).contains($0 ?? 0) }, "a count outside: \(record)")
        require(milliseconds.allSatisfy { (0...86_400_000).contains($0 ?? 0) }, "a time outside: \(record)")
        require(
            (received.adding(seconds: -49 * 3600)...received.adding(seconds: 1)).contains(record.at),
            "an instant outside: \(record)")
    }

    /// Written as gateways do and read again, it is the same.
    private static func checkWriting(_ record: TelemetryRecord) {
        // Headers and body of a response are not kept.
        if case .response = record { return }
        var encoder = TelemetryEncoder()
        encoder.append(record)
        guard let again = try? decoder.decode(encoder.bytes, as: .lines, arrival: arrival),
            let line = again.lines.first
        else { fatalError("written, and cannot be read: \(encoder.bytes.text)") }
        require(line.record == record, "reads back as another record: \(record) \(line.record)")
    }
}
