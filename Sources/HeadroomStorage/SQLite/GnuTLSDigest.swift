import CGnuTLS

/// SHA-256, as FIPS 180-4 has it.
package enum SHA256 {
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let result = unsafe gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, bytes.count, &digest)
        precondition(result == 0, "GnuTLS has no SHA-256: code \(result)")
        return digest
    }

    /// HMAC-SHA-256, as RFC 2104 has it.
    package static func authenticationCode(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        let result = unsafe gnutls_hmac_fast(GNUTLS_MAC_SHA256, key, key.count, bytes, bytes.count, &code)
        precondition(result == 0, "GnuTLS has no HMAC with SHA-256: code \(result)")
        return code
    }

    /// 64 lower-case hexadecimal digits.
    package static func hexadecimalDigest(of bytes: [UInt8]) -> String { hexadecimal(digest(of: bytes)) }

    /// Two lower-case digits a byte.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
