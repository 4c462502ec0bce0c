/// What Headroom reads of an OpenTelemetry span.
struct TraceSpan: Equatable {
    /// Trace and span id, in lower-case hexadecimal.
    var trace = ""
    var span = ""
    /// The span that this one is part of; empty for none.
    var parent = ""
    var name = ""
    /// Since 1970, on the sender's clock; 0 where it was not sent.
    var startNanoseconds: UInt64 = 0
    var endNanoseconds: UInt64 = 0
    /// The span's status is an error.
    var hasFailed = false
    /// The text of the status, or of the exception that the span recorded.
    var message = ""
    /// Of the span, and under those of its resource: the sending process.
    var attributes = TraceAttributes()
}

/// The attributes that somebody asks for; prompts and answers, which instrumentations send as attributes too, are passed
/// over unread.
struct TraceAttributes: Equatable {
    enum Value: Equatable {
        case text(String)
        case integer(Int64)
        case number(Double)
    }

    private var values: [String: Value] = [:]

    subscript(key: String) -> Value? {
        get { values[key] }
        set { values[key] = newValue }
    }

    /// Those of the span win over those of its resource.
    func over(_ resource: TraceAttributes) -> TraceAttributes {
        var merged = self
        merged.values.merge(resource.values) { mine, _ in mine }
        return merged
    }

    /// The first of `keys` that is present and not empty; numbers as text.
    func text(_ keys: [String]) -> String? {
        for key in keys {
            switch values[key] {
            case .text(let text) where !text.isEmpty: return text
            case .integer(let integer): return String(integer)
            default: continue
            }
        }
        return nil
    }

    /// The first of `keys` that holds a whole number; some instrumentations send numbers as text.
    func integer(_ keys: [String]) -> Int64? {
        for key in keys {
            switch values[key] {
            case .integer(let integer): return integer
            case .number(let number):
                if let integer = Int64(exactly: number) { return integer }
            case .text(let text):
                if let integer = Int64(text) { return integer }
            case nil: continue
            }
        }
        return nil
    }
}

/// Which attributes to keep, and how much of each.
struct TraceInterest {
    let keys: Set<String>
    /// A request holds at most so many spans, of any kind.
    let maxSpans: Int
    /// Longer text is cut: no name is as long, and what an error says stands at its start.
    static let maxTextBytes = 16 << 10
    /// Longer keys are nobody's.
    static let maxKeyBytes = 256

    var tooManySpans: WireError {
        WireError(.tooManyLines, "more than \(maxSpans) spans: send them in several requests")
    }
}
