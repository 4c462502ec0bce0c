/// The newest row of the audit log at some time: noted elsewhere, it shows later whether rows were cut off or written anew.
package struct AuditHead: Equatable, Sendable, CustomStringConvertible {
    /// 0: not noted.
    package let sequence: Int64
    /// SHA-256, 64 lower-case hexadecimal digits.
    package let hash: String

    init(sequence: Int64, hash: [UInt8]) {
        self.sequence = sequence
        self.hash = SHA256.hexadecimal(hash)
    }

    /// `3 9f31…`, as it is logged and printed, or with another character between the two, or the hash alone.
    package init?(_ text: String) {
        let parts = text.split { $0 == " " || $0 == ":" || $0 == "," }
        guard let last = parts.last, last.count == 64, last.allSatisfy(\.isHexDigit), parts.count <= 2 else {
            return nil
        }
        hash = last.lowercased()
        guard parts.count == 2 else {
            sequence = 0
            return
        }
        guard let number = Int64(parts[0]), number > 0 else { return nil }
        sequence = number
    }

    package var description: String { sequence > 0 ? "\(sequence) \(hash)" : hash }
}
