/// Which pieces of work were seen in the last minutes, so that a retry is not new demand.
///
/// Two generations of 64-bit fingerprints (FNV-1a): the older one goes when the newer one is a minute old or full,
/// so a request is remembered for at least a minute unless more than `capacity` others come in that time. Two
/// different requests share a fingerprint once in about 10^14 pairs.
package struct RecentRequests: Sendable {
    private let capacity: Int
    private let seconds: Double
    private var newer: Set<UInt64> = []
    private var older: Set<UInt64> = []
    private var rotatedAtSecond: Int64 = .min

    package init(capacity: Int = 100_000, seconds: Double = 60) {
        self.capacity = capacity
        self.seconds = seconds
    }

    /// True when the request had not been seen, and remembers it.
    package mutating func insert(_ request: String, at second: Int64) -> Bool {
        rotateIfDue(at: second)
        let fingerprint = RecentRequests.fingerprint(of: request)
        if older.contains(fingerprint) { return false }
        return newer.insert(fingerprint).inserted
    }

    private mutating func rotateIfDue(at second: Int64) {
        if rotatedAtSecond == .min { rotatedAtSecond = second }
        guard newer.count >= capacity || Double(second - rotatedAtSecond) >= seconds else { return }
        older = newer
        newer = []
        rotatedAtSecond = second
    }

    private static func fingerprint(of text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
