import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomProviders
import HeadroomWire
import Testing

private let now: Int64 = 1_793_000_000_000

@Suite struct TraceDecoderTests {
    private let decoder = TelemetryDecoder { ProviderClassifier.classify($0) }
    private let arrival = TelemetryDecoder.Arrival(received: Timestamp(milliseconds: now), gateway: "gw-1")

    @Test(arguments: RecordedTraces.all.map(\.name))
    func `what real instrumentations send becomes a call that was served and one that was refused`(
        name: String
    ) throws {
        let recording = try #require(RecordedTraces.all.first { $0.name == name })
        let bytes = [UInt8](try #require(Data(base64Encoded: recording.base64)))
        var arrival = arrival
        arrival.sentAt = recording.sentAt
        let settings = TraceDecoder(format: .protobuf, tenantAttribute: "app.tenant", pool: "openai:mock")
        let result = try settings.decode(bytes, with: decoder, arrival: arrival)
        #expect(result.faults.isEmpty, "\(result.faults)")
        let calls = result.lines.compactMap(\.record.asCall)
        #expect(calls.map(\.outcome) == [.ok, .quota])
        #expect(calls.map(\.status) == [nil, 429])
        #expect(calls.map(\.tenant) == ["acme", "acme"] && calls.map(\.gateway) == ["gw-1", "gw-1"])
        #expect(calls.first?.inputTokens == 200 && calls.first?.outputTokens == 50)
        #expect(calls.first?.model == "mock" && calls.map(\.maxTokens) == [100, 100])
        #expect(calls.allSatisfy { ($0.latencyMilliseconds ?? 0) > 1 })
        #expect(Set(result.lines.map(\.id)).count == 2 && !result.lines.map(\.id).contains(nil))
    }

    @Test func `protobuf and JSON say the same`() throws {
        let spans = [Span.call(1), .call(2, extra: [("headroom.task", .text("t-9"))]), .other(3)]
        let protobuf = try decode(spans, as: .protobuf)
        let json = try decode(spans, as: .json)
        #expect(protobuf.lines.map(\.record) == json.lines.map(\.record))
        #expect(protobuf.lines.map(\.number) == [1, 2])
        #expect(protobuf.lines.map(\.id) == json.lines.map(\.id))
        let call = try #require(protobuf.lines.last?.record.asCall)
        #expect(
            call
                == CallRecord(
                    id: call.id, at: Timestamp(milliseconds: now - 1000), gateway: "gw-1", tenant: "acme",
                    pool: "openai:gpt-4o", model: "gpt-4o-2024-11-20", endpoint: "chat", task: "t-9", outcome: .ok,
                    latencyMilliseconds: 750, inputTokens: 1200, outputTokens: 300, cachedInputTokens: 800,
                    maxTokens: 4096))
    }

    @Test func `the pool is the one that is called as the provider and the model`() throws {
        let rules = TelemetryRules(
            Policy(
                pools: ["openai:gpt-4o", "azure:gpt-4o", "mistral:small"].map {
                    PoolPolicy(pool: PoolID(unchecked: $0), nominal: Rates(rpm: 1000, tpm: 100_000))
                }))
        let cases: [(provider: String, model: String, pool: String?)] = [
            ("openai", "gpt-4o", "openai:gpt-4o"), ("OpenAI", "gpt-4o-2024-11-20", "openai:gpt-4o"),
            ("azure.ai.openai", "gpt-4o", "azure:gpt-4o"), ("mistral_ai", "small", "mistral:small"),
            // Another model, whose name only begins in the same way.
            ("openai", "gpt-4o-mini", nil),
        ]
        var decoder = decoder
        decoder.limits.rules = rules
        for (provider, model, pool) in cases {
            let span = Span.call(
                1, extra: [("gen_ai.provider.name", .text(provider)), ("gen_ai.request.model", .text(model))],
                without: ["gen_ai.response.model"])
            let result = try TraceDecoder(format: .json).decode(
                Span.json([span]), with: decoder, arrival: arrival)
            #expect(result.lines.first?.record.pool.text == pool, "\(provider) \(model)")
            #expect(result.refusals[.unknownPool, default: 0] == (pool == nil ? 1 : 0))
        }
    }

    @Test func `an error's type, status and message say why a call failed`() throws {
        let cases: [(attributes: [(String, Span.Value)], message: String, outcome: Outcome)] = [
            ([("http.response.status_code", .integer(200))], "", .ok),
            ([("error.type", .text("429"))], "", .quota),
            ([("error.type", .text("openai.RateLimitError"))], "", .quota),
            ([("exception.type", .text("anthropic.OverloadedError"))], "", .overload),
            ([("error.type", .text("AuthenticationError"))], "", .auth),
            ([("error.type", .text("APIConnectionError"))], "Connection error.", .server),
            ([], "Error code: 429 - {'error': {'code': 'insufficient_quota'}}", .billing),
            ([("http.status_code", .text("529"))], "", .overload),
            ([("error.type", .text("ValueError"))], "no idea", .error),
            ([("error.type", .text("ValueError"))], "Error code: 42", .error),
        ]
        for (attributes, message, outcome) in cases {
            var span = Span.call(1, extra: attributes)
            span.error = message
            for format in [TraceDecoder.Format.protobuf, .json] {
                let call = try decode([span], as: format).lines.first?.record.asCall
                #expect(call?.outcome == outcome, "\(attributes) \(message)")
            }
        }
    }

    @Test func `only calls of a model count, and a wrapper around one is not a second`() throws {
        var wrapper = Span.call(1)
        wrapper.parent = 0
        var inner = Span.call(2)
        inner.parent = 1
        let agent = Span.call(3, extra: [("gen_ai.operation.name", .text("invoke_agent"))])
        let tool = Span.call(4, extra: [("gen_ai.operation.name", .text("execute_tool"))])
        let workflow = Span(
            id: 5, values: ["traceloop.span.kind": .text("workflow"), "headroom.tenant": .text("acme")])
        let chain = Span(id: 6, values: ["openinference.span.kind": .text("CHAIN"), "llm.model_name": .text("m")])
        let result = try decode([wrapper, inner, agent, tool, workflow, chain, .other(7)], as: .protobuf)
        #expect(result.lines.map(\.number) == [2] && result.faults.isEmpty)
    }

    @Test func `faults name the span and what is missing`() throws {
        let nobody = Span.call(1, without: ["headroom.tenant"])
        let nameless = Span.call(2, extra: [("headroom.tenant", .text("no name"))])
        let nowhere = Span.call(3, without: ["gen_ai.provider.name"])
        let negative = Span.call(4, extra: [("gen_ai.usage.input_tokens", .integer(-1))])
        let result = try decode([.other(9), nobody, nameless, nowhere, negative, .call(5)], as: .json)
        #expect(result.lines.map(\.number) == [6])
        let words = [
            "neither the span nor its resource has the attribute headroom.tenant",
            "tenant: \"no name\" is no identifier",
            "pool is missing", "input_tokens: expected a whole number",
        ]
        #expect(result.faults.map(\.line) == [2, 3, 4, 5])
        for (fault, words) in zip(result.faults, words) { #expect(fault.detail.contains(words), "\(fault.detail)") }
        #expect(TraceAnswer(faults: result.faults).rejectedSpans == 4)
    }

    @Test func `an answer is what exporters expect`() throws {
        let partial = TraceAnswer(faults: [TelemetryReceipt.Fault(line: 1, detail: "no")])
        #expect(partial.encoded(as: .protobuf) == [0x0A, 6, 0x08, 1, 0x12, 2, UInt8(ascii: "n"), UInt8(ascii: "o")])
        #expect(
            String(decoding: partial.encoded(as: .json), as: UTF8.self)
                == #"{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}"#)
        #expect(TraceAnswer(faults: []).encoded(as: .protobuf).isEmpty)
        #expect(String(decoding: TraceAnswer(faults: []).encoded(as: .json), as: UTF8.self) == "{}")
    }

    @Test func `too many spans are refused as a whole`() throws {
        var decoder = decoder
        decoder.limits.lines = 3
        for (format, bytes) in [
            (TraceDecoder.Format.protobuf, Span.protobuf((1...4).map(Span.other))),
            (.json, Span.json((1...4).map(Span.other))),
        ] {
            #expect(throws: WireError(.tooManyLines, "more than 3 spans: send them in several requests")) {
                try TraceDecoder(format: format).decode(bytes, with: decoder, arrival: arrival)
            }
        }
    }

    @Test func `bodies that break the encoding are refused with a reason`() {
        let cases: [([UInt8], String)] = [
            ([0x0A], "the message ends inside a number"), ([0x0A, 5, 1], "a field is longer than its message"),
            ([0x0B], "wire type 3"), ([0x02], "no valid number"),
            ([0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], "more than 64 bits"),
            ([0x09, 1, 2], "the message ends inside a number"),
            // A length of 2^64 − 1 must not overflow.
            ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], "longer than its message"),
        ]
        for (bytes, words) in cases {
            do {
                _ = try TraceDecoder(format: .protobuf).decode(bytes, with: decoder, arrival: arrival)
                Issue.record("\(bytes) was taken")
            } catch { #expect(error.message.contains(words), "\(error)") }
        }
    }

    /// Wrong bytes may be refused or read as something else; they may never crash, and a fault always has a place.
    @Test(arguments: 0..<8)
    func `damaged bodies do no harm`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let spans = [Span.call(1), .call(2), .other(3)]
        for format in [TraceDecoder.Format.protobuf, .json] {
            let whole = format == .json ? Span.json(spans) : Span.protobuf(spans)
            for _ in 0..<60 {
                var bytes = whole
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default: bytes.removeLast(min(bytes.count - 1, Int.random(in: 1...20, using: &random)))
                    }
                }
                let result = try? TraceDecoder(format: format).decode(bytes, with: decoder, arrival: arrival)
                #expect(result?.faults.allSatisfy { (1...4).contains($0.line) } ?? true)
            }
        }
    }

    private func decode(_ spans: [Span], as format: TraceDecoder.Format) throws -> TelemetryDecoder.Result {
        let bytes = format == .json ? Span.json(spans) : Span.protobuf(spans)
        return try TraceDecoder(format: format).decode(bytes, with: decoder, arrival: arrival)
    }
}

extension TelemetryRecord {
    fileprivate var asCall: CallRecord? {
        if case .call(let call) = self { call } else { nil }
    }
}

/// A span to be encoded; written from the specification, apart from the reader.
private struct Span {
    enum Value {
        case text(String)
        case integer(Int64)
    }

    var id: UInt8
    var parent: UInt8 = 0
    var values: [String: Value] = [:]
    /// The status is an error with this text.
    var error = ""

    static func call(_ id: UInt8, extra: [(String, Value)] = [], without: [String] = []) -> Span {
        var values: [String: Value] = [
            "gen_ai.operation.name": .text("chat"), "gen_ai.provider.name": .text("openai"),
            "gen_ai.request.model": .text("gpt-4o"), "gen_ai.response.model": .text("gpt-4o-2024-11-20"),
            "gen_ai.usage.input_tokens": .integer(1200), "gen_ai.usage.output_tokens": .integer(300),
            "gen_ai.usage.cache_read.input_tokens": .integer(800), "gen_ai.request.max_tokens": .integer(4096),
            "gen_ai.input.messages": .text("never read"), "headroom.tenant": .text("acme"),
        ]
        for (key, value) in extra { values[key] = value }
        for key in without { values[key] = nil }
        return Span(id: id, values: values)
    }

    static func other(_ id: UInt8) -> Span { Span(id: id, values: ["http.method": .text("GET")]) }

    private static let end = UInt64(now - 1000) * 1_000_000
    private var start: UInt64 { Span.end - 750_000_000 }

    static func json(_ spans: [Span]) -> [UInt8] {
        let trace = String(repeating: "0a", count: 16)
        let texts = spans.map { span in
            let attributes = span.values.sorted { $0.key < $1.key }.map { key, value in
                switch value {
                case .text(let text): #"{"key":"\#(key)","value":{"stringValue":"\#(text)"}}"#
                case .integer(let integer): #"{"key":"\#(key)","value":{"intValue":"\#(integer)"}}"#
                }
            }
            let status = span.error.isEmpty ? "{}" : #"{"code":2,"message":"\#(span.error)"}"#
            let id = { (number: UInt8) in String(repeating: "0", count: 15) + String(number, radix: 16) }
            return
                #"{"traceId":"\#(trace)","spanId":"\#(id(span.id))","parentSpanId":"\#(id(span.parent))","name":"s","#
                + #""startTimeUnixNano":"\#(span.start)","endTimeUnixNano":\#(end),"kind":3,"links":null,"#
                + #""attributes":[\#(attributes.joined(separator: ","))],"status":\#(status)}"#
        }
        return Array(
            #"{"resourceSpans":[{"scopeSpans":[{"spans":[\#(texts.joined(separator: ","))]}],"resource":{"attributes":[]}}]}"#
                .utf8)
    }

    static func protobuf(_ spans: [Span]) -> [UInt8] {
        let messages = spans.flatMap { span in
            field(
                2,
                field(1, [UInt8](repeating: 0x0A, count: 16)) + field(2, [0, 0, 0, 0, 0, 0, 0, span.id])
                    + field(4, [0, 0, 0, 0, 0, 0, 0, span.parent]) + field(5, Array("s".utf8))
                    + fixed(7, span.start) + fixed(8, end)
                    + span.values.sorted { $0.key < $1.key }.flatMap { key, value in
                        field(9, field(1, Array(key.utf8)) + field(2, encoded(value)))
                    }
                    + (span.error.isEmpty ? [] : field(15, field(2, Array(span.error.utf8)) + [0x18, 2])))
        }
        return field(1, field(1, []) + field(2, messages))
    }

    private static func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text): field(1, Array(text.utf8))
        case .integer(let integer): [0x18] + varint(UInt64(bitPattern: integer))
        }
    }

    private static func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        [number << 3 | 2] + varint(UInt64(bytes.count)) + bytes
    }

    private static func fixed(_ number: UInt8, _ value: UInt64) -> [UInt8] {
        [number << 3 | 1] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
    }
}
