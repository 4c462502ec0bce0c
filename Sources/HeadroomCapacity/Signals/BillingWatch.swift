import HeadroomModel

/// Whether the provider refuses the account for want of money (`billing`). No retry helps: a person must pay.
///
/// With hysteresis (Model §5.2). It begins when at least ``minFailures`` answers of the last ten seconds say so, and they
/// are at least half of the attempts. It ends when calls are served and less than a tenth of the attempts fail for
/// billing, or when nothing has failed for billing for ten minutes, after which nobody knows.
struct BillingWatch: Equatable, Sendable {
    static let windowSeconds = 10
    private static let minFailures = 3
    private static let enterShare = 0.5
    private static let leaveShare = 0.1
    private static let forgetSeconds = 600.0

    /// Since when it has been so; `nil` when it is not.
    private(set) var since: Timestamp?
    private var lastFailureAt: Timestamp?
    /// By second modulo ``windowSeconds``, for the seconds up to ``newest``.
    private var failures = [Int](repeating: 0, count: BillingWatch.windowSeconds)
    private var newest: Int64

    init(at now: Timestamp) {
        newest = now.second
    }

    /// An answer that says so, which was read at `now`.
    mutating func noteFailure(at now: Timestamp) {
        advance(to: now.second)
        failures[place(now.second)] += 1
        lastFailureAt = now
    }

    /// - Parameters:
    ///   - served: Calls that were served in the last ``windowSeconds``.
    ///   - attempts: All that reached the upstream in them.
    mutating func advance(to now: Timestamp, served: Double, attempts: Double) {
        advance(to: now.second)
        let failed = Double(failures.reduce(0, +))
        let share = failed / max(1, attempts, failed)
        guard since != nil else {
            if failed >= Double(Self.minFailures), share >= Self.enterShare { since = now }
            return
        }
        let isServed = served > 0 && share < Self.leaveShare
        let isForgotten = lastFailureAt.map { now.seconds(since: $0) > Self.forgetSeconds } ?? true
        if isServed || isForgotten { since = nil }
    }

    private mutating func advance(to second: Int64) {
        guard second > newest else { return }
        for step in 0..<min(second - newest, Int64(Self.windowSeconds)) { failures[place(second - step)] = 0 }
        newest = second
    }

    private func place(_ second: Int64) -> Int {
        let rest = Int(second % Int64(Self.windowSeconds))
        return rest < 0 ? rest + Self.windowSeconds : rest
    }
}

extension BillingWatch {
    func write(to writer: inout ByteWriter) {
        writer.write(since) { $0.write($1) }
        writer.write(lastFailureAt) { $0.write($1) }
        for count in failures { writer.write(Int64(count)) }
        writer.write(newest)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        since = try reader.readOptional { try $0.readTimestamp() }
        lastFailureAt = try reader.readOptional { try $0.readTimestamp() }
        for place in failures.indices {
            let count = try reader.read(Int64.self)
            guard (0...1 << 40).contains(count) else { throw .outOfRange }
            failures[place] = Int(count)
        }
        newest = try reader.read()
        guard abs(newest) < 1 << 40 else { throw .outOfRange }
    }
}
