import Synchronization

/// How much of all request bodies together may be in memory.
final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    func reserve(_ count: Int) -> Bool {
        let (_, total) = used.add(count, ordering: .relaxed)
        if total <= limit { return true }
        used.subtract(count, ordering: .relaxed)
        return false
    }

    func release(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
    }
}

/// A request body as it comes in. One that is too large is read and dropped, so that a client which is still sending
/// can hear why; past ``dropLimit`` the connection is cut.
struct IncomingBody {
    enum Refusal { case tooLarge, noRoom, garbled }

    private(set) var bytes: [UInt8] = []
    private(set) var refusal: Refusal?
    private var limit = 0
    private var isCompressed = false
    private var reserved = 0
    private var dropped = 0

    /// Most bodies fit; larger ones grow as they come.
    private static let maxReserved = 256 << 10
    /// Eight times the largest body that any call takes.
    static let dropLimit = 64 << 20

    /// `announced` is the request's `Content-Length`, if it has one.
    mutating func begin(limit: Int, announced: Int?, isCompressed: Bool = false) {
        self.limit = limit
        self.isCompressed = isCompressed
        refusal = announced.map { $0 > limit } == true ? .tooLarge : nil
        // No memory is reserved for an announced size alone: ten thousand who announce the most must not claim 80 GB.
        if refusal == nil, let announced, announced > 0 { bytes.reserveCapacity(min(announced, Self.maxReserved)) }
    }

    /// False when the client is to be cut off.
    mutating func append(_ chunk: RawSpan, budget: BodyBudget) -> Bool {
        if refusal == nil {
            if bytes.count + chunk.byteCount > limit {
                refuse(.tooLarge, budget: budget)
            } else if budget.reserve(chunk.byteCount) {
                reserved += chunk.byteCount
                unsafe chunk.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
                return true
            } else {
                refuse(.noRoom, budget: budget)
            }
        }
        dropped += chunk.byteCount
        return dropped <= Self.dropLimit
    }

    /// All bytes have come: those of a compressed body are expanded, to at most `limit`.
    mutating func expand(limit: Int, budget: BodyBudget) {
        guard isCompressed, refusal == nil else { return }
        isCompressed = false
        // How much it will be is known afterwards, so the most that it may be counts meanwhile.
        guard budget.reserve(limit) else { return refuse(.noRoom, budget: budget) }
        reserved += limit
        switch Gzip.expand(bytes, limit: limit) {
        case .bytes(let expanded):
            bytes = expanded
            budget.release(reserved - expanded.count)
            reserved = expanded.count
        case .tooLarge: refuse(.tooLarge, budget: budget)
        case .garbled: refuse(.garbled, budget: budget)
        }
    }

    /// The bytes, which are no longer kept here; they count as in memory until ``end(budget:)``.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    mutating func end(budget: BodyBudget) {
        if reserved > 0 { budget.release(reserved) }
        self = IncomingBody()
    }

    private mutating func refuse(_ reason: Refusal, budget: BodyBudget) {
        refusal = reason
        bytes = []
        budget.release(reserved)
        reserved = 0
    }
}
