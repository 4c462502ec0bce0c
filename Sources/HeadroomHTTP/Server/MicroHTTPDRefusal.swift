import CGnuTLS
import CMicroHTTPD
import Glibc
import HeadroomWire

/// The answers that the library gives by itself, to what it cannot read: a first line, a `Content-Length`, a chunk.
///
/// Its own are pages of HTML, and version 0.9.75 sends that to a bad `Content-Length` twice. It has no setting for them. But it
/// queues them by its public `MHD_queue_response`, which it calls through the dynamic linker: a function of that name in
/// the program comes before its own (symbol interposition, as a program replaces `malloc`). The one here sends a problem document
/// and says that nothing was queued, on which the library closes the connection. Where a newer version calls its own
/// function directly, its pages are sent as they are.
@safe enum MicroHTTPDRefusal {
    fileprivate typealias Queue = @convention(c) (OpaquePointer?, UInt32, OpaquePointer?) -> MHD_Result

    /// The library's own function, for answers of ours.
    fileprivate static let queue: Queue = {
        // RTLD_NEXT: the first one behind that of the program.
        guard let symbol = unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), "MHD_queue_response") else {
            preconditionFailure("libmicrohttpd has no MHD_queue_response")
        }
        return unsafe unsafeBitCast(symbol, to: Queue.self)
    }()

    static func queue(_ connection: OpaquePointer, _ status: UInt32, _ response: OpaquePointer) -> MHD_Result {
        unsafe queue(connection, status, response)
    }

    /// A whole answer, the connection's last.
    fileprivate static func answer(to status: UInt32) -> [UInt8] {
        let (code, title, detail) =
            switch status {
            case 413:
                (413, "Body too large", "the length of the body, or of a chunk, is larger than any call takes")
            case 414: (414, "URI too long", "the target does not fit into the \(room) that a request's head has")
            case 431:
                (431, "Request header fields too large", "the head of the request does not fit into \(room)")
            case 505: (505, "HTTP version not supported", "send HTTP/1.1")
            // The library calls it its own fault when its memory is full of what has no end.
            case 500: (400, "Bad request", "a chunk's line with its extensions, or the trailer, is longer than \(room)")
            default:
                (
                    400, "Bad request",
                    "the first line, a line of the head, Content-Length or a chunk is not as HTTP/1.1 has it (RFC 9112)"
                )
            }
        let body = ProblemDocument(title: title, status: code, detail: detail).encoded()
        let head =
            "HTTP/1.1 \(code) \(title)\r\nContent-Type: \(ProblemDocument.contentType)\r\nCache-Control: no-store\r\n"
            + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// ``ServerSettings/connectionBytes``, in words.
    private static let room = "8 KB"
}

/// In place of the library's own function, by its name.
@_cdecl("MHD_queue_response")
func headroomRefuse(_ connection: OpaquePointer?, _ status: UInt32, _ response: OpaquePointer?) -> MHD_Result {
    guard let connection = unsafe connection else { return .NO }
    let answer = MicroHTTPDRefusal.answer(to: status)
    // Whatever was answered before has gone out, and so little has room in the socket's buffer. If it has none, the client has
    // read nothing for long.
    if let session = unsafe headroom_mhd_tls_session(connection) {
        _ = unsafe gnutls_record_send(OpaquePointer(session), answer, answer.count)
    } else {
        _ = unsafe send(
            headroom_mhd_socket(connection), answer, answer.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
    return .NO
}
