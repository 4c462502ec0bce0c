import HeadroomModel

/// A gate's calls, both those that wait and those that were sent and have not ended. Places in the table are reused.
///
/// The caller's ids are looked up where calls come and end; in between a place is enough, and the sequence number tells
/// whether the call that was there is still the one that is there.
struct CallTable: Sendable {
    struct Call: Sendable {
        var waiting: WaitingCall
        /// 0 for a place that is free.
        fileprivate(set) var sequence: Int
        /// In the ``UpstreamBreakers``; 0: it has no breaker.
        let model: Int
        var attempts = 0
        /// `nil` while it waits.
        var grant: CallRight?
        /// A timer looks at its deadline.
        var hasTimer = true
    }

    private var calls: [Call] = []
    private var free: [Int] = []
    private var places: [Int: Int] = [:]

    var count: Int { places.count }

    func place(of id: Int) -> Int? { places[id] }

    subscript(place: Int) -> Call {
        _read { yield calls[place] }
        _modify { yield &calls[place] }
    }

    mutating func insert(_ call: WaitingCall, sequence: Int, model: Int) -> Int {
        insert(Call(waiting: call, sequence: sequence, model: model))
    }

    /// One that goes at once.
    mutating func insert(_ call: WaitingCall, sequence: Int, model: Int, grant: CallRight) {
        _ = insert(
            Call(waiting: call, sequence: sequence, model: model, attempts: 1, grant: grant, hasTimer: false))
    }

    private mutating func insert(_ call: Call) -> Int {
        let place: Int
        if let used = free.popLast() {
            calls[used] = call
            place = used
        } else {
            place = calls.count
            calls.append(call)
        }
        places[call.waiting.id] = place
        return place
    }

    mutating func remove(_ place: Int) -> WaitingCall {
        let call = calls[place].waiting
        places[call.id] = nil
        calls[place].sequence = 0
        free.append(place)
        return call
    }

    /// False for an entry of a queue or heap whose call has ended.
    func isThere(_ place: Int, _ sequence: Int) -> Bool { calls[place].sequence == sequence }

    /// Also false for an entry whose call was sent.
    func isWaiting(_ place: Int, _ sequence: Int) -> Bool {
        calls[place].sequence == sequence && calls[place].grant == nil
    }

    /// It waits, and its caller still does.
    func isWaiting(_ queued: QueuedCall, at now: Timestamp) -> Bool {
        isWaiting(queued.place, queued.sequence) && calls[queued.place].waiting.deadline > now
    }

    func estimate(_ place: Int) -> Work { calls[place].waiting.estimate }
}
