import HeadroomJSON

/// Reads an `ExportTraceServiceRequest` in JSON (OTLP 1.x, "JSON Protobuf Encoding"): ids in hexadecimal, 64-bit numbers
/// as text or as numbers, names in lower camel case, unknown fields ignored.
struct JSONTraceReader {
    private var reader: JSONReader
    private let interest: TraceInterest
    private var spans: [TraceSpan] = []

    static func read(_ bytes: [UInt8], _ interest: TraceInterest) throws(WireError) -> [TraceSpan] {
        var reader = JSONTraceReader(reader: JSONReader(bytes), interest: interest)
        do {
            try reader.request()
        } catch let error as JSONError {
            throw WireError(
                .unreadable, "not valid OTLP JSON: \(error.message) (\(JSONPosition(of: error.offset, in: bytes)))")
        } catch {
            throw error as? WireError ?? WireError(.unreadable, "\(error)")
        }
        return reader.spans
    }

    private init(reader: JSONReader, interest: TraceInterest) {
        self.reader = reader
        self.interest = interest
    }

    private mutating func request() throws {
        try eachElement(of: "resourceSpans") { reader in try reader.resourceSpans() }
        try reader.endDocument()
    }

    private mutating func resourceSpans() throws {
        // The resource may come after its spans, so it is looked for first.
        let start = reader
        var resource = TraceAttributes()
        try reader.beginObject()
        while let key = try nextKey() {
            if reader.text(key, equals: "resource") {
                try attributes(ofObjectInto: &resource)
            } else {
                try reader.skipValue()
            }
        }
        reader = start
        try eachElement(of: "scopeSpans") { reader in try reader.scopeSpans(resource) }
    }

    private mutating func scopeSpans(_ resource: TraceAttributes) throws {
        try eachElement(of: "spans") { reader in
            guard reader.spans.count < reader.interest.maxSpans else { throw reader.interest.tooManySpans }
            reader.spans.append(try reader.span(resource))
        }
    }

    private mutating func span(_ resource: TraceAttributes) throws -> TraceSpan {
        var span = TraceSpan()
        try reader.beginObject()
        while let key = try nextKey() {
            if reader.text(key, equals: "traceId") {
                span.trace = try id()
            } else if reader.text(key, equals: "spanId") {
                span.span = try id()
            } else if reader.text(key, equals: "parentSpanId") {
                span.parent = try id()
            } else if reader.text(key, equals: "name") {
                span.name = try text(maxBytes: TraceInterest.maxKeyBytes)
            } else if reader.text(key, equals: "startTimeUnixNano") {
                span.startNanoseconds = UInt64(clamping: try integer() ?? 0)
            } else if reader.text(key, equals: "endTimeUnixNano") {
                span.endNanoseconds = UInt64(clamping: try integer() ?? 0)
            } else if reader.text(key, equals: "attributes") {
                try attributes(into: &span.attributes)
            } else if reader.text(key, equals: "events") {
                try reader.beginArray()
                while try reader.nextElement() { try attributes(ofObjectInto: &span.attributes) }
            } else if reader.text(key, equals: "status") {
                try status(into: &span)
            } else {
                try reader.skipValue()
            }
        }
        span.attributes = span.attributes.over(resource)
        return span
    }

    private mutating func status(into span: inout TraceSpan) throws {
        try reader.beginObject()
        while let key = try nextKey() {
            if reader.text(key, equals: "message") {
                span.message = try text(maxBytes: TraceInterest.maxTextBytes)
            } else if reader.text(key, equals: "code") {
                span.hasFailed = try integer() == 2
            } else {
                try reader.skipValue()
            }
        }
    }

    /// The member `attributes` of the object that comes next: a resource or an event.
    private mutating func attributes(ofObjectInto attributes: inout TraceAttributes) throws {
        try reader.beginObject()
        while let key = try nextKey() {
            if reader.text(key, equals: "attributes") {
                try self.attributes(into: &attributes)
            } else {
                try reader.skipValue()
            }
        }
    }

    private mutating func attributes(into attributes: inout TraceAttributes) throws {
        try reader.beginArray()
        while try reader.nextElement() {
            var name: String?
            var value: TraceAttributes.Value?
            try reader.beginObject()
            while let key = try nextKey() {
                if reader.text(key, equals: "key") {
                    name = reader.string(of: try reader.readText())
                } else if reader.text(key, equals: "value") {
                    value = try self.value()
                } else {
                    try reader.skipValue()
                }
            }
            if let name, let value, interest.keys.contains(name) { attributes[name] = value }
        }
    }

    private mutating func value() throws -> TraceAttributes.Value? {
        var value: TraceAttributes.Value?
        try reader.beginObject()
        while let key = try nextKey() {
            if reader.text(key, equals: "stringValue") {
                value = .text(try text(maxBytes: TraceInterest.maxTextBytes))
            } else if reader.text(key, equals: "intValue") {
                value = try integer().map { .integer($0) }
            } else if reader.text(key, equals: "doubleValue") {
                if try reader.peek() == .number {
                    value = .number(try reader.readDouble())
                } else {
                    // "NaN" and "Infinity", which are text in this encoding.
                    try reader.skipValue()
                }
            } else {
                try reader.skipValue()
            }
        }
        return value
    }

    /// Goes through the object that comes next, and through the array that is its member `name`.
    private mutating func eachElement(
        of name: StaticString, _ read: (inout JSONTraceReader) throws -> Void
    ) throws {
        try reader.beginObject()
        while let key = try nextKey() {
            guard reader.text(key, equals: name) else {
                try reader.skipValue()
                continue
            }
            try reader.beginArray()
            while try reader.nextElement() { try read(&self) }
        }
    }

    // MARK: - Scalars

    /// The next key whose value is not null; a null is as absent.
    private mutating func nextKey() throws -> JSONText? {
        while let key = try reader.nextKey() {
            if try !reader.readNull() { return key }
        }
        return nil
    }

    /// A 64-bit number is text by the encoding's rule, and a number by many an encoder's.
    private mutating func integer() throws -> Int64? {
        if try reader.peek() == .number { return try reader.readInt64() }
        return Int64(try reader.readString())
    }

    private mutating func id() throws -> String {
        let text = try text(maxBytes: 64).lowercased()
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) } ? text : ""
    }

    private mutating func text(maxBytes: Int) throws -> String {
        let text = try reader.readString()
        return text.utf8.count <= maxBytes ? text : String(decoding: text.utf8.prefix(maxBytes), as: UTF8.self)
    }
}
