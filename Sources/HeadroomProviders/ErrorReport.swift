/// What a failed response says of its failure: machine fields apart from prose.
struct ErrorReport {
    /// Of HTTP, or the one that an error inside a success names. `nil` for such an error without one.
    let status: Int?
    /// Whether anything failed: an error status, or an error event inside a success.
    let isFailure: Bool
    /// Whether HTTP called it a success.
    let isSuccess: Bool
    /// Machine-readable types, codes and reasons, squeezed (lower-case letters and digits only, as `rate_limit_exceeded`
    /// and `RateLimitExceeded` are spelt at different providers), in the order found.
    let codes: [String]
    let prose: Prose
    let fields: BodyFields

    init(status: Int, headers: HeaderFields, body: String?) {
        let isSuccess = (100..<300).contains(status)
        let body = body ?? ""
        let fields = isSuccess && !BodyFields.mayHoldError(body) ? BodyFields() : BodyFields(body)
        let isFailure = !isSuccess || ErrorReport.holdsError(fields)
        self.isFailure = isFailure
        self.isSuccess = isSuccess
        self.fields = isFailure ? fields : BodyFields()
        codes = isFailure ? ErrorReport.codes(headers: headers, fields: fields) : []
        prose = isFailure ? Prose(ErrorReport.message(headers: headers, fields: fields)) : Prose("")
        let inner = isFailure ? ErrorReport.innerStatus(fields) : nil
        if isSuccess {
            self.status = inner
        } else if status >= 500, let inner, [402, 429, 503, 529].contains(inner) {
            // A proxy that answers 500 or 502 for what its upstream called a refusal.
            self.status = inner
        } else {
            self.status = status
        }
    }

    /// Whether one of these parts occurs in a code.
    func names(anyOf parts: [StaticString]) -> Bool {
        let text = Array(codes.joined(separator: " ").utf8)
        return !text.isEmpty && parts.contains { text.holds($0) }
    }

    /// Whether a body under a success status is an error all the same: an object of its own at the top, or inside the
    /// response that a stream ends with. What a model wrote, also into a tool call, is never looked at.
    private static func holdsError(_ fields: BodyFields) -> Bool {
        fields.fields.contains { field in
            if ["null", "false", ""].contains(field.text) { return false }
            return field.path == "error" || field.path.hasPrefix("error.") || field.path.hasPrefix("response.error.")
                || (field.path == "type" && field.text == "error") || field.top.hasSuffix("Exception")
        }
    }

    private static func innerStatus(_ fields: BodyFields) -> Int? {
        for path in ["error.code", "error.status", "error.status_code", "response.error.code", "status", "code"] {
            if let status = fields[path].flatMap({ Int($0.text) }), (400..<600).contains(status) { return status }
        }
        return nil
    }
}

extension ErrorReport {
    private static let codeKeys: Set<String> = [
        "type", "code", "status", "reason", "error", "errorcode", "errortype", "codename", "title",
    ]
    private static let messageKeys: Set<String> = [
        "message", "msg", "error", "detail", "details", "title", "description", "raw", "statusmsg", "errordescription",
        "errormessage", "errormsg", "reason",
    ]

    private static func codes(headers: HeaderFields, fields: BodyFields) -> [String] {
        var texts = ["x-amzn-errortype", "x-ms-error-code", "x-error-code"].compactMap { headers[$0] }
        for field in fields.fields {
            if codeKeys.contains(squeezed(field.key)) { texts.append(field.text) }
            // A stream may name the error by the key: {"throttlingException":{"message":…}}.
            if field.top.hasSuffix("Exception") { texts.append(String(field.top)) }
        }
        var codes: [String] = []
        for text in texts {
            if let code = code(text), !codes.contains(code) { codes.append(code) }
        }
        return codes
    }

    /// `com.amazon.coral.service#ThrottlingException`, `ThrottlingException:http://…` and the last part of the URI of a
    /// problem type lose what is around them. `nil` for a sentence.
    private static func code(_ text: String) -> String? {
        var rest = text[...]
        if rest.hasPrefix("http"), let last = rest.split(whereSeparator: { $0 == "#" || $0 == "/" }).last {
            rest = last
        } else if let first = rest.split(separator: ":").first, let last = first.split(separator: "#").last {
            rest = last
        }
        let code = squeezed(rest)
        let isWord = rest.utf8.count <= 80 && rest.split(separator: " ").count <= 3
        return isWord && !code.isEmpty && code != "null" ? code : nil
    }

    private static func message(headers: HeaderFields, fields: BodyFields) -> String {
        var parts = ["x-error-message", "grpc-message"].compactMap { headers[$0] }
        parts.append(fields.preamble)
        for field in fields.fields where field.isString && messageKeys.contains(squeezed(field.key)) {
            parts.append(field.text)
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Lower-case ASCII letters and digits only.
    static func squeezed(_ text: some StringProtocol) -> String {
        var result = ""
        for byte in text.utf8 {
            let lower = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
            if lower &- UInt8(ascii: "a") < 26 || lower &- UInt8(ascii: "0") < 10 {
                result.unicodeScalars.append(Unicode.Scalar(lower))
            }
        }
        return result
    }
}
