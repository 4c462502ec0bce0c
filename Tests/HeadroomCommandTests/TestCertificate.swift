import CGnuTLS
import Glibc

/// A certificate that signs itself, for 127.0.0.1, and its key; both in PEM, made with GnuTLS.
struct TestCertificate {
    let certificate: String
    let key: String
    /// Tells one from another.
    let encoded: [UInt8]

    /// - Parameters:
    ///   - begins: seconds since 1970, as `ends`.
    init(begins: Int = 1_577_836_800, ends: Int = 4_733_510_400) {
        var key: gnutls_x509_privkey_t?
        unsafe gnutls_x509_privkey_init(&key)
        unsafe Self.check(
            gnutls_x509_privkey_generate(
                key, GNUTLS_PK_ECDSA, UInt32(1 << 31 | GNUTLS_ECC_CURVE_SECP256R1.rawValue), 0))
        var certificate: gnutls_x509_crt_t?
        unsafe gnutls_x509_crt_init(&certificate)
        defer {
            unsafe gnutls_x509_crt_deinit(certificate)
            unsafe gnutls_x509_privkey_deinit(key)
        }
        var serial = UInt64.random(in: 1...UInt64(Int64.max)).bigEndian
        let address: [UInt8] = [127, 0, 0, 1]
        let name = "localhost"
        unsafe Self.check(gnutls_x509_crt_set_version(certificate, 3))
        unsafe Self.check(gnutls_x509_crt_set_serial(certificate, &serial, 8))
        unsafe Self.check(gnutls_x509_crt_set_activation_time(certificate, begins))
        unsafe Self.check(gnutls_x509_crt_set_expiration_time(certificate, ends))
        unsafe Self.check(
            gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name, UInt32(name.utf8.count)))
        unsafe Self.check(
            gnutls_x509_crt_set_subject_alt_name(
                certificate, GNUTLS_SAN_IPADDRESS, address, 4, UInt32(GNUTLS_FSAN_SET)))
        unsafe Self.check(gnutls_x509_crt_set_basic_constraints(certificate, 1, -1))
        unsafe Self.check(gnutls_x509_crt_set_key(certificate, key))
        unsafe Self.check(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0))
        self.certificate = unsafe Self.text { unsafe gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, $0) }
        encoded = unsafe Self.bytes { unsafe gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_DER, $0) }
        self.key = unsafe Self.text {
            unsafe gnutls_x509_privkey_export2_pkcs8(
                key, GNUTLS_X509_FMT_PEM, nil, UInt32(GNUTLS_PKCS_PLAIN.rawValue), $0)
        }
        encryptedKey = unsafe Self.text {
            unsafe gnutls_x509_privkey_export2_pkcs8(
                key, GNUTLS_X509_FMT_PEM, "word", UInt32(GNUTLS_PKCS_PBES2_AES_256.rawValue), $0)
        }
    }

    /// The key behind a password.
    let encryptedKey: String

    /// Writes both files of a house; the names are those of `arguments`.
    func write(to house: House) throws {
        try house.directory.write(key, to: "key.pem")
        try house.directory.write(certificate, to: "certificate.pem")
    }

    static func arguments(_ house: House) -> [String] {
        [
            "--tls-certificate", house.directory.file("certificate.pem"), "--tls-key",
            house.directory.file("key.pem"),
        ]
    }

    private static func text(_ export: (UnsafeMutablePointer<gnutls_datum_t>) -> Int32) -> String {
        String(decoding: unsafe bytes(export), as: UTF8.self)
    }

    private static func bytes(_ export: (UnsafeMutablePointer<gnutls_datum_t>) -> Int32) -> [UInt8] {
        var datum = unsafe gnutls_datum_t()
        check(unsafe export(&datum))
        defer { unsafe free(datum.data) }
        return unsafe Array(UnsafeBufferPointer(start: datum.data, count: Int(datum.size)))
    }

    private static func check(_ code: Int32) {
        precondition(code >= 0, unsafe String(cString: gnutls_strerror(code)))
    }
}
