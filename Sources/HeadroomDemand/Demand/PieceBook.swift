import HeadroomModel

/// Which pieces of work were counted as asked for (``AskedWork``), so that what is tried or sent again counts once.
///
/// A piece that was refused may come again, and then costs what it turned out to cost: it is known for seven minutes at least.
/// One that was served is remembered for a minute: an answer that was lost may be asked for again. Both memories hold two
/// generations; the older one goes when the newer one is as old, or full.
struct PieceBook: Sendable {
    /// Just below three quarters of a power of two, where a table doubles.
    private static let capacity = 98_000
    static let seconds = 450.0

    /// What a refused piece was counted as. There are many: half the size of ``AskedWork``, and exact up to 4 × 10⁹ tokens.
    private struct Counted {
        private let lanes: SIMD4<UInt32>

        init(_ work: AskedWork) {
            lanes = SIMD4(
                UInt32(clamping: work.requests), UInt32(clamping: work.tokens), UInt32(clamping: work.inputTokens),
                UInt32(clamping: work.outputTokens))
        }

        var work: AskedWork {
            AskedWork(
                requests: Int64(lanes.x), tokens: Int64(lanes.y), inputTokens: Int64(lanes.z),
                outputTokens: Int64(lanes.w))
        }
    }

    private var newer: [UInt64: Counted] = [:]
    private var older: [UInt64: Counted] = [:]
    private var rotatedAt: Timestamp
    private var ended = RecentRequests(capacity: PieceBook.capacity, seconds: 60)

    init(at now: Timestamp) {
        rotatedAt = now
    }

    var memoryBytes: Int {
        (newer.capacity + older.capacity) * (MemoryLayout<UInt64>.stride + MemoryLayout<Counted>.stride)
            + ended.memoryBytes
    }

    /// What an attempt adds to what was asked for.
    /// - Parameters:
    ///   - piece: Its tenant and `request`; `nil` where the gateway does not name it: then only a first attempt counts.
    ///   - isResent: It is known to be another piece's work in new clothes.
    mutating func note(
        _ call: CallRecord, piece: UInt64?, worth: AskedWork, isResent: Bool, at instant: Timestamp
    ) -> AskedWork {
        guard let piece else { return call.attempt > 1 || isResent ? AskedWork() : worth }
        rotateIfDue(at: instant)
        let mayComeAgain =
            switch call.outcome {
            case .denied, .quota, .overload, .ramp, .server, .error: true
            case .ok, .cached, .billing, .auth, .client: false
            }
        if let counted = newer[piece] ?? older[piece] {
            guard !mayComeAgain else { return AskedWork() }
            newer[piece] = nil
            older[piece] = nil
            _ = ended.insert(piece, at: instant.second)
            return worth.difference(from: counted.work)
        }
        if mayComeAgain, !isResent {
            guard !ended.contains(piece) else { return AskedWork() }
            let counted = Counted(worth)
            newer[piece] = counted
            return counted.work
        }
        return ended.insert(piece, at: instant.second) && !isResent ? worth : AskedWork()
    }

    /// A pool that went silent gives the memory back.
    mutating func release(at now: Timestamp) {
        ended.release(at: now.second)
        guard now.seconds(since: rotatedAt) >= 2 * Self.seconds else { return }
        newer = [:]
        older = [:]
    }

    private mutating func rotateIfDue(at instant: Timestamp) {
        guard newer.count >= Self.capacity || instant.seconds(since: rotatedAt) >= Self.seconds else { return }
        older = newer
        newer = [:]
        rotatedAt = max(rotatedAt, instant)
    }
}

extension PieceBook {
    func write(to writer: inout ByteWriter) {
        writer.write(rotatedAt)
        for generation in [newer, older] {
            writer.write(generation.sorted { $0.key < $1.key }) { writer, entry in
                writer.write(entry.key)
                writer.write(entry.value.work)
            }
        }
        ended.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: try reader.readTimestamp())
        for _ in 0..<(try reader.readCount(leastBytes: 40)) {
            newer[try reader.read()] = Counted(try reader.readAskedWork())
        }
        for _ in 0..<(try reader.readCount(leastBytes: 40)) {
            older[try reader.read()] = Counted(try reader.readAskedWork())
        }
        try ended.restore(from: &reader)
    }
}

extension ByteWriter {
    mutating func write(_ asked: AskedWork) {
        write(asked.requests)
        write(asked.tokens)
        write(asked.inputTokens)
        write(asked.outputTokens)
    }
}

extension ByteReader {
    mutating func readAskedWork() throws(ByteCodingError) -> AskedWork {
        AskedWork(
            requests: try read(), tokens: try read(), inputTokens: try read(), outputTokens: try read())
    }
}
