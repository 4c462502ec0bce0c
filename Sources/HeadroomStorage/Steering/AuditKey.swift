import HeadroomModel

/// Signs the head of the audit log (HMAC-SHA-256). It is kept in a file of its own, outside the database.
///
/// The head's hash covers every row, so one signature covers the whole log, and there is one only: the head of an earlier
/// time has none any more, and a log that is cut there does not pass for whole.
package struct AuditKey: Sendable {
    private let bytes: [UInt8]

    /// As many as nobody tries out.
    package static let leastBytes = 16

    /// `nil` for a key that is too short.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.leastBytes else { return nil }
        self.bytes = bytes
    }

    func code(sequence: Int64, hash: [UInt8]) -> [UInt8] {
        SHA256.authenticationCode(of: Array("headroom audit \(sequence) ".utf8) + hash, key: bytes)
    }
}
