/// A failed response, taken apart: machine-readable fields, and prose.
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
        let message = isFailure ? ErrorReport.message(headers: headers, fields: fields) : ""
        codes = isFailure ? ErrorReport.codes(headers: headers, fields: fields, message: message) : []
        prose = Prose(message)
        if isSuccess {
            self.status = isFailure ? ErrorReport.innerStatus(fields) : nil
        } else {
            self.status = (status >= 500 ? ErrorReport.quotedRefusal(fields) : nil) ?? status
        }
    }

    /// The first code in which one of these parts occurs.
    func code(holdingOneOf parts: [StaticString]) -> String? {
        codes.first { code in
            let bytes = Array(code.utf8)
            return parts.contains { bytes.holds($0) }
        }
    }

    /// Whether a body under a success status is an error all the same: an object of its own at the top, or inside the
    /// response that a stream ends with. What a model wrote, also into a tool call, is never looked at.
    private static func holdsError(_ fields: BodyFields) -> Bool {
        fields.fields.contains { field in
            if ["null", "false", ""].contains(field.text) { return false }
            // The envelopes of MiniMax and Qianfan, where 0 is a success.
            if ["base_resp.status_code", "error_code"].contains(field.path) { return field.text != "0" }
            return field.path == "error" || errorObjects.contains { field.path.hasPrefix($0) }
                || (field.path == "type" && field.text == "error") || field.top.hasSuffix("Exception")
        }
    }

    /// The third is Tencent's, the last that of a run in the background.
    private static let errorObjects = ["error.", "response.error.", "Response.Error.", "last_error."]

    private static func innerStatus(_ fields: BodyFields) -> Int? {
        for path in ["error.code", "error.status", "error.status_code", "response.error.code", "status", "code"] {
            if let status = fields[path].flatMap({ Int($0.text) }), (400..<600).contains(status) { return status }
        }
        return nil
    }

    /// The answer of a proxy's upstream, which the proxy passes on as 500 or 502.
    private static func quotedRefusal(_ fields: BodyFields) -> Int? {
        fields.fields.lazy.filter { ["code", "status", "statuscode"].contains(squeezed($0.key)) }
            .compactMap { Int($0.text) }.first { [402, 429, 503, 529].contains($0) }
    }
}

extension ErrorReport {
    private static let codeKeys: Set<String> = [
        "type", "code", "status", "reason", "error", "errorcode", "errortype", "codename", "title", "statuscode",
    ]
    /// More than any answer names.
    private static let maxCodes = 64
    private static let messageKeys: Set<String> = [
        "message", "msg", "error", "detail", "details", "title", "description", "raw", "statusmsg", "errordescription",
        "errormessage", "errormsg", "errors", "reason",
    ]

    static func isMessage(_ key: String) -> Bool { messageKeys.contains(squeezed(key)) }

    private static func codes(headers: HeaderFields, fields: BodyFields, message: String) -> [String] {
        // The second is AWS's in an event stream.
        let names = ["x-amzn-errortype", ":exception-type", "x-ms-error-code", "x-error-code"]
        var texts = names.compactMap { headers[$0] }
        for field in fields.fields {
            if codeKeys.contains(squeezed(field.key)) { texts.append(field.text) }
            // A stream may name the error by the key: {"throttlingException":{"message":…}}.
            if field.top.hasSuffix("Exception") { texts.append(String(field.top)) }
        }
        texts += exceptions(in: message)
        var codes: [String] = []
        for text in texts {
            if codes.count < maxCodes, let code = code(text), !codes.contains(code) { codes.append(code) }
        }
        return codes
    }

    /// Names of exceptions that a proxy or an SDK left in a message: `litellm.RateLimitError: …`, `An error occurred
    /// (ThrottlingException) when …`.
    private static func exceptions(in message: String) -> [String] {
        message.utf8.prefix(Prose.longest)
            .split { byte in
                !(byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26)
            }
            .map { String(decoding: $0, as: UTF8.self) }
            .filter { word in
                ["Exception", "Error"].contains { word.hasSuffix($0) && word.utf8.count > $0.utf8.count }
            }
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
        for field in fields.fields where field.isString && isMessage(field.key) {
            parts.append(withoutEcho(field.text))
        }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Pydantic's messages repeat the input, and with it what users wrote.
    private static func withoutEcho(_ text: String) -> String {
        guard Array(text.utf8).holds("'input': ") else { return text }
        var kept: [UInt8] = []
        for byte in text.utf8 {
            kept.append(byte)
            if byte == UInt8(ascii: ":"), kept.suffix(8).elementsEqual("'input':".utf8) { break }
        }
        return String(decoding: kept, as: UTF8.self)
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
