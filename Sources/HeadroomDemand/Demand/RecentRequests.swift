import HeadroomModel

/// Which pieces of work were seen in the last minutes, so that a retry is not new demand.
///
/// Two sets of ``Fingerprint``s: the older set is dropped when the newer one is a minute old or full. So a request is
/// remembered for at least a minute, unless more than `capacity` others come in that time.
public struct RecentRequests: Sendable {
    private let capacity: Int
    private let seconds: Double
    private var newer: Set<UInt64> = []
    private var older: Set<UInt64> = []
    private var rotatedAtSecond: Int64 = .min

    /// - Parameter capacity: Most entries of one of the two sets. A `Set` doubles its storage when it is three quarters
    ///   full, so a value just below three quarters of a power of two wastes least.
    public init(capacity: Int = 98_000, seconds: Double = 60) {
        self.capacity = capacity
        self.seconds = seconds
    }

    /// Of the places in both sets.
    var memoryBytes: Int { (newer.capacity + older.capacity) * MemoryLayout<UInt64>.stride }

    /// True when the request had not been seen, and remembers it.
    public mutating func insert(_ request: String, at second: Int64) -> Bool {
        insert(request.fingerprint, at: second)
    }

    public mutating func insert(_ fingerprint: UInt64, at second: Int64) -> Bool {
        rotateIfDue(at: second)
        if older.contains(fingerprint) { return false }
        return newer.insert(fingerprint).inserted
    }

    func contains(_ fingerprint: UInt64) -> Bool { newer.contains(fingerprint) || older.contains(fingerprint) }

    /// A pool that went silent gives the memory back.
    mutating func release(at second: Int64) {
        guard rotatedAtSecond != .min, Double(second - rotatedAtSecond) >= 10 * seconds else { return }
        newer = []
        older = []
    }

    private mutating func rotateIfDue(at second: Int64) {
        if rotatedAtSecond == .min { rotatedAtSecond = second }
        guard newer.count >= capacity || Double(second - rotatedAtSecond) >= seconds else { return }
        older = newer
        newer = []
        rotatedAtSecond = second
    }

    /// The fingerprint of several numbers; their order matters.
    static func fingerprint(of numbers: UInt64...) -> UInt64 {
        var hash = Fingerprint().value
        for number in numbers {
            hash = (hash ^ number) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        return hash
    }
}

extension RecentRequests {
    func write(to writer: inout ByteWriter) {
        writer.write(rotatedAtSecond)
        for generation in [newer, older] { writer.write(generation.sorted()) { $0.write($1) } }
    }

    mutating func restore(from reader: inout ByteReader) throws(ByteCodingError) {
        rotatedAtSecond = try reader.read()
        newer = Set(try reader.readArray(leastBytes: 8) { try $0.read() })
        older = Set(try reader.readArray(leastBytes: 8) { try $0.read() })
    }
}
