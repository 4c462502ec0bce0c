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
        case .unsupportedMediaType: 415
        case .overloaded, .notReady, .stopping, .storage: 503
        case .unexpected, .badAddress, .addressInUse, .addressUnavailable, .cannotListen: 500
        }
    }

    /// Short and the same for every problem of the code (RFC 9457 §3.1.3).
    var title: String {
        switch self {
        case .badRequest: "The request cannot be read"
        case .unauthenticated: "Who calls is not known"
        case .forbidden: "The token does not allow this"
        case .notFound: "There is no such path"
        case .noSuch: "There is no such thing"
        case .conflict: "It is too late for this"
        case .methodNotAllowed: "The path does not take this method"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body's type is not taken"
        case .overloaded: "Too much at once"
        case .notReady: "Not ready yet"
        case .stopping: "The service is stopping"
        case .storage: "Storage does not take it"
        case .unexpected: "A fault of the service"
        case .badAddress, .addressInUse, .addressUnavailable, .cannotListen: "The service cannot listen"
        }
    }
}

extension HTTPResponse {
    /// A problem document (RFC 9457), with the headers that its status asks for.
    init(_ error: HTTPError) {
        var headers: [(name: String, value: String)] = []
        if let seconds = error.retryAfterSeconds { headers.append((name: "Retry-After", value: "\(seconds)")) }
        if error.code == .unauthenticated {
            headers.append((name: "WWW-Authenticate", value: "Bearer realm=\"headroom\""))
        }
        if !error.allowedMethods.isEmpty {
            let list = error.allowedMethods.map(\.rawValue).joined(separator: ", ")
            headers.append((name: "Allow", value: list))
        }
        let problem = ProblemDocument(
            title: error.code.title, status: error.code.status, detail: error.message, errors: error.faults)
        self.init(
            status: error.code.status, type: ProblemDocument.contentType, headers: headers, body: problem.encoded())
    }
}
