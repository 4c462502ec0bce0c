/// What a request's head says twice, or says so that two servers read it in two ways. They would then see different requests
/// behind it (request smuggling, RFC 9112 §11.2), so it is refused.
///
/// The library hands out each header as two C strings, and leaves out what it cannot say so: the rest of a value behind a
/// zero byte, and the lines by which an old client goes on with a header (obs-fold). Both leave a gap in the memory in which
/// the head lies, which is looked for here.
struct RequestFraming {
    private var length: String?
    private var fault: String?
    private var isChunked = false
    private var hosts = 0
    private var authorizations = 0
    /// The address at which the next line of the head begins when nothing was left out; `nil` where the library refuses such
    /// heads itself.
    private var next: UInt?

    /// - Parameter lineEnd: the address of the byte behind the first line's last one.
    init(lineEnd: UInt?) {
        next = lineEnd.map { $0 &+ 2 }
    }

    /// Takes a header into account; in the order of the head.
    mutating func add(_ name: RawSpan, at nameAddress: UInt, _ value: RawSpan, at valueAddress: UInt) {
        if let next {
            if nameAddress != next { fault = fault ?? Self.gap }
            self.next = valueAddress &+ UInt(value.byteCount) &+ 2
        }
        if !name.isToken {
            fault =
                fault ?? "\"\(name.text.prefix(64))\" is no name of a header: one has no spaces, also before its colon"
        }
        if value.contains(UInt8(ascii: "\r")) {
            fault = fault ?? "the header \(name.text.prefix(64)) has a line break in it"
        }
        if name.isEqualIgnoringCase(to: "Content-Length") {
            let text = value.text
            if let length { fault = fault ?? "Content-Length is given twice, as \(length) and as \(text)" }
            length = text
        } else if name.isEqualIgnoringCase(to: "Transfer-Encoding") {
            if isChunked { fault = fault ?? "Transfer-Encoding is given twice" }
            if !value.isEqualIgnoringCase(to: "chunked") {
                fault = fault ?? "Transfer-Encoding: \(value.text) is not taken, only chunked"
            }
            isChunked = true
        } else if name.isEqualIgnoringCase(to: "Host") {
            hosts += 1
        } else if name.isEqualIgnoringCase(to: "Authorization") {
            authorizations += 1
        }
    }

    /// - Parameters:
    ///   - isOld: HTTP/1.0, which need not name a host and has no chunks.
    ///   - headEnd: the address of the byte behind the head's empty line.
    func check(isOld: Bool, headEnd: UInt) throws(HTTPError) {
        if let fault { throw HTTPError(.badRequest, fault) }
        if let next, next &+ 2 != headEnd { throw HTTPError(.badRequest, Self.gap) }
        if isChunked, length != nil {
            throw HTTPError(.badRequest, "the request has both Content-Length and Transfer-Encoding; one would do")
        }
        if isChunked, isOld {
            throw HTTPError(.badRequest, "HTTP/1.0 knows no Transfer-Encoding (RFC 9112 §6.1): send Content-Length")
        }
        if hosts == 0, !isOld {
            throw HTTPError(.badRequest, "the request has no Host header, which HTTP/1.1 asks for (RFC 9112 §3.2)")
        }
        if hosts > 1 {
            throw HTTPError(.badRequest, "Host is given \(hosts) times; a request names one (RFC 9112 §3.2)")
        }
        if authorizations > 1 {
            throw HTTPError(.badRequest, "Authorization is given \(authorizations) times; a request bears one token")
        }
    }

    private static let gap =
        "a line of the head has a zero byte in it, goes on from the line before it, or ends in a line feed alone; each "
        + "header is one line that ends in CR LF (RFC 9112 §2.2 and §5.2)"
}
