import HeadroomWire

/// A failure at the HTTP edge: a request that is answered with a problem document, or a server that cannot start.
package struct HTTPError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        // A request.
        case badRequest, unauthenticated, forbidden, notFound, methodNotAllowed, bodyTooLarge, unsupportedMediaType
        /// The body's `Content-Encoding`.
        case unsupportedCoding
        case tooManyRequests
        /// The request's first line, its head, its version: what ``MicroHTTPDRefusal`` answers.
        case targetTooLong, headTooLarge, unknownVersion
        /// The route exists, but the object that the path names does not (404); `notFound` is a path without a route.
        case noSuch
        case conflict
        case overloaded, notReady, stopping, storage, unexpected
        // A server that cannot start.
        case badAddress, addressInUse, addressUnavailable, cannotListen, badCertificate
    }

    package var code: Code
    /// For people: what is wrong and what would be right.
    package var message: String
    /// Each fault of several, with its place.
    package var faults: [ProblemDocument.Fault]
    /// The methods that the path has; only with `methodNotAllowed`.
    package var allowedMethods: [HTTPMethod]
    package var retryAfterSeconds: Int?
    package var cause: (any Error)?

    package init(
        _ code: Code, _ message: String, faults: [ProblemDocument.Fault] = [], allowedMethods: [HTTPMethod] = [],
        retryAfterSeconds: Int? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.faults = faults
        self.allowedMethods = allowedMethods
        self.retryAfterSeconds = retryAfterSeconds
        self.cause = cause
    }

    package var description: String { message }
}
