import CGnuTLS
import Glibc

/// The client's side of TLS on a connected socket that does not block. The server has to prove the name that was asked for.
@safe final class GnuTLSClient {
    struct Failure: Error {
        let message: String
    }

    /// What a call came to.
    enum Progress {
        case done(Int)
        /// Again, once the socket can be read or written.
        case waits(forWriting: Bool)
    }

    private let session: gnutls_session_t
    private let credentials: gnutls_certificate_credentials_t
    /// GnuTLS keeps no copy of it.
    private let name: UnsafeMutablePointer<CChar>

    /// - Parameters:
    ///   - host: a name, or an address without brackets.
    ///   - authorities: a file with the certificates that are believed, in PEM; `nil`: those that the system believes.
    init(_ descriptor: Int32, host: String, authorities: String?) throws(Failure) {
        var credentials: gnutls_certificate_credentials_t?
        var session: gnutls_session_t?
        let flags = UInt32(GNUTLS_CLIENT.rawValue | GNUTLS_NONBLOCK.rawValue | GNUTLS_NO_SIGNAL.rawValue)
        guard unsafe gnutls_certificate_allocate_credentials(&credentials) == 0, let credentials = unsafe credentials
        else { throw Failure(message: "GnuTLS has no memory") }
        guard unsafe gnutls_init(&session, flags) == 0, let session = unsafe session,
            let name = unsafe strdup(host)
        else {
            unsafe gnutls_certificate_free_credentials(credentials)
            throw Failure(message: "GnuTLS has no memory")
        }
        unsafe self.credentials = credentials
        unsafe self.session = session
        unsafe self.name = name
        let believed =
            if let authorities {
                unsafe gnutls_certificate_set_x509_trust_file(credentials, authorities, GNUTLS_X509_FMT_PEM)
            } else {
                unsafe gnutls_certificate_set_x509_system_trust(credentials)
            }
        guard believed > 0 else {
            throw Failure(
                message: "no certificate authority is known; name a file of them in SSL_CERT_FILE, or install "
                    + "ca-certificates")
        }
        unsafe gnutls_set_default_priority(session)
        unsafe gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, UnsafeMutableRawPointer(credentials))
        // An address is not sent as a name (RFC 6066, section 3).
        if !host.contains(":"), host.contains(where: { !$0.isNumber && $0 != "." }) {
            unsafe gnutls_server_name_set(session, GNUTLS_NAME_DNS, name, strlen(name))
        }
        unsafe gnutls_session_set_verify_cert(session, name, 0)
        unsafe gnutls_transport_set_int2(session, descriptor, descriptor)
    }

    deinit {
        unsafe gnutls_deinit(session)
        unsafe gnutls_certificate_free_credentials(credentials)
        unsafe free(name)
    }

    func shakeHands() throws(Failure) -> Progress { try progress(Int(unsafe gnutls_handshake(session))) }

    func send(_ bytes: ArraySlice<UInt8>) throws(Failure) -> Progress {
        try progress(unsafe bytes.withUnsafeBytes { unsafe gnutls_record_send(session, $0.baseAddress, $0.count) })
    }

    /// 0 bytes: the end.
    func receive(into buffer: inout [UInt8]) throws(Failure) -> Progress {
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe gnutls_record_recv(session, $0.baseAddress, $0.count)
        }
        // Many servers end without a goodbye; a head that is whole by then is whole.
        return count == Int(GNUTLS_E_PREMATURE_TERMINATION) ? .done(0) : try progress(count)
    }

    private func progress(_ code: Int) throws(Failure) -> Progress {
        if code >= 0 { return .done(code) }
        if gnutls_error_is_fatal(Int32(code)) == 0 {
            return .waits(forWriting: unsafe gnutls_record_get_direction(session) == 1)
        }
        guard code == Int(GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) else {
            throw Failure(message: unsafe String(cString: gnutls_strerror(Int32(code))))
        }
        var text = unsafe gnutls_datum_t()
        let status = unsafe gnutls_session_get_verify_cert_status(session)
        guard unsafe gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0) == 0 else {
            throw Failure(message: "its certificate is not to be believed")
        }
        defer { unsafe free(text.data) }
        let reason = unsafe String(
            decoding: UnsafeBufferPointer(start: text.data, count: Int(text.size)), as: UTF8.self)
        throw Failure(message: reason.split(whereSeparator: \.isWhitespace).joined(separator: " "))
    }
}
