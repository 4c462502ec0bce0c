import HeadroomModel

/// Which content ended when lately, so that what comes again at once is known: two generations, as ``RecentRequests``.
///
/// A client that resends does so within seconds; what comes a minute later is as well the next of many prompts of one size.
/// But it is reported only when it ends: a batch call may wait for minutes before.
struct RecentContents: Sendable {
    /// Just below three quarters of a power of two, where a table doubles.
    private static let capacity = 98_000
    /// Also the longest wait before an end.
    static let seconds = 600.0
    /// Two ends are distinct two seconds apart; what comes within these or the eight behind them comes at once.
    private static let stepMilliseconds: Int64 = 2000
    private static let steps: Int64 = 4

    /// How often, by content and two seconds.
    private var newer: [UInt64: UInt16] = [:]
    private var older: [UInt64: UInt16] = [:]
    private var rotatedAt: Timestamp

    init(at now: Timestamp) {
        rotatedAt = now
    }

    var memoryBytes: Int {
        (newer.capacity + older.capacity) * (MemoryLayout<UInt64>.stride + MemoryLayout<UInt16>.stride)
    }

    mutating func insert(_ content: UInt64, endingAt end: Timestamp, at now: Timestamp) {
        if newer.count >= RecentContents.capacity || now.seconds(since: rotatedAt) >= RecentContents.seconds {
            older = newer
            newer = [:]
            rotatedAt = now
        }
        let key = Self.key(content, Self.step(of: end))
        let count = newer[key, default: 0]
        newer[key] = count &+ (count < .max ? 1 : 0)
    }

    /// A pool that went silent gives the memory back.
    mutating func release(at now: Timestamp) {
        guard now.seconds(since: rotatedAt) >= 2 * RecentContents.seconds else { return }
        newer = [:]
        older = [:]
    }

    /// True when the same had ended just before `arrival`, and forgets the last of them: each counts for one. Work that
    /// was there already when the other ended does not repeat it.
    mutating func take(_ content: UInt64, before arrival: Timestamp) -> Bool {
        guard !newer.isEmpty || !older.isEmpty else { return false }
        let last = Self.step(of: arrival)
        for step in 0...Self.steps {
            let key = Self.key(content, last - step)
            if Self.take(key, from: &newer) || Self.take(key, from: &older) { return true }
        }
        return false
    }

    private static func take(_ key: UInt64, from generation: inout [UInt64: UInt16]) -> Bool {
        guard let count = generation[key] else { return false }
        generation[key] = count > 1 ? count - 1 : nil
        return true
    }

    private static func step(of instant: Timestamp) -> Int64 { instant.milliseconds / stepMilliseconds }

    private static func key(_ content: UInt64, _ step: Int64) -> UInt64 {
        RecentRequests.fingerprint(of: content, UInt64(bitPattern: step))
    }
}

extension RecentContents {
    func write(to writer: inout ByteWriter) {
        writer.write(rotatedAt)
        for generation in [newer, older] {
            writer.write(generation.sorted { $0.key < $1.key }) { writer, entry in
                writer.write(entry.key)
                writer.write(entry.value)
            }
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: try reader.readTimestamp())
        for _ in 0..<(try reader.readCount(leastBytes: 10)) { newer[try reader.read()] = try reader.read() }
        for _ in 0..<(try reader.readCount(leastBytes: 10)) { older[try reader.read()] = try reader.read() }
    }
}
