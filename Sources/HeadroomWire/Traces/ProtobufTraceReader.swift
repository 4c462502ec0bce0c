/// Reads an `ExportTraceServiceRequest` in protobuf (opentelemetry-proto 1.x, `trace/v1/trace.proto`).
struct ProtobufTraceReader {
    private let bytes: [UInt8]
    private let interest: TraceInterest
    private var spans: [TraceSpan] = []

    static func read(_ bytes: [UInt8], _ interest: TraceInterest) throws(WireError) -> [TraceSpan] {
        var reader = ProtobufTraceReader(bytes: bytes, interest: interest)
        var request = ProtobufReader(bytes)
        while let field = try request.next() {
            if case (1, .range(let range)) = (field.number, field.value) { try reader.resourceSpans(range) }
        }
        return reader.spans
    }

    private init(bytes: [UInt8], interest: TraceInterest) {
        self.bytes = bytes
        self.interest = interest
    }

    private mutating func resourceSpans(_ range: Range<Int>) throws(WireError) {
        var resource = TraceAttributes()
        var scopes: [Range<Int>] = []
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            switch (field.number, field.value) {
            case (1, .range(let range)): try attributes(1, of: range, into: &resource)
            case (2, .range(let range)): scopes.append(range)
            default: continue
            }
        }
        for scope in scopes {
            var message = ProtobufReader(bytes, in: scope)
            while let field = try message.next() {
                guard case (2, .range(let range)) = (field.number, field.value) else { continue }
                guard spans.count < interest.maxSpans else { throw interest.tooManySpans }
                spans.append(try span(range, resource))
            }
        }
    }

    private func span(_ range: Range<Int>, _ resource: TraceAttributes) throws(WireError) -> TraceSpan {
        var span = TraceSpan()
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            switch (field.number, field.value) {
            case (1, .range(let range)): span.trace = message.hexadecimal(range) ?? ""
            case (2, .range(let range)): span.span = message.hexadecimal(range) ?? ""
            case (4, .range(let range)): span.parent = message.hexadecimal(range) ?? ""
            case (5, .range(let range)):
                span.name = message.string(range, maxBytes: TraceInterest.maxKeyBytes)
            case (7, .fixed64(let nanoseconds)): span.startNanoseconds = nanoseconds
            case (8, .fixed64(let nanoseconds)): span.endNanoseconds = nanoseconds
            case (9, .range(let range)): try attribute(range, into: &span.attributes)
            case (11, .range(let range)): try attributes(3, of: range, into: &span.attributes)
            case (15, .range(let range)): try status(range, into: &span)
            default: continue
            }
        }
        span.attributes = span.attributes.over(resource)
        return span
    }

    private func status(_ range: Range<Int>, into span: inout TraceSpan) throws(WireError) {
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            switch (field.number, field.value) {
            case (2, .range(let range)): span.message = message.string(range, maxBytes: TraceInterest.maxTextBytes)
            case (3, .varint(let code)): span.hasFailed = code == 2
            default: continue
            }
        }
    }

    /// The `KeyValue`s that a resource or an event holds in the field `number`.
    private func attributes(
        _ number: Int, of range: Range<Int>, into attributes: inout TraceAttributes
    ) throws(WireError) {
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            if case .range(let range) = field.value, field.number == number {
                try attribute(range, into: &attributes)
            }
        }
    }

    private func attribute(_ range: Range<Int>, into attributes: inout TraceAttributes) throws(WireError) {
        var key = ""
        var value: Range<Int>?
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            switch (field.number, field.value) {
            case (1, .range(let range)) where range.count <= TraceInterest.maxKeyBytes:
                key = message.string(range, maxBytes: range.count)
            case (2, .range(let range)): value = range
            default: continue
            }
        }
        guard let value, interest.keys.contains(key) else { return }
        if let value = try self.value(value) { attributes[key] = value }
    }

    /// An `AnyValue`; arrays, maps, bytes and booleans are nothing that Headroom asks for.
    private func value(_ range: Range<Int>) throws(WireError) -> TraceAttributes.Value? {
        var value: TraceAttributes.Value?
        var message = ProtobufReader(bytes, in: range)
        while let field = try message.next() {
            switch (field.number, field.value) {
            case (1, .range(let range)):
                value = .text(message.string(range, maxBytes: TraceInterest.maxTextBytes))
            case (3, .varint(let bits)): value = .integer(Int64(bitPattern: bits))
            case (4, .fixed64(let bits)): value = .number(Double(bitPattern: bits))
            default: value = nil
            }
        }
        return value
    }
}
