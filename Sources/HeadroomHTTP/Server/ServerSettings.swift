import Glibc

/// The limits of the HTTP server, and of a client's time.
package struct ServerSettings: Sendable {
    package var listen: ListenAddress
    /// Already made for ``listen``; `nil`: the server makes it.
    package var socket: ListeningSocket?
    package var threads = 2
    /// From the request's first byte to the end of its headers.
    package var headerSeconds = 10.0
    /// From the end of the headers to the end of the body.
    package var bodySeconds = 60.0
    /// From the end of one request to the headers of the next.
    package var idleSeconds = 75.0
    /// From an answer's first byte to its last.
    package var sendSeconds = 60.0
    /// How long a stop waits for open connections.
    package var stopSeconds = 10.0
    /// Request bodies in memory, all together.
    package var bodyBytesInFlight = 64 << 20
    /// Calls that wait for a task, or for what the task does.
    package var callsInFlight = 256
    /// Connections at once; `nil`: what the process may open, less ``reservedDescriptors``.
    package var connections: Int?
    /// For TLS; `nil`: clear text.
    package var certificate: ServedCertificate?
    /// Whose word on who the user is counts; `nil`: nobody's.
    package var trustedProxy: TrustedProxy?

    package init(listen: ListenAddress = .standard) {
        self.listen = listen
    }

    /// A request's headers have to fit, and 10,000 connections shall cost 80 MB and not the library's 320.
    static let connectionBytes = 8 << 10
    /// For the database, its log, policies, the listener and the threads' own.
    static let reservedDescriptors = 128

    var patience: Patience {
        Patience(
            header: Int64(headerSeconds * 1000), body: Int64(bodySeconds * 1000), idle: Int64(idleSeconds * 1000),
            send: Int64(sendSeconds * 1000))
    }
    var stopMilliseconds: Int64 { Int64(stopSeconds * 1000) }
    /// Long polls end, and slow clients are cut, this much late at most.
    let tickMilliseconds = 50

    /// Raises the process's soft limit on open files to the hard one first.
    var connectionLimit: Int {
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // The library keeps some memory for each; nobody needs more than a million.
        let most = Int(min(limit.rlim_cur, 1 << 20)) - Self.reservedDescriptors
        return max(16, min(connections ?? most, most))
    }
}

/// How long a client may take, in milliseconds.
struct Patience {
    let header: Int64
    let body: Int64
    let idle: Int64
    let send: Int64
}
