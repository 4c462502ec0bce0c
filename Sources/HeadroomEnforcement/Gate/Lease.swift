import HeadroomModel

/// For how long a gateway may use its last snapshot.
///
/// none → live → expired → live …: an answer of the control plane renews it, only time ends it, and nothing leads back
/// to none.
public struct Lease: Equatable, Sendable {
    /// `nil` before the first answer.
    public private(set) var until: Timestamp?

    public init() {}

    public enum State: Equatable, Sendable {
        /// Never had a snapshot: traffic passes and is counted.
        case none
        case live(until: Timestamp)
        /// On the fallback budget and the safe rates.
        case expired(since: Timestamp)
    }

    public func state(at now: Timestamp) -> State {
        guard let until else { return .none }
        return now < until ? .live(until: until) : .expired(since: until)
    }

    /// Counted from receipt. An answer that was overtaken by a later one shortens nothing.
    public mutating func renew(seconds: Double, at now: Timestamp) {
        let renewed = now.adding(seconds: seconds)
        until = until.map { max($0, renewed) } ?? renewed
    }
}
