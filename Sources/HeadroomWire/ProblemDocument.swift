import HeadroomJSON

/// An error as RFC 9457 has it (`application/problem+json`), with every fault of the request.
package struct ProblemDocument: Equatable, Sendable {
    package static let contentType = "application/problem+json"

    /// The quota's problem types of the IETF's RateLimit draft.
    package static let quotaExceeded = "https://iana.org/assignments/http-problem-types#quota-exceeded"
    package static let temporaryReducedCapacity =
        "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"

    package struct Fault: Equatable, Sendable {
        package enum Place: Equatable, Sendable {
            /// Dotted, from the document's root: `tenants.3.weight`.
            case path(String)
            /// From 1.
            case line(Int)
        }

        package var place: Place
        package var detail: String

        package init(_ place: Place, _ detail: String) {
            self.place = place
            self.detail = detail
        }
    }

    /// A URI; `about:blank` says no more than the status does.
    package var type: String
    package var title: String
    package var status: Int
    /// For people: what is wrong here, and what would be right.
    package var detail: String?
    package var errors: [Fault]

    package init(
        type: String = "about:blank", title: String, status: Int, detail: String? = nil, errors: [Fault] = []
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = errors
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("type", type)
        writer.field("title", title)
        writer.field("status", status)
        if let detail {
            writer.field("detail", detail)
        }
        if !errors.isEmpty {
            writer.key("errors")
            writer.beginArray()
            for fault in errors {
                writer.beginObject()
                switch fault.place {
                case .path(let path):
                    writer.field("path", path)
                case .line(let line):
                    writer.field("line", line)
                }
                writer.field("detail", fault.detail)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
        return writer.bytes
    }
}
