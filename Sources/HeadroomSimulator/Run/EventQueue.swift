import HeadroomModel

/// A run's events, in the order of time; events of one instant in the order in which they were planned.
struct EventQueue: Sendable {
    enum Kind: UInt8, Sendable {
        /// A job reaches its gateway.
        case arrival
        /// An agent's task begins.
        case task
        /// A gateway asks its gate again.
        case wake
        /// The provider's answer to a job's attempt.
        case answer
        /// A gateway's usual poll; the next one follows from it.
        case poll
        /// A long poll that a publication has ended.
        case push
        /// A gateway sends its telemetry.
        case flush
        /// Telemetry reaches the control plane.
        case delivery
        /// A gateway's draw reaches the control plane.
        case draw
        /// The answer to a draw reaches its gateway.
        case grant
        /// The control plane's tick: the loop's, or a rival's.
        case tick
        /// Once a second, for what is measured and for what knows everything.
        case second
        /// A fault begins or ends.
        case fault
    }

    struct Event: Sendable {
        let at: Timestamp
        let sequence: Int64
        let kind: Kind
        /// A gateway, a job or a fault, by index.
        let subject: Int

        static func < (left: Event, right: Event) -> Bool {
            left.at != right.at ? left.at < right.at : left.sequence < right.sequence
        }
    }

    private var heap: [Event] = []
    private var sequence: Int64 = 0

    mutating func plan(_ kind: Kind, _ subject: Int = 0, at: Timestamp) {
        sequence += 1
        let event = Event(at: at, sequence: sequence, kind: kind, subject: subject)
        heap.append(event)
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard event < heap[parent] else { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = event
    }

    mutating func next() -> Event? {
        guard let last = heap.popLast() else { return nil }
        guard let first = heap.first else { return last }
        var index = 0
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1] < heap[child] { child += 1 }
            guard heap[child] < last else { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = last
        return first
    }
}
