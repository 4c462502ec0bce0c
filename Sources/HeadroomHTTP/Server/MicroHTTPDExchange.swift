import CMicroHTTPD
import Glibc
import HeadroomModel
import Synchronization

/// One connection, and the request that it carries just now.
///
/// A poller sends the same request again and again: the connection remembers the last target and credentials with the
/// handler that was bound to them, so that an unchanged request is neither parsed nor authorized anew.
@safe final class HTTPExchange: @unchecked Sendable {
    // Sendable: everything but the atomics is touched by one thread at a time, the server's thread to which the
    // connection belongs; while it is parked, `outcome` alone, by the one who will resume it.
    private enum Phase { case idle, receiving, parked, answered }

    /// It outlives its connections: it ends after the last of them.
    private let server: MicroHTTPDServer
    private let patience: Patience
    private let connection: OpaquePointer
    let socket: Int32
    /// Its place in the server's table.
    var slot = 0

    private var phase = Phase.idle
    private var rawTarget: [UInt8] = []
    /// The address of the byte behind the target in hand, which is where the version has to begin.
    private var targetEnd: UInt = 0
    private var rawAuthorization: [UInt8]?
    private var rawCookie: [UInt8]?
    private var rawUser: String?
    private var binding: HTTPBinding?
    private var refusal: HTTPError?
    private var incoming = IncomingBody()
    fileprivate var outcome: HTTPResponse?
    /// Until when the request in hand waits for news, on the monotonic clock; `nil` before it has been parked for that.
    var waitsUntil: Int64?
    private let address: ClientAddress
    /// The connection comes from a proxy whose word on who the user is counts.
    private let isFromTrustedProxy: Bool
    /// The request's 401 was delayed, and counts as waiting until it is sent.
    private var isDelayed = false

    /// When to cut the connection, on the monotonic clock; ``never`` while nothing is expected of the client.
    private let deadline: Atomic<Int64>
    private static let never = Int64.max
    /// `POLLRDHUP`, which the C library shows to GNU sources only.
    static let peerClosed: Int16 = 0x2000
    /// What to do when the client leaves while its request waits for a task. The library does not watch a parked
    /// connection; ``LeftClients`` does.
    private let whenLeft = Mutex<(@Sendable () -> Void)?>(nil)
    private let idle = Atomic(true)

    init(server: MicroHTTPDServer, connection: OpaquePointer) {
        self.server = server
        patience = server.settings.patience
        unsafe self.connection = connection
        socket = unsafe headroom_mhd_socket(connection)
        address = unsafe ClientAddress(headroom_mhd_client(connection))
        isFromTrustedProxy =
            unsafe server.settings.trustedProxy?.trusts(AddressRange(headroom_mhd_client(connection))) ?? false
        deadline = Atomic(MonotonicClock.milliseconds() + patience.header)
    }

    /// Between two requests.
    var isIdle: Bool { idle.load(ordering: .relaxed) }

    /// True once, when the client has taken longer than it may.
    func isOverdue(at now: Int64) -> Bool {
        guard deadline.load(ordering: .relaxed) <= now else { return false }
        deadline.store(Self.never, ordering: .relaxed)
        return true
    }

    var isWatched: Bool { whenLeft.withLock { $0 != nil } }

    /// The client has gone: once for each request.
    func leave() {
        whenLeft.withLock { action in
            defer { action = nil }
            return action
        }?()
    }

    // MARK: For handlers

    /// The header's bytes, valid inside `body` only; `nil` when the request does not have it.
    func withHeader<Result>(_ name: StaticString, _ body: (RawSpan?) -> Result) -> Result {
        var value: UnsafePointer<CChar>?
        var count = 0
        // A static string's bytes live for ever, and the library reads `utf8CodeUnitCount` of them.
        let isPresent = unsafe MHD_lookup_connection_value_n(
            connection, .HEADER_KIND, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            name.utf8CodeUnitCount, &value, &count)
        guard isPresent == .YES, let value = unsafe value else { return body(nil) }
        // The library keeps the request's headers until the request is completed.
        return body(unsafe RawSpan(_unsafeStart: UnsafeRawPointer(value), byteCount: count))
    }

    func header(_ name: StaticString) -> String? {
        withHeader(name) { span in if let span { span.text } else { nil } }
    }

    /// The body is said to be JSON, with or without parameters behind the type.
    var isJSON: Bool { header("Content-Type")?.lowercased().hasPrefix("application/json") ?? false }

    func hasHeader(_ name: StaticString) -> Bool {
        withHeader(name) { span in if span == nil { false } else { true } }
    }

    /// The user whom a trusted proxy names; `nil` where none does. Two headers are one name that nobody has.
    var proxyUser: String? {
        guard isFromTrustedProxy, let name = server.settings.trustedProxy?.header else { return nil }
        var found = HeaderValues(name: name)
        unsafe withUnsafeMutablePointer(to: &found) { pointer in
            // The library calls the function for each header before it returns.
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addToValues, pointer)
        }
        return found.values.isEmpty ? nil : found.values.joined(separator: ", ")
    }

    /// The headers whose names begin with `prefix`, in lower case and without it; in the order received.
    func headers(after prefix: String) -> [(name: String, value: String)] {
        var found = HeadersAfter(prefix: prefix)
        unsafe withUnsafeMutablePointer(to: &found) { pointer in
            // The library calls the function for each header before it returns.
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addHeader, pointer)
        }
        return found.headers
    }

    /// The client takes gzip (RFC 9110 §12.5.3).
    var takesGzip: Bool {
        withHeader("Accept-Encoding") { span in if let span { span.acceptsGzip } else { false } }
    }

    /// What the server shows in a handshake; `nil`: clear text.
    var certificate: GnuTLSCertificate? { server.settings.certificate?.current }

    /// The service's own scheme.
    var scheme: String { server.settings.certificate == nil ? "http" : "https" }

    /// The request's body, once.
    func takeBody() -> [UInt8] { incoming.take() }

    /// Takes the connection out of the server's loop until it is resumed.
    ///
    /// Call it under the lock that guards the list to which the result goes, so that nobody who takes the list misses
    /// it; and never touch the exchange after its resume but from the handler that is then asked again.
    func park() -> ParkedExchange {
        phase = .parked
        deadline.store(Self.never, ordering: .relaxed)
        server.parkedCount.add(1, ordering: .relaxed)
        unsafe MHD_suspend_connection(connection)
        return unsafe ParkedExchange(exchange: self, connection: connection)
    }
}

/// A parked connection. The code that takes it from its list resumes it, exactly once, and forgets it.
@safe struct ParkedExchange: @unchecked Sendable {
    // Sendable: the pointer is used for nothing but the resume, which may be called from any thread.
    fileprivate let exchange: HTTPExchange
    fileprivate let connection: OpaquePointer

    /// The handler is asked again.
    func resume() {
        unsafe MHD_resume_connection(connection)
    }

    /// The client is sent `response`.
    func resume(with response: HTTPResponse) {
        exchange.outcome = response
        resume()
    }
}

// MARK: Called by the server's callbacks

extension HTTPExchange {
    /// The request line has come.
    func receive(target: UnsafePointer<CChar>) {
        defer { unsafe headroom_mhd_drop_query(target) }
        idle.store(false, ordering: .relaxed)
        deadline.store(MonotonicClock.milliseconds() + patience.header, ordering: .relaxed)
        let isSame = unsafe rawTarget.withUnsafeBytes { known in
            // The target ends with a zero byte, which `known` cannot contain: `strncmp` reads no further than that.
            unsafe strncmp(target, known.assumingMemoryBound(to: CChar.self).baseAddress ?? target, known.count) == 0
                && target[known.count] == 0
        }
        defer { targetEnd = UInt(bitPattern: target) &+ UInt(rawTarget.count) &+ 1 }
        guard !isSame || rawTarget.isEmpty else { return }
        rawTarget = unsafe Array(UnsafeBufferPointer(start: target, count: strlen(target))).map(UInt8.init(bitPattern:))
        binding = nil
    }

    /// Called when the headers are there, for each part of the body, at its end, and after a resume.
    func proceed(
        method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, chunk: UnsafePointer<CChar>?,
        chunkCount: UnsafeMutablePointer<Int>
    ) -> MHD_Result {
        switch phase {
        case .idle, .answered:
            return unsafe begin(method: method, version: version)
        case .receiving where unsafe chunkCount.pointee > 0:
            guard let chunk = unsafe chunk else { return .NO }
            let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(chunk), byteCount: chunkCount.pointee)
            unsafe chunkCount.pointee = 0
            return incoming.append(span, budget: server.bodyBudget) ? .YES : .NO
        case .receiving:
            if let binding { incoming.expand(limit: binding.route.bodyLimit, budget: server.bodyBudget) }
            return answer()
        case .parked:
            server.parkedCount.subtract(1, ordering: .relaxed)
            whenLeft.withLock { $0 = nil }
            if let outcome {
                if hasClientLeft { binding?.handler.lost?() }
                return send(outcome)
            }
            // The token may have ended while the request waited.
            do throws(HTTPError) {
                _ = try bind(unsafe HTTPMethod(name: method))
            } catch {
                refuse(error)
            }
            return answer()
        }
    }

    /// The request is over: answered, or its connection is lost.
    func complete(isDelivered: Bool) {
        if isDelivered, phase == .answered { binding?.handler.delivered?() } else { binding?.handler.lost?() }
        incoming.end(budget: server.bodyBudget)
        if isDelayed { server.failedSignIns.finish(address) }
        isDelayed = false
        refusal = nil
        outcome = nil
        phase = .idle
        deadline.store(MonotonicClock.milliseconds() + patience.idle, ordering: .relaxed)
        idle.store(true, ordering: .relaxed)
    }

    private func begin(method name: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> MHD_Result {
        phase = .receiving
        waitsUntil = nil
        deadline.store(MonotonicClock.milliseconds() + patience.body, ordering: .relaxed)
        let method = unsafe HTTPMethod(name: name)
        do throws(HTTPError) {
            try unsafe checkFraming(method: name, version: version)
        } catch {
            // Where this request ends is not known. An answer before its end closes the connection.
            binding = nil
            return send(HTTPResponse(error), isLast: true)
        }
        do throws(HTTPError) {
            let binding = try bind(method)
            try binding.route.check(contentType: self)
            incoming.begin(
                limit: binding.route.bodyLimit, announced: announcedBytes, isCompressed: try isBodyCompressed())
        } catch {
            refuse(error)
            incoming.begin(limit: 0, announced: announcedBytes)
        }
        // Answering before the end of the request would close the connection.
        return .YES
    }

    /// The client has closed its side. The kernel takes an answer to it all the same, so nobody would notice.
    private var hasClientLeft: Bool {
        guard binding?.handler.lost != nil else { return false }
        if server.settings.certificate != nil {
            // By TLS the goodbye of the connection waits to be read before the end of the stream.
            var watched = pollfd(fd: socket, events: Self.peerClosed, revents: 0)
            return unsafe poll(&watched, 1, 0) > 0
        }
        var byte: UInt8 = 0
        return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    private func refuse(_ error: HTTPError) {
        refusal = error
        // Its handler has not answered, so there is no delivery to report to it.
        binding = nil
    }

    private func checkFraming(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) throws(HTTPError) {
        let versionAddress = UInt(bitPattern: version)
        // The head lies in one piece, from the method on.
        let headCount = unsafe UInt(headroom_mhd_head_size(connection))
        if headCount > 0, versionAddress != targetEnd {
            throw HTTPError(.badRequest, "the target has a zero byte in it")
        }
        var framing = unsafe RequestFraming(lineEnd: headCount > 0 ? versionAddress &+ UInt(strlen(version)) : nil)
        unsafe withUnsafeMutablePointer(to: &framing) { pointer in
            // The library calls the function for each header before it returns.
            _ = unsafe MHD_get_connection_values_n(connection, .HEADER_KIND, addToFraming, pointer)
        }
        try unsafe framing.check(
            isOld: strcmp(version, "HTTP/1.0") == 0, headEnd: UInt(bitPattern: method) &+ headCount)
    }

    /// `Content-Encoding` (RFC 9110 §8.4).
    private func isBodyCompressed() throws(HTTPError) -> Bool {
        guard let coding = header("Content-Encoding")?.lowercased(), coding != "identity" else { return false }
        guard coding == "gzip" || coding == "x-gzip" else {
            throw HTTPError(
                .unsupportedCoding, "the body is encoded as \"\(coding)\"; send it as it is, or in gzip")
        }
        return true
    }

    private var announcedBytes: Int? {
        withHeader("Content-Length") { span in if let span { Int(decimal: span) } else { nil } }
    }

    private func bind(_ method: HTTPMethod) throws(HTTPError) -> HTTPBinding {
        if let binding, has("Authorization", rawAuthorization), has("Cookie", rawCookie), rawUser == proxyUser,
            binding.method == method,
            server.router.isCurrent(binding)
        {
            // Without tokens everything else about the request decides, and may differ from the one before.
            if binding.isOpen, server.router.isGuarded { try OpenModeRule.check(self) }
            if binding.isSession, binding.route.changesSomething { try SessionRule.check(self) }
            return binding
        }
        binding = nil
        if server.router.isGuarded, server.router.access.isOpen { try OpenModeRule.check(self) }
        rawAuthorization = header("Authorization").map { Array($0.utf8) }
        rawCookie = header("Cookie").map { Array($0.utf8) }
        rawUser = proxyUser
        let bound = try server.router.bind(method, rawTarget, Credentials(self))
        if bound.isSession, bound.route.changesSomething { try SessionRule.check(self) }
        binding = bound
        return bound
    }

    /// True when the header's value is `known`, without a copy of it.
    private func has(_ name: StaticString, _ known: [UInt8]?) -> Bool {
        withHeader(name) { span in
            switch (span, known) {
            case (nil, nil): true
            case (let span?, let known?): span.isEqual(to: known)
            default: false
            }
        }
    }

    private func answer() -> MHD_Result {
        do throws(HTTPError) {
            if let refusal { throw refusal }
            if let reason = incoming.refusal { throw error(for: reason) }
            guard let binding else { preconditionFailure("a request without a handler") }
            switch try binding.handler.answer(self) {
            case .response(let response): return send(response)
            case .parked: return .YES
            case .later(let instead, let work):
                do throws(HTTPError) {
                    whenLeft.withLock { $0 = binding.handler.left }
                    try server.calls.enter(self, work)
                } catch {
                    whenLeft.withLock { $0 = nil }
                    guard let instead else { throw error }
                    return send(instead)
                }
                return .YES
            }
        } catch {
            return error.code == .unauthenticated ? refuseSlowly(error) : send(HTTPResponse(error))
        }
    }

    /// A 401, later each time that the same address gets one.
    private func refuseSlowly(_ error: HTTPError) -> MHD_Result {
        let now = MonotonicClock.milliseconds()
        switch server.failedSignIns.note(address, at: now) {
        case .now: return send(HTTPResponse(error))
        case .after(let milliseconds):
            isDelayed = true
            if server.delayedAnswers.add(self, HTTPResponse(error), until: now + milliseconds) { return .YES }
            return send(HTTPResponse(error))
        case .refused:
            return send(
                HTTPResponse(
                    HTTPError(
                        .tooManyRequests,
                        "too many calls without a known token have come from this address; "
                            + error.message, retryAfterSeconds: 5)))
        }
    }

    private func error(for reason: IncomingBody.Refusal) -> HTTPError {
        switch reason {
        case .tooLarge:
            binding?.route.bodyLimit == 0
                ? HTTPError(.bodyTooLarge, "this call takes no body")
                : HTTPError(
                    .bodyTooLarge,
                    "the body is larger than the \(binding?.route.bodyLimit ?? 0) bytes that this call takes")
        case .garbled:
            HTTPError(.badRequest, "the body is not the gzip that Content-Encoding says it is")
        case .noRoom:
            HTTPError(
                .overloaded, "too many request bodies are being read at once; nothing of this one was taken",
                retryAfterSeconds: 1)
        }
    }

    private func send(_ response: HTTPResponse, isLast: Bool = false) -> MHD_Result {
        phase = .answered
        deadline.store(MonotonicClock.milliseconds() + patience.send, ordering: .relaxed)
        let prepared = server.isStopping || isLast ? response.prepared.closing() : response.prepared
        return unsafe MicroHTTPDRefusal.queue(connection, response.status, prepared.handle)
    }
}

extension HTTPMethod {
    fileprivate init(name: UnsafePointer<CChar>) {
        if unsafe strcmp(name, "GET") == 0 {
            self = .get
        } else {
            self = HTTPMethod(rawValue: unsafe String(cString: name)) ?? .other
        }
    }
}

/// At file scope: a closure would inherit the isolation of where it is written.
private func addToFraming(
    _ framing: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let framing = unsafe framing, let name = unsafe name, let value = unsafe value else { return .YES }
    // The library keeps both as long as the request.
    unsafe framing.assumingMemoryBound(to: RequestFraming.self).pointee.add(
        RawSpan(_unsafeStart: UnsafeRawPointer(name), byteCount: nameCount), at: UInt(bitPattern: name),
        RawSpan(_unsafeStart: UnsafeRawPointer(value), byteCount: valueCount), at: UInt(bitPattern: value))
    return .YES
}

/// All values of one header.
private struct HeaderValues {
    /// In lower case.
    let name: String
    var values: [String] = []
}

/// At file scope, as ``addToFraming``.
private func addToValues(
    _ found: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let found = unsafe found, let name = unsafe name, let value = unsafe value else { return .YES }
    let values = unsafe found.assumingMemoryBound(to: HeaderValues.self)
    // The library keeps both as long as the request.
    let given = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(name), byteCount: nameCount).text
    if unsafe given.lowercased() == values.pointee.name {
        unsafe values.pointee.values.append(
            RawSpan(_unsafeStart: UnsafeRawPointer(value), byteCount: valueCount).text)
    }
    return .YES
}

/// Headers whose names begin alike.
private struct HeadersAfter {
    /// In lower case.
    let prefix: String
    var headers: [(name: String, value: String)] = []
}

/// At file scope, as ``addToFraming``.
private func addHeader(
    _ found: UnsafeMutableRawPointer?, _ kind: MHD_ValueKind, _ name: UnsafePointer<CChar>?, _ nameCount: Int,
    _ value: UnsafePointer<CChar>?, _ valueCount: Int
) -> MHD_Result {
    guard let found = unsafe found, let name = unsafe name, let value = unsafe value else { return .YES }
    let headers = unsafe found.assumingMemoryBound(to: HeadersAfter.self)
    // The library keeps both as long as the request.
    let given = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(name), byteCount: nameCount).text.lowercased()
    if unsafe given.hasPrefix(headers.pointee.prefix) {
        unsafe headers.pointee.headers.append(
            (
                name: String(given.dropFirst(headers.pointee.prefix.count)),
                value: RawSpan(_unsafeStart: UnsafeRawPointer(value), byteCount: valueCount).text
            ))
    }
    return .YES
}
