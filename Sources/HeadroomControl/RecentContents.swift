import HeadroomModel

/// When work of which content ended lately, so that what comes again is known: two generations, as ``RecentRequests``.
///
/// What comes again comes within two minutes, but is told only when it ends: a batch call may wait for minutes before.
struct RecentContents: Sendable {
    /// Just below three quarters of a power of two, where a table doubles.
    private static let capacity = 98_000
    private static let seconds = 600.0
    private static let againSeconds = 120.0

    private var newer: [UInt64: Timestamp] = [:]
    private var older: [UInt64: Timestamp] = [:]
    private var rotatedAt: Timestamp

    init(at now: Timestamp) {
        rotatedAt = now
    }

    mutating func insert(_ content: UInt64, at now: Timestamp) {
        if newer.count >= RecentContents.capacity || now.seconds(since: rotatedAt) >= RecentContents.seconds {
            older = newer
            newer = [:]
            rotatedAt = now
        }
        newer[content] = now
    }

    /// A pool that went silent gives the memory back.
    mutating func release(at now: Timestamp) {
        guard now.seconds(since: rotatedAt) >= 2 * RecentContents.seconds else { return }
        newer = [:]
        older = [:]
    }

    /// True when the same had ended within two minutes before `arrival`, and forgets it: each counts for one. Work that
    /// was there already when the other ended does not repeat it.
    mutating func take(_ content: UInt64, before arrival: Timestamp) -> Bool {
        if let ended = newer[content] {
            guard Self.isAgain(arrival, after: ended) else { return false }
            newer[content] = nil
            return true
        }
        guard let ended = older[content], Self.isAgain(arrival, after: ended) else { return false }
        older[content] = nil
        return true
    }

    private static func isAgain(_ arrival: Timestamp, after ended: Timestamp) -> Bool {
        (0...againSeconds).contains(arrival.seconds(since: ended))
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
        for _ in 0..<(try reader.readCount(leastBytes: 16)) { newer[try reader.read()] = try reader.readTimestamp() }
        for _ in 0..<(try reader.readCount(leastBytes: 16)) { older[try reader.read()] = try reader.readTimestamp() }
    }
}
