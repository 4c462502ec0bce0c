import CGnuTLS
import CMicroHTTPD
import Glibc
import HeadroomWire

/// The answers that the library gives by itself, to what it cannot read: a first line, a `Content-Length`, a chunk.
///
/// They are pages of HTML, version 0.9.75 sends the one about a `Content-Length` twice, and no setting changes that. But the
/// library queues them by its public `MHD_queue_response`, which it calls through the dynamic linker, so that a function
/// of that name in the program comes before its own, as when a program brings its own `malloc`. The one below sends a problem
/// document and says that nothing was queued, on which the library closes the connection. A build of the library that calls its
/// own function directly sends its pages, and nothing else is different: the request is refused all the same.
@safe enum MicroHTTPDRefusal {
    fileprivate typealias Queue = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> MHD_Result

    /// The library's own function.
    fileprivate static let libraryQueue: Queue = {
        // RTLD_NEXT, a macro that Swift does not see: the first one behind the program's own.
        let next = unsafe UnsafeMutableRawPointer(bitPattern: -1)
        guard let symbol = unsafe dlsym(next, "MHD_queue_response") else {
            preconditionFailure("libmicrohttpd has no MHD_queue_response")
        }
        return unsafe unsafeBitCast(symbol, to: Queue.self)
    }()

    /// Queues an answer of ours.
    static func queue(_ connection: OpaquePointer, _ status: Int, _ response: OpaquePointer) -> MHD_Result {
        unsafe libraryQueue(connection, UInt32(status), response)
    }

    /// A whole answer, the connection's last.
    fileprivate static func answer(to status: UInt32) -> [UInt8] {
        let error = HTTPError(unreadable: status)
        let body = error.problem.encoded()
        let head = """
            HTTP/1.1 \(error.code.status) \(error.code.title)\r
            Content-Type: \(ProblemDocument.contentType)\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        return Array(head.utf8) + body
    }
}

extension HTTPError {
    /// - Parameter status: the one by which the library refuses the request.
    fileprivate init(unreadable status: UInt32) {
        let room = "\(ServerSettings.connectionBytes / 1024) KB"
        switch status {
        case 413: self.init(.bodyTooLarge, "the length of the body, or of a chunk of it, is larger than any call takes")
        case 414: self.init(.targetTooLong, "the target does not fit into the \(room) that a request's head may have")
        case 431: self.init(.headTooLarge, "the head of the request does not fit into \(room)")
        case 505: self.init(.unknownVersion, "the server speaks HTTP/1.1 and HTTP/1.0")
        // The library takes it for a fault of its own when there is no end of a line in all its memory.
        case 500:
            self.init(.badRequest, "a line of a chunk, with its extensions, or of the trailer is longer than \(room)")
        default:
            self.init(
                .badRequest,
                "the first line, a line of the head, Content-Length or the length of a chunk is not as HTTP/1.1 writes it (RFC 9112)"
            )
        }
    }
}

/// Stands before the library's own function, by its name; public, since the linker shows only public names to the library.
@_cdecl("MHD_queue_response")
public func refuseUnreadable(
    _ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?
) -> MHD_Result {
    guard let connection = unsafe connection else { return .NO }
    let answer = MicroHTTPDRefusal.answer(to: status)
    // The answer before has gone out, and the socket's buffer has room for so little unless the client has long stopped reading.
    if let session = unsafe headroom_mhd_tls_session(connection) {
        _ = unsafe gnutls_record_send(OpaquePointer(session), answer, answer.count)
    } else {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        _ = unsafe send(headroom_mhd_socket(connection), answer, answer.count, flags)
    }
    return .NO
}
