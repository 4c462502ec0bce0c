import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// A person's HTTP request: its target, its sender and its body.
struct PeopleCall: Sendable {
    let target: RequestTarget
    let pattern: String
    let grant: AccessGrant
    let body: [UInt8]
    /// Without its parameters, in lower case; `nil` for calls without a body.
    let contentType: String?

    /// The segment of the path at `{name}`.
    func segment(_ name: String) -> String {
        let wanted = pattern.split(separator: "/", omittingEmptySubsequences: false)
        let given = target.path.split(separator: "/", omittingEmptySubsequences: false)
        return zip(wanted, given).first { $0.0 == "{\(name)}" }.map { String($0.1) } ?? ""
    }

    /// `{id}` as a number that Headroom gave.
    func number() throws(HTTPError) -> Int64 {
        let text = segment("id")
        guard let id = Int64(text), id > 0 else {
            throw HTTPError(.noSuch, "\"\(text)\" is no id; one is a number, as the list of them shows")
        }
        return id
    }

    /// `{id}` as a name.
    func identifier<Kind>() throws(HTTPError) -> Identifier<Kind> {
        let text = segment("id")
        guard let identifier = Identifier<Kind>(text) else {
            throw HTTPError(.badRequest, "\"\(text)\" in the path is no name; one is \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    // MARK: The query

    /// Unknown parameters are refused as unknown fields are.
    func check(query known: [String]) throws(HTTPError) {
        let faults = Set(target.query.map(\.name)).subtracting(known).sorted().map { name in
            ProblemDocument.Fault(
                .path(String(name.unicodeScalars.prefix(64))),
                "unknown parameter; "
                    + (known.isEmpty ? "there are none" : "known are \(known.joined(separator: ", "))"))
        }
        guard faults.isEmpty else {
            throw HTTPError(.badRequest, "the query has parameters that this call does not know", faults: faults)
        }
    }

    func query<Kind>(_ name: String, isRequired: Bool = false) throws(HTTPError) -> Identifier<Kind>? {
        guard let text = try target.value(name) else {
            if isRequired { throw HTTPError(.badRequest, "\(name) is missing: add \(name)=NAME to the query") }
            return nil
        }
        guard let identifier = Identifier<Kind>(text) else {
            throw HTTPError(.badRequest, "\(name)=\(text) is no name; one is \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    func query(_ name: String, in range: ClosedRange<Int64>) throws(HTTPError) -> Int64? {
        guard let text = try target.value(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            throw HTTPError(
                .badRequest, "\(name)=\(text): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// RFC 3339, or milliseconds since 1970.
    func instant(_ name: String) throws(HTTPError) -> Timestamp? {
        guard let text = try target.value(name) else { return nil }
        // Far enough for any log, and nothing overflows that is added to it.
        guard let milliseconds = Int64(text) ?? RFC3339.parse(text), (0...253_402_300_799_999).contains(milliseconds)
        else {
            throw HTTPError(
                .badRequest, "\(name)=\(text) is no time; one is RFC 3339 or milliseconds since 1970")
        }
        return Timestamp(milliseconds: milliseconds)
    }

    /// One of `choices`.
    func choice<Value>(_ name: String, of choices: [Value], named: (Value) -> String) throws(HTTPError) -> Value? {
        guard let text = try target.value(name) else { return nil }
        guard let value = choices.first(where: { named($0) == text }) else {
            let names = choices.map(named).joined(separator: ", ")
            throw HTTPError(.badRequest, "\(name)=\(text): must be one of \(names)")
        }
        return value
    }

    // MARK: The scope

    /// - Parameter what: in a sentence: `the pool x`.
    func requireScope(_ isInside: Bool, _ what: @autoclosure () -> String) throws(HTTPError) {
        guard !isInside else { return }
        throw .outsideLimits(grant, what())
    }
}

extension Route {
    /// A JSON document of a person; files have limits of their own.
    static let personBodyBytes = 64 << 10

    /// A call of a person: its work runs on a task, since it waits for storage.
    static func person(
        _ method: HTTPMethod, _ pattern: String, _ roles: Set<Role>, _ reach: AccessReach, bodyLimit: Int = 0,
        contentTypes: [String] = ["application/json"],
        _ work: @escaping @Sendable (PeopleCall) async throws -> HTTPResponse
    ) -> Route {
        let types = bodyLimit > 0 ? contentTypes : []
        return Route(
            method: method, pattern: pattern, access: .roles(roles), reach: reach, bodyLimit: bodyLimit,
            contentTypes: types
        ) { target, grant in
            HTTPHandler(answer: { exchange in
                let type = exchange.header("Content-Type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
                let call = PeopleCall(
                    target: target, pattern: pattern, grant: grant, body: exchange.takeBody(), contentType: type)
                return .later {
                    do { return try await work(call) } catch { return HTTPResponse(HTTPError(any: error)) }
                }
            })
        }
    }
}

extension HTTPResponse {
    /// An answer of JSON.
    static func json(status: Int = 200, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, type: "application/json", body: body)
    }

    static func json(status: Int = 200, _ write: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter(capacity: 1024)
        write(&writer)
        return .json(status: status, writer.bytes)
    }

    /// Done, and nothing to say.
    static let noContent = HTTPResponse(
        status: 204, prepared: PreparedResponse(headers: [(name: "Cache-Control", value: "no-store")], body: []))
}

// MARK: Errors of what stands behind

extension HTTPError {
    /// A full disk or a locked database is not over in a second.
    private static let storageRetrySeconds = 5

    /// Swift takes a closure of several statements for one that may throw anything: the answer to the errors of a call's
    /// work. Another one is a fault in Headroom.
    fileprivate init(any error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case let error as SteeringError: self.init(error)
        case let error as BodyError: self.init(error)
        default: self.init(.unexpected, "Headroom failed: \(error)", cause: error)
        }
    }

    init(_ error: BodyError) {
        let count = error.faults.count
        self.init(
            .badRequest, "the body has \(count == 1 ? "a fault" : "\(count) faults"); nothing was changed",
            faults: error.faults, cause: error)
    }

    init(_ error: SteeringError) {
        switch error.code {
        case .notFound: self.init(.noSuch, error.message, cause: error)
        case .conflict: self.init(.conflict, error.message, cause: error)
        case .forbidden: self.init(.forbidden, error.message, cause: error)
        case .invalid: self.init(.badRequest, error.message, cause: error)
        case .unavailable:
            self.init(.storage, error.message, retryAfterSeconds: Self.storageRetrySeconds, cause: error)
        }
    }

    /// Reads do not say what kind of trouble they have.
    static func unreadable(_ error: any Error) -> HTTPError {
        HTTPError(.storage, "cannot be read: \(error)", retryAfterSeconds: storageRetrySeconds, cause: error)
    }
}

extension RuleSource {
    func rules() async throws(HTTPError) -> Rules {
        do { return try await current() } catch { throw .unreadable(error) }
    }
}

/// Runs `work` of a desk, with its errors as answers.
func asking<Value>(
    _ work: () async throws -> Value
) async throws(HTTPError) -> Value {
    do { return try await work() } catch { throw HTTPError(any: error) }
}

/// Reads a body, with its faults as an answer.
func reading<Value>(_ read: () throws -> Value) throws(HTTPError) -> Value {
    do { return try read() } catch { throw HTTPError(any: error) }
}
