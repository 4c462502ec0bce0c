import CGnuTLS
import HeadroomModel

/// A certificate, the chain above it, and its private key, as GnuTLS shows them to clients.
@safe final class GnuTLSCertificate: @unchecked Sendable {
    // Sendable: nothing is written after the initializer, and GnuTLS only reads in a handshake.
    private let chain: UnsafeMutablePointer<gnutls_pcert_st>
    private let chainCount: UInt32
    private let key: gnutls_privkey_t
    /// The certificate itself in DER, without the chain.
    let encoded: [UInt8]
    let begins: Timestamp
    let ends: Timestamp

    /// Longer chains do not occur.
    private static let maxChain: UInt32 = 16

    /// - Parameters:
    ///   - certificate: PEM; the certificate first, then those that signed it.
    ///   - key: PEM, not encrypted.
    ///   - files: the names of both, for messages.
    init(certificate: [UInt8], key: [UInt8], files: CertificateFiles) throws(HTTPError) {
        let (chain, count) = try unsafe Self.chain(certificate, files)
        let privateKey: gnutls_privkey_t
        let facts: (encoded: [UInt8], begins: Timestamp, ends: Timestamp)
        do throws(HTTPError) {
            facts = try unsafe Self.facts(chain[0], files)
            unsafe privateKey = try unsafe Self.privateKey(key, files)
        } catch {
            unsafe Self.free(chain, count)
            throw error
        }
        do throws(HTTPError) {
            try Self.check(certificate, fits: key, files)
        } catch {
            unsafe gnutls_privkey_deinit(privateKey)
            unsafe Self.free(chain, count)
            throw error
        }
        unsafe self.chain = chain
        chainCount = count
        unsafe self.key = privateKey
        (encoded, begins, ends) = facts
    }

    deinit {
        unsafe gnutls_privkey_deinit(key)
        unsafe Self.free(chain, chainCount)
    }

    /// Answers GnuTLS's question for a certificate. Both stay this object's, which has to outlive the handshake.
    func show(
        _ certificates: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>,
        _ count: UnsafeMutablePointer<UInt32>, _ key: UnsafeMutablePointer<gnutls_privkey_t?>
    ) {
        unsafe certificates.pointee = chain
        unsafe count.pointee = chainCount
        unsafe key.pointee = self.key
    }

    // MARK: Reading

    private static func chain(
        _ text: [UInt8], _ files: CertificateFiles
    ) throws(HTTPError) -> (UnsafeMutablePointer<gnutls_pcert_st>, UInt32) {
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: Int(maxChain))
        var count = maxChain
        let code = unsafe withDatum(text) { datum in
            unsafe gnutls_pcert_list_import_x509_raw(
                chain, &count, datum, GNUTLS_X509_FMT_PEM, UInt32(GNUTLS_X509_CRT_LIST_SORT.rawValue))
        }
        guard code >= 0, count > 0 else {
            unsafe chain.deallocate()
            if text.holds("PRIVATE KEY-----"), !text.holds("CERTIFICATE-----") {
                throw HTTPError(
                    .badCertificate,
                    "\(files.certificate): holds a private key and no certificate; are --tls-certificate and --tls-key "
                        + "exchanged?")
            }
            throw HTTPError(
                .badCertificate,
                "\(files.certificate): no certificate can be read from it (\(words(code))); it has to be PEM, the "
                    + "certificate first and then those that signed it, at most \(maxChain)")
        }
        return unsafe (chain, count)
    }

    private static func privateKey(_ text: [UInt8], _ files: CertificateFiles) throws(HTTPError) -> gnutls_privkey_t {
        var key: gnutls_privkey_t?
        guard unsafe gnutls_privkey_init(&key) == 0, let key = unsafe key else {
            throw HTTPError(.badCertificate, "GnuTLS cannot hold a key")
        }
        let code = unsafe withDatum(text) { datum in
            unsafe gnutls_privkey_import_x509_raw(key, datum, GNUTLS_X509_FMT_PEM, nil, 0)
        }
        if code == 0 { return unsafe key }
        unsafe gnutls_privkey_deinit(key)
        let isEncrypted = text.holds("ENCRYPTED")
        let detail: String
        if isEncrypted {
            detail = "the key is encrypted; \"openssl pkey -in FILE -out NEW\" takes the password off"
        } else if text.holds("CERTIFICATE-----"), !text.holds("PRIVATE KEY-----") {
            detail = "holds a certificate and no private key; are --tls-certificate and --tls-key exchanged?"
        } else {
            detail = "no private key can be read from it (\(words(code))); it has to be PEM"
        }
        throw HTTPError(.badCertificate, "\(files.key): \(detail)")
    }

    private static func check(
        _ certificate: [UInt8], fits key: [UInt8], _ files: CertificateFiles
    ) throws(HTTPError) {
        var credentials: gnutls_certificate_credentials_t?
        guard unsafe gnutls_certificate_allocate_credentials(&credentials) == 0 else {
            throw HTTPError(.badCertificate, "GnuTLS cannot hold a certificate")
        }
        defer { unsafe gnutls_certificate_free_credentials(credentials) }
        let code = unsafe withDatum(certificate) { certificate in
            unsafe withDatum(key) { key in
                unsafe gnutls_certificate_set_x509_key_mem2(
                    credentials, certificate, key, GNUTLS_X509_FMT_PEM, nil, 0)
            }
        }
        guard code < 0 else { return }
        guard code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH else {
            throw HTTPError(.badCertificate, "\(files.certificate), \(files.key): \(words(code))")
        }
        throw HTTPError(.badCertificate, "\(files.key): is not the key of the certificate in \(files.certificate)")
    }

    private static func facts(
        _ leaf: gnutls_pcert_st, _ files: CertificateFiles
    ) throws(HTTPError) -> (encoded: [UInt8], begins: Timestamp, ends: Timestamp) {
        var certificate: gnutls_x509_crt_t?
        unsafe gnutls_x509_crt_init(&certificate)
        defer { unsafe gnutls_x509_crt_deinit(certificate) }
        var encoded = unsafe leaf.cert
        let code = unsafe gnutls_x509_crt_import(certificate, &encoded, GNUTLS_X509_FMT_DER)
        guard code == 0 else {
            throw HTTPError(.badCertificate, "\(files.certificate): \(words(code))")
        }
        let bytes = unsafe Array(UnsafeBufferPointer(start: encoded.data, count: Int(encoded.size)))
        return unsafe (
            bytes, Timestamp(milliseconds: Int64(gnutls_x509_crt_get_activation_time(certificate)) * 1000),
            Timestamp(milliseconds: Int64(gnutls_x509_crt_get_expiration_time(certificate)) * 1000)
        )
    }

    private static func free(_ chain: UnsafeMutablePointer<gnutls_pcert_st>, _ count: UInt32) {
        for index in 0..<Int(count) { unsafe gnutls_pcert_deinit(chain + index) }
        unsafe chain.deallocate()
    }

    private static func withDatum(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Int32) -> Int32 {
        unsafe bytes.withUnsafeBufferPointer { buffer in
            // GnuTLS's own type is not const; it only reads.
            var datum = unsafe gnutls_datum_t(
                data: UnsafeMutablePointer(mutating: buffer.baseAddress), size: UInt32(buffer.count))
            return unsafe body(&datum)
        }
    }

    private static func words(_ code: Int32) -> String { unsafe String(cString: gnutls_strerror(code)) }
}

extension [UInt8] {
    fileprivate func holds(_ words: String) -> Bool {
        let wanted = Array(words.utf8)
        guard count >= wanted.count else { return false }
        return (0...(count - wanted.count)).contains { self[$0...].starts(with: wanted) }
    }
}
