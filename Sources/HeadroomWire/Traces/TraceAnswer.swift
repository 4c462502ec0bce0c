import HeadroomJSON
import HeadroomModel

/// The answer to `POST /v1/traces` (OTLP 1.x, "Full Success", "Partial Success"): an `ExportTraceServiceResponse`.
package struct TraceAnswer: Equatable, Sendable {
    package var rejectedSpans: Int
    /// For people; empty where nothing was rejected.
    package var message: String

    /// - Parameter faults: of the spans that are calls of a model and were not taken.
    package init(faults: [TelemetryReceipt.Fault]) {
        rejectedSpans = faults.count
        // One log line at the sender: the first faults tell what is wrong with the rest.
        let more = faults.count > 3 ? "; and \(faults.count - 3) more" : ""
        message = faults.prefix(3).map(\.detail).joined(separator: "; ") + more
    }

    package func encoded(as format: TraceDecoder.Format) -> [UInt8] {
        switch format {
        case .protobuf:
            guard rejectedSpans > 0 else { return [] }
            var partial = ProtobufWriter()
            partial.integer(1, UInt64(rejectedSpans))
            partial.bytes(2, Array(message.utf8))
            var response = ProtobufWriter()
            response.bytes(1, partial.bytes)
            return response.bytes
        case .json:
            var writer = JSONWriter()
            writer.beginObject()
            if rejectedSpans > 0 {
                writer.key("partialSuccess")
                writer.beginObject()
                // 64-bit numbers are text in this encoding.
                writer.field("rejectedSpans", "\(rejectedSpans)")
                writer.field("errorMessage", message)
                writer.endObject()
            }
            writer.endObject()
            return writer.bytes
        }
    }
}

/// A failure in OTLP's form: `google.rpc.Status`.
package struct TraceFailure: Equatable, Sendable {
    /// Of `google.rpc.Code`: 3 for an invalid argument, 14 for a service that is away.
    package var code: Int
    package var message: String

    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    package func encoded(as format: TraceDecoder.Format) -> [UInt8] {
        switch format {
        case .protobuf:
            var writer = ProtobufWriter()
            writer.integer(1, UInt64(code))
            writer.bytes(2, Array(message.utf8))
            return writer.bytes
        case .json:
            var writer = JSONWriter()
            writer.beginObject()
            writer.field("code", code)
            writer.field("message", message)
            writer.endObject()
            return writer.bytes
        }
    }
}

/// Writes the fields of a protobuf message.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func integer(_ number: Int, _ value: UInt64) {
        varint(UInt64(number) << 3)
        varint(value)
    }

    /// A string, bytes or a message.
    mutating func bytes(_ number: Int, _ value: [UInt8]) {
        varint(UInt64(number) << 3 | 2)
        varint(UInt64(value.count))
        bytes += value
    }

    private mutating func varint(_ value: UInt64) {
        var value = value
        while value >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
            value >>= 7
        }
        bytes.append(UInt8(value))
    }
}
