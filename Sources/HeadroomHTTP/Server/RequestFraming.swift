/// How long a request's body says it is. Two servers that read different lengths out of the same request see different
/// requests behind it (request smuggling, RFC 9112 §11.2), so what can be read in two ways is refused.
struct RequestFraming {
    private var length: String?
    private var fault: String?
    private var isChunked = false

    /// Takes a header into account; `name` in any case.
    mutating func add(_ name: RawSpan, _ value: RawSpan) {
        if name.isEqualIgnoringCase(to: "Content-Length") {
            let text = value.text
            if let length, length != text {
                fault = "Content-Length is given twice, as \(length) and as \(text)"
            }
            length = text
        } else if name.isEqualIgnoringCase(to: "Transfer-Encoding") {
            if isChunked { fault = "Transfer-Encoding is given twice" }
            if !value.isEqualIgnoringCase(to: "chunked") {
                fault = "Transfer-Encoding: \(value.text) is not taken, only chunked"
            }
            isChunked = true
        }
    }

    func check() throws(HTTPError) {
        if let fault { throw HTTPError(.badRequest, fault) }
        if isChunked, length != nil {
            throw HTTPError(.badRequest, "the request has both Content-Length and Transfer-Encoding; one would do")
        }
    }
}
