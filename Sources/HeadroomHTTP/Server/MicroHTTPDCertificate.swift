import CGnuTLS
import CMicroHTTPD

// How the library asks for the certificate: once a handshake, so that a new one needs no new listener.

/// TLS 1.2 and 1.3, and only with keys that are made for one connection (no RSA key exchange).
let tlsPriorities: StaticString = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA"

/// At file scope: a closure would inherit the isolation of where it is written, and trap on the library's threads.
func chooseCertificate(
    _ session: gnutls_session_t?, _ names: UnsafePointer<gnutls_datum_t>?, _ nameCount: Int32,
    _ algorithms: UnsafePointer<gnutls_pk_algorithm_t>?, _ algorithmCount: Int32,
    _ certificates: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?,
    _ count: UnsafeMutablePointer<UInt32>?, _ key: UnsafeMutablePointer<gnutls_privkey_t?>?
) -> Int32 {
    // The library keeps its connection in the session.
    guard
        let session = unsafe session, let connection = unsafe gnutls_session_get_ptr(session),
        let pointer = unsafe headroom_mhd_socket_context(OpaquePointer(connection)),
        let certificate = unsafe Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue().certificate,
        let certificates = unsafe certificates, let count = unsafe count, let key = unsafe key
    else { return GNUTLS_E_INTERNAL_ERROR }
    unsafe certificate.show(certificates, count, key)
    return 0
}
