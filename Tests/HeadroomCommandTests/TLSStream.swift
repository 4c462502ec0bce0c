import CGnuTLS
import Glibc

/// The client's side of TLS on a connected socket.
@safe final class TLSStream {
    private let session: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t

    struct Failure: Error { let text: String }

    /// Shakes hands. The server's certificate is taken as it is: ``serverCertificate`` says which one it was.
    init(_ descriptor: Int32, priorities: String = "NORMAL") throws {
        var credentials: gnutls_certificate_credentials_t?
        unsafe gnutls_certificate_allocate_credentials(&credentials)
        var session: gnutls_session_t?
        unsafe gnutls_init(&session, UInt32(GNUTLS_CLIENT.rawValue))
        guard let session = unsafe session, let credentials = unsafe credentials else { throw Failure(text: "memory") }
        unsafe self.session = session
        unsafe self.credentials = credentials
        unsafe gnutls_priority_set_direct(session, priorities, nil)
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
        unsafe gnutls_transport_set_int2(session, descriptor, descriptor)
        var code: Int32
        repeat { code = unsafe gnutls_handshake(session) } while code < 0 && gnutls_error_is_fatal(code) == 0
        guard code == 0 else { throw Failure(text: unsafe String(cString: gnutls_strerror(code))) }
    }

    deinit {
        unsafe gnutls_deinit(session)
        unsafe gnutls_certificate_free_credentials(credentials)
    }

    /// In DER.
    var serverCertificate: [UInt8] {
        var count: UInt32 = 0
        guard let first = unsafe gnutls_certificate_get_peers(session, &count), count > 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: first.pointee.data, count: Int(first.pointee.size)))
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe gnutls_record_send(session, $0.baseAddress! + sent, bytes.count - sent)
            }
            if count <= 0 { return }
            sent += count
        }
    }

    /// One HTTP answer whose head states its length.
    func receiveAnswer() -> String {
        var answer = ""
        while case let part = receive(), !part.isEmpty {
            answer += String(decoding: part, as: UTF8.self)
            guard let end = answer.firstRange(of: "\r\n\r\n") else { continue }
            let length = answer[..<end.lowerBound].firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
            if answer[end.upperBound...].utf8.count >= length ?? 0 { break }
        }
        return answer
    }

    /// Up to what came last; empty at the end.
    func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe gnutls_record_recv(session, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : []
    }
}
