import HeadroomWire

/// The one place where a code becomes a status.
extension HTTPError.Code {
    var status: Int {
        switch self {
        case .badRequest: 400
        case .unauthenticated: 401
        case .forbidden: 403
        case .notFound, .noSuch: 404
        case .methodNotAllowed: 405
        case .conflict: 409
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unsupportedMediaType, .unsupportedCoding: 415
        case .tooManyRequests: 429
        case .headTooLarge: 431
        case .overloaded, .notReady, .stopping, .storage: 503
        case .unexpected, .badAddress, .addressInUse, .addressUnavailable, .cannotListen, .badCertificate: 500
        case .unknownVersion: 505
        }
    }

    /// Short and the same for every problem of the code (RFC 9457 §3.1.3).
    var title: String {
        switch self {
        case .badRequest: "Bad request"
        case .unauthenticated: "Unauthenticated"
        case .forbidden: "Forbidden"
        case .notFound: "No such path"
        case .noSuch: "Not found"
        case .conflict: "Conflict"
        case .methodNotAllowed: "Method not allowed"
        case .bodyTooLarge: "Body too large"
        case .unsupportedMediaType: "Unsupported media type"
        case .unsupportedCoding: "Unsupported content encoding"
        case .tooManyRequests: "Too many requests"
        case .targetTooLong: "Target too long"
        case .headTooLarge: "Request head too large"
        case .unknownVersion: "HTTP version not supported"
        case .overloaded: "Overloaded"
        case .notReady: "Not ready"
        case .stopping: "Stopping"
        case .storage: "Storage unavailable"
        case .unexpected: "Internal error"
        case .badAddress, .addressInUse, .addressUnavailable, .cannotListen, .badCertificate: "Cannot listen"
        }
    }
}

extension HTTPResponse {
    /// A problem document (RFC 9457), with the headers that its status asks for.
    package init(_ error: HTTPError) {
        var headers: [(name: String, value: String)] = []
        if let seconds = error.retryAfterSeconds { headers.append((name: "Retry-After", value: "\(seconds)")) }
        if error.code == .unauthenticated {
            headers.append((name: "WWW-Authenticate", value: "Bearer realm=\"headroom\""))
        }
        if error.code == .unsupportedCoding { headers.append((name: "Accept-Encoding", value: "gzip, identity")) }
        if !error.allowedMethods.isEmpty {
            let list = error.allowedMethods.map(\.rawValue).joined(separator: ", ")
            headers.append((name: "Allow", value: list))
        }
        self.init(
            status: error.code.status, type: ProblemDocument.contentType, headers: headers,
            body: error.problem.encoded())
    }
}

extension HTTPError {
    var problem: ProblemDocument {
        ProblemDocument(title: code.title, status: code.status, detail: message, errors: faults)
    }
}
