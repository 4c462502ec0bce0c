/// Lets one publication through at a time, in the order in which they were asked for.
///
/// An actor does not give this by itself: at each `await` it takes up the next call, so that a second publication
/// would begin on what the first one is about to replace.
struct PublicationQueue {
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Returns true when the caller goes first; else it is to wait by ``append(_:)``.
    mutating func enter() -> Bool {
        defer { isBusy = true }
        return !isBusy
    }

    mutating func append(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

    /// The next one goes on; the queue stays busy until nobody waits.
    mutating func leave() {
        guard !waiting.isEmpty else {
            isBusy = false
            return
        }
        waiting.removeFirst().resume()
    }
}
