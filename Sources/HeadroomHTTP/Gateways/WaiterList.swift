/// Exchanges that wait for the next generation.
struct WaiterList {
    private var waiters: [(parked: ParkedExchange, deadline: Int64)] = []
    /// No waiter's time comes before this.
    private var earliest = Int64.max

    var count: Int { waiters.count }

    mutating func add(_ parked: ParkedExchange, until deadline: Int64) {
        waiters.append((parked: parked, deadline: deadline))
        earliest = min(earliest, deadline)
    }

    /// The caller resumes each of them, outside its lock.
    mutating func removeAll() -> [ParkedExchange] {
        defer { self = WaiterList() }
        return waiters.map(\.parked)
    }

    /// The caller resumes each of them, outside its lock.
    mutating func removeDue(at now: Int64) -> [ParkedExchange] {
        guard now >= earliest else { return [] }
        let due = waiters.filter { $0.deadline <= now }
        waiters.removeAll { $0.deadline <= now }
        earliest = waiters.map(\.deadline).min() ?? .max
        return due.map(\.parked)
    }
}
