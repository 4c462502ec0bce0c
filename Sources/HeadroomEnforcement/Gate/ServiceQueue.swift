import HeadroomModel

/// A call's place in its tenant's queue: the more urgent first, then by arrival.
struct QueuedCall: Comparable, Sendable {
    let criticality: Criticality
    let arrival: Timestamp
    /// Unique, ascending by enqueueing: settles ties, and tells a call from a later one in the same place.
    let sequence: Int
    /// In the ``CallTable``.
    let place: Int

    static func < (left: QueuedCall, right: QueuedCall) -> Bool {
        if left.criticality != right.criticality { return left.criticality < right.criticality }
        if left.arrival != right.arrival { return left.arrival < right.arrival }
        return left.sequence < right.sequence
    }
}

/// One tenant's waiting calls, in the order of service.
///
/// A new call is the latest of its criticality, a refused one that comes back the earliest: both ends are cheap, and
/// the queue can be read in order as often as draws tell of it.
struct ServiceQueue: Sendable {
    /// Calls of one criticality, ascending behind the room that those who went have left.
    private struct Line: Sendable {
        var calls: [QueuedCall] = []
        var first = 0

        var isEmpty: Bool { first == calls.count }
        var count: Int { calls.count - first }

        mutating func insert(_ call: QueuedCall) {
            let place = place(of: call)
            if first > 0, place - first < calls.count - place {
                for index in first..<place { calls[index - 1] = calls[index] }
                first -= 1
                calls[place - 1] = call
            } else {
                calls.insert(call, at: place)
            }
        }

        private func place(of call: QueuedCall) -> Int {
            guard let last = calls.last, call < last else { return calls.count }
            var low = first
            var high = calls.count - 1
            while low < high {
                let middle = (low + high) / 2
                if calls[middle] < call { low = middle + 1 } else { high = middle }
            }
            return low
        }

        mutating func removeFirst() {
            first += 1
            if isEmpty || (first > 32 && 2 * first > calls.count) {
                calls.removeFirst(first)
                first = 0
            }
        }
    }

    /// By the raw value of ``Criticality``.
    private var lines = [Line](repeating: Line(), count: Criticality.allCases.count)

    var isEmpty: Bool { lines.allSatisfy(\.isEmpty) }
    var count: Int { lines.reduce(0) { $0 + $1.count } }

    /// Calls that are as urgent or more; those that have left without being served count until they reach the head.
    func count(to criticality: Criticality) -> Int {
        lines.prefix(criticality.rawValue + 1).reduce(0) { $0 + $1.count }
    }

    /// Of these, the ones that go before `call`.
    func count(before call: QueuedCall) -> Int {
        let line = lines[call.criticality.rawValue]
        var low = line.first
        var high = line.calls.count
        while low < high {
            let middle = (low + high) / 2
            if line.calls[middle] < call { low = middle + 1 } else { high = middle }
        }
        return lines.prefix(call.criticality.rawValue).reduce(low - line.first) { $0 + $1.count }
    }

    var least: QueuedCall? {
        for line in lines.indices where !lines[line].isEmpty { return lines[line].calls[lines[line].first] }
        return nil
    }

    mutating func push(_ call: QueuedCall) { lines[call.criticality.rawValue].insert(call) }

    mutating func removeLeast() {
        guard let line = lines.firstIndex(where: { !$0.isEmpty }) else { return }
        lines[line].removeFirst()
    }

    /// In order, for as long as `goesOn` says so.
    func visit(while goesOn: (QueuedCall) -> Bool) {
        for line in lines.indices {
            for index in lines[line].first..<lines[line].calls.count where !goesOn(lines[line].calls[index]) { return }
        }
    }

    /// In order.
    var elements: [QueuedCall] { lines.flatMap { $0.calls[$0.first...] } }
}
